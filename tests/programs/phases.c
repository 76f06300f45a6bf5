/* Phases of pwrite every 200 ms, all of 64 KiB, except one of FOLLOWED bytes. Waits for its standard input at the end. */
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PHASES 12
#define WRITES 40
#define PERIOD_NS 200000000L
#define SECOND_NS 1000000000L

static char bytes[FOLLOWED];

int main(int count, char **arguments) {
    int file = count == 2 ? open(arguments[1], O_CREAT | O_WRONLY, 0600) : -1;
    struct timespec next;
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (int phase = 0; phase < PHASES; phase++) {
        for (int i = 0; i < WRITES; i++) {
            size_t size = phase == PHASES / 2 && i == WRITES / 2 ? FOLLOWED : 1 << 16;
            if (pwrite(file, bytes, size, (off_t)i << 16) != (ssize_t)size)
                return 1;
        }
        next.tv_nsec += PERIOD_NS;
        next.tv_sec += next.tv_nsec / SECOND_NS;
        next.tv_nsec %= SECOND_NS;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    puts("written");
    fflush(stdout);
    return getchar() == EOF ? 0 : 2;
}
