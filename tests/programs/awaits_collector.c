/* Makes calls until the other side has seen enough. usage: awaits_collector FILE THREADS
 *
 * Each thread opens FILE and writes to it every 2 ms. Commands on standard input, one letter each:
 *   f  forks a child, which opens FILE.child and writes to it with one thread
 *   e  forks a child that starts this program anew on FILE.exec
 *   q  ends: all threads, and the children
 * Prints a line once a thread has written ten times, and at the end, for each process, its name and its number of calls
 * that move data.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static _Atomic int ends;
static _Atomic long calls;
static const char *path;

static void say(const char *text) {
    atomic_fetch_add(&calls, 1);
    if (write(1, text, strlen(text)) < 0)
        abort();
}

static bool is_told(char *command) {
    atomic_fetch_add(&calls, 1);
    return read(0, command, 1) == 1 && *command != 'q';
}

static void *writing(void *unused) {
    int fd = open(path, O_CREAT | O_WRONLY, 0644);
    for (long i = 0; !atomic_load(&ends); i++) {
        ssize_t done = pwrite(fd, &i, sizeof i, (off_t)(8 * i));
        if (done != sizeof i)
            abort();
        atomic_fetch_add(&calls, 1);
        if (i == 10)
            say("writing\n");
        poll(NULL, 0, 2);
    }
    close(fd);
    return unused;
}

static void report(void) {
    char line[4200];
    snprintf(line, sizeof line, "%s %ld\n", path, atomic_load(&calls) + 1);
    say(line);
}

static pid_t child(const char *program, const char *suffix, int *end) {
    static char names[2][4100];
    static int number;
    char *name = names[number++ & 1];
    int ends_of[2];
    snprintf(name, sizeof names[0], "%s%s", path, suffix);
    if (pipe(ends_of) != 0)
        abort();
    pid_t made = fork();
    if (made) {
        close(ends_of[0]);
        *end = ends_of[1];
        return made;
    }
    close(ends_of[1]);
    dup2(ends_of[0], 0);
    if (program)
        execl(program, program, name, "1", NULL);
    path = name;
    atomic_store(&calls, 0);
    return 0;
}

int main(int count, char **arguments) {
    path = arguments[1];
    int threads = count > 2 ? atoi(arguments[2]) : 1, children = 0, ends_of[2];
    pthread_t made[64];
    for (int i = 0; i < threads && i < 64; i++)
        if (pthread_create(&made[i], NULL, writing, NULL))
            abort();
    for (char command; is_told(&command);) {
        if (child(command == 'e' ? arguments[0] : NULL, command == 'e' ? ".exec" : ".child", &ends_of[children]) == 0) {
            pthread_t own;
            if (pthread_create(&own, NULL, writing, NULL))
                abort();
            while (is_told(&command))
                ;
            atomic_store(&ends, 1);
            pthread_join(own, NULL);
            report();
            return 0;
        }
        children++;
    }
    atomic_store(&ends, 1);
    for (int i = 0; i < children; i++)
        close(ends_of[i]);
    for (int i = 0; i < threads && i < 64; i++)
        pthread_join(made[i], NULL);
    while (wait(NULL) > 0)
        ;
    report();
    return 0;
}
