/* Programs that restrict themselves with seccomp, and are killed for a forbidden system call. usage: sandboxed HOW
 * FILE */
#include "past_libc.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#undef syscall

static void must(int holds) {
    if (!holds)
        _exit(9);
}

#define ALLOW(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Only the system calls that the program itself needs from then on. */
static struct sock_filter needed[] = {
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    ALLOW(read), ALLOW(write), ALLOW(pwrite64), ALLOW(openat), ALLOW(close), ALLOW(dup), ALLOW(mmap), ALLOW(mprotect),
    ALLOW(munmap), ALLOW(madvise), ALLOW(brk), ALLOW(clone), ALLOW(clone3), ALLOW(set_robust_list), ALLOW(rseq),
    ALLOW(rt_sigaction), ALLOW(rt_sigprocmask), ALLOW(futex), ALLOW(wait4), ALLOW(exit), ALLOW(exit_group), ALLOW(rename), ALLOW(getrandom),
    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
static struct sock_fprog filter = {sizeof needed / sizeof *needed, needed};

static void *of_thread(void *file) {
    must(pwrite(*(int *)file, "thread\n", 7, 100) == 7);
    return NULL;
}

static int restricted(const char *path) {
    char byte;
    int fd = openat(AT_FDCWD, path, O_RDWR | O_CREAT, 0600);
    must(read(0, &byte, 1) == 0 && fd >= 0 && pwrite(fd, "bytes\n", 6, 0) == 6);
    int other = dup(fd);
    must(other >= 0 && pwrite(other, "again\n", 6, 6) == 6 && close(other) == 0);
    must(openat(AT_FDCWD, "nothing", O_RDONLY) == -1 && rename("nothing", "at all") == -1);
    pthread_t thread;
    must(pthread_create(&thread, NULL, of_thread, &fd) == 0 && pthread_join(thread, NULL) == 0);
    pid_t child = fork();
    if (child == 0) {
        must(pwrite(fd, "child\n", 6, 200) == 6);
        _exit(0);
    }
    int status;
    must(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    must(write(1, "done\n", 5) == 5);
    return 7;
}

int main(int count, char **words) {
    must(count == 3);
    const char *how = words[1];
    /* Only checks for the available features, as libraries do; then nothing is restricted. */
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) == -1);
    must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 1, NULL) == -1);
    if (strcmp(how, "tried") == 0) {
        int fd = open(words[2], O_RDWR | O_CREAT, 0600);
        must(fd >= 0 && chdir("/") == 0 && write(fd, "bytes\n", 6) == 6);
        must(openat(AT_FDCWD, "nothing", O_RDONLY) == -1);
        return 7;
    }
    if (strcmp(how, "prctl") == 0) {
        must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0);
        return restricted(words[2]);
    }
    if (strcmp(how, "seccomp") == 0) {
        must(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0);
        return restricted(words[2]);
    }
    if (strcmp(how, "strict") == 0) {
        int fd = open(words[2], O_RDWR | O_CREAT, 0600);
        must(fd >= 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0) == 0);
        must(write(fd, "bytes\n", 6) == 6 && write(1, "done\n", 5) == 5);
        syscall(SYS_exit, 7);
    }
    return 1;
}
