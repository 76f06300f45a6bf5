/* Reads the clock around each of many calls, for longer than the tracer needs to calibrate its tick.
 * usage: stamps FILE; writes pairs of CLOCK_MONOTONIC readings there, int64, one pair per call */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "past_libc.h"

#define CALLS 20000

static int64_t readings[CALLS][2];

static int64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

int main(int count, char **words) {
    int fd = count == 2 ? open(words[1], O_WRONLY | O_CREAT, 0600) : -1;
    if (fd < 0)
        return 1;
    for (int i = 0; i < CALLS; i++) {
        /* Bursts and pauses: within the validity of one reading of the clock, and beyond. */
        int64_t until = now() + (i % 100 ? 2000 : 300000);
        while (now() < until)
            ;
        readings[i][0] = now();
        lseek(fd, i, SEEK_SET);
        readings[i][1] = now();
    }
    lseek(fd, 0, SEEK_SET);
    return syscall(SYS_write, fd, readings, sizeof readings) == sizeof readings ? 0 : 1;
}
