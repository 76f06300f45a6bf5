/* 64-byte pwrites to the page cache in a tight loop; prints the median of many rounds in ns a call.
 * usage: pwrite FILE ROUNDS CALLS */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int count, char **words) {
    if (count != 4)
        return 2;
    int rounds = atoi(words[2]), calls = atoi(words[3]);
    int fd = open(words[1], O_CREAT | O_RDWR | O_TRUNC, 0600);
    static char block[64];
    double *each = calloc((size_t)rounds, sizeof *each);
    if (fd < 0 || !each)
        return 1;
    for (int round = 0; round < rounds; round++) {
        double start = now();
        for (int i = 0; i < calls; i++)
            if (pwrite(fd, block, sizeof block, (i & 4095) * 64) != 64)
                return 1;
        each[round] = (now() - start) / calls;
        usleep(2000); /* lets a collector catch up, as between the I/O phases of a program */
    }
    qsort(each, (size_t)rounds, sizeof *each, compare);
    printf("%.2f\n", each[rounds / 2]);
    return 0;
}
