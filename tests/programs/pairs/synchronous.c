/* Writes messages of 256 bytes to a file opened with O_DSYNC; mended: 256 of them at once. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE = 256, MESSAGES = 1024, AT_ONCE = 256 };

int main(int argc, char **argv)
{
    static char messages[AT_ONCE * MESSAGE];
    char path[4096];
    if (argc < 3)
        return 2;
    const long size = !strcmp(argv[1], "mended") ? (long)sizeof messages : MESSAGE;
    snprintf(path, sizeof path, "%s/queue.bin", argv[2]);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_DSYNC, 0600);
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (long written = 0; written < (long)MESSAGE * MESSAGES; written += size)
        if (write(file, messages, (size_t)size) != size)
            return 1;
    clock_gettime(CLOCK_MONOTONIC, &ended);
    close(file);
    printf("%.6f\n", (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9);
    return 0;
}
