/* Calls that close descriptors or duplicate one onto another. Descriptors are tracked even if these calls are
 * switched off. */
#include "libc/wrap_close.h"
#include "libc/libc.h"
#include "sites_posix.h"

#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

#ifndef CLOSE_RANGE_CLOEXEC /* glibc before 2.34 */
#define CLOSE_RANGE_CLOEXEC (1u << 2)
#endif

static const struct iotide_target nothing = {0, 0};

/* ---- close ---- */

#define CLOSE(symbol)                                                                                           \
    EXPORT FREQUENT int symbol(int fd) {                                                                        \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                                  \
        struct iotide_target target = iotide_tracks_descriptors() ? iotide_unregister_descriptor(fd) : nothing; \
        int result = REAL(symbol)(fd);                                                                          \
        /* Unused descriptors are often closed by the thousand before an exec: not I/O. */                      \
        if (span.start_ns && target.handle)                                                                     \
            iotide_leave(span, &SITE(symbol), iotide_facts(&SITE(symbol), target, fd, result != 0), NULL, 0);   \
        return result;                                                                                          \
    }
CLOSE(close)
CLOSE(__close)

EXPORT int close_range(unsigned int first, unsigned int last, int flags) {
    struct iotide_span span = iotide_enter(&SITE(close_range));
    bool ours = iotide_tracks_descriptors();
    if (ours && !(flags & (int)CLOSE_RANGE_CLOEXEC))
        iotide_unregister_descriptors(first, last);
    int result = REAL(close_range)(first, last, flags);
    if (span.start_ns && ours)
        iotide_leave(span, &SITE(close_range), iotide_facts(&SITE(close_range), nothing, -1, result != 0),
                     (uint64_t[]){first, last, (uint64_t)flags}, 3);
    return result;
}

EXPORT void closefrom(int first) {
    struct iotide_span span = iotide_enter(&SITE(closefrom));
    bool ours = iotide_tracks_descriptors();
    if (ours)
        iotide_unregister_descriptors(first < 0 ? 0 : (unsigned int)first, ~0u);
    REAL(closefrom)(first);
    if (span.start_ns && ours)
        iotide_leave(span, &SITE(closefrom), iotide_facts(&SITE(closefrom), nothing, -1, false),
                     (uint64_t[]){(uint64_t)first}, 1);
}

/* ---- duplicate ---- */

/* The last word is the result. */
FREQUENT int iotide_record_duplicate(struct iotide_span span, struct iotide_site *site, int from, int to,
                                     uint64_t *words, unsigned int count) {
    if (!span.start_ns) {
        if (to >= 0 && to != from && iotide_tracks_descriptors())
            iotide_unregister_descriptor(to);
        return to;
    }
    if (!iotide_tracks_descriptors())
        return to;
    iotide_end_span(&span);
    struct iotide_target source = iotide_descriptor_target(from);
    struct iotide_facts facts = iotide_facts(site, source, from, to < 0);
    facts.kind = KIND_DUPLICATE;
    if (to >= 0 && to != from) {
        facts.target = iotide_register_duplicate(from, to);
        facts.parent = source.handle;
    }
    words[count - 1] = (uint64_t)to;
    iotide_leave(span, site, facts, words, count);
    return to;
}

EXPORT int dup(int fd) {
    struct iotide_span span = iotide_enter(&SITE(dup));
    int result = REAL(dup)(fd);
    return iotide_record_duplicate(span, &SITE(dup), fd, result, (uint64_t[1]){0}, 1);
}

#define DUP2(symbol)                                                                                       \
    EXPORT FREQUENT int symbol(int fd, int to) {                                                           \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                             \
        int result = REAL(symbol)(fd, to);                                                                 \
        return iotide_record_duplicate(span, &SITE(symbol), fd, result, (uint64_t[]){(uint64_t)to, 0}, 2); \
    }
DUP2(dup2)
DUP2(__dup2)

EXPORT int dup3(int fd, int to, int flags) {
    struct iotide_span span = iotide_enter(&SITE(dup3));
    int result = REAL(dup3)(fd, to, flags);
    return iotide_record_duplicate(span, &SITE(dup3), fd, result, (uint64_t[]){(uint64_t)to, (uint64_t)flags, 0}, 3);
}

/* ---- fcntl and ioctl: an optional argument of any type is one more word ---- */

/* Index of a command's name in the signature's list; unlisted commands keep their number. */
static uint64_t command_index(int command) {
    switch (command) {
    case F_SETOWN_EX: return 15;
    case F_GETOWN_EX: return 16;
    case F_OFD_GETLK: return 17;
    case F_OFD_SETLK: return 18;
    case F_OFD_SETLKW: return 19;
    case F_SETLEASE: return 20;
    case F_GETLEASE: return 21;
    case F_NOTIFY: return 22;
    case F_DUPFD_CLOEXEC: return 23;
    case F_SETPIPE_SZ: return 24;
    case F_GETPIPE_SZ: return 25;
    case F_ADD_SEALS: return 26;
    case F_GET_SEALS: return 27;
    default: return (uint64_t)command;
    }
}

static bool is_lock(int command) {
    return command == F_GETLK || command == F_SETLK || command == F_SETLKW || command == F_OFD_GETLK ||
           command == F_OFD_SETLK || command == F_OFD_SETLKW;
}

/* Other arguments are addresses, or missing. */
static bool has_integer_argument(int command) {
    switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
    case F_SETFD:
    case F_SETFL:
    case F_SETOWN:
    case F_SETSIG:
    case F_SETLEASE:
    case F_NOTIFY:
    case F_SETPIPE_SZ:
    case F_ADD_SEALS: return true;
    default: return false;
    }
}

FREQUENT static int record_control(struct iotide_span span, struct iotide_site *site, int fd, int command,
                                   void *argument, int result) {
    if (!span.start_ns)
        return result;
    iotide_end_span(&span);
    uint64_t words[] = {command_index(command), has_integer_argument(command) ? (uint32_t)(uintptr_t)argument : 0,
                        (uint64_t)result};
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC)
        return iotide_record_duplicate(span, site, fd, result, words, 3);
    struct iotide_facts facts = iotide_facts(site, iotide_descriptor_target(fd), fd, result == -1);
    bool changes = command == F_SETFL || command == F_SETFD || is_lock(command); /* locks: as flock and lockf */
    facts.kind = changes ? KIND_CHANGE_FLAGS : KIND_OTHER;
    if (is_lock(command) && result == 0) {
        const struct flock *lock = argument;
        facts.offset = lock->l_whence == SEEK_SET ? lock->l_start : -1;
        facts.requested = lock->l_len;
    }
    iotide_leave(span, site, facts, words, 3);
    return result;
}

#define FCNTL(symbol)                                                              \
    EXPORT FREQUENT int symbol(int fd, int command, ...) {                         \
        va_list more;                                                              \
        va_start(more, command);                                                   \
        void *argument = va_arg(more, void *);                                     \
        va_end(more);                                                              \
        struct iotide_span span = iotide_enter(&SITE(symbol));                     \
        int result = REAL(symbol)(fd, command, argument);                          \
        return record_control(span, &SITE(symbol), fd, command, argument, result); \
    }
FCNTL(fcntl)
FCNTL(fcntl64)
FCNTL(__fcntl)

EXPORT int ioctl(int fd, unsigned long request, ...) {
    va_list more;
    va_start(more, request);
    void *argument = va_arg(more, void *);
    va_end(more);
    struct iotide_span span = iotide_enter(&SITE(ioctl));
    int result = REAL(ioctl)(fd, request, argument);
    if (span.start_ns)
        iotide_leave(span, &SITE(ioctl), iotide_facts(&SITE(ioctl), iotide_descriptor_target(fd), fd, result == -1),
                     (uint64_t[]){request, (uint64_t)result}, 2);
    return result;
}
