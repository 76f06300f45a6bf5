/* Usage: cancelled_streams WAY FIFO. Cancels a thread within a call on a stream that waits for data, and uses the stream in
 * the other thread afterwards. Prints the bytes that whole calls have read. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int __uflow(FILE *);
#define BYTES 100

static const char *way;
static FILE *stream;
static char *path;
static _Atomic pid_t tid;

static int get(void) {
    return !strcmp(way, "inline") ? (stream->_IO_read_ptr >= stream->_IO_read_end ? __uflow(stream)
                                                                                   : *stream->_IO_read_ptr++)
                                  : getc(stream);
}

static void *wait_for_data(void *unused) {
    char text[2 * BYTES];
    tid = (pid_t)syscall(SYS_gettid);
    if (!strcmp(way, "fopen"))
        fopen(path, "r");
    else if (!strcmp(way, "fread"))
        (void)!fread(text, 1, sizeof text, stream);
    else if (!strcmp(way, "fgets"))
        (void)!fgets(text, sizeof text, stream);
    else
        for (int i = 0; i < 2 * BYTES; i++)
            get();
    return unused;
}

/* Whether the thread sleeps: in its call, as it does nothing else. */
static int sleeps(void) {
    char name[64], text[200] = "";
    snprintf(name, sizeof name, "/proc/self/task/%d/stat", (int)tid);
    FILE *state = tid ? fopen(name, "r") : NULL;
    if (state && fgets(text, sizeof text, state))
        fclose(state);
    char *end = strrchr(text, ')');
    return end && end[1] && end[2] == 'S';
}

int main(int count, char **words) {
    char text[BYTES];
    int ends[2];
    pthread_t thread;
    if (count < 3 || pipe(ends) != 0 || !(stream = fdopen(ends[0], "r")))
        return 2;
    way = words[1], path = words[2];
    memset(text, 'x', sizeof text);
    if (write(ends[1], text, sizeof text) != BYTES || pthread_create(&thread, NULL, wait_for_data, NULL) != 0)
        return 1;
    while (!sleeps())
        usleep(1000);
    pthread_cancel(thread);
    pthread_join(thread, NULL);
    int by_thread = !strcmp(way, "getc") || !strcmp(way, "inline") ? BYTES : 0;
    int rest = !strcmp(way, "fopen") ? 2 * BYTES : BYTES;
    if (write(ends[1], text, sizeof text) != BYTES)
        return 1;
    for (int i = 0; i < rest; i++)
        if (getc(stream) != 'x')
            return 3;
    printf("%d\n", by_thread + rest);
    return 0;
}
