/* Writes data to a scratch file for lack of memory and reads it in 36 passes; mended: it stays in memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCK = 1 << 20, BLOCKS = 96, PASSES = 36 };

int main(int argc, char **argv)
{
    char path[4096];
    if (argc < 3)
        return 2;
    const int mended = !strcmp(argv[1], "mended");
    char *kept = malloc((size_t)BLOCK * BLOCKS), *block = malloc(BLOCK);
    if (!kept || !block)
        return 1;
    memset(kept, 1, (size_t)BLOCK * BLOCKS);
    snprintf(path, sizeof path, "%s/scratch.tmp", argv[2]);
    FILE *file = fopen(path, "w+");
    if (!file)
        return 1;
    setvbuf(file, NULL, _IOFBF, 1 << 16);
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    long sum = 0;
    for (int at = 0; at < BLOCKS; at++)
        fwrite(kept + (size_t)at * BLOCK, BLOCK, 1, file);
    for (int pass = 0; pass < PASSES; pass++) {
        rewind(file);
        for (int at = 0; at < BLOCKS; at++) {
            const char *from = kept + (size_t)at * BLOCK;
            if (!mended) {
                if (fread(block, BLOCK, 1, file) != 1)
                    return 1;
                from = block;
            }
            sum += from[at];
        }
    }
    fclose(file);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.6f\n", (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9);
    return sum == 0;
}
