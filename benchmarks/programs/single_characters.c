/* Prints the time in ns of a putc, a getc and an fputs of nine bytes, which go to /dev/null or come from /dev/zero. With an
 * argument a second thread has been started, so that the C library locks streams. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#undef putc
#undef getc
enum { CHARACTERS = 20000000, LINES = 200000 }; /* lines: as many as a ring holds without its reader */

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static void *nothing(void *argument) {
    return argument;
}

int main(int count, char **arguments) {
    (void)arguments;
    pthread_t thread;
    if (count > 1 && pthread_create(&thread, NULL, nothing, NULL) == 0)
        pthread_join(thread, NULL);
    FILE *to = fopen("/dev/null", "w"), *from = fopen("/dev/zero", "r");
    if (!to || !from)
        return 1;
    long sum = 0;
    double begin = now();
    for (int i = 0; i < CHARACTERS; i++)
        sum += putc('x', to);
    double put = now();
    for (int i = 0; i < CHARACTERS; i++)
        sum += getc(from);
    double got = now();
    for (int i = 0; i < LINES; i++)
        sum += fputs("123456789", to);
    double end = now();
    printf("%.3f %.3f %.3f\n", (put - begin) / CHARACTERS, (got - put) / CHARACTERS, (end - got) / LINES);
    return sum == 0;
}
