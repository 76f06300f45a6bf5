/* 64-byte pwrites to the page cache in a tight loop, alternating between libc and direct system calls.
 * Prints medians of many rounds, in ns per call: the time through libc, its excess over the direct calls, and the
 * excess in calm rounds only. A round is calm if an arithmetic loop before or after it took at most 5 % over its
 * shortest time.
 * usage: small_writes FILE ROUNDS CALLS sequential|cycle|random|files */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SIZE 64
#define SPREAD (1 << 18) /* places of the random pattern: 16 MiB */
#define A_FILE 100       /* writes between an open and a close */

static char block[SIZE];

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static uint32_t next_random(void) {
    static uint32_t state = 2463534242u;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static void must(int right) {
    if (!right)
        exit(1);
}

/* A system call that is invisible to preloaded libraries and patched jump tables. */
static long kernel(long number, long a, long b, long c, long d) {
#ifdef __x86_64__
    register long fourth __asm__("r10") = d;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(fourth)
                     : "rcx", "r11", "memory");
    return result;
#else
    return syscall(number, a, b, c, d);
#endif
}

static int open_straight(const char *path, int flags, mode_t mode) {
    return (int)kernel(SYS_openat, AT_FDCWD, (long)path, flags, mode);
}

static ssize_t pwrite_straight(int fd, const void *from, size_t size, off_t offset) {
    return kernel(SYS_pwrite64, fd, (long)from, (long)size, offset);
}

static int close_straight(int fd) {
    return (int)kernel(SYS_close, fd, 0, 0, 0);
}

/* The functions of one round. The loops below are the same code for both, except for these. */
#define ROUND(name, OPEN, PWRITE, CLOSE)                                                                            \
    static double name(const char *path, int fd, const off_t *offsets, int calls, int reopens) {                    \
        int made = 0;                                                                                               \
        double start = now();                                                                                       \
        if (!reopens)                                                                                               \
            for (; made < calls; made++)                                                                            \
                must(PWRITE(fd, block, SIZE, offsets[made]) == SIZE);                                               \
        while (made < calls) {                                                                                      \
            int opened = OPEN(path, O_CREAT | O_WRONLY, 0600);                                                      \
            must(opened >= 0);                                                                                      \
            for (int i = 0; i < A_FILE; i++)                                                                        \
                must(PWRITE(opened, block, SIZE, (off_t)i *SIZE) == SIZE);                                          \
            must(CLOSE(opened) == 0);                                                                               \
            made += A_FILE + 2;                                                                                     \
        }                                                                                                           \
        return (now() - start) / made;                                                                              \
    }
ROUND(through_libc, open, pwrite, close)
ROUND(straight, open_straight, pwrite_straight, close_straight)

static double arithmetic(void) {
    volatile uint32_t x = 1;
    double start = now();
    for (int i = 0; i < 20000; i++)
        x = x * 1664525u + 1013904223u;
    return now() - start;
}

static double median(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

int main(int count, char **words) {
    must(count == 5);
    int rounds = atoi(words[2]), calls = atoi(words[3]);
    const char *pattern = words[4];
    int reopens = !strcmp(pattern, "files");
    int fd = open(words[1], O_CREAT | O_RDWR | O_TRUNC, 0600);
    double *libc = calloc((size_t)rounds, sizeof *libc), *longer = calloc((size_t)rounds, sizeof *longer);
    double *held_up = calloc((size_t)rounds, sizeof *held_up), *calm = calloc((size_t)rounds, sizeof *calm);
    off_t *offsets = calloc((size_t)calls, sizeof *offsets);
    must(fd >= 0 && libc && longer && held_up && calm && offsets);
    for (int i = 0; i < calls; i++)
        offsets[i] = SIZE * (off_t)(!strcmp(pattern, "random")  ? (int)(next_random() % SPREAD)
                                    : !strcmp(pattern, "cycle") ? i & 4095
                                                                : i);
    through_libc(words[1], fd, offsets, calls, reopens); /* the pages exist from the first round on */
    double shortest = arithmetic();
    for (int round = 0; round < rounds; round++) {
        double before = arithmetic();
        double first = round % 2 ? through_libc(words[1], fd, offsets, calls, reopens) : 0;
        double bare = straight(words[1], fd, offsets, calls, reopens);
        libc[round] = round % 2 ? first : through_libc(words[1], fd, offsets, calls, reopens);
        longer[round] = libc[round] - bare;
        double after = arithmetic();
        held_up[round] = before > after ? before : after;
        shortest = before < shortest ? before : shortest;
        usleep(2000); /* gives the collector time to catch up, as between the I/O phases of a program */
    }
    int count_calm = 0;
    for (int round = 0; round < rounds; round++)
        if (held_up[round] <= 1.05 * shortest)
            calm[count_calm++] = longer[round];
    printf("%.2f %.2f ", median(libc, rounds), median(longer, rounds));
    if (count_calm)
        printf("%.2f %d\n", median(calm, count_calm), count_calm);
    else
        printf("nan 0\n");
    return 0;
}
