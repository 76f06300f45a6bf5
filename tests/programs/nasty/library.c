#define _GNU_SOURCE
#include "nasty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

void nasty_anchor(void) {}

signed char nasty_char(signed char a, unsigned char b, short c, unsigned short d) {
    return (signed char)(a ^ b ^ c ^ d);
}

long nasty_many(int a, unsigned b, long c, unsigned long d, long long e, uint64_t f, int g, short h, char i, size_t j) {
    return a + 3 * (long)b + 5 * c + 7 * (long)d + 11 * e + 13 * (long)f + 17 * g + 19 * h + 23 * i + 29 * (long)j;
}

float nasty_float(float a, double b, long double c) {
    return a + (float)(2 * b) + (float)(3 * c);
}

long double nasty_long_double(long double a, float b) {
    return a / 3 + b;
}

double nasty_doubles(double a, double b, double c, double d, double e, double f, double g, double h, double i, double j) {
    return a - b + c - d + e - f + g - h + 10 * i - 100 * j;
}

bool nasty_bool(bool a, _Bool b) {
    return a && !b;
}

point_t nasty_point(point_t a, mixed_t b) {
    return (point_t){a.y + b.i, a.x * b.f};
}

mixed_t nasty_mixed(int before, mixed_t a, double after) {
    return (mixed_t){a.i + before, a.f + (float)after};
}

big_t nasty_big(big_t a, point_t b, int c) {
    a.a += c;
    a.b += b.x - b.y;
    for (size_t i = 0; i < sizeof a.c; i++)
        a.c[i]++;
    return a;
}

double _Complex nasty_complex(double _Complex a) {
    return a * I;
}

const char *nasty_string(const char *text, char *out, size_t room) {
    if (!text)
        return NULL;
    snprintf(out, room, "%s!", text);
    return text + 1;
}

int nasty_callback(callback_t call, int (*other)(int, void *), void *data) {
    return call(1, data) * 100 + other(2, data);
}

context_t *nasty_context(context_t *context, void **more) {
    return *more ? (context_t *)*more : context;
}

int nasty_grid(const double grid[2][3], const int *const *rows) {
    return (int)(grid[1][2] + grid[0][1]) + rows[1][1];
}

static int descriptors[8];
static bool used[8];

static handle_t object_on(int fd) {
    for (int i = 0; i < 8; i++)
        if (!used[i]) {
            used[i] = true;
            descriptors[i] = fd;
            return ((handle_t)7 << 40) + i;
        }
    return -1;
}

handle_t nasty_open(const char *path, int flags, unsigned mode) {
    int fd = open(path, flags, mode);
    return fd < 0 ? -1 : object_on(fd);
}

int nasty_child(handle_t parent, handle_t *made, handle_t *twin) {
    if (parent < 0 || !made) {
        errno = EINVAL;
        return -1;
    }
    *made = object_on(dup(descriptors[parent & 7]));
    *twin = object_on(dup(descriptors[parent & 7]));
    return 0;
}

int nasty_close(handle_t object) {
    if (object < 0 || !used[object & 7]) {
        errno = EBADF;
        return -1;
    }
    if (lseek(descriptors[object & 7], 0, SEEK_END) == 12) { /* busy */
        errno = EBUSY;
        return -1;
    }
    used[object & 7] = false;
    return close(descriptors[object & 7]);
}

int nasty_free(handle_t *object, const char *why) {
    memset((char *)why, '#', strlen(why)); /* closed, from the caller's point of view */
    int result = nasty_close(*object);
    *object = -1;
    return result;
}

ssize_t nasty_write(handle_t object, const void *buffer, size_t size, int64_t offset) {
    return pwrite(descriptors[object & 7], buffer, size, offset);
}

int nasty_link(handle_t from, handle_t to, const char *path) {
    return (int)(from & 7) * 10 + (int)(to & 7) + (int)strlen(path);
}

int nasty_arrays(int n, const int *a, const uint8_t *b, const int64_t *c, const unsigned *d) {
    int sum = n;
    for (int i = 0; i < n; i++)
        sum += (a ? a[i] : 0) + b[i] + (int)c[i] + (int)d[i];
    if (n > 30)
        errno = ERANGE;
    return n > 30 ? -1 : sum & 0xffff;
}

int nasty_numbers(int level, unsigned mask, double factor, int choice, int *request, unsigned *there, void *status) {
    *request = 0xbeef;
    *there = 7;
    memset(status, 1, 4);
    return level + (int)mask + (int)factor + choice;
}

int nasty_descriptor(int fd, int directory, const char *path) {
    return fd + directory + (int)strlen(path);
}

int nasty_stream(FILE *stream) {
    return fputs("nasty\n", stream);
}

int64_t nasty_seek64(handle_t object, int64_t offset, int whence) {
    return lseek(descriptors[object & 7], offset, whence);
}

int64_t nasty_seek(handle_t object, int64_t offset, int whence) {
    return nasty_seek64(object, offset, whence);
}

int nasty_remove(const char *path) {
    return unlink(path);
}

void nasty_nothing(void) {
    errno = EXDEV;
}

int nasty_print(const char *format, ...) {
    va_list values;
    va_start(values, format);
    int length = vfprintf(stdout, format, values);
    va_end(values);
    return length;
}

int nasty_unused(int a) {
    return a;
}
