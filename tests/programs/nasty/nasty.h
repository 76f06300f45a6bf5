/* A library whose functions take and return every machine type; each mixes all arguments into its result. */
#include <complex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

typedef int64_t handle_t;
typedef struct { double x, y; } point_t;              /* in two vector registers */
typedef struct { int i; float f; } mixed_t;           /* in one integer register */
typedef struct { long a; double b; char c[24]; } big_t; /* in memory */
typedef int (*callback_t)(int, void *);
typedef struct context context_t;

void nasty_anchor(void);
signed char nasty_char(signed char a, unsigned char b, short c, unsigned short d);
long nasty_many(int a, unsigned b, long c, unsigned long d, long long e, uint64_t f, int g, short h, char i, size_t j);
float nasty_float(float a, double b, long double c);
long double nasty_long_double(long double a, float b);
double nasty_doubles(double a, double b, double c, double d, double e, double f, double g, double h, double i, double j);
bool nasty_bool(bool a, _Bool b);
point_t nasty_point(point_t a, mixed_t b);
mixed_t nasty_mixed(int before, mixed_t a, double after);
big_t nasty_big(big_t a, point_t b, int c);
double _Complex nasty_complex(double _Complex a);
const char *nasty_string(const char *text, char *out, size_t room);
int nasty_callback(callback_t call, int (*other)(int, void *), void *data);
context_t *nasty_context(context_t *context, void **more);
int nasty_grid(const double grid[2][3], const int *const *rows);

handle_t nasty_open(const char *path, int flags, unsigned mode);
int nasty_child(handle_t parent, handle_t *made, handle_t *twin);
int nasty_close(handle_t object);
int nasty_free(handle_t *object, const char *why);
ssize_t nasty_write(handle_t object, const void *buffer, size_t size, int64_t offset);
int nasty_link(handle_t from, handle_t to, const char *path);
int nasty_arrays(int n, const int *a, const uint8_t *b, const int64_t *c, const unsigned *d);
int nasty_numbers(int level, unsigned mask, double factor, int choice, int *request, unsigned *there, void *status);
int nasty_descriptor(int fd, int directory, const char *path);
int nasty_stream(FILE *stream);
int64_t nasty_seek64(handle_t object, int64_t offset, int whence);
int64_t nasty_seek(handle_t object, int64_t offset, int whence);
int nasty_remove(const char *path);
void nasty_nothing(void);
int nasty_print(const char *format, ...);
int nasty_unused(int a);
