/* Rare operations that are difficult for a tracer. Each ends with 7 and prints "done".
 * usage: edges NAME FILE */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static char block[1000];
static const char *path;

static int open_own(void) {
    int fd = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (fd < 0)
        exit(1);
    return fd;
}

static void must(int right) {
    if (!right)
        _exit(2);
}

/* A number that was invalid when first used, and is a file later. */
static void bad_then_good(void) {
    int fd = open_own();
    must(write(50, block, 1) == -1 && errno == EBADF);
    must(fcntl(fd, F_DUPFD, 50) == 50);
    must(write(50, block, sizeof block) == sizeof block);
}

/* pclose releases a number without calling close. */
static void pipe_then_file(void) {
    FILE *pipe = popen("cat > /dev/null", "w");
    int number = fileno(pipe);
    open_own(); /* takes the lowest free number */
    must(fwrite(block, 1, 10, pipe) == 10);
    must(pclose(pipe) == 0);
    char name[4096];
    snprintf(name, sizeof name, "%s.XXXXXX", path);
    must(mkstemp(name) == number);
    must(write(number, block, sizeof block) == sizeof block);
    must(rename(name, path) == 0);
}

/* The same file, far more often than the log of definitions has space for. */
static void open_often(void) {
    for (int i = 0; i < 30000; i++) {
        int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
        must(fd >= 0);
        if (i == 29999)
            must(write(fd, block, sizeof block) == sizeof block);
        close(fd);
    }
}

static void full_device(void) {
    FILE *file = fopen("/dev/full", "w");
    setvbuf(file, NULL, _IONBF, 0);
    errno = 0;
    must(fwrite(block, 1, 100, file) == 0 && errno == ENOSPC);
    errno = 0;
    must(fputs("text", file) == EOF && errno == ENOSPC);
    fclose(file);
}

static void descriptor_print(void) {
    int fd = open_own();
    must(dprintf(fd, "%0500d", 7) == 500);
}

static int written;
static pid_t child = -1;
static void on_alarm(int number) {
    (void)number;
    child = fork();
    if (child == 0) {
        written = open_own(); /* calls that begin here in the child are traced on their own, or not at all */
        must(write(written, block, sizeof block) == sizeof block);
    }
}

/* A child that a handler creates inside a call, and that returns from that call. */
static void fork_in_handler(int traceable) {
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    int ends[2];
    must(pipe(ends) == 0);
    if (!traceable) { /* too small for a region: the child cannot begin */
        struct rlimit limit = {1 << 20, 1 << 20};
        setrlimit(RLIMIT_FSIZE, &limit);
    }
    struct itimerval soon = {{0, 0}, {0, 20000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    must(read(ends[0], block, 1) == -1 && errno == EINTR);
    if (child == 0) {
        must(write(written, block, sizeof block) == sizeof block);
        _exit(0);
    }
    int status;
    must(waitpid(child, &status, 0) == child);
    must(status == 0);
}

/* As above, but the child makes no calls before it returns. */
static void quiet_alarm(int number) {
    (void)number;
    child = fork();
}
static void quiet_fork_in_handler(void) {
    struct sigaction action = {.sa_handler = quiet_alarm};
    sigaction(SIGALRM, &action, NULL);
    int ends[2];
    must(pipe(ends) == 0);
    struct itimerval soon = {{0, 0}, {0, 20000}};
    setitimer(ITIMER_REAL, &soon, NULL);
    must(read(ends[0], block, 1) == -1 && errno == EINTR);
    if (child == 0)
        _exit(0);
    must(waitpid(child, NULL, 0) == child);
}

static sigjmp_buf back;
static void jump(int number) {
    (void)number;
    siglongjmp(back, 1);
}
/* Jumps out of arbitrary calls, thousands of times, like programs that limit the time of a call. It makes no more
 * calls than a ring has space for, because its collector may stall meanwhile. */
static void jump_often(int times, const char *name_format) {
    struct sigaction action = {.sa_handler = jump};
    sigaction(SIGALRM, &action, NULL);
    struct stat facts;
    char name[32];
    for (volatile int jumps = 0; jumps < times; jumps++) {
        if (sigsetjmp(back, 1))
            continue;
        struct itimerval soon = {.it_value = {0, 1 + jumps % 30}};
        setitimer(ITIMER_REAL, &soon, NULL);
        for (int calls = 0; calls < 16; calls++) {
            snprintf(name, sizeof name, name_format, jumps, calls);
            stat(name, &facts);
        }
        for (;;)
            pause();
    }
    int fd = open_own();
    for (size_t i = 0; i < sizeof block; i++)
        must(write(fd, block, 1) == 1);
}

int main(int count, char **words) {
    must(count == 3);
    const char *name = words[1];
    path = words[2];
    if (!strcmp(name, "bad-then-good"))
        bad_then_good();
    else if (!strcmp(name, "pipe-then-file"))
        pipe_then_file();
    else if (!strcmp(name, "open-often"))
        open_often();
    else if (!strcmp(name, "full-device"))
        full_device();
    else if (!strcmp(name, "descriptor-print"))
        descriptor_print();
    else if (!strcmp(name, "fork-in-handler"))
        fork_in_handler(1);
    else if (!strcmp(name, "untraceable-fork-in-handler"))
        fork_in_handler(0);
    else if (!strcmp(name, "quiet-fork-in-handler"))
        quiet_fork_in_handler();
    else if (!strcmp(name, "jump-often"))
        jump_often(3000, "/..");
    else if (!strcmp(name, "jump-at-new-names"))
        jump_often(1000, "/none-%d-%d");
    else
        return 1;
    must(write(1, "done\n", 5) == 5);
    return 7;
}
