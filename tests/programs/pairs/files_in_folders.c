/* Writes one file for each of 4,000 results, 80 per folder; mended: one file per folder for all results. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { FOLDERS = 50, RESULTS = 80 };

int main(int argc, char **argv)
{
    char path[4096], result[400];
    if (argc < 3)
        return 2;
    const int mended = !strcmp(argv[1], "mended");
    memset(result, 'x', sizeof result);
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (int folder = 0; folder < FOLDERS; folder++) {
        FILE *file = NULL;
        snprintf(path, sizeof path, "%s/case-%d", argv[2], folder);
        mkdir(path, 0700);
        for (int number = 0; number < RESULTS; number++) {
            snprintf(path, sizeof path, "%s/case-%d/result-%d.txt", argv[2], folder, mended ? 0 : number);
            if (!file && !(file = fopen(path, "w")))
                return 1;
            fwrite(result, sizeof result, 1, file);
            if (!mended) {
                fclose(file);
                file = NULL;
            }
        }
        if (file)
            fclose(file);
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.6f\n", (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9);
    return 0;
}
