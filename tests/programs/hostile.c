/* Programs that are difficult for a tracer, selected by name. Each writes "done\n" to standard output and ends with
 * 7.
 * usage: hostile NAME FILE [FIFO] */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITES 100
#define SIZE 1000

static const char *path;
static char block[SIZE];

static int open_own(const char *suffix) {
    char name[4096];
    snprintf(name, sizeof name, "%s%s", path, suffix);
    int fd = open(name, O_CREAT | O_WRONLY | O_APPEND, 0600);
    if (fd < 0)
        exit(1);
    return fd;
}

static void write_all(int fd) {
    for (int i = 0; i < WRITES; i++)
        if (write(fd, block, SIZE) != SIZE)
            _exit(2);
}

static void *thread_main(void *number) {
    char suffix[32];
    snprintf(suffix, sizeof suffix, ".%ld", (long)number);
    int fd = open_own(suffix);
    write_all(fd);
    close(fd);
    return NULL;
}

static void threads(long count) {
    pthread_t *all = calloc((size_t)count, sizeof *all);
    for (long i = 0; i < count; i++)
        if (pthread_create(&all[i], NULL, thread_main, (void *)i) != 0)
            exit(3);
    for (long i = 0; i < count; i++)
        pthread_join(all[i], NULL);
    free(all);
}

static pthread_barrier_t together;
static sem_t begun;
static void *waiting_main(void *number) {
    int fd = open_own(".shared");
    if (write(fd, block, SIZE) != SIZE)
        exit(2);
    sem_post(&begun);
    pthread_barrier_wait(&together);
    close(fd);
    return number;
}

/* All alive at once: more than the slots of one region. In turn, each makes its first calls before the next begins. */
static void crowd(long count, int in_turn) {
    pthread_t *all = calloc((size_t)count, sizeof *all);
    pthread_barrier_init(&together, NULL, (unsigned)count);
    sem_init(&begun, 0, 0);
    for (long i = 0; i < count; i++) {
        if (pthread_create(&all[i], NULL, waiting_main, (void *)i) != 0)
            exit(3);
        while (in_turn && sem_wait(&begun) != 0)
            ;
    }
    for (long i = 0; i < count; i++)
        pthread_join(all[i], NULL);
    free(all);
}

static void forks(void) {
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (child == 0) {
            thread_main((void *)(long)i);
            _exit(0);
        }
        waitpid(child, NULL, 0);
    }
    thread_main((void *)99L);
}

static void vforks(void) {
    int fd = open_own("");
    pid_t child = vfork();
    if (child == 0) {
        close(fd); /* in the child only: our own descriptor is unchanged */
        execlp("true", "true", (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
    write_all(fd);
    close(fd);
}

static void close_everything(void) {
    int out = dup(1);
    for (int fd = 3; fd < 256; fd++)
        if (fd != out)
            close(fd);
    if (close_range(256, ~0u, 0) != 0)
        exit(4);
    int fd = open_own("");
    if (fd != out + 1)
        exit(5); /* the lowest number is ours, as without a tracer */
    write_all(fd);
    threads(3);
    close(fd);
}

static int ticks_fd;
static volatile sig_atomic_t ticks;
static void on_tick(int number) {
    (void)number;
    int error = errno;
    if (write(ticks_fd, block, 1) == 1)
        ticks++;
    errno = error;
}

/* A handler that does I/O of its own, during the program's I/O. */
static void signals(void) {
    ticks_fd = open_own(".ticks");
    int fd = open_own("");
    struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 200}, {0, 200}};
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 20000; i++)
        if (write(fd, block, 10) != 10)
            exit(2);
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &never, NULL);
    FILE *count = fopen(path, "a");
    fprintf(count, "%d", (int)ticks);
    fclose(count);
}

static void errors(void) {
    errno = 0;
    if (open("/nonexistent/file", O_RDONLY) != -1 || errno != ENOENT)
        exit(6);
    if (read(-1, block, 1) != -1 || errno != EBADF)
        exit(6);
    if (write(999, block, 1) != -1 || errno != EBADF)
        exit(6);
    if (unlink((const char *)1) != -1 || errno != EFAULT)
        exit(6);
    errno = 0;
    int fd = open_own("");
    write_all(fd);
    if (close(fd) != 0 || errno != 0)
        exit(6);
}

static void stdio(void) {
    FILE *file = fopen(path, "w+");
    for (int i = 0; i < WRITES; i++)
        fwrite(block, 1, SIZE, file);
    fprintf(file, "%s\n", "a line");
    fputs("another\n", file);
    fflush(file);
    rewind(file);
    static char back[SIZE];
    for (int i = 0; i < WRITES; i++)
        if (fread(back, 1, SIZE, file) != SIZE)
            exit(2);
    char line[32];
    if (!fgets(line, sizeof line, file) || strcmp(line, "a line\n") != 0)
        exit(2);
    fclose(file);
}

/* Writes, prints that it has, and waits to be killed. */
static void killed(const char *fifo) {
    write_all(open_own(""));
    int ready = open(fifo, O_WRONLY);
    if (write(ready, "x", 1) != 1)
        exit(2);
    for (;;)
        pause();
}

static void small_files(void) {
    struct rlimit limit = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    char *const again[] = {"hostile", "plain", (char *)path, NULL};
    execv("/proc/self/exe", again);
}

int main(int count, char **words) {
    const char *name = count > 2 ? words[1] : "";
    path = count > 2 ? words[2] : "";
    if (!strcmp(name, "plain"))
        thread_main((void *)0L);
    else if (!strcmp(name, "threads"))
        threads(200);
    else if (!strcmp(name, "crowd"))
        crowd(100, 0);
    else if (!strcmp(name, "crowd-in-turn"))
        crowd(100, 1);
    else if (!strcmp(name, "forks"))
        forks();
    else if (!strcmp(name, "vforks"))
        vforks();
    else if (!strcmp(name, "close-everything"))
        close_everything();
    else if (!strcmp(name, "signals"))
        signals();
    else if (!strcmp(name, "errors"))
        errors();
    else if (!strcmp(name, "stdio"))
        stdio();
    else if (!strcmp(name, "killed"))
        killed(words[3]);
    else if (!strcmp(name, "small-files"))
        small_files();
    else
        return 1;
    if (write(1, "done\n", 5) != 5)
        return 1;
    _exit(7);
}
