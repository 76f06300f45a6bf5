/* Programs that count their own calls, by kind, in a file FILE.made. Threads and children share the file, and it
 * survives the program; the tracer's events are compared with it. */
#ifndef COUNTED_H
#define COUNTED_H

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "past_libc.h"

enum { CREATE = 1, DUPLICATE, DESTROY, SEEK, CHANGE_FLAGS, DELETE, READ, WRITE, SYNC, KINDS };

static _Atomic uint64_t *made;
static const char *path;
static char block[1000];

/* Makes a call, counts it, and preserves its result and errno. */
#define CALL(kind, call)                                                                                               \
    ({                                                                                                                 \
        __typeof__(call) result_ = (call);                                                                             \
        atomic_fetch_add(&made[kind], 1);                                                                              \
        result_;                                                                                                       \
    })

static inline void must(int right) {
    if (!right)
        _exit(2);
}

/* By direct system calls, which no tracer of library calls sees. */
static inline void count_calls(const char *file) {
    char name[4096];
    path = file;
    snprintf(name, sizeof name, "%s.made", file);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, name, O_CREAT | O_RDWR, 0600);
    must(fd >= 0 && syscall(SYS_ftruncate, fd, KINDS * sizeof *made) == 0);
    made = (void *)syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must((void *)made != MAP_FAILED);
    syscall(SYS_close, fd);
}

static inline int open_own(const char *suffix) {
    char name[4096];
    snprintf(name, sizeof name, "%s%s", path, suffix);
    int fd = CALL(CREATE, open(name, O_CREAT | O_WRONLY | O_APPEND, 0600));
    must(fd >= 0);
    return fd;
}

static inline void write_some(int fd, int count) {
    for (int i = 0; i < count; i++)
        must(CALL(WRITE, write(fd, block, 10)) == 10);
}

static inline void close_own(int fd) {
    must(CALL(DESTROY, close(fd)) == 0);
}

/* One file: an open, the given number of writes, a close. */
static inline void write_own(const char *suffix, int count) {
    int fd = open_own(suffix);
    write_some(fd, count);
    close_own(fd);
}

/* The end of each program, for the check by a test. */
static inline void finish(void) {
    must(syscall(SYS_write, 1, "done\n", 5) == 5);
    _exit(7);
}

#endif
