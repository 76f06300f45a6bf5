# The STDIO calls of glibc. Its internal reads and writes bypass the POSIX wrappers, so a byte is recorded once, here,
# when the program moves it. Streams without a descriptor (fmemopen, cookies) do no I/O of their own.
library stdio
layer STDIO
anchor libc
fails result == -1
error errno
include <stdarg.h>
include <stdio.h>
include <wchar.h>

# ---- open and close: written by hand, because streams must be tracked even if these calls are switched off ----

CREATE FILE *fopen|fopen64(const char *path: path, const char *mode: text) -> stream
    custom
CREATE FILE *fdopen(int fd: fd, const char *mode: text) -> stream
    custom
CREATE FILE *freopen|freopen64(const char *path: path, const char *mode: text, FILE *stream) -> stream
    custom
CREATE FILE *tmpfile|tmpfile64(void) -> stream
    custom
CREATE FILE *popen(const char *command: text, const char *mode: text) -> stream
    custom
DESTROY int fclose(FILE *stream: stream)
    custom
DESTROY int pclose(FILE *stream: stream)
    custom
DESTROY int fcloseall(void)
    before = iotide_record_all_characters(true)

# ---- blocks and lines ----

READ size_t fread|fread_unlocked(void *to, size_t size: uint, size_t count: uint, FILE *stream: stream)
    requested = size * count
    bytes = size * result
    flags = iotide_input_flags(stream, size * result)
    failed = iotide_stream_failed(result == 0 && size * count > 0, stream)
READ size_t __fread_chk|__fread_unlocked_chk(void *to, size_t room: opaque, size_t size: uint, size_t count: uint,
                            FILE *stream: stream)
    name = fread
    requested = size * count
    bytes = size * result
    flags = iotide_input_flags(stream, size * result)
    failed = iotide_stream_failed(result == 0 && size * count > 0, stream)
WRITE size_t fwrite|fwrite_unlocked(const void *from, size_t size: uint, size_t count: uint, FILE *stream: stream)
    requested = size * count
    bytes = size * result
    flags = iotide_output_flags(stream, size * result)
    failed = iotide_stream_failed(result == 0 && size * count > 0, stream)
READ char *fgets|fgets_unlocked(char *to: opaque, int size: size, FILE *stream: stream)
    bytes = iotide_text_bytes(result)
    flags = iotide_input_flags(stream, iotide_text_bytes(result))
    failed = iotide_stream_failed(result == NULL, stream)
READ char *__fgets_chk|__fgets_unlocked_chk(char *to: opaque, size_t room: opaque, int size: size, FILE *stream: stream)
    name = fgets
    bytes = iotide_text_bytes(result)
    flags = iotide_input_flags(stream, iotide_text_bytes(result))
    failed = iotide_stream_failed(result == NULL, stream)
READ char *gets(char *to: opaque)
    custom
READ char *__gets_chk(char *to: opaque, size_t room: opaque)
    name = gets
    custom
READ ssize_t getline(char **line, size_t *room, FILE *stream: stream)
    requested = result < 0 ? 0 : result
    bytes = requested
    flags = iotide_input_flags(stream, result < 0 ? 0 : result)
    failed = iotide_stream_failed(result < 0, stream)
READ ssize_t getdelim|__getdelim(char **line, size_t *room, int delimiter: int, FILE *stream: stream)
    requested = result < 0 ? 0 : result
    bytes = requested
    flags = iotide_input_flags(stream, result < 0 ? 0 : result)
    failed = iotide_stream_failed(result < 0, stream)
WRITE int fputs|fputs_unlocked(const char *text: opaque, FILE *stream: stream)
    requested = iotide_text_bytes(text)
    bytes = requested
    flags = iotide_output_flags(stream, iotide_text_bytes(text))
WRITE int puts(const char *text: opaque)
    custom

# ---- formatted: written by hand, because the variadic functions must pass their values to these ----

WRITE int fprintf(FILE *stream: stream, const char *format, ...)
    custom
WRITE int vfprintf(FILE *stream: stream, const char *format, va_list values: opaque)
    name = fprintf
    custom
WRITE int __fprintf_chk(FILE *stream: stream, int flag: opaque, const char *format, ...)
    name = fprintf
    custom
WRITE int __vfprintf_chk(FILE *stream: stream, int flag: opaque, const char *format, va_list values: opaque)
    name = fprintf
    custom
WRITE int printf(const char *format, ...)
    custom
WRITE int vprintf(const char *format, va_list values: opaque)
    name = printf
    custom
WRITE int __printf_chk(int flag: opaque, const char *format, ...)
    name = printf
    custom
WRITE int __vprintf_chk(int flag: opaque, const char *format, va_list values: opaque)
    name = printf
    custom
WRITE int dprintf(int fd: fd, const char *format, ...)
    custom
WRITE int vdprintf(int fd: fd, const char *format, va_list values: opaque)
    name = dprintf
    custom
WRITE int __dprintf_chk(int fd: fd, int flag: opaque, const char *format, ...)
    name = dprintf
    custom
WRITE int __vdprintf_chk(int fd: fd, int flag: opaque, const char *format, va_list values: opaque)
    name = dprintf
    custom
WRITE int fwprintf(FILE *stream: stream, const wchar_t *format: opaque, ...)
    custom
WRITE int vfwprintf(FILE *stream: stream, const wchar_t *format: opaque, va_list values: opaque)
    name = fwprintf
    custom
WRITE int __fwprintf_chk(FILE *stream: stream, int flag: opaque, const wchar_t *format: opaque, ...)
    name = fwprintf
    custom
WRITE int __vfwprintf_chk(FILE *stream: stream, int flag: opaque, const wchar_t *format: opaque, va_list values: opaque)
    name = fwprintf
    custom
WRITE int wprintf(const wchar_t *format: opaque, ...)
    custom
WRITE int vwprintf(const wchar_t *format: opaque, va_list values: opaque)
    name = wprintf
    custom
WRITE int __wprintf_chk(int flag: opaque, const wchar_t *format: opaque, ...)
    name = wprintf
    custom
WRITE int __vwprintf_chk(int flag: opaque, const wchar_t *format: opaque, va_list values: opaque)
    name = wprintf
    custom
READ int fscanf|__isoc99_fscanf|__isoc23_fscanf(FILE *stream: stream, const char *format, ...) -> id
    custom
READ int vfscanf|__isoc99_vfscanf|__isoc23_vfscanf(FILE *stream: stream, const char *format,
                            va_list values: opaque) -> id
    name = fscanf
    custom
READ int scanf|__isoc99_scanf|__isoc23_scanf(const char *format, ...) -> id
    custom
READ int vscanf|__isoc99_vscanf|__isoc23_vscanf(const char *format, va_list values: opaque) -> id
    name = scanf
    custom
READ int fwscanf|__isoc99_fwscanf|__isoc23_fwscanf(FILE *stream: stream, const wchar_t *format: opaque, ...) -> id
    custom
READ int vfwscanf|__isoc99_vfwscanf|__isoc23_vfwscanf(FILE *stream: stream, const wchar_t *format: opaque,
                            va_list values: opaque) -> id
    name = fwscanf
    custom
READ int wscanf|__isoc99_wscanf|__isoc23_wscanf(const wchar_t *format: opaque, ...) -> id
    custom
READ int vwscanf|__isoc99_vwscanf|__isoc23_vwscanf(const wchar_t *format: opaque, va_list values: opaque) -> id
    name = wscanf
    custom

# ---- wide characters: bytes as UTF-8 has them ----

READ wchar_t *fgetws|fgetws_unlocked(wchar_t *to: opaque, int size: size, FILE *stream: stream)
    bytes = iotide_wide_text_bytes(result)
    failed = iotide_stream_failed(result == NULL, stream)
READ wchar_t *__fgetws_chk|__fgetws_unlocked_chk(wchar_t *to: opaque, size_t room: opaque, int size: size,
                            FILE *stream: stream)
    name = fgetws
    bytes = iotide_wide_text_bytes(result)
    failed = iotide_stream_failed(result == NULL, stream)
WRITE int fputws|fputws_unlocked(const wchar_t *text: opaque, FILE *stream: stream)
    requested = iotide_wide_text_bytes(text)
    bytes = requested

# ---- one character: written by hand. They are recorded one by one if IOTIDE_CALLS has char, otherwise by buffer, as calls
# ---- of __uflow and __overflow. These two are also what compiled getc_unlocked and putc_unlocked call at a buffer's end.

READ int __uflow(FILE *stream: stream)
    name = getc
    custom
    extra characters: uint = 0
WRITE int __overflow(FILE *stream: stream, int character: opaque)
    name = putc
    custom
    extra characters: uint = 0
READ int fgetc|fgetc_unlocked(FILE *stream: stream)
    class = char
    custom
READ int getc|getc_unlocked|_IO_getc(FILE *stream: stream)
    class = char
    custom
READ int getchar|getchar_unlocked(void)
    class = char
    custom
WRITE int fputc|fputc_unlocked(int character: int, FILE *stream: stream)
    class = char
    custom
WRITE int putc|putc_unlocked|_IO_putc(int character: int, FILE *stream: stream)
    class = char
    custom
WRITE int putchar|putchar_unlocked(int character: int)
    class = char
    custom
READ int getw(FILE *stream: stream)
    class = char
    custom
WRITE int putw(int word: int, FILE *stream: stream)
    class = char
    custom
OTHER int ungetc(int character: int, FILE *stream: stream)
    class = char
    custom
READ wint_t fgetwc|fgetwc_unlocked(FILE *stream: stream)
    class = char
    custom
READ wint_t getwc|getwc_unlocked(FILE *stream: stream)
    class = char
    custom
READ wint_t getwchar|getwchar_unlocked(void)
    class = char
    custom
WRITE wint_t fputwc|fputwc_unlocked(wchar_t character: int, FILE *stream: stream)
    class = char
    custom
WRITE wint_t putwc|putwc_unlocked(wchar_t character: int, FILE *stream: stream)
    class = char
    custom
WRITE wint_t putwchar|putwchar_unlocked(wchar_t character: int)
    class = char
    custom
OTHER wint_t ungetwc(wint_t character: int, FILE *stream: stream)
    class = char
    custom

# ---- position, buffers ----

SEEK int fseek(FILE *stream: stream, long by: int, int whence: enum{SEEK_SET/SEEK_CUR/SEEK_END})
SEEK int fseeko|fseeko64|__fseeko64(FILE *stream: stream, off_t by: int, int whence: enum{SEEK_SET/SEEK_CUR/SEEK_END})
    name = fseek
OTHER long ftell(FILE *stream: stream)
    offset = result
OTHER off_t ftello|ftello64|__ftello64(FILE *stream: stream)
    name = ftell
    offset = result
SEEK void rewind(FILE *stream: stream)
    offset = 0
    failed = false
OTHER int fgetpos(FILE *stream: stream, fpos_t *position)
    failed = result != 0
OTHER int fgetpos64(FILE *stream: stream, fpos64_t *position)
    name = fgetpos
    failed = result != 0
SEEK int fsetpos(FILE *stream: stream, const fpos_t *position)
    failed = result != 0
SEEK int fsetpos64(FILE *stream: stream, const fpos64_t *position)
    name = fsetpos
    failed = result != 0
SYNC int fflush|fflush_unlocked(FILE *stream: stream)
OTHER int setvbuf(FILE *stream: stream, char *buffer: opaque, int mode: enum{_IOFBF/_IOLBF/_IONBF}, size_t size: uint)
    failed = result != 0
OTHER void setbuf(FILE *stream: stream, char *buffer: opaque)
    failed = false
OTHER void setbuffer(FILE *stream: stream, char *buffer: opaque, size_t size: uint)
    failed = false
OTHER void setlinebuf(FILE *stream: stream)
    failed = false
