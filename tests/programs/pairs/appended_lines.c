/* Opens, appends a line to and closes each of eight logs; mended: they stay open. */
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { LOGS = 8, LINES = 10000 };

int main(int argc, char **argv)
{
    char path[4096];
    FILE *logs[LOGS] = {0};
    if (argc < 3)
        return 2;
    const int mended = !strcmp(argv[1], "mended");
    struct timespec began, ended;
    clock_gettime(CLOCK_MONOTONIC, &began);
    for (int line = 0; line < LINES; line++)
        for (int log = 0; log < LOGS; log++) {
            snprintf(path, sizeof path, "%s/sensor-%c.log", argv[2], 'a' + log);
            if (!logs[log] && !(logs[log] = fopen(path, "a")))
                return 1;
            fprintf(logs[log], "%d %d\n", line, log);
            if (!mended) {
                fclose(logs[log]);
                logs[log] = NULL;
            }
        }
    for (int log = 0; log < LOGS; log++)
        if (logs[log])
            fclose(logs[log]);
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf("%.6f\n", (double)(ended.tv_sec - began.tv_sec) + (double)(ended.tv_nsec - began.tv_nsec) / 1e9);
    return 0;
}
