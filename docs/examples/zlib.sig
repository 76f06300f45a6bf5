# zlib's functions on files, gz*: what the program reads and writes, uncompressed. Below them stand the calls of POSIX
# that move the compressed bytes.
library zlib
layer OTHER
anchor gzopen
fails result < 0
error errno               # zlib sets it when the system refused; else it is 0 or old
type gzFile = void *

CREATE gzFile gzopen64|gzopen(const char *path: path, const char *mode: text) -> handle
    name = gzopen
CREATE gzFile gzdopen(int fd: fd, const char *mode: text) -> handle
DESTROY int gzclose(gzFile file: handle)
DESTROY int gzclose_r(gzFile file: handle)
DESTROY int gzclose_w(gzFile file: handle)

READ int gzread(gzFile file: handle, void *to, unsigned length: size) -> bytes
READ size_t gzfread(void *to, size_t size: uint, size_t count: uint, gzFile file: handle)
    requested = size * count
    bytes = size * result
READ char *gzgets(gzFile file: handle, char *to, int room: size)
    failed = false        # NULL at the end of the file
    bytes = result ? __builtin_strlen(result) : 0
READ int gzgetc|gzgetc_(gzFile file: handle) -> id
    class = char
    failed = false        # -1 at the end of the file
    requested = 1
    bytes = result >= 0
OTHER int gzungetc(int character: int, gzFile file: handle)
    class = char

WRITE int gzwrite(gzFile file: handle, const void *from, unsigned length: size) -> bytes
    failed = result == 0 && length > 0
WRITE size_t gzfwrite(const void *from, size_t size: uint, size_t count: uint, gzFile file: handle)
    requested = size * count
    bytes = size * result
    failed = result == 0 && size * count > 0
WRITE int gzputs(gzFile file: handle, const char *text: buffer) -> bytes
    requested = __builtin_strlen(text)
WRITE int gzputc(gzFile file: handle, int character: opaque)
    class = char
    requested = 1
    bytes = 1
# gzprintf takes any number of arguments, which no wrapper can pass on; zlib writes for it with gzvprintf.
WRITE int gzvprintf(gzFile file: handle, const char *format: text, va_list values) -> bytes
    requested = result

SYNC int gzflush(gzFile file: handle, int flush: enum{Z_NO_FLUSH/Z_PARTIAL_FLUSH/Z_SYNC_FLUSH/Z_FULL_FLUSH/Z_FINISH})
    failed = result != 0
SEEK long gzseek64|gzseek(gzFile file: handle, long offset: int, int whence: enum{SEEK_SET/SEEK_CUR/SEEK_END})
    name = gzseek
    offset = result
SEEK int gzrewind(gzFile file: handle)
    offset = 0

OTHER int gzbuffer(gzFile file: handle, unsigned size)
OTHER int gzsetparams(gzFile file: handle, int level, int strategy)
    failed = result != 0
OTHER long gztell64|gztell(gzFile file: handle) -> id
    name = gztell
    class = memory
OTHER long gzoffset64|gzoffset(gzFile file: handle) -> id
    name = gzoffset
OTHER int gzeof(gzFile file: handle) -> id
    class = memory
OTHER int gzdirect(gzFile file: handle) -> id
OTHER const char *gzerror(gzFile file: handle, int *number: int) -> id
    class = memory
OTHER void gzclearerr(gzFile file: handle)
    class = memory
