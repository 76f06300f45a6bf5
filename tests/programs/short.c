/* Many concurrent short processes: each writes a little and ends, or execs a program that does.
 * usage: short swarm COUNT FILE | short line DEPTH FILE | short link DEPTH FILE
 * swarm: child i writes 1 + i % 7 bytes; each tenth is a chain of three programs that write one byte each.
 * line: each process forks the next, and writes a byte to FILE and one to FILE.DEPTH, before and after. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE 40

static void put(const char *path, int size) {
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, "........", (size_t)size) != size || close(fd) != 0)
        _exit(1);
}

static void become(const char *self, int depth, const char *path) {
    char number[12];
    snprintf(number, sizeof number, "%d", depth);
    execl(self, self, "link", number, path, (char *)NULL);
    _exit(1);
}

static int reap(void) {
    int status = 1;
    return wait(&status) > 0 ? status != 0 : 1;
}

static int swarm(const char *self, int count, const char *path) {
    int under_way = 0, failed = 0;
    for (int i = 0; i < count; i++) {
        if (under_way == AT_ONCE) {
            failed |= reap();
            under_way--;
        }
        pid_t pid = fork();
        if (pid == 0) {
            if (i % 10 == 9)
                become(self, 3, path);
            put(path, 1 + i % 7);
            _exit(0);
        }
        if (pid < 0)
            return 1;
        under_way++;
    }
    while (under_way--)
        failed |= reap();
    return failed;
}

static int line(int depth, const char *path) {
    char own[4096];
    snprintf(own, sizeof own, "%s.%d", path, depth);
    put(path, 1);
    put(own, 1);
    pid_t pid = depth > 1 ? fork() : -1;
    if (pid == 0)
        _exit(line(depth - 1, path));
    int failed = depth > 1 ? reap() : 0;
    put(own, 1);
    put(path, 1);
    return failed;
}

int main(int count, char **words) {
    if (count != 4)
        return 2;
    int number = atoi(words[2]);
    if (strcmp(words[1], "swarm") == 0)
        return swarm(words[0], number, words[3]);
    if (strcmp(words[1], "line") == 0)
        return line(number, words[3]);
    put(words[3], 1);
    if (number > 1)
        become(words[0], number - 1, words[3]);
    return 0;
}
