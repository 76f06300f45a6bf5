/* 64-byte pwrites to the page cache in a tight loop; prints the median of many rounds in ns a call.
 * usage: small_writes FILE ROUNDS CALLS sequential|cycle|random|files */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Opens, writes and closes; returns how many calls that were. */
static int cycles(const char *path, int calls) {
    int made = 0;
    while (made < calls) {
        int fd = open(path, O_CREAT | O_WRONLY, 0600);
        must(fd >= 0);
        for (int i = 0; i < A_FILE; i++)
            must(pwrite(fd, block, SIZE, (off_t)i * SIZE) == SIZE);
        must(close(fd) == 0);
        made += A_FILE + 2;
    }
    return made;
}

int main(int count, char **words) {
    must(count == 5);
    int rounds = atoi(words[2]), calls = atoi(words[3]);
    const char *pattern = words[4];
    int fd = open(words[1], O_CREAT | O_RDWR | O_TRUNC, 0600);
    double *each = calloc((size_t)rounds, sizeof *each);
    off_t *offsets = calloc((size_t)calls, sizeof *offsets);
    must(fd >= 0 && each && offsets);
    for (int i = 0; i < calls; i++)
        offsets[i] = SIZE * (off_t)(!strcmp(pattern, "random")  ? (int)(next_random() % SPREAD)
                                    : !strcmp(pattern, "cycle") ? i & 4095
                                                                : i);
    for (int i = 0; i < calls; i++) /* the pages are there from the first round on */
        must(pwrite(fd, block, SIZE, offsets[i]) == SIZE);
    for (int round = 0; round < rounds; round++) {
        int made = calls;
        double start = now();
        if (!strcmp(pattern, "files"))
            made = cycles(words[1], calls);
        else
            for (int i = 0; i < calls; i++)
                must(pwrite(fd, block, SIZE, offsets[i]) == SIZE);
        each[round] = (now() - start) / made;
        usleep(2000); /* lets a collector catch up, as between the I/O phases of a program */
    }
    qsort(each, (size_t)rounds, sizeof *each, compare);
    printf("%.2f\n", each[rounds / 2]);
    return 0;
}
