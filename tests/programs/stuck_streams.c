/* Usage: stuck_streams FILE END. A thread waits for ever in fflush(NULL), with the C library's lock of all streams. The other
 * has read characters of FILE, and ends without that lock. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;
static _Atomic pid_t tid;
static int ends[2];

static void *flush_all(void *unused) {
    FILE *full = fdopen(ends[1], "w");
    if (!full || fputs("text", full) < 0)
        _exit(9);
    tid = (pid_t)syscall(SYS_gettid);
    fflush(NULL);
    return unused;
}

/* Whether the thread sleeps. Without streams, whose list is locked. */
static int sleeps(void) {
    char name[64], text[200] = "";
    snprintf(name, sizeof name, "/proc/self/task/%d/stat", (int)tid);
    int state = tid ? open(name, O_RDONLY) : -1;
    ssize_t size = state < 0 ? 0 : read(state, text, sizeof text - 1);
    close(state);
    char *end = size > 0 ? strrchr(text, ')') : NULL;
    return end && end[1] && end[2] == 'S';
}

int main(int count, char **words) {
    pthread_t thread;
    char block[4096] = "", *arguments[] = {"true", NULL};
    FILE *stream = count < 3 ? NULL : fopen(words[1], "r");
    if (!stream || pipe(ends) != 0)
        return 2;
    for (int i = 0; i < 100; i++)
        getc(stream);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], block, sizeof block) > 0)
        ;
    fcntl(ends[1], F_SETFL, 0);
    if (pthread_create(&thread, NULL, flush_all, NULL) != 0)
        return 1;
    while (!sleeps())
        usleep(1000);
    if (!strcmp(words[2], "execve"))
        execve("/bin/true", arguments, environ);
    else if (!strcmp(words[2], "quick_exit"))
        quick_exit(0);
    _exit(0);
}
