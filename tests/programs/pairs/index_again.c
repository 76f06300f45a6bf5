/* Rewrites the index of a file, 256 KiB, after each record; mended: once, at the end. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { INDEX = 256 << 10, RECORD = 16 << 10, RECORDS = 15000 };

int main(int argc, char **argv)
{
    static char index[INDEX], record[RECORD];
    char path[4096];
    if (argc < 3)
        return 2;
    const int mended = !strcmp(argv[1], "mended");
    snprintf(path, sizeof path, "%s/store.bin", argv[2]);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (long at = 0; at < RECORDS; at++) {
        memset(record, (int)at, sizeof record);
        index[at % INDEX] = (char)at;
        if (pwrite(file, record, sizeof record, INDEX + at * RECORD) != sizeof record)
            return 1;
        if ((!mended || at == RECORDS - 1) && pwrite(file, index, sizeof index, 0) != sizeof index)
            return 1;
    }
    close(file);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.6f\n", (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9);
    return 0;
}
