/* Usage: ended_characters FILE USE COUNT END [threads]. Uses characters of FILE, then ends. USE: how characters are used;
 * COUNT: of how many streams; threads: another thread has run before. Prints nothing. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

extern char **environ;
int __uflow(FILE *);

static void use(FILE *stream, const char *how) {
    char text[100], block[10000] = "";
    if (!strcmp(how, "getc") || !strcmp(how, "closed"))
        for (int i = 0; i < 100; i++)
            getc(stream);
    else if (!strcmp(how, "inline"))
        for (int i = 0; i < 100; i++)
            (void)(stream->_IO_read_ptr >= stream->_IO_read_end ? __uflow(stream) : *stream->_IO_read_ptr++);
    else if (!strcmp(how, "wide"))
        for (int i = 0; i < 100; i++)
            getwc(stream);
    else if (!strcmp(how, "fread"))
        (void)!fread(text, 1, sizeof text, stream);
    else if (!strcmp(how, "fgets"))
        (void)!fgets(text, sizeof text, stream);
    else if (!strcmp(how, "putc"))
        for (int i = 0; i < 100; i++)
            putc('x', stream);
    else if (!strcmp(how, "flushed")) {
        for (int i = 0; i < 100; i++)
            putc('x', stream);
        fwrite(block, 1, sizeof block, stream);
    }
    if (!strcmp(how, "closed"))
        fclose(stream);
}

static void end(const char *how) {
    char *words[] = {"true", NULL};
    if (!strcmp(how, "kill"))
        kill(getpid(), SIGKILL);
    else if (!strcmp(how, "abort"))
        abort();
    else if (!strcmp(how, "_exit"))
        _exit(0);
    else if (!strcmp(how, "quick_exit"))
        quick_exit(0);
    else if (!strcmp(how, "syscall-exit"))
        syscall(SYS_exit_group, 0);
    else if (!strcmp(how, "execve"))
        execve("/bin/true", words, environ);
    else if (!strcmp(how, "fexecve"))
        fexecve(open("/bin/true", O_RDONLY | O_CLOEXEC), words, environ);
    else if (!strcmp(how, "execveat"))
        execveat(open("/bin", O_PATH | O_CLOEXEC), "true", words, environ, 0);
    else if (!strcmp(how, "syscall-execve"))
        syscall(SYS_execve, "/bin/true", words, environ);
    else if (!strcmp(how, "syscall-execveat"))
        syscall(SYS_execveat, AT_FDCWD, "/bin/true", words, environ, 0);
    else if (!strcmp(how, "failed-execve"))
        execve("/nowhere", words, environ), kill(getpid(), SIGKILL);
    else if (!strcmp(how, "written-kill")) {
        int ends[2];
        FILE *to = pipe(ends) ? NULL : fdopen(ends[1], "w");
        for (int i = 0; to && i < 5000; i++)
            putc('x', to);
        kill(getpid(), SIGKILL);
    } else if (!strcmp(how, "vfork") && !vfork())
        execve("/bin/true", words, environ);
    if (!strcmp(how, "vfork"))
        wait(NULL), kill(getpid(), SIGKILL);
}

static void *nothing(void *unused) {
    return unused;
}

int main(int count, char **words) {
    pthread_t thread;
    if (count < 5 || (count > 5 && (pthread_create(&thread, NULL, nothing, NULL) || pthread_join(thread, NULL))))
        return 2;
    for (int i = 0; i < atoi(words[3]); i++) {
        FILE *stream = fopen(words[1], !strcmp(words[2], "putc") || !strcmp(words[2], "flushed") ? "w" : "r");
        if (!stream)
            return 1;
        use(stream, words[2]);
    }
    if (!strncmp(words[4], "child-", 6)) {
        pid_t child = fork();
        if (!child) {
            FILE *stream = fopen(words[1], "r");
            if (stream)
                use(stream, words[2]);
        }
        if (child)
            waitpid(child, NULL, 0);
        else
            end(words[4] + 6);
        return 0;
    }
    end(words[4]);
    return 0;
}
