/* Calls every function of signatures/posix.sig, and prints the expected events.
 * usage: posix_calls NAME    in an empty folder; NAME: of shared memory, unused by others */
#include "posix_steps.h"

#include <aio.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <utime.h>

static char block[4096];
static const char *name;

/* ---- creating and closing descriptors ---- */

static void done_with(int fd, const char *path) {
    RUN(int, close, (int), (fd));
    SEE(DESTROY, path, "close(fd=%d)", fd);
}

static void opening(void) {
    int fd;
    RUN_NUMBER(mode_t, umask, (mode_t), (022));
    SEE(OTHER, "-", "umask(mask=022)");

#define OPEN(symbol)                                                                                   \
    fd = RUN(int, symbol, (const char *, int, ...), ("a", O_RDWR | O_CREAT, 0644));                    \
    SEE(CREATE, "a", "open(flags=O_RDWR|O_CREAT, mode=0644) = %d", fd);                                \
    done_with(fd, "a");
    OPEN(open)
    OPEN(open64)
    OPEN(__open)
    OPEN(__open64)
    fd = RUN(int, open, (const char *, int, ...), ("nowhere/a", O_RDONLY));
    SEE(CREATE, "nowhere/a", "open(flags=O_RDONLY, mode=*");
    fd = RUN(int, open, (const char *, int, ...), ((const char *)8, O_RDONLY));
    SEE(CREATE, "-", "open(flags=O_RDONLY, mode=*");
    fd = RUN(int, open, (const char *, int, ...), (".", O_RDWR | O_TMPFILE, 0600));
    SEE(CREATE, "*", "open(flags=O_RDWR|*, mode=0600) = %d", fd);
    done_with(fd, "*");
#define OPENAT(symbol)                                                                                 \
    fd = RUN(int, symbol, (int, const char *, int, ...), (AT_FDCWD, "a", O_WRONLY | O_APPEND));        \
    SEE(CREATE, "a", "openat(directory=*, flags=O_WRONLY|O_APPEND, mode=*) = %d", fd);                 \
    done_with(fd, "a");
    OPENAT(openat)
    OPENAT(openat64)
#define OPEN_2(symbol)                                                                                 \
    fd = RUN(int, symbol, (const char *, int), ("a", O_RDONLY));                                       \
    SEE(CREATE, "a", "open(flags=O_RDONLY) = %d", fd);                                                 \
    done_with(fd, "a");
    OPEN_2(__open_2)
    OPEN_2(__open64_2)
#define OPENAT_2(symbol)                                                                               \
    fd = RUN(int, symbol, (int, const char *, int), (AT_FDCWD, "a", O_RDONLY));                        \
    SEE(CREATE, "a", "openat(directory=*, flags=O_RDONLY) = %d", fd);                                  \
    done_with(fd, "a");
    OPENAT_2(__openat_2)
    OPENAT_2(__openat64_2)
#define CREAT(symbol)                                                                                  \
    fd = RUN(int, symbol, (const char *, mode_t), ("a", 0640));                                        \
    SEE(CREATE, "a", "creat(mode=0640) = %d", fd);                                                     \
    done_with(fd, "a");
    CREAT(creat)
    CREAT(creat64)

    struct {
        struct file_handle head;
        char space[128];
    } handle = {.head.handle_bytes = 128};
    int mount = 0;
    RUN(int, name_to_handle_at, (int, const char *, struct file_handle *, int *, int),
        (AT_FDCWD, "a", &handle.head, &mount, 0));
    SEE(OTHER, "a", "name_to_handle_at(directory=*, flags=0x0)");
    /* If the file system or our rights do not allow it, the call fails, and is recorded as failed. */
    int root = (int)syscall(SYS_open, ".", O_RDONLY);
    fd = RUN(int, open_by_handle_at, (int, struct file_handle *, int), (root, &handle.head, O_RDONLY));
    SEE(CREATE, fd < 0 ? "-" : "a", fd < 0 ? "open_by_handle_at(mount=%d, flags=O_RDONLY)*"
                                           : "open_by_handle_at(mount=%d, flags=O_RDONLY) = %d", root, fd);
    syscall(SYS_close, root);
    if (fd >= 0)
        done_with(fd, "a");

#define MAKE(symbol, pattern, types, rest, format, ...)                       \
    {                                                                         \
        char made[] = pattern;                                                \
        fd = RUN(int, symbol, types, rest);                                   \
        SEE(CREATE, made, format, __VA_ARGS__);                               \
        done_with(fd, made);                                                  \
        syscall(SYS_unlink, made);                                            \
    }
    MAKE(mkstemp, "t.XXXXXX", (char *), (made), "mkstemp() = %d", fd)
    MAKE(mkstemp64, "t.XXXXXX", (char *), (made), "mkstemp() = %d", fd)
    MAKE(mkostemp, "t.XXXXXX", (char *, int), (made, O_APPEND), "mkostemp(flags=*O_APPEND*) = %d", fd)
    MAKE(mkostemp64, "t.XXXXXX", (char *, int), (made, O_APPEND), "mkostemp(flags=*O_APPEND*) = %d", fd)
    MAKE(mkstemps, "t.XXXXXX.x", (char *, int), (made, 2), "mkstemps(suffix=2) = %d", fd)
    MAKE(mkstemps64, "t.XXXXXX.x", (char *, int), (made, 2), "mkstemps(suffix=2) = %d", fd)
    MAKE(mkostemps, "t.XXXXXX.x", (char *, int, int), (made, 2, O_SYNC), "mkostemps(suffix=2, flags=*) = %d", fd)
    MAKE(mkostemps64, "t.XXXXXX.x", (char *, int, int), (made, 2, O_SYNC), "mkostemps(suffix=2, flags=*) = %d", fd)

    fd = RUN(int, posix_openpt, (int), (O_RDWR | O_NOCTTY));
    SEE(CREATE, "/dev/*", "posix_openpt(flags=O_RDWR|O_NOCTTY) = %d", fd);
    done_with(fd, "/dev/*");
    fd = RUN(int, getpt, (void), ());
    SEE(CREATE, "/dev/*", "getpt() = %d", fd);
    done_with(fd, "/dev/*");
    fd = RUN(int, memfd_create, (const char *, unsigned int), ("scratch", MFD_CLOEXEC));
    SEE(CREATE, "/memfd:scratch*", "memfd_create(name=scratch, flags=0x1) = %d", fd);
    done_with(fd, "/memfd:scratch*");
    char shared[300];
    snprintf(shared, sizeof shared, "/dev/shm/%s", name);
    fd = RUN(int, shm_open, (const char *, int, mode_t), (name, O_RDWR | O_CREAT, 0600));
    SEE(CREATE, shared, "shm_open(name=%s, flags=O_RDWR|O_CREAT, mode=0600) = %d", name, fd);
    done_with(fd, shared);
    RUN(int, shm_unlink, (const char *), (name));
    SEE(DELETE, shared, "shm_unlink(name=%s)", name);
}

static void descriptors(void) {
    int ends[2], fd;
#define PAIR(symbol, types, arguments, what, format, ...)                     \
    RUN(int, symbol, types, arguments);                                       \
    for (int i = 0; i < 2; i++)                                               \
        SEE(CREATE, what ":*", format " = %d", __VA_ARGS__ ends[i]);          \
    done_with(ends[0], what ":*");                                            \
    done_with(ends[1], what ":*");
    PAIR(pipe, (int *), (ends), "pipe", "pipe()", )
    PAIR(__pipe, (int *), (ends), "pipe", "pipe()", )
    PAIR(pipe2, (int *, int), (ends, O_NONBLOCK), "pipe", "pipe2(flags=*O_NONBLOCK)", )
    PAIR(socketpair, (int, int, int, int *), (AF_UNIX, SOCK_STREAM, 0, ends), "socket",
         "socketpair(domain=1, type=0x1, protocol=0)", )
    RUN(int, pipe, (int *), ((int *)8));
    SEE(CREATE, "-", "pipe() = -1");

#define NEW(symbol, types, arguments, path, format, ...)                      \
    fd = RUN(int, symbol, types, arguments);                                  \
    SEE(CREATE, fd < 0 ? "-" : path, fd < 0 ? format "*" : format " = %d", __VA_ARGS__ fd);   \
    if (fd >= 0)                                                              \
        done_with(fd, path);
    NEW(eventfd, (unsigned int, int), (0, EFD_NONBLOCK), "anon_inode:*", "eventfd(count=0, flags=0x800)", )
    NEW(epoll_create, (int), (1), "anon_inode:*", "epoll_create(size=1)", )
    NEW(epoll_create1, (int), (0), "anon_inode:*", "epoll_create1(flags=0x0)", )
    NEW(timerfd_create, (clockid_t, int), (CLOCK_MONOTONIC, 0), "anon_inode:*", "timerfd_create(clock=1, flags=0x0)", )
    NEW(fanotify_init, (unsigned int, unsigned int), (0, 0), "anon_inode:*",
        "fanotify_init(flags=0x0, event_flags=0x0)", )
    NEW(inotify_init, (void), (), "anon_inode:*", "inotify_init()", )
    int pid = (int)syscall(SYS_getpid);
    int own = RUN_AS(int, pidfd_open, (pid_t, unsigned int), (pid, 0), r, r < 0);
    SEE(CREATE, "*", "pidfd_open(pid=%d, flags=0x0) = %d", pid, own);
    fd = RUN(int, pidfd_getfd, (int, int, unsigned int), (own, 1, 0));
    SEE(CREATE, "*", fd < 0 ? "pidfd_getfd(*" : "pidfd_getfd(pidfd=%d, fd=1, flags=0x0) = %d", own, fd);
    if (fd >= 0)
        done_with(fd, "*");
    done_with(own, "*");

    sigset_t mask;
    sigemptyset(&mask);
    fd = RUN(int, signalfd, (int, const sigset_t *, int), (-1, &mask, 0));
    SEE(CREATE, "anon_inode:*", "signalfd(fd=-1, flags=0x0) = %d", fd);
    RUN(int, signalfd, (int, const sigset_t *, int), (fd, &mask, 0));
    SEE(CHANGE_FLAGS, "anon_inode:*", "signalfd(fd=%d, flags=0x0) = %d", fd, fd);
    done_with(fd, "anon_inode:*");

    int watcher = RUN(int, inotify_init1, (int), (0));
    SEE(CREATE, "anon_inode:*", "inotify_init1(flags=0x0) = %d", watcher);
    int watch = RUN(int, inotify_add_watch, (int, const char *, uint32_t), (watcher, "a", IN_OPEN));
    SEE(OTHER, "anon_inode:*", "inotify_add_watch(fd=%d, path=*/a, mask=0x20) = %d", watcher, watch);
    RUN(int, inotify_rm_watch, (int, int), (watcher, watch));
    SEE(OTHER, "anon_inode:*", "inotify_rm_watch(fd=%d, watch=%d)", watcher, watch);
    done_with(watcher, "anon_inode:*");
}

static void duplicating(void) {
    int fd = RUN(int, open, (const char *, int, ...), ("a", O_RDWR));
    SEE(CREATE, "a", "open(flags=O_RDWR, mode=*) = %d", fd);
    int twin = RUN(int, dup, (int), (fd));
    SEE(DUPLICATE, "a", "dup(fd=%d) = %d", fd, twin);
    RUN(int, dup2, (int, int), (fd, twin));
    SEE(DUPLICATE, "a", "dup2(fd=%d, to=%d) = %d", fd, twin, twin);
    RUN(int, __dup2, (int, int), (fd, twin));
    SEE(DUPLICATE, "a", "dup2(fd=%d, to=%d) = %d", fd, twin, twin);
    RUN(int, dup3, (int, int, int), (fd, twin, O_CLOEXEC));
    SEE(DUPLICATE, "a", "dup3(fd=%d, to=%d, flags=*O_CLOEXEC) = %d", fd, twin, twin);
    RUN(int, __close, (int), (twin));
    SEE(DESTROY, "a", "close(fd=%d)", twin);
    RUN(int, close, (int), (twin)); /* without bytes: not recorded */
    RUN(int, dup, (int), (-1));
    SEE(DUPLICATE, "-", "dup(fd=-1) = -1");

#define FCNTL(symbol)                                                                                       \
    twin = RUN(int, symbol, (int, int, ...), (fd, F_DUPFD, 40));                                            \
    SEE(DUPLICATE, "a", "fcntl(fd=%d, command=F_DUPFD, argument=0x28) = 40", fd);                           \
    done_with(twin, "a");
    FCNTL(fcntl)
    FCNTL(fcntl64)
    FCNTL(__fcntl)
    twin = RUN(int, fcntl, (int, int, ...), (fd, F_DUPFD_CLOEXEC, 41));
    SEE(DUPLICATE, "a", "fcntl(fd=%d, command=F_DUPFD_CLOEXEC, argument=0x29) = 41", fd);
    done_with(twin, "a");
    RUN_NUMBER(int, fcntl, (int, int, ...), (fd, F_GETFL));
    SEE(OTHER, "a", "fcntl(fd=%d, command=F_GETFL, argument=0x0) = *", fd);
    RUN(int, fcntl, (int, int, ...), (fd, F_SETFL, O_NONBLOCK));
    SEE(CHANGE_FLAGS, "a", "fcntl(fd=%d, command=F_SETFL, argument=0x800) = 0", fd);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 5, .l_len = 7};
    RUN(int, fcntl, (int, int, ...), (fd, F_SETLK, &lock));
    see("CHANGE_FLAGS", "a", 7, 0, 5, "fcntl(fd=%d, command=F_SETLK, argument=0x0) = 0", fd);
    int waiting = 0;
    RUN(int, ioctl, (int, unsigned long, ...), (fd, FIONREAD, &waiting));
    SEE(OTHER, "a", "ioctl(fd=%d, request=0x541b) = 0", fd);
    RUN(int, ioctl, (int, unsigned long, ...), (fd, TIOCGWINSZ, block));
    SEE(OTHER, "a", "ioctl(fd=%d, request=0x5413) = -1", fd);

    twin = RUN(int, dup, (int), (fd));
    SEE(DUPLICATE, "a", "dup(fd=%d) = %d", fd, twin);
    RUN(int, close_range, (unsigned int, unsigned int, int), ((unsigned int)twin, (unsigned int)twin, 0));
    SEE(DESTROY, "-", "close_range(first=%d, last=%d, flags=0x0)", twin, twin);
    RUN(int, close, (int), (twin));
    twin = RUN(int, fcntl, (int, int, ...), (fd, F_DUPFD, 500));
    SEE(DUPLICATE, "a", "fcntl(fd=%d, command=F_DUPFD, argument=0x1f4) = 500", fd);
    RUN_VOID(closefrom, (int), (500));
    SEE(DESTROY, "-", "closefrom(first=500)");
    RUN(int, close, (int), (twin));
    done_with(fd, "a");
}

/* ---- moving data ---- */

static void moving(void) {
    int fd = RUN(int, open, (const char *, int, ...), ("data", O_RDWR | O_CREAT, 0644));
    SEE(CREATE, "data", "open(flags=O_RDWR|O_CREAT, mode=0644) = %d", fd);
#define MOVES(kind, symbol, shown, types, arguments, size, got, offset)                 \
    RUN(ssize_t, symbol, types, arguments);                                             \
    see(#kind, "data", size, got, offset, shown "(fd=%d, count=%d)", fd, size);
    MOVES(WRITE, write, "write", (int, const void *, size_t), (fd, block, 4096), 4096, 4096, -1)
    MOVES(WRITE, __write, "write", (int, const void *, size_t), (fd, block, 904), 904, 904, -1)
    MOVES(WRITE, pwrite, "pwrite64", (int, const void *, size_t, off_t), (fd, block, 100, 50), 100, 100, 50)
    MOVES(WRITE, pwrite64, "pwrite64", (int, const void *, size_t, off_t), (fd, block, 100, 51), 100, 100, 51)
    MOVES(WRITE, __pwrite64, "pwrite64", (int, const void *, size_t, off_t), (fd, block, 100, 52), 100, 100, 52)
    MOVES(READ, read, "read", (int, void *, size_t), (fd, block, 10), 10, 0, -1)
    MOVES(READ, pread, "pread64", (int, void *, size_t, off_t), (fd, block, 4000, 2000), 4000, 3000, 2000)
    MOVES(READ, pread64, "pread64", (int, void *, size_t, off_t), (fd, block, 10, 3), 10, 10, 3)
    MOVES(READ, __pread64, "pread64", (int, void *, size_t, off_t), (fd, block, 10, 4), 10, 10, 4)
    MOVES(READ, __pread_chk, "pread64", (int, void *, size_t, off_t, size_t), (fd, block, 10, 5, 4096), 10, 10, 5)
    MOVES(READ, __pread64_chk, "pread64", (int, void *, size_t, off_t, size_t), (fd, block, 10, 6, 4096), 10, 10, 6)

#define SEEK(symbol)                                                                    \
    RUN(off_t, symbol, (int, off_t, int), (fd, -200, SEEK_END));                        \
    see("SEEK", "data", 0, 0, 4800, "lseek(fd=%d, by=-200, whence=SEEK_END)", fd);
    SEEK(lseek)
    SEEK(lseek64)
    SEEK(__lseek)
    MOVES(READ, __read, "read", (int, void *, size_t), (fd, block, 10), 10, 10, -1)
    MOVES(READ, __read_chk, "read", (int, void *, size_t, size_t), (fd, block, 10, 4096), 10, 10, -1)
    RUN(ssize_t, read, (int, void *, size_t), (-1, block, 10));
    see("READ", "-", 10, 0, -1, "read(fd=-1, count=10)");

    struct iovec parts[2] = {{block, 30}, {block + 100, 20}};
#define VECTOR(kind, symbol, shown, types, arguments, offset)                           \
    RUN(ssize_t, symbol, types, arguments);                                             \
    see(#kind, "data", 50, 50, offset, shown, fd);
#define PLAIN (int, const struct iovec *, int)
#define PLACED (int, const struct iovec *, int, off_t)
#define FLAGGED (int, const struct iovec *, int, off_t, int)
    VECTOR(READ, readv, "readv(fd=%d, parts_count=2)", PLAIN, (fd, parts, 2), -1)
    VECTOR(WRITE, writev, "writev(fd=%d, parts_count=2)", PLAIN, (fd, parts, 2), -1)
    VECTOR(READ, preadv, "preadv(fd=%d, parts_count=2)", PLACED, (fd, parts, 2, 7), 7)
    VECTOR(READ, preadv64, "preadv(fd=%d, parts_count=2)", PLACED, (fd, parts, 2, 8), 8)
    VECTOR(WRITE, pwritev, "pwritev(fd=%d, parts_count=2)", PLACED, (fd, parts, 2, 9), 9)
    VECTOR(WRITE, pwritev64, "pwritev(fd=%d, parts_count=2)", PLACED, (fd, parts, 2, 10), 10)
    VECTOR(READ, preadv2, "preadv2(fd=%d, parts_count=2, flags=0x0)", FLAGGED, (fd, parts, 2, 7, 0), 7)
    VECTOR(READ, preadv64v2, "preadv2(fd=%d, parts_count=2, flags=0x0)", FLAGGED, (fd, parts, 2, 8, 0), 8)
    VECTOR(WRITE, pwritev2, "pwritev2(fd=%d, parts_count=2, flags=0x0)", FLAGGED, (fd, parts, 2, 9, 0), 9)
    VECTOR(WRITE, pwritev64v2, "pwritev2(fd=%d, parts_count=2, flags=0x0)", FLAGGED, (fd, parts, 2, 9, 0), 9)
    RUN(ssize_t, readv, PLAIN, (fd, (struct iovec *)8, 2));
    SEE(READ, "data", "readv(fd=%d, parts_count=2)", fd);

    int counter = (int)syscall(SYS_eventfd2, 0, 0);
    eventfd_t value = 0;
    RUN(int, eventfd_write, (int, eventfd_t), (counter, 3));
    see("WRITE", "anon_inode:*", 8, 8, -1, "eventfd_write(fd=%d, value=3)", counter);
    RUN(int, eventfd_read, (int, eventfd_t *), (counter, &value));
    see("READ", "anon_inode:*", 8, 8, -1, "eventfd_read(fd=%d)", counter);
    done_with(counter, "anon_inode:*");
    done_with(fd, "data");
}

static void passing(void) {
    int from = RUN(int, open, (const char *, int, ...), ("data", O_RDWR));
    SEE(CREATE, "data", "open(flags=O_RDWR, mode=*) = %d", from);
    int to = RUN(int, open, (const char *, int, ...), ("copy", O_RDWR | O_CREAT, 0600));
    SEE(CREATE, "copy", "open(flags=O_RDWR|O_CREAT, mode=0600) = %d", to);
    off_t at = 10;
#define SENDFILE(symbol)                                                                              \
    RUN(ssize_t, symbol, (int, int, off_t *, size_t), (to, from, &at, 20));                           \
    see("READ", "data", 20, 20, at - 20, "sendfile(to=%d, from=%d, count=20)", to, from);             \
    see("WRITE", "copy", 20, 20, -1, "sendfile(to=%d, from=%d, count=20)", to, from);
    SENDFILE(sendfile)
    SENDFILE(sendfile64)
    off64_t there = 5;
    RUN(ssize_t, copy_file_range, (int, off64_t *, int, off64_t *, size_t, unsigned int),
        (from, NULL, to, &there, 30, 0));
    see("READ", "data", 30, 30, -1, "copy_file_range(from=%d, to=%d, count=30, flags=0x0)", from, to);
    see("WRITE", "copy", 30, 30, 5, "copy_file_range(from=%d, to=%d, count=30, flags=0x0)", from, to);
    int first[2], second[2];
    syscall(SYS_pipe2, first, 0);
    syscall(SYS_pipe2, second, 0);
    RUN(ssize_t, splice, (int, off64_t *, int, off64_t *, size_t, unsigned int), (from, NULL, first[1], NULL, 40, 0));
    see("READ", "data", 40, 40, -1, "splice(from=%d, to=%d, count=40, flags=0x0)", from, first[1]);
    see("WRITE", "pipe:*", 40, 40, -1, "splice(from=%d, to=%d, count=40, flags=0x0)", from, first[1]);
    RUN(ssize_t, tee, (int, int, size_t, unsigned int), (first[0], second[1], 40, 0));
    see("READ", "pipe:*", 40, 40, -1, "tee(from=%d, to=%d, count=40, flags=0x0)", first[0], second[1]);
    see("WRITE", "pipe:*", 40, 40, -1, "tee(from=%d, to=%d, count=40, flags=0x0)", first[0], second[1]);
    struct iovec part = {block, 60};
    RUN(ssize_t, vmsplice, (int, const struct iovec *, size_t, unsigned int), (second[1], &part, 1, 0));
    see("WRITE", "pipe:*", 60, 60, -1, "vmsplice(fd=%d, parts_count=1, flags=0x0)", second[1]);
    for (int i = 0; i < 2; i++) {
        syscall(SYS_close, first[i]);
        syscall(SYS_close, second[i]);
    }
    RUN(ssize_t, sendfile, (int, int, off_t *, size_t), (-1, from, NULL, 20));
    see("READ", "data", 20, 0, -1, "sendfile(to=-1, from=%d, count=20)", from);
    see("WRITE", "-", 20, 0, -1, "sendfile(to=-1, from=%d, count=20)", from);
    /* Descriptors that the kernel closed without libc do not affect a reuse of their numbers. */
    RUN(int, close_range, (unsigned int, unsigned int, int), ((unsigned int)from, 100, 0));
    SEE(DESTROY, "-", "close_range(first=%d, last=100, flags=0x0)", from);
}

static void sockets(void) {
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "gate"};
    socklen_t size = sizeof address;
    int listener = RUN(int, socket, (int, int, int), (AF_UNIX, SOCK_STREAM, 0));
    SEE(CREATE, "socket:*", "socket(domain=1, type=0x1, protocol=0) = %d", listener);
    int other = RUN(int, __socket, (int, int, int), (AF_UNIX, SOCK_STREAM, 0));
    SEE(CREATE, "socket:*", "socket(domain=1, type=0x1, protocol=0) = %d", other);
    RUN(int, bind, (int, const void *, socklen_t), (listener, &address, size));
    SEE(OTHER, "socket:*", "bind(fd=%d, length=%u)", listener, size);
    RUN(int, listen, (int, int), (listener, 5));
    SEE(OTHER, "socket:*", "listen(fd=%d, backlog=5)", listener);
    int more = (int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0);
    RUN(int, connect, (int, const void *, socklen_t), (other, &address, size));
    SEE(OTHER, "socket:*", "connect(fd=%d, length=%u)", other, size);
    RUN(int, __connect, (int, const void *, socklen_t), (more, &address, size));
    SEE(OTHER, "UNIX:*", "connect(fd=%d, length=%u)", more, size);
    struct sockaddr_un from;
    socklen_t length = sizeof from;
    int peer = RUN(int, accept, (int, void *, socklen_t *), (listener, &from, &length));
    SEE(CREATE, "UNIX:*", "accept(listener=%d) = %d", listener, peer);
    length = sizeof from;
    int last = RUN(int, accept4, (int, void *, socklen_t *, int), (listener, &from, &length, 0));
    SEE(CREATE, "UNIX:*", "accept4(listener=%d, flags=0x0) = %d", listener, last);
    done_with(last, "UNIX:*");

    int option = 0;
    length = sizeof option;
    RUN(int, getsockopt, (int, int, int, void *, socklen_t *), (peer, SOL_SOCKET, SO_TYPE, &option, &length));
    SEE(OTHER, "UNIX:*", "getsockopt(fd=%d, level=1, option=3)", peer);
    option = 1;
    RUN(int, setsockopt, (int, int, int, const void *, socklen_t),
        (peer, SOL_SOCKET, SO_KEEPALIVE, &option, sizeof option));
    SEE(OTHER, "UNIX:*", "setsockopt(fd=%d, level=1, option=9, length=4)", peer);
    length = sizeof from;
    RUN(int, getsockname, (int, void *, socklen_t *), (peer, &from, &length));
    SEE(OTHER, "UNIX:*", "getsockname(fd=%d)", peer);
    length = sizeof from;
    RUN(int, getpeername, (int, void *, socklen_t *), (peer, &from, &length));
    SEE(OTHER, "UNIX:*", "getpeername(fd=%d)", peer);

#define SENDS(symbol, types, arguments, format, ...)                                       \
    RUN(ssize_t, symbol, types, arguments);                                                \
    see("WRITE", "UNIX:*", 100, 100, -1, format, __VA_ARGS__);
#define RECEIVES(symbol, types, arguments, format, ...)                                    \
    RUN(ssize_t, symbol, types, arguments);                                                \
    see("READ", "UNIX:*", 200, 100, -1, format, __VA_ARGS__);
    SENDS(send, (int, const void *, size_t, int), (other, block, 100, 0), "send(fd=%d, count=100, flags=0x0)", other)
    RECEIVES(recv, (int, void *, size_t, int), (peer, block, 200, 0), "recv(fd=%d, count=200, flags=0x0)", peer)
    SENDS(__send, (int, const void *, size_t, int), (other, block, 100, 0), "send(fd=%d, count=100, flags=0x0)", other)
    RECEIVES(__recv, (int, void *, size_t, int), (peer, block, 200, 0), "recv(fd=%d, count=200, flags=0x0)", peer)
    SENDS(send, (int, const void *, size_t, int), (other, block, 100, 0), "send(fd=%d, count=100, flags=0x0)", other)
    RECEIVES(__recv_chk, (int, void *, size_t, size_t, int), (peer, block, 200, 4096, 0),
             "recv(fd=%d, count=200, flags=0x0)", peer)
    SENDS(sendto, (int, const void *, size_t, int, const void *, socklen_t), (other, block, 100, 0, NULL, 0),
          "sendto(fd=%d, count=100, flags=0x0, length=0)", other)
    RECEIVES(recvfrom, (int, void *, size_t, int, void *, socklen_t *), (peer, block, 200, 0, NULL, NULL),
             "recvfrom(fd=%d, count=200, flags=0x0)", peer)
    SENDS(send, (int, const void *, size_t, int), (other, block, 100, 0), "send(fd=%d, count=100, flags=0x0)", other)
    RECEIVES(__recvfrom_chk, (int, void *, size_t, size_t, int, void *, socklen_t *),
             (peer, block, 200, 4096, 0, NULL, NULL), "recvfrom(fd=%d, count=200, flags=0x0)", peer)
    struct iovec out[2] = {{block, 60}, {block, 40}}, in = {block, 200};
    struct msghdr sent = {.msg_iov = out, .msg_iovlen = 2}, got = {.msg_iov = &in, .msg_iovlen = 1};
    SENDS(sendmsg, (int, const struct msghdr *, int), (other, &sent, 0), "sendmsg(fd=%d, flags=0x0)", other)
    RECEIVES(recvmsg, (int, struct msghdr *, int), (peer, &got, 0), "recvmsg(fd=%d, flags=0x0)", peer)
    struct mmsghdr many_out = {.msg_hdr = sent}, many_in = {.msg_hdr = got};
#define SENDS_MANY(symbol)                                                                              \
    RUN(int, symbol, (int, struct mmsghdr *, unsigned int, int), (other, &many_out, 1, 0));             \
    see("WRITE", "UNIX:*", 100, 100, -1, "sendmmsg(fd=%d, messages_count=1, flags=0x0) = 1", other);  \
    RUN(int, recvmmsg, (int, struct mmsghdr *, unsigned int, int, struct timespec *), (peer, &many_in, 1, 0, NULL)); \
    see("READ", "UNIX:*", 200, 100, -1, "recvmmsg(fd=%d, messages_count=1, flags=0x0) = 1", peer);
    SENDS_MANY(sendmmsg)
    SENDS_MANY(__sendmmsg)
    RUN(int, shutdown, (int, int), (other, SHUT_RDWR));
    SEE(OTHER, "UNIX:*", "shutdown(fd=%d, how=SHUT_RDWR)", other);
    RUN(ssize_t, send, (int, const void *, size_t, int), (other, block, 100, MSG_NOSIGNAL));
    see("WRITE", "UNIX:*", 100, 0, -1, "send(fd=%d, count=100, flags=0x4000)", other);
    done_with(peer, "UNIX:*");
    done_with(more, "UNIX:*");
    done_with(other, "UNIX:*");
    done_with(listener, "socket:*");
}

/* ---- size, space, sync, memory ---- */

static void space(void) {
    int fd = RUN(int, open, (const char *, int, ...), ("data", O_RDWR));
    SEE(CREATE, "data", "open(flags=O_RDWR, mode=*) = %d", fd);
    RUN(int, truncate, (const char *, off_t), ("data", 8192));
    SEE(OTHER, "data", "truncate(length=8192)");
    RUN(int, truncate64, (const char *, off_t), ("data", 8000));
    SEE(OTHER, "data", "truncate(length=8000)");
    RUN(int, truncate, (const char *, off_t), ((char *)8, -1));
    SEE(OTHER, "-", "truncate(length=-1)");
    RUN(int, ftruncate, (int, off_t), (fd, 9000));
    SEE(OTHER, "data", "ftruncate(fd=%d, length=9000)", fd);
    RUN(int, ftruncate64, (int, off_t), (fd, 8192));
    SEE(OTHER, "data", "ftruncate(fd=%d, length=8192)", fd);
#define ALLOCATE(symbol)                                                                          \
    RUN(int, symbol, (int, int, off_t, off_t), (fd, FALLOC_FL_KEEP_SIZE, 0, 4096));               \
    see("OTHER", "data", 0, 0, 0, "fallocate(fd=%d, mode=0x1, length=4096)", fd);
    ALLOCATE(fallocate)
    ALLOCATE(fallocate64)
#define RESERVE(symbol)                                                                           \
    RUN_AS(int, symbol, (int, off_t, off_t), (fd, 4096, 100), r, 0);                              \
    see("OTHER", "data", 0, 0, 4096, "posix_fallocate(fd=%d, length=100)", fd);
    RESERVE(posix_fallocate)
    RESERVE(posix_fallocate64)
    failure = RUN_NUMBER(int, posix_fallocate, (int, off_t, off_t), (fd, 0, 0));
    see("OTHER", "data", 0, 0, 0, "posix_fallocate(fd=%d, length=0)", fd);
#define ADVISE(symbol)                                                                            \
    RUN_NUMBER(int, symbol, (int, off_t, off_t, int), (fd, 0, 4096, POSIX_FADV_DONTNEED));        \
    see("CHANGE_FLAGS", "data", 0, 0, 0, "posix_fadvise(fd=%d, length=4096, advice=POSIX_FADV_DONTNEED)", fd);
    ADVISE(posix_fadvise)
    ADVISE(posix_fadvise64)
    RUN(ssize_t, readahead, (int, off_t, size_t), (fd, 0, 4096));
    see("OTHER", "data", 0, 0, 0, "readahead(fd=%d, count=4096)", fd);
    RUN(int, flock, (int, int), (fd, LOCK_SH));
    SEE(CHANGE_FLAGS, "data", "flock(fd=%d, operation=0x1)", fd);
    RUN(int, lockf, (int, int, off_t), (fd, F_LOCK, 10));
    SEE(CHANGE_FLAGS, "data", "lockf(fd=%d, command=F_LOCK, length=10)", fd);
    RUN(int, lockf64, (int, int, off_t), (fd, F_ULOCK, 10));
    SEE(CHANGE_FLAGS, "data", "lockf(fd=%d, command=F_ULOCK, length=10)", fd);

    RUN(int, fsync, (int), (fd));
    SEE(SYNC, "data", "fsync(fd=%d)", fd);
    RUN(int, fdatasync, (int), (fd));
    SEE(SYNC, "data", "fdatasync(fd=%d)", fd);
    RUN(int, syncfs, (int), (-1)); /* other processes use the machine, too */
    SEE(SYNC, "-", "syncfs(fd=-1)");
    RUN(int, sync_file_range, (int, off_t, off_t, unsigned int), (fd, 0, 4096, 0));
    see("SYNC", "data", 0, 0, 0, "sync_file_range(fd=%d, length=4096, flags=0x0)", fd);

    char *memory = RUN_AS(void *, mmap, (void *, size_t, int, int, int, off_t),
                          (NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0), r != MAP_FAILED, r == MAP_FAILED);
    see("OTHER", "data", 8192, 0, 0, "mmap(length=8192, protection=0x3, flags=0x1, fd=%d)", fd);
    RUN(int, msync, (void *, size_t, int), (memory + 4096, 4096, MS_SYNC));
    see("SYNC", "data", 4096, 0, -1, "msync(length=4096, flags=0x4)");
    memory = RUN_AS(void *, mremap, (void *, size_t, size_t, int, ...), (memory, 8192, 4096, 0), r != MAP_FAILED,
                    r == MAP_FAILED);
    see("OTHER", "data", 8192, 0, -1, "mremap(length=8192, new_length=4096, flags=0x0)");
    RUN(int, munmap, (void *, size_t), (memory, 4096));
    see("OTHER", "data", 4096, 0, -1, "munmap(length=4096)");
    memory = RUN_AS(void *, mmap64, (void *, size_t, int, int, int, off_t),
                    (NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 4096), r != MAP_FAILED, r == MAP_FAILED);
    see("OTHER", "data", 4096, 0, 4096, "mmap(length=4096, protection=0x1, flags=0x2, fd=%d)", fd);
    RUN(int, munmap, (void *, size_t), (memory, 4096));
    see("OTHER", "data", 4096, 0, -1, "munmap(length=4096)");
    /* Memory without a file is no I/O. */
    memory = RUN_AS(void *, mmap, (void *, size_t, int, int, int, off_t),
                    (NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), r != MAP_FAILED, 0);
    RUN(int, munmap, (void *, size_t), (memory, 4096));
    RUN(int, msync, (void *, size_t, int), (NULL, 4096, MS_SYNC));
    see("SYNC", "-", 4096, 0, -1, "msync(length=4096, flags=0x4)");
    done_with(fd, "data");
}

/* ---- asynchronous ---- */

static void asynchronous(void) {
    static char room[100];
    int fd = RUN(int, open, (const char *, int, ...), ("data", O_RDWR));
    SEE(CREATE, "data", "open(flags=O_RDWR, mode=*) = %d", fd);
    struct aiocb one = {.aio_fildes = fd, .aio_buf = room, .aio_nbytes = 100, .aio_offset = 8150};
    const struct aiocb *list[] = {&one};
#define BEGUN(kind, symbol, shown)                                                                 \
    RUN(int, symbol, (struct aiocb *), (&one));                                                    \
    see(#kind, "data", 0, 0, one.aio_offset, shown "(fd=%d, count=100, id=1)", fd);
#define ENDED(kind, suffix, size)                                                                  \
    RUN(int, aio_suspend##suffix, (const struct aiocb *const *, int, const struct timespec *), (list, 1, NULL)); \
    SEE(OTHER, "-", "aio_suspend(count=1)");                                                       \
    RUN(ssize_t, aio_return##suffix, (struct aiocb *), (&one));                                    \
    see(#kind, "data", 100, size, one.aio_offset, "aio_return(id=1) = " #size);
    BEGUN(READ, aio_read, "aio_read")
    ENDED(READ, , 42)
    BEGUN(READ, aio_read64, "aio_read")
    ENDED(READ, 64, 42)
    BEGUN(WRITE, aio_write, "aio_write")
    RUN(int, aio_suspend, (const struct aiocb *const *, int, const struct timespec *), (list, 1, NULL));
    SEE(OTHER, "-", "aio_suspend(count=1)");
    RUN_NUMBER(int, aio_error, (const struct aiocb *), (&one));
    see("WRITE", "data", 100, 100, 8150, "aio_error(id=1) = 0");
    RUN(ssize_t, aio_return, (struct aiocb *), (&one));
    see("OTHER", "-", 0, 0, 8150, "aio_return(id=0) = 100");
    BEGUN(WRITE, aio_write64, "aio_write")
    RUN(int, aio_suspend, (const struct aiocb *const *, int, const struct timespec *), (list, 1, NULL));
    SEE(OTHER, "-", "aio_suspend(count=1)");
    RUN_NUMBER(int, aio_error64, (const struct aiocb *), (&one));
    see("WRITE", "data", 100, 100, 8150, "aio_error(id=1) = 0");
#define SYNCED(symbol, suffix)                                                                     \
    RUN(int, symbol, (int, struct aiocb *), (O_DSYNC, &one));                                      \
    SEE(SYNC, "data", "aio_fsync(operation=*O_DSYNC, fd=%d, id=1)", fd);                           \
    RUN(int, aio_suspend##suffix, (const struct aiocb *const *, int, const struct timespec *), (list, 1, NULL)); \
    SEE(OTHER, "-", "aio_suspend(count=1)");                                                       \
    RUN(ssize_t, aio_return##suffix, (struct aiocb *), (&one));                                    \
    SEE(SYNC, "data", "aio_return(id=1) = 0");
    SYNCED(aio_fsync, )
    SYNCED(aio_fsync64, 64)
#define CANCELLED(symbol)                                                                          \
    RUN_NUMBER(int, symbol, (int, struct aiocb *), (fd, NULL));                                    \
    SEE(OTHER, "data", "aio_cancel(fd=%d, id=0) = 2", fd);
    CANCELLED(aio_cancel)
    CANCELLED(aio_cancel64)
    struct aiocb two = one;
    one.aio_lio_opcode = LIO_WRITE;
    two.aio_lio_opcode = LIO_READ;
    two.aio_offset = 0;
    struct aiocb *both[] = {&one, NULL, &two};
#define LISTED(symbol)                                                                             \
    RUN(int, symbol, (int, struct aiocb *const *, int, struct sigevent *), (LIO_WAIT, both, 3, NULL));       \
    see("WRITE", "data", 100, 100, 8150, "lio_listio(mode=LIO_WAIT, count=3, fd=%d, size=100, id=1)", fd);   \
    see("READ", "data", 100, 100, 0, "lio_listio(mode=LIO_WAIT, count=3, fd=%d, size=100, id=2)", fd);
    LISTED(lio_listio)
    LISTED(lio_listio64)
    RUN(int, lio_listio, (int, struct aiocb *const *, int, struct sigevent *), (LIO_NOWAIT, both, 1, NULL));
    see("WRITE", "data", 0, 0, 8150, "lio_listio(mode=LIO_NOWAIT, count=1, fd=%d, size=100, id=1)", fd);
    ENDED(WRITE, , 100)
    one.aio_fildes = -1;
    RUN(int, aio_fsync, (int, struct aiocb *), (O_SYNC, &one));
    SEE(SYNC, "-", "aio_fsync(operation=*O_SYNC, fd=-1, id=1)");
    done_with(fd, "data");
}

/* ---- names ---- */

static void names(void) {
#define ON(kind, symbol, types, arguments, path, ...)       \
    RUN(int, symbol, types, arguments);                     \
    SEE(kind, path, __VA_ARGS__);
#define PATH (const char *)
#define PATHS (const char *, const char *)
#define MODED (const char *, mode_t)
    ON(OTHER, mkdir, MODED, ("d", 0755), "d", "mkdir(mode=0755)")
    ON(OTHER, mkdir, MODED, ("d", 0755), "d", "mkdir(mode=0755)")
    ON(OTHER, mkdirat, (int, const char *, mode_t), (AT_FDCWD, "e", 0700), "e", "mkdirat(directory=*, mode=0700)")
    int folder = (int)syscall(SYS_open, "d", O_RDONLY | O_DIRECTORY);
    ON(OTHER, mkdirat, (int, const char *, mode_t), (folder, "deep", 0700), "d/deep",
       "mkdirat(directory=%d, mode=0700)", folder)
    ON(DELETE, rmdir, PATH, ("e"), "e", "rmdir()")
    ON(DELETE, unlinkat, (int, const char *, int), (folder, "deep", AT_REMOVEDIR), "d/deep",
       "unlinkat(directory=%d, flags=0x200)", folder)
    ON(OTHER, link, PATHS, ("a", "b"), "a", "link(to=*/b)")
    ON(OTHER, linkat, (int, const char *, int, const char *, int), (AT_FDCWD, "a", folder, "b", 0), "a",
       "linkat(directory=*, to_directory=%d, to=*/d/b, flags=0x0)", folder)
    ON(OTHER, symlink, PATHS, ("a", "s"), "s", "symlink(target=a)")
    ON(OTHER, symlinkat, (const char *, int, const char *), ("../a", folder, "s"), "d/s",
       "symlinkat(target=../a, directory=%d)", folder)
    ON(OTHER, rename, PATHS, ("b", "c"), "b", "rename(to=*/c)")
    ON(OTHER, renameat, (int, const char *, int, const char *), (folder, "b", AT_FDCWD, "b"), "d/b",
       "renameat(directory=%d, to_directory=*, to=*/b)", folder)
    ON(OTHER, renameat2, (int, const char *, int, const char *, unsigned int),
       (AT_FDCWD, "b", folder, "b", RENAME_NOREPLACE), "b", "renameat2(directory=*, to_directory=%d, to=*/d/b, flags=0x1)", folder)
    ON(OTHER, rename, PATHS, ("nothing", "c"), "nothing", "rename(to=*/c)")
    ON(OTHER, rename, PATHS, ("", (const char *)8), "-", "rename(to=?)")
    ON(OTHER, rename, PATHS, ("nothing", (const char *)8), "nothing", "rename(to=?)")
    ON(OTHER, rename, PATHS, ((const char *)8, "c"), "-", "rename(to=*/c)")
    ON(OTHER, symlink, PATHS, ("../a", "nowhere/s"), "nowhere/s", "symlink(target=../a)")
    ON(OTHER, symlink, PATHS, ("/a", "nowhere/s"), "nowhere/s", "symlink(target=/a)")
    ON(DELETE, unlink, PATH, ("c"), "c", "unlink()")
    ON(DELETE, unlink, PATH, ((const char *)8), "-", "unlink()")
    ON(DELETE, remove, PATH, ("d/b"), "d/b", "remove()")

#define LINKED(symbol, types, arguments, shown, path)                              \
    RUN(ssize_t, symbol, types, arguments);                                        \
    SEE(OTHER, path, shown);
    LINKED(readlink, (const char *, char *, size_t), ("s", block, 100), "readlink(size=100)", "s")
    LINKED(__readlink_chk, (const char *, char *, size_t, size_t), ("s", block, 100, 4096), "readlink(size=100)", "s")
    LINKED(readlinkat, (int, const char *, char *, size_t), (AT_FDCWD, "s", block, 100),
           "readlinkat(directory=*, size=100)", "s")
    LINKED(__readlinkat_chk, (int, const char *, char *, size_t, size_t), (AT_FDCWD, "s", block, 100, 4096),
           "readlinkat(directory=*, size=100)", "s")
    ON(DELETE, unlink, PATH, ("d/s"), "d/s", "unlink()")
#define RESOLVED(symbol, types, arguments, shown)                                  \
    RUN_POINTER(char *, symbol, types, arguments);                                 \
    SEE(OTHER, "s", shown);
    RESOLVED(realpath, (const char *, char *), ("s", block), "realpath()")
    RESOLVED(__realpath_chk, (const char *, char *, size_t), ("s", block, 4096), "realpath()")
    RESOLVED(canonicalize_file_name, (const char *), ("s"), "canonicalize_file_name()")
    char pattern[] = "dir.XXXXXX";
    RUN_POINTER(char *, mkdtemp, (char *), (pattern));
    SEE(OTHER, pattern, "mkdtemp()");
    syscall(SYS_rmdir, pattern);

    dev_t device = 0;
    ON(OTHER, mknod, (const char *, mode_t, dev_t), ("f1", S_IFIFO | 0600, 0), "f1", "mknod(mode=010600, device=0x0)")
    ON(OTHER, mknodat, (int, const char *, mode_t, dev_t), (AT_FDCWD, "f2", S_IFIFO | 0600, 0), "f2",
       "mknodat(directory=*, mode=010600, device=0x0)")
    ON(OTHER, __xmknod, (int, const char *, mode_t, dev_t *), (0, "f3", S_IFIFO | 0600, &device), "f3",
       "mknod(mode=010600)")
    ON(OTHER, __xmknodat, (int, int, const char *, mode_t, dev_t *), (0, AT_FDCWD, "f4", S_IFIFO | 0600, &device), "f4",
       "mknodat(directory=*, mode=010600)")
    ON(OTHER, mkfifo, MODED, ("f5", 0600), "f5", "mkfifo(mode=0600)")
    ON(OTHER, mkfifoat, (int, const char *, mode_t), (folder, "f6", 0600), "d/f6",
       "mkfifoat(directory=%d, mode=0600)", folder)
    syscall(SYS_close, folder);
}

/* ---- metadata of a file ---- */

static void facts(void) {
    static union {
        struct stat plain;
        struct stat64 large;
        struct statx extended;
        struct statfs system;
        struct statfs64 large_system;
        struct statvfs posix;
    } to;
    int fd = (int)syscall(SYS_open, "a", O_RDWR);
#define BY_PATH(symbol, shown) ON(OTHER, symbol, (const char *, void *), ("a", &to), "a", shown "()")
#define BY_NUMBER(symbol, shown) ON(OTHER, symbol, (int, void *), (fd, &to), "a", shown "(fd=%d)", fd)
    BY_PATH(stat, "stat")
    BY_PATH(stat64, "stat")
    BY_PATH(lstat, "lstat")
    BY_PATH(lstat64, "lstat")
    BY_NUMBER(fstat, "fstat")
    BY_NUMBER(fstat64, "fstat")
#define AT(symbol)                                                                           \
    ON(OTHER, symbol, (int, const char *, void *, int), (AT_FDCWD, "a", &to, 0), "a",        \
       "fstatat(directory=*, flags=0x0)")
    AT(fstatat)
    AT(fstatat64)
#define OLD(symbol, shown) ON(OTHER, symbol, (int, const char *, void *), (1, "a", &to), "a", shown "()")
    OLD(__xstat, "stat")
    OLD(__xstat64, "stat")
    OLD(__lxstat, "lstat")
    OLD(__lxstat64, "lstat")
    ON(OTHER, __fxstat, (int, int, void *), (1, fd, &to), "a", "fstat(fd=%d)", fd)
    ON(OTHER, __fxstat64, (int, int, void *), (1, fd, &to), "a", "fstat(fd=%d)", fd)
#define OLD_AT(symbol)                                                                       \
    ON(OTHER, symbol, (int, int, const char *, void *, int), (1, AT_FDCWD, "a", &to, 0), "a", \
       "fstatat(directory=*, flags=0x0)")
    OLD_AT(__fxstatat)
    OLD_AT(__fxstatat64)
    ON(OTHER, statx, (int, const char *, int, unsigned int, void *), (AT_FDCWD, "a", 0, STATX_SIZE, &to), "a",
       "statx(directory=*, flags=0x0, mask=0x200)")
    ON(OTHER, stat, (const char *, void *), ("nothing", &to), "nothing", "stat()")
    ON(OTHER, stat, (const char *, void *), ((const char *)8, &to), "-", "stat()")
    BY_PATH(statfs, "statfs")
    BY_PATH(__statfs, "statfs")
    BY_PATH(statfs64, "statfs")
    BY_NUMBER(fstatfs, "fstatfs")
    BY_NUMBER(fstatfs64, "fstatfs")
    BY_PATH(statvfs, "statvfs")
    BY_PATH(statvfs64, "statvfs")
    BY_NUMBER(fstatvfs, "fstatvfs")
    BY_NUMBER(fstatvfs64, "fstatvfs")
    RUN_NUMBER(long, pathconf, (const char *, int), ("a", _PC_NAME_MAX));
    SEE(OTHER, "a", "pathconf(name=3)");
    RUN_NUMBER(long, fpathconf, (int, int), (fd, _PC_NAME_MAX));
    SEE(OTHER, "a", "fpathconf(fd=%d, name=3)", fd);
    ON(OTHER, access, (const char *, int), ("a", R_OK), "a", "access(mode=0x4)")
    ON(OTHER, eaccess, (const char *, int), ("a", R_OK), "a", "eaccess(mode=0x4)")
    ON(OTHER, euidaccess, (const char *, int), ("a", R_OK), "a", "eaccess(mode=0x4)")
    ON(OTHER, faccessat, (int, const char *, int, int), (AT_FDCWD, "a", F_OK, 0), "a",
       "faccessat(directory=*, mode=0x0, flags=0x0)")
    RUN_AS(int, isatty, (int), (fd), r, r == 0);
    SEE(OTHER, "a", "isatty(fd=%d)", fd);

    ON(OTHER, chmod, MODED, ("a", 0600), "a", "chmod(mode=0600)")
    ON(OTHER, lchmod, MODED, ("a", 0601), "a", "lchmod(mode=0601)")
    ON(OTHER, fchmod, (int, mode_t), (fd, 0602), "a", "fchmod(fd=%d, mode=0602)", fd)
    ON(OTHER, fchmodat, (int, const char *, mode_t, int), (AT_FDCWD, "a", 0644, 0), "a",
       "fchmodat(directory=*, mode=0644, flags=0x0)")
    ON(OTHER, chown, (const char *, uid_t, gid_t), ("a", -1, -1), "a", "chown(owner=*, group=*)")
    ON(OTHER, lchown, (const char *, uid_t, gid_t), ("a", -1, -1), "a", "lchown(owner=*, group=*)")
    ON(OTHER, fchown, (int, uid_t, gid_t), (fd, -1, -1), "a", "fchown(fd=%d, owner=*, group=*)", fd)
    ON(OTHER, fchownat, (int, const char *, uid_t, gid_t, int), (AT_FDCWD, "a", -1, -1, 0), "a",
       "fchownat(directory=*, owner=*, group=*, flags=0x0)")
    ON(OTHER, utime, (const char *, void *), ("a", NULL), "a", "utime()")
    ON(OTHER, utimes, (const char *, void *), ("a", NULL), "a", "utimes()")
    ON(OTHER, lutimes, (const char *, void *), ("a", NULL), "a", "lutimes()")
    ON(OTHER, futimes, (int, void *), (fd, NULL), "a", "futimes(fd=%d)", fd)
    ON(OTHER, futimesat, (int, const char *, void *), (AT_FDCWD, "a", NULL), "a", "futimesat(directory=*)")
    ON(OTHER, utimensat, (int, const char *, void *, int), (AT_FDCWD, "a", NULL, 0), "a",
       "utimensat(directory=*, flags=0x0)")
    ON(OTHER, futimens, (int, void *), (fd, NULL), "a", "futimens(fd=%d)", fd)

#define SET(symbol, first, type, path, lead, ...) \
    ON(OTHER, symbol, (type, const char *, const void *, size_t, int), (first, "user.x", "value", 5, 0), path, \
       #symbol "(" lead "name=*, size=5, flags=0x0)", ##__VA_ARGS__)
#define GET(symbol, first, type, path, lead, ...) \
    RUN(ssize_t, symbol, (type, const char *, void *, size_t), (first, "user.x", block, 100)); \
    SEE(OTHER, path, #symbol "(" lead "name=*, size=100)", ##__VA_ARGS__);
#define LIST(symbol, first, type, path, lead, ...) \
    RUN(ssize_t, symbol, (type, char *, size_t), (first, block, 100)); \
    SEE(OTHER, path, #symbol "(" lead "size=100)", ##__VA_ARGS__);
#define DROP(symbol, first, type, path, lead, ...) \
    ON(OTHER, symbol, (type, const char *), (first, "user.x"), path, #symbol "(" lead "name=*)", ##__VA_ARGS__)
#define ATTRIBUTES(prefix, first, type, path, lead, ...)                 \
    SET(prefix##setxattr, first, type, path, lead, ##__VA_ARGS__)        \
    GET(prefix##getxattr, first, type, path, lead, ##__VA_ARGS__)        \
    LIST(prefix##listxattr, first, type, path, lead, ##__VA_ARGS__)      \
    DROP(prefix##removexattr, first, type, path, lead, ##__VA_ARGS__)
    ATTRIBUTES(, "a", const char *, "a", "")
    ATTRIBUTES(l, "a", const char *, "a", "")
    ATTRIBUTES(f, fd, int, "a", "fd=%d, ", fd)
    ON(OTHER, setxattr, (const char *, const char *, const void *, size_t, int), ("nothing", (const char *)8, "", 0, 0),
       "*", "setxattr(*)") /* the kernel may check either first */
    syscall(SYS_close, fd);
    RUN(int, close, (int), (fd));
    SEE(DESTROY, "a", "close(fd=%d)", fd); /* the kernel closed it without libc */
}

/* ---- directories ---- */

static int visit(const char *path, const struct stat *found, int kind) {
    return (void)path, (void)found, (void)kind, 0;
}
static int visit_deep(const char *path, const struct stat *found, int kind, struct FTW *place) {
    return (void)path, (void)found, (void)kind, (void)place, 0;
}

static void directories(void) {
    char *text;
    ON(OTHER, chdir, PATH, ("d"), "d", "chdir()")
    int up = (int)syscall(SYS_open, "..", O_RDONLY);
    ON(OTHER, fchdir, (int), (up), ".", "fchdir(fd=%d)", up)
    done_with(up, ".");
    ON(OTHER, chroot, PATH, ("nothing"), "nothing", "chroot()")
#define WHERE(symbol, types, arguments, shown)                        \
    text = RUN_POINTER(char *, symbol, types, arguments);             \
    SEE(OTHER, "-", shown);                                           \
    note("call\tsame\t%d\t0\n", text != NULL && *text == '/');
    WHERE(getcwd, (char *, size_t), (block, 4096), "getcwd(size=4096)")
    WHERE(getcwd, (char *, size_t), (block, 1), "getcwd(size=1)")
    WHERE(__getcwd_chk, (char *, size_t, size_t), (block, 4096, 4096), "getcwd(size=4096)")
    WHERE(getwd, (char *), (block), "getwd()")
    WHERE(__getwd_chk, (char *, size_t), (block, 4096), "getwd()")
    WHERE(get_current_dir_name, (void), (), "get_current_dir_name()")
    free(text);

    DIR *directory = RUN_POINTER(DIR *, opendir, (const char *), ("d"));
    int fd;
    SEE(CREATE, "d", "opendir()");
    for (int i = 0; i < 3; i++) {
        RUN_POINTER(struct dirent *, readdir, (DIR *), (directory));
        failure = 0;
        SEE(OTHER, "d", "readdir()");
    }
    RUN_POINTER(struct dirent64 *, readdir64, (DIR *), (directory)); /* the end */
    failure = 0;
    SEE(OTHER, "d", "readdir()");
    RUN_VOID(rewinddir, (DIR *), (directory));
    SEE(SEEK, "d", "rewinddir()");
    long position = RUN_AS(long, telldir, (DIR *), (directory), 0, 0);
    SEE(OTHER, "d", "telldir()");
    RUN_VOID(seekdir, (DIR *, long), (directory, position));
    SEE(SEEK, "d", "seekdir(position=%ld)", position);
    union {
        struct dirent plain;
        struct dirent64 large;
    } entry;
    void *found;
    RUN_NUMBER(int, readdir_r, (DIR *, void *, void *), (directory, &entry, &found));
    SEE(OTHER, "d", "readdir_r()");
    RUN_NUMBER(int, readdir64_r, (DIR *, void *, void *), (directory, &entry, &found));
    SEE(OTHER, "d", "readdir_r()");
    RUN(int, closedir, (DIR *), (directory));
    SEE(DESTROY, "d", "closedir()");
    RUN_POINTER(DIR *, opendir, (const char *), ("nothing"));
    SEE(CREATE, "nothing", "opendir()");

    fd = RUN(int, open, (const char *, int, ...), ("d", O_RDONLY | O_DIRECTORY));
    SEE(CREATE, "d", "open(flags=O_RDONLY|O_DIRECTORY, mode=*) = %d", fd);
    off_t base = 0;
    RUN_AS(ssize_t, getdents64, (int, void *, size_t), (fd, block, 4096), r > 0, 0);
    SEE(OTHER, "d", "getdents64(fd=%d, count=4096)", fd);
    RUN_NUMBER(ssize_t, getdirentries, (int, char *, size_t, off_t *), (fd, block, 4096, &base));
    SEE(OTHER, "d", "getdirentries(fd=%d, count=4096)", fd);
    RUN_NUMBER(ssize_t, getdirentries64, (int, char *, size_t, off_t *), (fd, block, 4096, &base));
    SEE(OTHER, "d", "getdirentries(fd=%d, count=4096)", fd);
    directory = RUN_POINTER(DIR *, fdopendir, (int), (fd));
    SEE(CREATE, "d", "fdopendir(fd=%d)", fd);
    RUN(int, closedir, (DIR *), (directory));
    SEE(DESTROY, "d", "closedir()");

    struct dirent **entries = NULL;
#define SCAN(symbol) \
    RUN(int, symbol, (const char *, void *, void *, void *), ("d", &entries, NULL, NULL)); \
    SEE(OTHER, "d", "scandir()");
    SCAN(scandir)
    SCAN(scandir64)
#define SCAN_AT(symbol) \
    RUN(int, symbol, (int, const char *, void *, void *, void *), (AT_FDCWD, "d", &entries, NULL, NULL)); \
    SEE(OTHER, "d", "scandirat(directory=*)");
    SCAN_AT(scandirat)
    SCAN_AT(scandirat64)
    ON(OTHER, ftw, (const char *, void *, int), ("d", visit, 5), "d", "ftw(descriptors=5)")
    ON(OTHER, ftw64, (const char *, void *, int), ("d", visit, 5), "d", "ftw(descriptors=5)")
    ON(OTHER, nftw, (const char *, void *, int, int), ("d", visit_deep, 5, 0), "d", "nftw(descriptors=5, flags=0x0)")
    ON(OTHER, nftw64, (const char *, void *, int, int), ("d", visit_deep, 5, 0), "d", "nftw(descriptors=5, flags=0x0)")
    union {
        glob_t plain;
        glob64_t large;
    } names = {0};
#define GLOB(symbol)                                                                        \
    RUN_NUMBER(int, symbol, (const char *, int, void *, void *), ("d/*", 0, NULL, &names)); \
    SEE(OTHER, "-", "glob(pattern=d/\\*, flags=0x0)");
    GLOB(glob)
    GLOB(glob64)
}

/* The same calls without libc's functions for them. */
static void by_number(void) {
#undef syscall
#define ASK(...) RUN(long, syscall, (long, ...), (__VA_ARGS__))
    char text[8] = "letters";
    struct iovec parts[2] = {{text, 3}, {text + 3, 4}};
    int fd = (int)ASK(SYS_openat, AT_FDCWD, "k", O_RDWR | O_CREAT, 0600);
    SEE(CREATE, "k", "openat(directory=-100, flags=O_RDWR|O_CREAT, mode=0600) = %d", fd);
    ASK(SYS_pwrite64, fd, text, 7L, 5L);
    see("WRITE", "k", 7, 7, 5, "pwrite64(fd=%d, count=7)", fd);
    ASK(SYS_pwritev, fd, parts, 2L, 100L, 0L);
    see("WRITE", "k", 7, 7, 100, "pwritev(fd=%d, parts_count=2)", fd);
    ASK(SYS_pread64, fd, text, 4L, 5L);
    see("READ", "k", 4, 4, 5, "pread64(fd=%d, count=4)", fd);
    ASK(SYS_lseek, fd, -7L, SEEK_END);
    see("SEEK", "k", 0, 0, 100, "lseek(fd=%d, by=-7, whence=SEEK_END)", fd);
    ASK(SYS_read, fd, text, 7L);
    see("READ", "k", 7, 7, -1, "read(fd=%d, count=7)", fd);
    ASK(SYS_read, fd, (char *)8, 7L);
    see("READ", "k", 7, 0, -1, "read(fd=%d, count=7)", fd);
    int other = (int)ASK(SYS_dup, fd);
    SEE(DUPLICATE, "k", "dup(fd=%d) = %d", fd, other);
    ASK(SYS_write, other, text, 7L);
    see("WRITE", "k", 7, 7, -1, "write(fd=%d, count=7)", other);
    long long from = 5, to = 200;
    ASK(SYS_copy_file_range, fd, &from, other, &to, 7L, 0L);
    see("READ", "k", 7, 7, 5, "copy_file_range(from=%d, to=%d, count=7, flags=0x0)", fd, other);
    see("WRITE", "k", 7, 7, 200, "copy_file_range(from=%d, to=%d, count=7, flags=0x0)", fd, other);
    ASK(SYS_close, other);
    SEE(DESTROY, "k", "close(fd=%d)", other);
    ASK(SYS_fallocate, fd, 0L, 300L, 10L);
    see("OTHER", "k", 0, 0, 300, "fallocate(fd=%d, mode=0x0, length=10)", fd);
    ASK(SYS_fdatasync, fd);
    SEE(SYNC, "k", "fdatasync(fd=%d)", fd);
    struct statx facts;
    ASK(SYS_statx, AT_FDCWD, "k", 0L, 1L, &facts);
    SEE(OTHER, "k", "statx(directory=-100, flags=0x0, mask=0x1)");
    ASK(SYS_rename, "k", "l");
    SEE(OTHER, "k", "rename(to=*/l)");
    ASK(SYS_rename, "k", (char *)8);
    SEE(OTHER, "k", "rename(to=?)");
    ASK(SYS_openat, AT_FDCWD, (char *)8, O_RDONLY);
    SEE(CREATE, "-", "openat(directory=-100, flags=O_RDONLY, mode=*) = -1");
    ASK(SYS_unlink, "l");
    SEE(DELETE, "l", "unlink()");
    ASK(SYS_getuid);
    ASK(SYS_close, 12345L);
    ASK(SYS_close, fd);
    SEE(DESTROY, "k", "close(fd=%d)", fd);
}

int main(int count, char **words) {
    if (count != 2)
        return 1;
    name = words[1];
    opening();
    descriptors();
    duplicating();
    moving();
    passing();
    sockets();
    space();
    asynchronous();
    names();
    facts();
    directories();
    by_number();
    finish();
}
