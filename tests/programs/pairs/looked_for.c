/* Searches a file along a search path before each step; mended: its location is stored. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 20000, PLACES = 30 };

int main(int argc, char **argv)
{
    char path[4096];
    if (argc < 3)
        return 2;
    const int mended = !strcmp(argv[1], "mended");
    snprintf(path, sizeof path, "%s/place-%d.cfg", argv[2], PLACES - 1);
    FILE *file = fopen(path, "w");
    if (!file)
        return 1;
    fclose(file);
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    int found = -1;
    for (int step = 0; step < STEPS; step++) {
        if (mended && found >= 0)
            continue;
        for (int place = 0; place < PLACES; place++) {
            snprintf(path, sizeof path, "%s/place-%d.cfg", argv[2], place);
            if (access(path, R_OK) == 0)
                found = place;
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.6f\n", (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9);
    return found < 0;
}
