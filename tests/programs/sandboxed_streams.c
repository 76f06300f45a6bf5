/* Usage: sandboxed_streams HOW INPUT OUTPUT. Opens streams, forbids itself all system calls that it does not need from then
 * on, and uses them. HOW: "alone"; "thread": another thread has streams, too; "thread-exit": the same, and it ends by
 * _exit. Prints the bytes that it has read and written. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
static struct sock_filter needed[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(read), ALLOW(write), ALLOW(close), ALLOW(lseek), ALLOW(newfstatat), ALLOW(brk), ALLOW(mmap), ALLOW(munmap),
    ALLOW(clone), ALLOW(wait4), ALLOW(exit), ALLOW(exit_group), ALLOW(futex), ALLOW(set_robust_list), ALLOW(madvise),
    ALLOW(rt_sigprocmask), ALLOW(rseq), ALLOW(gettid),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
static struct sock_fprog filter = {sizeof needed / sizeof *needed, needed};

static pthread_barrier_t begun, done;

static void get(FILE *stream, int count) {
    while (count--)
        getc(stream);
}

static void put(FILE *stream, int count) {
    while (count--)
        putc('x', stream);
}

static void *use(void *path) {
    FILE *stream = fopen(path, "r");
    if (!stream)
        _exit(9);
    get(stream, 10);
    pthread_barrier_wait(&begun);
    pthread_barrier_wait(&done);
    get(stream, 5000);
    return NULL;
}

int main(int count, char **words) {
    if (count < 4)
        return 2;
    FILE *input = fopen(words[2], "r"), *closed = fopen(words[2], "r"), *output = fopen(words[3], "w");
    pthread_t thread;
    int threads = !strncmp(words[1], "thread", 6);
    if (!input || !closed || !output)
        return 1;
    if (threads && (pthread_barrier_init(&begun, NULL, 2) || pthread_barrier_init(&done, NULL, 2) ||
                    pthread_create(&thread, NULL, use, words[2])))
        return 1;
    if (threads)
        pthread_barrier_wait(&begun);
    get(input, 100);
    put(output, 100);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0))
        return 1;
    get(input, 10000);
    get(closed, 200);
    fclose(closed);
    fflush(NULL);
    put(output, 10000);
    if (!threads) {
        pid_t child = fork();
        if (!child)
            _exit(0);
        int status;
        if (waitpid(child, &status, 0) != child || status)
            return 3;
    } else {
        pthread_barrier_wait(&done);
        pthread_join(thread, NULL);
    }
    get(input, 50);
    put(output, 50);
    printf("%d %d\n", 100 + 10000 + 200 + 50 + (threads ? 5010 : 0), 100 + 10000 + 50);
    fflush(NULL);
    if (!strcmp(words[1], "thread-exit"))
        _exit(0);
    return 0;
}
