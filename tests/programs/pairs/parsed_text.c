/* Parses numbers from a text with a read of 64 bytes each; mended: a read of 1 MiB each. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 16 << 20, SMALL = 64, LARGE = 1 << 20 };

int main(int argc, char **argv)
{
    static char buffer[LARGE];
    char path[4096];
    struct timespec began, ended;
    if (argc < 3)
        return 2;
    const size_t block = strcmp(argv[1], "mended") ? SMALL : LARGE;
    snprintf(path, sizeof path, "%s/numbers.txt", argv[2]);
    const int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0)
        return 1;
    if (lseek(file, 0, SEEK_END) < SIZE) {
        for (int at = 0; at < LARGE; at++)
            buffer[at] = at % 8 == 7 ? '\n' : (char)('0' + at % 10);
        for (int at = 0; at < SIZE / LARGE; at++)
            if (write(file, buffer, LARGE) != LARGE)
                return 1;
    }
    lseek(file, 0, SEEK_SET);
    clock_gettime(CLOCK_MONOTONIC, &began);
    unsigned long number = 0, sum = 0;
    for (ssize_t size; (size = read(file, buffer, block)) > 0;)
        for (ssize_t at = 0; at < size; at++) {
            if (buffer[at] == '\n') {
                sum += number;
                number = 0;
            } else {
                number = number * 10 + (unsigned long)(buffer[at] - '0');
            }
        }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("sum %lu\n", sum);
    printf("%.6f\n", (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9);
    return close(file);
}
