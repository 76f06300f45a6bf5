/* Calls everything with values that reveal any lost bit, and prints all results and errno. */
#define _GNU_SOURCE
#include "nasty.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SHOW(format, ...)                          \
    do {                                           \
        errno = 88;                                \
        char line[400];                            \
        snprintf(line, sizeof line, __VA_ARGS__);  \
        printf(format " errno %d\n", line, errno); \
    } while (0)

static int doubled(int by, void *data) {
    return by * 2 * *(int *)data;
}

static int tripled(int by, void *data) {
    return by * 3 * *(int *)data;
}

static void types(void) {
    SHOW("char %s", "%d", nasty_char(-7, 0xf1, -12345, 0xfedc));
    SHOW("many %s", "%ld", nasty_many(-1, 0xfffffffe, -3, 0xffffffffffffff00ul, -5, 1ull << 60, -7, -8, -9, 10));
    SHOW("float %s", "%.9g", (double)nasty_float(1.5f, 2.25, 3.125L));
    SHOW("long double %s", "%.18Lg", nasty_long_double(1.0L, 0.25f));
    SHOW("doubles %s", "%.17g", nasty_doubles(1.1, 2.2, 3.3, 4.4, 5.5, 6.6, 7.7, 8.8, 9.9, 10.1));
    SHOW("bool %s", "%d %d", nasty_bool(true, false), nasty_bool(true, true));
    point_t point = nasty_point((point_t){1.5, 2.5}, (mixed_t){-3, 0.5f});
    SHOW("point %s", "%g %g", point.x, point.y);
    mixed_t mixed = nasty_mixed(9, (mixed_t){-4, 1.25f}, 0.5);
    SHOW("mixed %s", "%d %g", mixed.i, (double)mixed.f);
    big_t big = nasty_big((big_t){1L << 40, 0.5, "abcdefghijklmnopqrstuvw"}, (point_t){8, 3}, -1);
    SHOW("big %s", "%ld %g %.23s", big.a, big.b, big.c);
    double _Complex turned = nasty_complex(3.0 + 4.0 * I);
    SHOW("complex %s", "%g %g", creal(turned), cimag(turned));
    char out[16];
    const char *rest = nasty_string("text, with (all): \"%s\"", out, sizeof out);
    SHOW("string %s", "%s %s", rest, out);
    SHOW("no string %s", "%d", nasty_string(NULL, out, sizeof out) == NULL);
    int data = 7, third = 9, *more = &third;
    SHOW("callback %s", "%d", nasty_callback(doubled, tripled, &data));
    SHOW("context %s", "%d", nasty_context((context_t *)&data, (void **)&more) == (context_t *)&third);
    const double grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
    const int first[] = {1, 2}, second[] = {3, 4};
    const int *rows[] = {first, second};
    SHOW("grid %s", "%d", nasty_grid(grid, rows));
    errno = 5;
    nasty_nothing();
    printf("nothing %d\n", errno);
    printf("%d\n", nasty_print("print %d %s %g\n", 3, "words", 2.5));
}

static void roles(const char *path) {
    handle_t none = nasty_open("/nonexistent/file", O_RDONLY, 0);
    printf("none %" PRId64 " %d\n", none, errno);
    handle_t file = nasty_open(path, O_CREAT | O_RDWR | O_TRUNC, 0640);
    handle_t child = 0, twin = 0;
    printf("child %d\n", nasty_child(file, &child, &twin));
    int refused = nasty_child(file, NULL, &twin);
    printf("no child %d %d\n", refused, errno);
    printf("write %zd\n", nasty_write(child, "hello, world", 12, 0));
    int busy = nasty_close(file);
    printf("busy %d %d\n", busy, errno);
    printf("write more %zd\n", nasty_write(file, "1234567890", 10, 12));
    printf("link %d\n", nasty_link(child, twin, "/a/b"));
    int a[40];
    uint8_t b[40];
    int64_t c[40];
    unsigned d[40];
    for (int i = 0; i < 40; i++) {
        a[i] = -i;
        b[i] = (uint8_t)(250 - i);
        c[i] = -1;
        d[i] = 4000000000u;
    }
    printf("arrays %d", nasty_arrays(3, a, b, c, d));
    printf(" %d", nasty_arrays(20, a, b, c, d));
    printf(" %d", nasty_arrays(2, NULL, b, c, d));
    printf(" %d\n", nasty_arrays(31, a, b, c, d));
    int request = 0;
    unsigned there = 0;
    char status[4];
    int sum = nasty_numbers(-5, 0xf0000000, 0.1, 1, &request, &there, status);
    printf("numbers %d %x %u %d\n", sum, request, there, status[3]);
    printf("descriptor %d\n", nasty_descriptor(1, AT_FDCWD, "relative"));
    fflush(stdout);
    printf("stream %d\n", nasty_stream(stdout));
    int64_t at = nasty_seek(child, 4, SEEK_SET);
    printf("seek %" PRId64 " %" PRId64 "\n", at, nasty_seek64(child, 1, SEEK_CUR));
    char why[] = "no longer needed";
    int freed = nasty_free(&twin, why);
    printf("free %d %" PRId64 " %s\n", freed, twin, why);
    int closed = nasty_close(child);
    printf("close %d %d\n", closed, nasty_close(file));
    int again = nasty_close(child);
    printf("again %d %d\n", again, errno);
    printf("remove %d\n", nasty_remove(path));
}

int main(int count, char **words) {
    if (count != 2)
        return 2;
    types();
    roles(words[1]);
    return 0;
}
