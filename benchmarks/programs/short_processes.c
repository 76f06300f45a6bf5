/* Starts processes one after another, like shells and build systems.
 * usage: short_processes fork|none|exec N [PROGRAM]
 * fork: each child writes 3 x 5 bytes to /dev/null and ends. none: it ends at once. exec: each child becomes
 * PROGRAM. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int child(char **words) {
    if (strcmp(words[1], "exec") == 0) {
        execl(words[3], words[3], (char *)NULL);
        return 127;
    }
    if (strcmp(words[1], "none") == 0)
        return 0;
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (int i = 0; i < 3; i++)
        if (write(fd, "hello", 5) != 5)
            return 1;
    return close(fd);
}

int main(int count, char **words) {
    if (count < 3 + (count > 1 && strcmp(words[1], "exec") == 0)) {
        fprintf(stderr, "usage: short_processes fork|none|exec N [PROGRAM]\n");
        return 2;
    }
    for (int left = atoi(words[2]); left > 0; left--) {
        int status = 1;
        pid_t pid = fork();
        if (pid == 0)
            _exit(child(words));
        if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
            return 1;
    }
    return 0;
}
