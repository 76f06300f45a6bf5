/* Accepts and reads the regions of short processes that have ended, many with one call. ended_process.py is its
 * interface, names its fallback and describes an entry. Everything unusual is left to the caller. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../../../../preload/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define PEER_PIDFD 77 /* SO_PEERPIDFD, since Linux 6.5 */
#define SLOTS 64
#define SLOTS_END (IOTIDE_HEADER_BYTES + SLOTS * sizeof(struct iotide_slot))
#define MOST_LINES 256
#define MOST_LOG 32768
#define LINE sizeof(struct iotide_record)
#define MOST_DESCRIPTORS 4
#define MOST_BYTES 256

struct entry {
    uint32_t size;
    int32_t pid;
    uint64_t token;
    int32_t tid;
    uint32_t lines;
    uint32_t log_bytes;
    uint32_t counted;
};
#define ENTRY_BASE (sizeof(struct entry) + sizeof(struct iotide_header) + sizeof(struct iotide_slot))
#define MOST_ENTRY (ENTRY_BASE + MOST_LINES * LINE + MOST_LOG)

/* ended_process.py has the same numbers and layout. */
enum status { NONE_WAITS, MORE_WAIT, ACCEPT_FAILED, PEER_UNREAD, PEER_READ };
struct left {
    int32_t status;
    int32_t accepted; /* number of accepted connections, including the one that is left */
    int32_t peer;     /* a connection that the caller must handle */
    int32_t count;    /* descriptors that it has sent, if it was read */
    int32_t descriptors[MOST_DESCRIPTORS];
    uint32_t bytes;
    uint8_t message[MOST_BYTES];
};

/* ---- a region ---- */

static uint64_t load(const _Atomic uint64_t *word) {
    return atomic_load_explicit(word, memory_order_relaxed);
}

static bool are_zero(const void *bytes, size_t size) {
    const unsigned char *first = bytes;
    return !size || (!*first && memcmp(first, first + 1, size - 1) == 0);
}

static bool is_usual(const struct iotide_header *header, const struct iotide_slot *slots, uint64_t token, int64_t size) {
    uint64_t head = load(&slots->head), log_head = load(&header->log_head);
    return header->magic == IOTIDE_MAGIC && header->layout == IOTIDE_LAYOUT && header->extent == 0 &&
           header->region_bytes == (uint64_t)size && header->token == token &&
           header->slots_offset == IOTIDE_HEADER_BYTES && header->slot_count == SLOTS && !load(&slots->dropped_full) &&
           !load(&slots->tail) && !load(&slots->taken) && !load(&header->log_tail) && head <= MOST_LINES &&
           head <= header->ring_lines && log_head <= MOST_LOG && log_head <= header->log_bytes &&
           !header->before_token && !header->taken_before && are_zero(slots + 1, (SLOTS - 1) * sizeof *slots) &&
           header->log_offset >= SLOTS_END && header->log_offset <= INT64_MAX &&
           (int64_t)header->log_offset <= size - (int64_t)log_head && header->rings_offset >= SLOTS_END &&
           header->rings_offset <= INT64_MAX && (int64_t)header->rings_offset <= size - (int64_t)(head * LINE) &&
           !(header->ring_lines & (header->ring_lines - 1)) && header->log_bytes % sizeof(struct iotide_entry) == 0;
}

/* Whether all definitions are whole and committed. */
static bool are_definitions(const uint8_t *log, uint64_t bytes, uint64_t log_bytes) {
    uint64_t at = 0;
    while (at < bytes) {
        struct iotide_entry entry;
        memcpy(&entry, log + at, sizeof entry); /* at and bytes are multiples of its size */
        uint32_t size = entry.size;
        if (!size || size % sizeof entry || size > log_bytes - at || size > bytes - at ||
            (entry.type != ENTRY_PAD && entry.length > size - sizeof entry))
            return false;
        at += size;
    }
    return true;
}

static bool has_counts(const struct iotide_header *header, const struct iotide_slot *slot) {
    uint64_t any = header->lost_before | header->lost_before_bytes | load(&header->dropped_no_slot) |
                   load(&header->dropped_reentrant) | load(&header->definitions_dropped) | load(&header->left_out) |
                   load(&header->dropped_no_slot_bytes) | load(&header->dropped_reentrant_bytes) |
                   load(&header->children_unheard) | load(&header->missed_before) | load(&slot->sampled_out) |
                   load(&slot->sampled_out_bytes) | load(&slot->dropped_bytes) |
                   (load(&header->unrecorded_streams) && load(&header->unrecorded_bytes));
    for (int i = 0; i < IOTIDE_BOUNDS; i++)
        any |= load(&header->bounds_met[i]);
    return any != 0;
}

static bool read_at(int fd, void *to, uint64_t bytes, uint64_t at) {
    return !bytes || pread(fd, to, bytes, (off_t)at) == (ssize_t)bytes;
}

/* Writes the entry of a process that has ended; returns its size, 0 if the region is unusual. to has room for
 * MOST_ENTRY and is aligned to 8 bytes. */
EXPORT uint64_t ended_read(int fd, int32_t pid, uint64_t token, uint8_t *to) {
    _Alignas(128) uint8_t start[SLOTS_END];
    const struct iotide_header *header = (const void *)start;
    const struct iotide_slot *slots = (const void *)(start + IOTIDE_HEADER_BYTES);
    struct stat facts;
    if (fstat(fd, &facts) != 0 || !read_at(fd, start, sizeof start, 0) || !is_usual(header, slots, token, facts.st_size))
        return 0;
    uint64_t lines = load(&slots->head), log_bytes = load(&header->log_head);
    uint8_t *first_line = to + ENTRY_BASE, *log = first_line + lines * LINE;
    if (log_bytes % sizeof(struct iotide_entry) || !read_at(fd, first_line, lines * LINE, header->rings_offset) ||
        !read_at(fd, log, log_bytes, header->log_offset) || (lines && first_line[LINE - 1] == MARK_WORDS) ||
        !are_definitions(log, log_bytes, header->log_bytes))
        return 0;
    uint64_t size = ENTRY_BASE + lines * LINE + log_bytes;
    struct entry entry = {(uint32_t)size,  pid, token, atomic_load_explicit(&slots->tid, memory_order_relaxed), (uint32_t)lines,
                          (uint32_t)log_bytes, has_counts(header, slots)};
    memcpy(to, &entry, sizeof entry);
    memcpy(to + sizeof entry, header, sizeof *header);
    memcpy(to + sizeof entry + sizeof *header, slots, sizeof *slots);
    return size;
}

/* ---- connections ---- */

/* Whether the process at the other end has ended: 1, or 0 if not or unknown. */
static bool has_ended(int peer, int32_t pid) {
    int watch = -1;
    socklen_t size = sizeof watch;
    if (getsockopt(peer, SOL_SOCKET, PEER_PIDFD, &watch, &size) != 0) {
        if (errno != ENOPROTOOPT)
            return errno == ESRCH || errno == EINVAL || errno == ENODATA;
        watch = (int)syscall(SYS_pidfd_open, pid, 0);
        if (watch < 0)
            return errno == ESRCH;
    }
    struct pollfd asked = {watch, POLLIN, 0};
    bool ended = poll(&asked, 1, 0) == 1 && asked.revents & POLLIN;
    close(watch);
    return ended;
}

/* Receives the message of a connection; false: there is none. */
static bool receive(int peer, struct left *to) {
    struct iovec part = {to->message, sizeof to->message};
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(MOST_DESCRIPTORS * sizeof(int))];
    } control;
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
    ssize_t bytes = recvmsg(peer, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (bytes < 0)
        return false;
    to->bytes = (uint32_t)bytes;
    to->count = 0;
    for (struct cmsghdr *each = CMSG_FIRSTHDR(&message); each; each = CMSG_NXTHDR(&message, each)) {
        if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS)
            continue;
        size_t count = (each->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < count && to->count < MOST_DESCRIPTORS; i++)
            memcpy(&to->descriptors[to->count++], CMSG_DATA(each) + i * sizeof(int), sizeof(int));
    }
    return true;
}

/* Whether a message is a first region, which cannot be truncated. */
static bool is_first_region(const struct left *received, struct iotide_hello *hello) {
    if (received->bytes != sizeof *hello || received->count != 1)
        return false;
    memcpy(hello, received->message, sizeof *hello);
    int seals = fcntl(received->descriptors[0], F_GET_SEALS);
    return hello->magic == IOTIDE_MAGIC && hello->layout == IOTIDE_LAYOUT && seals >= 0 && seals & F_SEAL_SHRINK;
}

/* Reads a connection; *size: bytes of its entry. Returns whether nothing of it is left to the caller. */
static bool take(uint32_t own, uint8_t *to, uint64_t *size, struct left *left) {
    struct ucred other;
    socklen_t length = sizeof other;
    left->status = PEER_UNREAD;
    *size = 0;
    if (getsockopt(left->peer, SOL_SOCKET, SO_PEERCRED, &other, &length) != 0 || (other.uid != own && other.uid != 0) ||
        !has_ended(left->peer, other.pid) || !receive(left->peer, left))
        return false;
    struct iotide_hello hello;
    if (left->bytes || left->count) { /* otherwise it only checked for a listener */
        left->status = PEER_READ;
        if (!is_first_region(left, &hello) ||
            !(*size = ended_read(left->descriptors[0], other.pid, hello.token, to)))
            return false;
        close(left->descriptors[0]);
    }
    close(left->peer);
    return true;
}

/* Accepts connections and writes the entries of processes that have ended, until none waits, or one is left to the
 * caller. Returns their size.
 *
 * listening: listening socket, not blocking
 * most: maximum number of accepted connections
 * own: the user's id */
EXPORT uint64_t ended_accept(int listening, int32_t most, uint32_t own, uint8_t *to, uint64_t room, struct left *left) {
    uint64_t used = 0, size;
    for (left->accepted = 0; left->accepted < most && room - used >= MOST_ENTRY; used += size) {
        left->peer = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (left->peer < 0) {
            left->status = errno == EAGAIN ? NONE_WAITS : ACCEPT_FAILED;
            return used;
        }
        left->accepted++;
        if (!take(own, to + used, &size, left))
            return used;
    }
    left->status = MORE_WAIT;
    return used;
}
