/* Wrappers of the POSIX calls. Each makes the real call first to last as the program asked, then records it. */
#define _GNU_SOURCE
#include "tracer.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* glibc has these for fortified programs and for large files, but declares them nowhere or under conditions. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int directory, const char *path, int flags);
int __openat64_2(int directory, const char *path, int flags);
ssize_t __read_chk(int fd, void *to, size_t size, size_t room);
ssize_t __pread_chk(int fd, void *to, size_t size, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t size, off64_t offset, size_t room);

static const struct iotide_target nothing = {0, 0};

/* ---- open ---- */

static int opened(struct iotide_span span, enum iotide_call_id call, int fd) {
    if (span.start_ns && iotide_same_process())
        iotide_leave(span, call, iotide_opened(fd), -1, 0, 0, fd < 0);
    return fd;
}

#define MODE_OF(flags)                                     \
    mode_t mode = 0;                                       \
    if ((flags) & O_CREAT || ((flags) & O_TMPFILE) == O_TMPFILE) { \
        va_list more;                                      \
        va_start(more, flags);                             \
        mode = va_arg(more, mode_t);                       \
        va_end(more);                                      \
    }

#define OPEN(symbol)                                                            \
    EXPORT int symbol(const char *path, int flags, ...) {                       \
        MODE_OF(flags)                                                          \
        struct iotide_span span = iotide_enter();                               \
        return opened(span, CALL_##symbol, REAL(symbol)(path, flags, mode));    \
    }
OPEN(open)
OPEN(open64)

#define OPENAT(symbol)                                                                  \
    EXPORT int symbol(int directory, const char *path, int flags, ...) {                \
        MODE_OF(flags)                                                                  \
        struct iotide_span span = iotide_enter();                                       \
        return opened(span, CALL_##symbol, REAL(symbol)(directory, path, flags, mode)); \
    }
OPENAT(openat)
OPENAT(openat64)

#define OPEN_FORTIFIED(symbol)                                            \
    EXPORT int symbol(const char *path, int flags) {                      \
        struct iotide_span span = iotide_enter();                         \
        return opened(span, CALL_##symbol, REAL(symbol)(path, flags));    \
    }
OPEN_FORTIFIED(__open_2)
OPEN_FORTIFIED(__open64_2)

#define OPENAT_FORTIFIED(symbol)                                                  \
    EXPORT int symbol(int directory, const char *path, int flags) {               \
        struct iotide_span span = iotide_enter();                                 \
        return opened(span, CALL_##symbol, REAL(symbol)(directory, path, flags)); \
    }
OPENAT_FORTIFIED(__openat_2)
OPENAT_FORTIFIED(__openat64_2)

#define CREAT(symbol)                                                    \
    EXPORT int symbol(const char *path, mode_t mode) {                   \
        struct iotide_span span = iotide_enter();                        \
        return opened(span, CALL_##symbol, REAL(symbol)(path, mode));    \
    }
CREAT(creat)
CREAT(creat64)

/* ---- close and duplicate ---- */

EXPORT int close(int fd) {
    struct iotide_span span = iotide_enter();
    bool ours = span.start_ns && iotide_same_process();
    struct iotide_target target = ours ? iotide_forget(fd) : nothing;
    int result = REAL(close)(fd);
    /* Descriptors that nothing was done with are often closed by the thousand before an exec: not I/O. */
    if (ours && target.handle)
        iotide_leave(span, CALL_close, target, -1, 0, 0, result != 0);
    return result;
}

EXPORT int close_range(unsigned int first, unsigned int last, int flags) {
    struct iotide_span span = iotide_enter();
    if (span.start_ns && !(flags & (int)CLOSE_RANGE_CLOEXEC) && iotide_same_process())
        iotide_forget_range(first, last);
    int result = REAL(close_range)(first, last, flags);
    if (span.start_ns && iotide_same_process())
        iotide_leave(span, CALL_close_range, nothing, -1, 0, 0, result != 0);
    return result;
}

EXPORT void closefrom(int first) {
    struct iotide_span span = iotide_enter();
    if (span.start_ns && iotide_same_process())
        iotide_forget_range(first < 0 ? 0 : (unsigned int)first, ~0u);
    REAL(closefrom)(first);
    if (span.start_ns && iotide_same_process())
        iotide_leave(span, CALL_closefrom, nothing, -1, 0, 0, false);
}

static int duplicated(struct iotide_span span, enum iotide_call_id call, int from, int to) {
    if (span.start_ns && iotide_same_process()) {
        struct iotide_target target = to >= 0 ? iotide_duplicated(from, to) : nothing;
        iotide_leave(span, call, target, -1, 0, 0, to < 0);
    }
    return to;
}

EXPORT int dup(int fd) {
    struct iotide_span span = iotide_enter();
    return duplicated(span, CALL_dup, fd, REAL(dup)(fd));
}

EXPORT int dup2(int fd, int to) {
    struct iotide_span span = iotide_enter();
    return duplicated(span, CALL_dup2, fd, REAL(dup2)(fd, to));
}

EXPORT int dup3(int fd, int to, int flags) {
    struct iotide_span span = iotide_enter();
    return duplicated(span, CALL_dup3, fd, REAL(dup3)(fd, to, flags));
}

/* ---- read and write ---- */

static inline ssize_t moved(struct iotide_span span, enum iotide_call_id call, int fd, int64_t offset, int64_t wanted,
                            ssize_t got) {
    if (likely(span.start_ns))
        iotide_leave(span, call, iotide_target_of(fd), offset, wanted, got, got < 0);
    return got;
}

#define MOVE(symbol, offset, wanted, parameters, arguments)                                       \
    EXPORT ssize_t symbol parameters {                                                            \
        struct iotide_span span = iotide_enter();                                                 \
        return moved(span, CALL_##symbol, fd, offset, (int64_t)(wanted), REAL(symbol) arguments); \
    }
MOVE(read, -1, size, (int fd, void *to, size_t size), (fd, to, size))
MOVE(__read_chk, -1, size, (int fd, void *to, size_t size, size_t room), (fd, to, size, room))
MOVE(write, -1, size, (int fd, const void *from, size_t size), (fd, from, size))
MOVE(pread, at, size, (int fd, void *to, size_t size, off_t at), (fd, to, size, at))
MOVE(pread64, at, size, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at))
MOVE(__pread_chk, at, size, (int fd, void *to, size_t size, off_t at, size_t room), (fd, to, size, at, room))
MOVE(__pread64_chk, at, size, (int fd, void *to, size_t size, off64_t at, size_t room), (fd, to, size, at, room))
MOVE(pwrite, at, size, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at))
MOVE(pwrite64, at, size, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at))

/* What a vectored call asked for. Read after the call: the real call has then found the vector readable. */
static int64_t total(const struct iovec *parts, int count, ssize_t got) {
    int64_t sum = 0;
    if (got >= 0)
        for (int i = 0; i < count; i++)
            sum += (int64_t)parts[i].iov_len;
    return sum;
}

#define MOVE_VECTOR(symbol, offset, parameters, arguments)                                     \
    EXPORT ssize_t symbol parameters {                                                         \
        struct iotide_span span = iotide_enter();                                              \
        ssize_t got = REAL(symbol) arguments;                                                  \
        return moved(span, CALL_##symbol, fd, offset, total(parts, count, got), got);          \
    }
MOVE_VECTOR(readv, -1, (int fd, const struct iovec *parts, int count), (fd, parts, count))
MOVE_VECTOR(writev, -1, (int fd, const struct iovec *parts, int count), (fd, parts, count))
MOVE_VECTOR(preadv, at, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
MOVE_VECTOR(preadv64, at, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))
MOVE_VECTOR(pwritev, at, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
MOVE_VECTOR(pwritev64, at, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))
MOVE_VECTOR(preadv2, at, (int fd, const struct iovec *parts, int count, off_t at, int flags), (fd, parts, count, at, flags))
MOVE_VECTOR(preadv64v2, at, (int fd, const struct iovec *parts, int count, off64_t at, int flags),
            (fd, parts, count, at, flags))
MOVE_VECTOR(pwritev2, at, (int fd, const struct iovec *parts, int count, off_t at, int flags), (fd, parts, count, at, flags))
MOVE_VECTOR(pwritev64v2, at, (int fd, const struct iovec *parts, int count, off64_t at, int flags),
            (fd, parts, count, at, flags))

/* Calls that move data from one descriptor to another are recorded twice: as a read here and as a write there. */
static ssize_t passed(struct iotide_span span, enum iotide_call_id call, int from, int to, size_t wanted, ssize_t got) {
    if (span.start_ns) {
        iotide_leave_as(span, call, KIND_READ, iotide_target_of(from), -1, (int64_t)wanted, got, got < 0);
        iotide_leave_as(span, call, KIND_WRITE, iotide_target_of(to), -1, (int64_t)wanted, got, got < 0);
    }
    return got;
}

EXPORT ssize_t sendfile(int to, int from, off_t *at, size_t size) {
    struct iotide_span span = iotide_enter();
    return passed(span, CALL_sendfile, from, to, size, REAL(sendfile)(to, from, at, size));
}

EXPORT ssize_t sendfile64(int to, int from, off64_t *at, size_t size) {
    struct iotide_span span = iotide_enter();
    return passed(span, CALL_sendfile64, from, to, size, REAL(sendfile64)(to, from, at, size));
}

EXPORT ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned int flags) {
    struct iotide_span span = iotide_enter();
    return passed(span, CALL_copy_file_range, from, to, size,
                  REAL(copy_file_range)(from, from_at, to, to_at, size, flags));
}

EXPORT ssize_t splice(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned int flags) {
    struct iotide_span span = iotide_enter();
    return passed(span, CALL_splice, from, to, size, REAL(splice)(from, from_at, to, to_at, size, flags));
}

/* ---- seek, sync, size ---- */

#define SEEK(symbol, type)                                                                     \
    EXPORT type symbol(int fd, type by, int whence) {                                          \
        struct iotide_span span = iotide_enter();                                              \
        type at = REAL(symbol)(fd, by, whence);                                                \
        if (span.start_ns)                                                                     \
            iotide_leave(span, CALL_##symbol, iotide_target_of(fd), at, 0, 0, at < 0);         \
        return at;                                                                             \
    }
SEEK(lseek, off_t)
SEEK(lseek64, off64_t)

#define ON_DESCRIPTOR(symbol, offset, parameters, arguments)                                           \
    EXPORT int symbol parameters {                                                                     \
        struct iotide_span span = iotide_enter();                                                      \
        int result = REAL(symbol) arguments;                                                           \
        if (span.start_ns)                                                                             \
            iotide_leave(span, CALL_##symbol, iotide_target_of(fd), offset, 0, 0, result != 0);        \
        return result;                                                                                 \
    }
ON_DESCRIPTOR(fsync, -1, (int fd), (fd))
ON_DESCRIPTOR(fdatasync, -1, (int fd), (fd))
ON_DESCRIPTOR(syncfs, -1, (int fd), (fd))
ON_DESCRIPTOR(sync_file_range, at, (int fd, off64_t at, off64_t size, unsigned int flags), (fd, at, size, flags))
ON_DESCRIPTOR(ftruncate, at, (int fd, off_t at), (fd, at))
ON_DESCRIPTOR(ftruncate64, at, (int fd, off64_t at), (fd, at))

EXPORT void sync(void) {
    struct iotide_span span = iotide_enter();
    REAL(sync)();
    if (span.start_ns)
        iotide_leave(span, CALL_sync, nothing, -1, 0, 0, false);
}

EXPORT int msync(void *memory, size_t size, int flags) {
    struct iotide_span span = iotide_enter();
    int result = REAL(msync)(memory, size, flags);
    if (span.start_ns)
        iotide_leave(span, CALL_msync, nothing, -1, (int64_t)size, 0, result != 0);
    return result;
}

/* ---- by path ---- */

#define ON_PATH(symbol, directory, offset, parameters, arguments)                                             \
    EXPORT int symbol parameters {                                                                            \
        struct iotide_span span = iotide_enter();                                                             \
        int result = REAL(symbol) arguments;                                                                  \
        if (span.start_ns) {                                                                                  \
            /* A path that the real call found unreadable (EFAULT) is not looked at. */                       \
            bool failed = result != 0;                                                                        \
            struct iotide_target target = {0, failed && errno == EFAULT ? 0 : iotide_file_at(directory, path)}; \
            iotide_leave(span, CALL_##symbol, target, offset, 0, 0, failed);                                  \
        }                                                                                                     \
        return result;                                                                                        \
    }
ON_PATH(unlink, AT_FDCWD, -1, (const char *path), (path))
ON_PATH(unlinkat, directory, -1, (int directory, const char *path, int flags), (directory, path, flags))
ON_PATH(rmdir, AT_FDCWD, -1, (const char *path), (path))
ON_PATH(remove, AT_FDCWD, -1, (const char *path), (path))
ON_PATH(rename, AT_FDCWD, -1, (const char *path, const char *to), (path, to))
ON_PATH(renameat, directory, -1, (int directory, const char *path, int to_directory, const char *to),
        (directory, path, to_directory, to))
ON_PATH(renameat2, directory, -1,
        (int directory, const char *path, int to_directory, const char *to, unsigned int flags),
        (directory, path, to_directory, to, flags))
ON_PATH(truncate, AT_FDCWD, at, (const char *path, off_t at), (path, at))
ON_PATH(truncate64, AT_FDCWD, at, (const char *path, off64_t at), (path, at))
