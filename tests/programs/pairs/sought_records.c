/* Updates counters of 16 bytes, each with a seek and a write; mended: in memory, and written once. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { COUNTERS = 256, UPDATES = 400000 };

int main(int argc, char **argv)
{
    static long counters[COUNTERS][2];
    char path[4096];
    struct timespec began, ended;
    if (argc < 3)
        return 2;
    const int mended = !strcmp(argv[1], "mended");
    snprintf(path, sizeof path, "%s/counters.bin", argv[2]);
    const int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0)
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (int update = 0; update < UPDATES; update++) {
        long *counter = counters[(long)update * 7919 % COUNTERS];
        counter[0]++;
        counter[1] += update;
        if (!mended) {
            if (lseek(file, (char *)counter - (char *)counters, SEEK_SET) < 0 || write(file, counter, 16) != 16)
                return 1;
        }
    }
    if (mended && write(file, counters, sizeof counters) != sizeof counters)
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.6f\n", (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9);
    return close(file);
}
