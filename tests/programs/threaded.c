/* Programs whose threads and signals are difficult for a tracer. usage: threaded NAME FILE */
#define _GNU_SOURCE
#include "counted.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>

static pthread_barrier_t together;

static void run(void *(*work)(void *), long count, const pthread_attr_t *attributes) {
    pthread_t all[count];
    for (long i = 0; i < count; i++)
        must(pthread_create(&all[i], attributes, work, (void *)i) == 0);
    for (long i = 0; i < count; i++)
        pthread_join(all[i], NULL);
}

static void *write_one_file(void *number) {
    write_own(".thread", 20);
    return number;
}

static void waves(void) {
    for (int wave = 0; wave < 20; wave++)
        run(write_one_file, 50, NULL);
}

static void *write_with_all(void *number) {
    int fd = open_own(".thread");
    pthread_barrier_wait(&together);
    write_some(fd, 10);
    pthread_barrier_wait(&together);
    close_own(fd);
    return number;
}

static void at_once(void) {
    pthread_attr_t small;
    must(pthread_attr_init(&small) == 0 && pthread_attr_setstacksize(&small, 256 << 10) == 0);
    pthread_barrier_init(&together, NULL, 300);
    run(write_with_all, 300, &small);
}

/* The stack has space for little more than the C library itself needs. */
static void *work_on_little_stack(void *number) {
    volatile char used[2560];
    memset((void *)used, 1, sizeof used);
    int folder = open(".", O_PATH | O_DIRECTORY);
    must(folder >= 0);
    char name[32];
    strcpy(name, "little.");
    name[7] = (char)('a' + (long)number);
    name[8] = '\0';
    int fd = openat(folder, name, O_CREAT | O_WRONLY, 0600);
    must(fd >= 0);
    must(write(fd, block, 10) == 10);
    must(access(name, R_OK) == 0);
    char other[32];
    strcpy(other, name);
    other[8] = '2';
    other[9] = '\0';
    must(rename(name, other) == 0);
    struct iovec parts[2] = {{block, 5}, {block, 5}};
    must(writev(fd, parts, 2) == 10);
    must(close(fd) == 0 && unlink(other) == 0 && close(folder) == 0);
    must(used[17] == 1);
    return NULL;
}

static void little_stacks(void) {
    pthread_attr_t little;
    must(pthread_attr_init(&little) == 0 && pthread_attr_setstacksize(&little, (size_t)PTHREAD_STACK_MIN) == 0);
    char folder[4096];
    strcpy(folder, path);
    *strrchr(folder, '/') = '\0';
    must(chdir(folder) == 0);
    run(work_on_little_stack, 8, &little);
}

static pthread_key_t key;
static void at_thread_end(void *left) {
    write_own(".late", 1);
    long rounds = (long)left;
    if (rounds > 1)
        pthread_setspecific(key, (void *)(rounds - 1)); /* once more, after all other destructors */
}

static void *end_with_destructors(void *number) {
    pthread_setspecific(key, (void *)3L);
    write_own(".thread", 1);
    return number;
}

static void destructors(void) {
    must(pthread_key_create(&key, at_thread_end) == 0);
    run(end_with_destructors, 30, NULL);
}

static void *fork_and_write(void *number) {
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            write_own(".child", 5);
            _exit(0);
        }
        must(child > 0);
        write_own(".thread", 5);
        int status;
        must(waitpid(child, &status, 0) == child && status == 0);
    }
    return number;
}

static int pipe_ends[2];
static void when_cancelled(void *file) {
    write_own(file, 1);
}

static void *wait_to_be_cancelled(void *number) {
    pthread_cleanup_push(when_cancelled, ".cancelled");
    char byte;
    while (read(pipe_ends[0], &byte, 1) != 0)
        ;
    pthread_cleanup_pop(0);
    return number;
}

static void cancelled(void) {
    must(pipe(pipe_ends) == 0);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        void *result;
        must(pthread_create(&thread, NULL, wait_to_be_cancelled, NULL) == 0);
        must(pthread_cancel(thread) == 0);
        must(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
    }
    write_own("", 5);
}

/* ---- signals ---- */

static int ticks_fd;
static volatile sig_atomic_t ticks;
static void on_tick(int number) {
    int error = errno;
    (void)number;
    write_some(ticks_fd, 1);
    if (ticks++ % 16 == 0)
        write_own(".handler", 1);
    errno = error;
}

static void often(int microseconds) {
    struct itimerval timer = {{0, microseconds}, {0, microseconds}};
    must(setitimer(ITIMER_REAL, &timer, NULL) == 0);
}

static void storm(void) {
    ticks_fd = open_own(".ticks");
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    must(sigaction(SIGALRM, &action, NULL) == 0);
    often(100);
    for (int i = 0; i < 300 || ticks < 200; i++) {
        errno = 0;
        write_own("", 20);
        must(errno == 0);
    }
    often(0);
}

static void *storm_target(void *number) {
    while (ticks < 400)
        write_own("", 5);
    return number;
}

/* Signals on arbitrary threads. */
static void threads_in_a_storm(void) {
    ticks_fd = open_own(".ticks");
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    must(sigaction(SIGALRM, &action, NULL) == 0);
    often(200);
    run(storm_target, 6, NULL);
    often(0);
}

static sigjmp_buf out;
static void jump(int number) {
    (void)number;
    siglongjmp(out, 1);
}

/* Calls that never return. */
static void jumps(void) {
    must(pipe(pipe_ends) == 0);
    struct sigaction action = {.sa_handler = jump};
    must(sigaction(SIGALRM, &action, NULL) == 0);
    volatile int fd = open_own("");
    for (volatile int i = 0; i < 50; i++) {
        if (sigsetjmp(out, 1) == 0) {
            struct itimerval soon = {{0, 0}, {0, 1000}};
            must(setitimer(ITIMER_REAL, &soon, NULL) == 0);
            char byte;
            must(read(pipe_ends[0], &byte, 1) == 0);
        }
        write_some(fd, 1);
    }
    close_own(fd);
}

static void on_own_stack(int number) {
    (void)number;
    write_own(".handler", 2);
    ticks++;
}

/* A handler with a small stack of its own. */
static void own_stack(void) {
    stack_t small = {.ss_size = (size_t)sysconf(_SC_MINSIGSTKSZ) + 8192};
    must((small.ss_sp = malloc(small.ss_size)) != NULL && sigaltstack(&small, NULL) == 0);
    struct sigaction action = {.sa_handler = on_own_stack, .sa_flags = SA_ONSTACK | SA_RESTART};
    must(sigaction(SIGUSR1, &action, NULL) == 0);
    for (int i = 0; i < 50; i++) {
        must(raise(SIGUSR1) == 0);
        write_own("", 1);
    }
    must(ticks == 50);
}

/* The program's own handler of its own faults, while it is in a call of ours. */
static void on_fault(int number) {
    (void)number;
    write_own(".fault", 1);
    siglongjmp(out, 1);
}

static void faults(void) {
    struct sigaction action = {.sa_handler = on_fault};
    must(sigaction(SIGSEGV, &action, NULL) == 0);
    for (volatile int i = 0; i < 20; i++)
        if (sigsetjmp(out, 1) == 0) {
            FILE *none = (FILE *)(uintptr_t)8;
            fwrite(block, 1, 10, none); /* no stream: the C library faults, as it does without a tracer */
            must(0);
        } else {
            write_own("", 1);
        }
}

int main(int count, char **words) {
    must(count == 3);
    count_calls(words[2]);
    const char *name = words[1];
    if (!strcmp(name, "waves"))
        waves();
    else if (!strcmp(name, "at-once"))
        at_once();
    else if (!strcmp(name, "little-stacks"))
        little_stacks();
    else if (!strcmp(name, "destructors"))
        destructors();
    else if (!strcmp(name, "forking-threads"))
        run(fork_and_write, 6, NULL);
    else if (!strcmp(name, "cancelled"))
        cancelled();
    else if (!strcmp(name, "storm"))
        storm();
    else if (!strcmp(name, "threads-in-a-storm"))
        threads_in_a_storm();
    else if (!strcmp(name, "jumps"))
        jumps();
    else if (!strcmp(name, "own-stack"))
        own_stack();
    else if (!strcmp(name, "faults"))
        faults();
    else
        return 1;
    finish();
}
