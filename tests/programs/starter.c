/* Usage: starter WAY FOLDER NAME. Starts the program FOLDER/NAME in a way that needs no path, or past the functions of the C
 * library. failed: in vain, because of a flag that does not exist. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char **environ;

static int in_memory(int program) {
    int copy = memfd_create("program", MFD_CLOEXEC);
    while (sendfile(copy, program, NULL, 1 << 20) > 0)
        ;
    return copy;
}

int main(int count, char **words) {
    if (count < 4)
        return 2;
    char path[PATH_MAX], *arguments[] = {words[3], NULL};
    snprintf(path, sizeof path, "%s/%s", words[2], words[3]);
    int folder = open(words[2], O_PATH | O_DIRECTORY | O_CLOEXEC), program = open(path, O_RDONLY | O_CLOEXEC);
    if (!strcmp(words[1], "fexecve"))
        fexecve(program, arguments, environ);
    else if (!strcmp(words[1], "memory"))
        fexecve(in_memory(program), arguments, environ);
    else if (!strcmp(words[1], "execveat"))
        execveat(folder, words[3], arguments, environ, 0);
    else if (!strcmp(words[1], "syscall-execve"))
        syscall(SYS_execve, path, arguments, environ);
    else if (!strcmp(words[1], "syscall-execveat"))
        syscall(SYS_execveat, program, "", arguments, environ, AT_EMPTY_PATH);
    else
        return execveat(folder, words[3], arguments, environ, 1 << 30) != -1;
    return 1;
}
