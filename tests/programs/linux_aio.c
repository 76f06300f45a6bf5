/* Asynchronous I/O of the kernel, and the expected events: one line per kind of operation with its count and bytes.
 * usage: linux_aio calls | threads     in an empty folder
 * WAY of the system calls: LIBAIO (linked with it), RAW (syscall(2)), PLUGIN (a library that is linked with it and
 * is loaded meanwhile; this is its source, too). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define BLOCK 4096
#define ROUNDS 400
#define DEEP 8

#ifdef RAW
#define ANSWER(call) ({ long r_ = (call); r_ == -1 ? -errno : r_; })
static int io_setup(unsigned count, aio_context_t *context) {
    return (int)ANSWER(syscall(SYS_io_setup, count, context));
}
static int io_destroy(aio_context_t context) {
    return (int)ANSWER(syscall(SYS_io_destroy, context));
}
static int io_submit(aio_context_t context, long count, struct iocb **blocks) {
    return (int)ANSWER(syscall(SYS_io_submit, context, count, blocks));
}
static int io_getevents(aio_context_t context, long least, long most, struct io_event *events, void *timeout) {
    return (int)ANSWER(syscall(SYS_io_getevents, context, least, most, events, timeout));
}
#else
int io_setup(unsigned count, aio_context_t *context);
int io_destroy(aio_context_t context);
int io_submit(aio_context_t context, long count, struct iocb **blocks);
int io_getevents(aio_context_t context, long least, long most, struct io_event *events, void *timeout);
#endif

static char room[DEEP][BLOCK];
static aio_context_t context;
static struct { long count, bytes; } moved[2];

static void check(long result, long wanted, const char *what) {
    if (result != wanted) {
        printf("%s: %ld, not %ld\n", what, result, wanted);
        exit(1);
    }
}

/* A suspended machine, or a debugger, interrupts it without a signal handler. */
static int ends_in(long least, long most, struct io_event *events) {
    int count;
    while ((count = io_getevents(context, least, most, events, NULL)) == -EINTR)
        ;
    return count;
}

static struct iocb *operation(int opcode, int fd, void *memory, size_t size, long offset) {
    struct iocb *block = calloc(1, sizeof *block);
    block->aio_lio_opcode = (uint16_t)opcode;
    block->aio_fildes = (uint32_t)fd;
    block->aio_buf = (uint64_t)(uintptr_t)memory;
    block->aio_nbytes = size;
    block->aio_offset = offset;
    block->aio_data = (uint64_t)(uintptr_t)block;
    return block;
}

/* Submits one operation whose block is freed before its completion is read. */
static long ran(int opcode, int fd, void *memory, size_t size, long offset) {
    struct iocb *block = operation(opcode, fd, memory, size, offset);
    struct io_event event;
    long result = io_submit(context, 1, &block);
    memset(block, 0xff, sizeof *block);
    free(block);
    if (result != 1)
        return result;
    check(ends_in(1, 1, &event), 1, "io_getevents");
    if (event.res >= 0 && opcode != IOCB_CMD_FSYNC) {
        int writes = opcode == IOCB_CMD_PWRITE || opcode == IOCB_CMD_PWRITEV;
        moved[writes].count++;
        moved[writes].bytes += event.res;
    }
    return event.res;
}

static void calls(int fd) {
    struct iovec parts[] = {{room[0], 100}, {room[1], 28}};
    struct iocb *list[DEEP];
    struct io_event events[DEEP];
    check(ran(IOCB_CMD_PWRITE, fd, room[0], BLOCK, 0), BLOCK, "write");
    check(ran(IOCB_CMD_PWRITEV, fd, parts, 2, BLOCK), 128, "write of parts");
    check(ran(IOCB_CMD_PREADV, fd, parts, 2, 64), 128, "read of parts");
    check(ran(IOCB_CMD_PREAD, fd, room[2], BLOCK, BLOCK), 128, "short read");
    check(ran(IOCB_CMD_PREAD, fd, (void *)8, BLOCK, 0), -EFAULT, "read to nowhere");
    check(ran(IOCB_CMD_FSYNC, fd, NULL, 0, 0), 0, "fsync");
    check(ran(IOCB_CMD_PREAD, 999, room[0], 1, 0), -EBADF, "bad descriptor");
    check(io_submit(context, 1, (struct iocb **)8), -EFAULT, "bad list");
    check(io_submit((aio_context_t)8, 1, list), -EINVAL, "bad context");
#ifdef RAW /* libaio reads the context itself */
    check(io_getevents((aio_context_t)8, 1, 1, events, NULL), -EINVAL, "ends of a bad context");
#endif
    check(ends_in(0, DEEP, events), 0, "ends in vain");
    for (int i = 0; i < DEEP; i++)
        list[i] = operation(IOCB_CMD_PWRITE, fd, room[i], BLOCK, i * BLOCK);
    check(io_submit(context, DEEP, list), DEEP, "many");
    for (int i = 0; i < DEEP;)
        i += ends_in(1, DEEP, events);
    moved[1].count += DEEP;
    moved[1].bytes += DEEP * BLOCK;
}

/* Another thread reads completions, and may see one before io_submit has returned; blocks are reused at once. */
static _Atomic long ends;
static struct iocb *_Atomic idle[DEEP];

static void *reap(void *unused) {
    (void)unused;
    while (ends < (long)ROUNDS * DEEP) {
        struct io_event events[DEEP];
        int count = ends_in(1, DEEP, events);
        for (int i = 0; i < count; i++)
            for (int place = 0; place < DEEP; place++) {
                struct iocb *none = NULL;
                if (atomic_compare_exchange_strong(&idle[place], &none, (struct iocb *)(uintptr_t)events[i].obj))
                    break;
            }
        ends += count;
    }
    return NULL;
}

static void threads(int fd) {
    pthread_t reaper;
    long submitted = 0;
    for (int i = 0; i < DEEP; i++)
        idle[i] = operation(IOCB_CMD_PWRITE, fd, room[i], BLOCK, i * BLOCK);
    pthread_create(&reaper, NULL, reap, NULL);
    for (int place = 0; submitted < (long)ROUNDS * DEEP; place = (place + 1) % DEEP) {
        struct iocb *block = atomic_exchange(&idle[place], NULL);
        if (!block)
            continue;
        check(io_submit(context, 1, &block), 1, "io_submit");
        submitted++;
    }
    pthread_join(reaper, NULL);
    moved[1].count = submitted;
    moved[1].bytes = submitted * BLOCK;
}

__attribute__((visibility("default"))) int run(const char *what) {
    int fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
    check(io_setup(DEEP, &context), 0, "io_setup");
    (strcmp(what, "threads") == 0 ? threads : calls)(fd);
    check(io_destroy(context), 0, "io_destroy");
    printf("READ %ld %ld\nWRITE %ld %ld\n", moved[0].count, moved[0].bytes, moved[1].count, moved[1].bytes);
    return 0;
}

#ifndef PLUGIN
int main(int argc, char **argv) {
    if (argc < 3)
        return run(argc > 1 ? argv[1] : "calls");
    void *plugin = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    int (*loaded)(const char *) = plugin ? (int (*)(const char *))dlsym(plugin, "run") : NULL;
    return loaded ? loaded(argv[1]) : 2;
}
#endif
