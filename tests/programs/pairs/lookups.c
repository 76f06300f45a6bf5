/* Looks up records of an uncached file by a hash, with seek and read; mended: by ascending offset. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RECORD = 512, RECORDS = 160 << 10, WANTED = 4000 };

static int by_place(const void *one, const void *other)
{
    const long a = *(const long *)one, b = *(const long *)other;
    return (a > b) - (a < b);
}

int main(int argc, char **argv)
{
    static long wanted[WANTED];
    char path[4096], record[RECORD];
    if (argc < 3)
        return 2;
    snprintf(path, sizeof path, "%s/table.bin", argv[2]);
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (lseek(file, 0, SEEK_END) == 0) {
        memset(record, 7, sizeof record);
        for (long at = 0; at < RECORDS; at++)
            if (write(file, record, sizeof record) != sizeof record)
                return 1;
    }
    fsync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    unsigned long hash = 88172645463325252UL;
    for (int at = 0; at < WANTED; at++) {
        hash ^= hash << 13, hash ^= hash >> 7, hash ^= hash << 17;
        wanted[at] = (long)(hash % RECORDS);
    }
    if (!strcmp(argv[1], "mended"))
        qsort(wanted, WANTED, sizeof *wanted, by_place);
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    long sum = 0;
    for (int at = 0; at < WANTED; at++) {
        lseek(file, wanted[at] * RECORD, SEEK_SET);
        if (read(file, record, sizeof record) != sizeof record)
            return 1;
        sum += record[0];
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    close(file);
    printf("%.6f\n", (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9);
    return sum == 0;
}
