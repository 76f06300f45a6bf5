/* Calls that create descriptors and cannot be generated: variadic ones, and those that create two at once. */
#include "libc/libc.h"
#include "sites_posix.h"

#include <stdarg.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* words: first the directory, if the call has one; then flags and mode. */
FREQUENT static int record_open(struct iotide_span span, struct iotide_site *site, int fd, int directory,
                                const char *path, const uint64_t *words, unsigned int count) {
    if (span.start_ns && iotide_same_process()) {
        iotide_end_span(&span);
        struct iotide_target target = iotide_register_open(fd, directory, path);
        struct iotide_facts facts = iotide_facts(site, target, fd, fd < 0);
        if (words[count - 2] & O_APPEND)
            facts.flags |= FLAG_APPEND;
        iotide_leave(span, site, facts, words, count);
    }
    return fd;
}

#define MODE_OF(flags)                                             \
    mode_t mode = 0;                                               \
    if ((flags) & O_CREAT || ((flags) & O_TMPFILE) == O_TMPFILE) { \
        va_list more;                                              \
        va_start(more, flags);                                     \
        mode = va_arg(more, mode_t);                               \
        va_end(more);                                              \
    }

#define OPEN(symbol)                                                                                             \
    EXPORT FREQUENT int symbol(const char *path, int flags, ...) {                                               \
        MODE_OF(flags)                                                                                           \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                                   \
        int fd = REAL(symbol)(path, flags, mode);                                                                \
        return record_open(span, &SITE(symbol), fd, AT_FDCWD, path, (uint64_t[]){(unsigned int)flags, mode}, 2); \
    }
OPEN(open)
OPEN(open64)
OPEN(__open)
OPEN(__open64)

#define OPENAT(symbol)                                                                       \
    EXPORT FREQUENT int symbol(int directory, const char *path, int flags, ...) {            \
        MODE_OF(flags)                                                                       \
        struct iotide_span span = iotide_enter(&SITE(symbol));                               \
        int fd = REAL(symbol)(directory, path, flags, mode);                                 \
        return record_open(span, &SITE(symbol), fd, directory, path,                         \
                           (uint64_t[]){(uint64_t)directory, (unsigned int)flags, mode}, 3); \
    }
OPENAT(openat)
OPENAT(openat64)

/* ---- two at once: one record per end, with the whole duration in the first ---- */

static int record_pair(struct iotide_span span, struct iotide_site *site, int result, const int *ends,
                       const uint64_t *words,
                       unsigned int count) {
    if (!span.start_ns || !iotide_same_process())
        return result;
    iotide_end_span(&span);
    if (result != 0) {
        iotide_leave(span, site, iotide_facts(site, (struct iotide_target){0, 0}, -1, true), words, count);
        return result;
    }
    for (int i = 0; i < 2; i++) {
        struct iotide_target target = iotide_register_open(ends[i], AT_FDCWD, NULL);
        iotide_leave(span, site, iotide_facts(site, target, ends[i], false), words, count);
        span.start_ns = span.end_ns;
    }
    return result;
}

#define PIPE(symbol)                                                    \
    EXPORT int symbol(int ends[2]) {                                    \
        struct iotide_span span = iotide_enter(&SITE(symbol));          \
        int result = REAL(symbol)(ends);                                \
        return record_pair(span, &SITE(symbol), result, ends, NULL, 0); \
    }
PIPE(pipe)
PIPE(__pipe)

EXPORT int pipe2(int ends[2], int flags) {
    struct iotide_span span = iotide_enter(&SITE(pipe2));
    int result = REAL(pipe2)(ends, flags);
    return record_pair(span, &SITE(pipe2), result, ends, (uint64_t[]){(uint64_t)flags}, 1);
}

EXPORT int socketpair(int domain, int type, int protocol, int ends[2]) {
    struct iotide_span span = iotide_enter(&SITE(socketpair));
    int result = REAL(socketpair)(domain, type, protocol, ends);
    return record_pair(span, &SITE(socketpair), result, ends,
                       (uint64_t[]){(uint64_t)domain, (uint64_t)type, (uint64_t)protocol}, 3);
}

/* Creates a descriptor if fd is -1, otherwise changes the given one. */
EXPORT int signalfd(int fd, const sigset_t *mask, int flags) {
    struct iotide_span span = iotide_enter(&SITE(signalfd));
    int result = REAL(signalfd)(fd, mask, flags);
    if (span.start_ns && iotide_same_process()) {
        struct iotide_target target = fd == -1 ? iotide_register_open(result, AT_FDCWD,
                                                                      NULL) : iotide_descriptor_target(fd);
        struct iotide_facts facts = iotide_facts(&SITE(signalfd), target, fd == -1 ? result : fd, result < 0);
        if (fd != -1)
            facts.kind = KIND_CHANGE_FLAGS;
        iotide_leave(span, &SITE(signalfd), facts, (uint64_t[]){(uint64_t)fd, (uint64_t)flags}, 2);
    }
    return result;
}
