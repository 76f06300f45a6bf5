/* Flushes a table after each line; mended: when it is complete. */
#include <stdio.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
    char path[4096];
    struct timespec begin, end;
    if (argc < 3)
        return 2;
    snprintf(path, sizeof path, "%s/table.txt", argv[2]);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    FILE *file = fopen(path, "w");
    if (!file)
        return 1;
    const int mended = !strcmp(argv[1], "mended");
    for (int number = 0; number < 200000; number++) {
        fprintf(file, "%08d ok\n", number);
        if (!mended)
            fflush(file);
    }
    fclose(file);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.6f\n", (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
    return 0;
}
