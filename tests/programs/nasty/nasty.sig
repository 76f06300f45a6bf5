# Every role and every machine type, for the test of what the wrappers pass on.
library nasty
layer OTHER
anchor nasty_anchor
fails result < 0
error errno
include <stdio.h>
include <complex.h>
type handle_t = int64_t
type point_t = struct { double x, y; }
type mixed_t = struct { int i; float f; }
type big_t = struct { long a; double b; char c[24]; }
type callback_t = int (*)(int, void *)
type context_t = opaque

OTHER signed char nasty_char(signed char a, unsigned char b, short c, unsigned short d) -> id
    failed = false
OTHER long nasty_many(int a, unsigned b, long c, unsigned long d, long long e, uint64_t f, int g, short h, char i,
                      size_t j) -> id
    failed = false
OTHER float nasty_float(float a, double b, long double c) -> id
OTHER long double nasty_long_double(long double a, float b)
OTHER double nasty_doubles(double a, double b, double c, double d, double e, double f, double g, double h, double i,
                           double j) -> id
OTHER bool nasty_bool(bool a, _Bool b) -> id
OTHER point_t nasty_point(point_t a, mixed_t b)
    before = double before_x = a.x
    extra x: double = before_x
OTHER mixed_t nasty_mixed(int before, mixed_t a, double after)
OTHER big_t nasty_big(big_t a, point_t b, int c)
    extra sum: int = nasty_sum(&result)     # of the hooks
OTHER double _Complex nasty_complex(double _Complex a)
OTHER const char *nasty_string(const char *text, char *out: text, size_t room: uint) -> id
OTHER int nasty_callback(callback_t call, int (*other)(int, void *), void *data)
OTHER context_t *nasty_context(context_t *context, void **more)
OTHER int nasty_grid(const double grid[2][3], const int *const *rows)
OTHER void nasty_nothing(void)
OTHER int nasty_print(const char *format: text, ...)
    custom

CREATE handle_t nasty_open(const char *path: path, int flags: flags, unsigned mode: mode) -> handle
CREATE int nasty_child(handle_t parent: handle, handle_t *made: new_handle, handle_t *twin: new_handle)
DESTROY int nasty_close(handle_t object: handle)
DESTROY int nasty_free(handle_t *object: handle, const char *why: text)
WRITE ssize_t nasty_write(handle_t object: handle, const void *buffer: buffer, size_t size: size,
                          int64_t offset: offset) -> bytes
    flags = collective nonblocking append
    class = data
OTHER int nasty_link(handle_t from: handle, handle_t to: handle, const char *path: path)
OTHER int nasty_arrays(int n: count, const int *a: array(n), const uint8_t *b: array(n), const int64_t *c: array(n),
                       const unsigned *d: array(n))
OTHER int nasty_numbers(int level: int, unsigned mask: hex, double factor: double, int choice: enum{NONE/SOME-OF.IT/ALL},
                        int *request: request, unsigned *there: uint, void *status: status)
    value level = level * 2
    after = int seen_request = *request
    extra seen: hex = seen_request
    failed = false
OTHER int nasty_descriptor(int fd: fd, int directory: dirfd, const char *path: path)
    failed = false
    name = nasty_number
OTHER int nasty_stream(FILE *stream: stream)
SEEK int64_t nasty_seek64|nasty_seek(handle_t object: handle, int64_t offset: int, int whence: enum{SET/CUR/END})
    offset = failed ? -1 : result
DELETE int nasty_remove(const char *path: path)
OTHER int nasty_unused(int a)
