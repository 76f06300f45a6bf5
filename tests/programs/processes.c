/* Programs whose processes are difficult for a tracer. usage: processes NAME FILE [NUMBER] */
#define _GNU_SOURCE
#include "counted.h"

#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "past_libc.h"

extern char **environ;

static void wait_for_all(void) {
    int status;
    pid_t child;
    while ((child = wait(&status)) > 0 || errno == EINTR)
        must(child < 0 || status == 0);
}

static void family(int depth) {
    char suffix[32];
    snprintf(suffix, sizeof suffix, ".%d", depth);
    for (int i = 0; i < 2 && depth; i++)
        if (fork() == 0) {
            family(depth - 1);
            _exit(0);
        }
    write_own(suffix, 50);
    wait_for_all();
}

static void spawn(int count) {
    char *const arguments[] = {"processes", "inherit", (char *)path, NULL};
    for (int i = 0; i < count; i++) {
        posix_spawn_file_actions_t actions;
        must(posix_spawn_file_actions_init(&actions) == 0);
        int fd = open_own(".inherited");
        must(posix_spawn_file_actions_adddup2(&actions, fd, 9) == 0);
        must(posix_spawn_file_actions_addclose(&actions, fd) == 0);
        pid_t child;
        must(posix_spawn(&child, "/proc/self/exe", &actions, NULL, arguments, environ) == 0);
        posix_spawn_file_actions_destroy(&actions);
        write_some(fd, 3); /* beside the child */
        close_own(fd);
        wait_for_all();
    }
}

/* Each image writes to a descriptor that it got from the previous one. */
static void chain(int left) {
    int fd = left == 20 ? open_own(".chain") : 9;
    if (fd != 9)
        must(dup2(fd, 9) == 9);
    write_some(9, 5);
    if (!left)
        return;
    char number[16];
    snprintf(number, sizeof number, "%d", left - 1);
    execl("/proc/self/exe", "processes", "chain", path, number, (char *)NULL);
    _exit(3);
}

/* Many processes that do almost nothing, some tens at once. */
static void swarm(int count) {
    for (int i = 0; i < count; i++) {
        pid_t child = fork();
        if (child == 0) {
            write_own(".swarm", 1);
            _exit(0);
        }
        must(child > 0);
        if (i % 20 == 19)
            wait_for_all();
    }
    wait_for_all();
}

static void vforks(volatile int count) {
    while (count-- > 0) {
        pid_t child = vfork();
        if (child == 0) {
            execl("/proc/self/exe", "processes", "one", path, "0", (char *)NULL);
            _exit(3);
        }
        write_own(".beside", 1);
        wait_for_all();
    }
}

/* A grandchild that writes when no process waits for it any more. */
static void orphan(void) {
    int ends[2];
    must(pipe(ends) == 0);
    if (fork() == 0) {
        if (fork() == 0) {
            setsid();
            char byte;
            close(ends[1]);
            must(read(ends[0], &byte, 1) == 0); /* our parent's parent has written its share */
            write_own(".orphan", 100);
            _exit(0);
        }
        _exit(0);
    }
    wait_for_all();
    write_own("", 10);
}

/* Killed while it writes, at an arbitrary point. */
static void killed(void) {
    pid_t child = fork();
    if (child == 0) {
        int fd = open_own("");
        for (;;)
            write_some(fd, 1);
    }
    while (atomic_load(&made[WRITE]) < 5000)
        sched_yield();
    kill(child, SIGKILL);
    int status;
    must(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
}

/* The tracer does not change the limit of descriptors. */
static void few_files(void) {
    struct rlimit limit = {16, 16};
    must(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    execl("/proc/self/exe", "processes", "count-files", path, (char *)NULL);
}

static void count_files(void) {
    int count = 0, fd, last = -1;
    while ((fd = CALL(CREATE, open(path, O_CREAT | O_WRONLY, 0600))) >= 0) {
        must(fd > last);
        last = fd;
        count++;
    }
    must(errno == EMFILE && last == 15);
    must(dprintf(1, "%d\n", count) > 0);
}

static void little_memory(void) {
    struct rlimit limit = {64 << 20, 64 << 20};
    must(setrlimit(RLIMIT_AS, &limit) == 0);
    execl("/proc/self/exe", "processes", "one", path, (char *)NULL);
}

static void small_files(void) {
    struct rlimit limit = {1 << 20, 1 << 20};
    must(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    execl("/proc/self/exe", "processes", "one", path, (char *)NULL);
}

/* Files are numbered from the lowest free descriptor, which a program without standard streams relies on. */
static void closed_standard(void) {
    for (int fd = 0; fd < 3; fd++)
        syscall(SYS_close, fd);
    execl("/proc/self/exe", "processes", "lowest", path, (char *)NULL);
}

static void lowest(void) {
    int fd = open_own("");
    write_some(fd, 10);
    _exit(fd == 0 ? 7 : 9);
}

static void close_all(void) {
    int fd = open_own("");
    for (int i = 0; i < 3; i++) {
        write_some(fd, 5);
        if (i == 0)
            closefrom(3);
        else if (i == 1)
            must(close_range(3, ~0u, 0) == 0);
        else
            for (int other = 3; other < 1024; other++)
                close(other);
        int again = open_own("");
        must(again == 3);
        fd = again;
    }
    write_some(fd, 5);
}

static void open_often(int count) {
    for (int i = 0; i < count; i++)
        close_own(open_own(""));
}

/* In a root of its own, without /proc and without a path to the collector; as root only. */
static void chrooted(void) {
    int before = open_own(".before");
    must(mkdir(path, 0700) == 0 && chroot(path) == 0 && chdir("/") == 0);
    path = "/inside";
    write_some(before, 10);
    write_own("", 10);
    if (fork() == 0) {
        int fd = open("/child", O_CREAT | O_WRONLY, 0600);
        must(write(fd, block, 10) == 10);
        _exit(0);
    }
    wait_for_all();
}

/* The kernel decides on the program's rights; tracing does not change them. */
static void say_who(void) {
    must(dprintf(1, "%d %d %d\n", (int)getuid(), (int)geteuid(), getenv("LD_PRELOAD") != NULL) > 0);
}

int main(int count, char **words) {
    must(count >= 3);
    const char *name = words[1];
    int number = count > 3 ? atoi(words[3]) : 0;
    if (!strcmp(name, "who")) {
        say_who();
        finish();
    }
    count_calls(words[2]);
    if (!strcmp(name, "family"))
        family(4);
    else if (!strcmp(name, "spawn"))
        spawn(20);
    else if (!strcmp(name, "inherit")) {
        write_some(9, 4);
        _exit(0);
    } else if (!strcmp(name, "chain"))
        chain(count > 3 ? number : 20);
    else if (!strcmp(name, "swarm"))
        swarm(300);
    else if (!strcmp(name, "vforks"))
        vforks(30);
    else if (!strcmp(name, "one")) {
        write_own(".one", 1);
        if (count > 3)
            _exit(0);
    } else if (!strcmp(name, "orphan"))
        orphan();
    else if (!strcmp(name, "killed"))
        killed();
    else if (!strcmp(name, "few-files"))
        few_files();
    else if (!strcmp(name, "count-files"))
        count_files();
    else if (!strcmp(name, "little-memory"))
        little_memory();
    else if (!strcmp(name, "small-files"))
        small_files();
    else if (!strcmp(name, "closed-standard"))
        closed_standard();
    else if (!strcmp(name, "lowest"))
        lowest();
    else if (!strcmp(name, "close-all"))
        close_all();
    else if (!strcmp(name, "open-often"))
        open_often(100000);
    else if (!strcmp(name, "chrooted"))
        chrooted();
    else
        return 1;
    finish();
}
