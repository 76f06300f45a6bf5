/* Usage: forked_streams FILE STREAMS FORKS [threads [_exit]]. Opens FILE as often as given, reads from each stream, and forks
 * children that end at once. threads: another thread opens, reads and closes streams meanwhile, until the end; _exit:
 * that is how it ends. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *open_and_close(void *path) {
    for (;;) {
        FILE *streams[20];
        for (int i = 0; i < 20; i++)
            if ((streams[i] = fopen(path, "r")))
                getc(streams[i]);
        for (int i = 0; i < 20; i++)
            if (streams[i])
                fclose(streams[i]);
    }
    return NULL;
}

int main(int count, char **words) {
    char text[8];
    if (count < 4)
        return 2;
    for (int i = 0; i < atoi(words[2]); i++) {
        FILE *stream = fopen(words[1], "r");
        if (!stream || fread(text, 1, sizeof text, stream) != sizeof text)
            return 1;
    }
    pthread_t thread;
    for (int i = 0; count > 4 && i < 2; i++)
        if (pthread_create(&thread, NULL, open_and_close, words[1]) != 0)
            return 1;
    for (int i = 0; i < atoi(words[3]); i++) {
        pid_t child = fork();
        if (!child)
            _exit(0);
        int status;
        if (waitpid(child, &status, 0) != child || status != 0)
            return 3;
    }
    if (count > 5 && !strcmp(words[5], "_exit"))
        _exit(0);
    return 0;
}
