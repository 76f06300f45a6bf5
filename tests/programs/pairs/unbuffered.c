/* Writes numbers with fwrite to a stream without a buffer; mended: with the C library's own. */
#include <stdio.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
    char path[4096];
    struct timespec begin, end;
    if (argc < 3)
        return 2;
    snprintf(path, sizeof path, "%s/numbers.dat", argv[2]);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    FILE *file = fopen(path, "w");
    if (!file)
        return 1;
    if (strcmp(argv[1], "mended"))
        setvbuf(file, NULL, _IONBF, 0);
    for (double number = 0; number < 300000; number++)
        fwrite(&number, sizeof number, 1, file);
    fclose(file);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.6f\n", (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
    return 0;
}
