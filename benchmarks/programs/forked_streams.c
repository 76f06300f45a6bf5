/* Usage: forked_streams STREAMS. Prints the shortest time in us of a fork, and that from a fork to the
 * end of its child, of a process with this many open streams that it has used. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FORKS = 2000 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static double least(double one, double other) {
    return one < other ? one : other;
}

int main(int count, char **words) {
    char text[8];
    for (int i = 0; i < atoi(words[count - 1]); i++) {
        FILE *stream = fopen("/dev/zero", "r");
        if (!stream || !fread(text, sizeof text, 1, stream))
            return 1;
    }
    double of_fork = 1e9, of_both = 1e9;
    for (int i = 0; i < FORKS; i++) {
        double begin = now();
        pid_t child = fork();
        if (!child)
            _exit(0);
        double forked = now();
        if (child < 0 || waitpid(child, NULL, 0) != child)
            return 1;
        of_fork = least(of_fork, forked - begin);
        of_both = least(of_both, now() - begin);
    }
    printf("%.1f %.1f\n", of_fork, of_both);
    return 0;
}
