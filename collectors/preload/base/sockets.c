/* Pipes and sockets, and names of connected ones: the same at both ends, so that communicating processes can be matched. The
 * kernel's own name, socket:[inode], does not identify the other end. */
#include "base/sockets.h"
#include "base/raw_syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
};

struct text {
    char *at;
};

static void append(struct text *to, const char *from, size_t length) {
    memcpy(to->at, from, length);
    to->at += length;
}

static void append_number(struct text *to, uint32_t number, uint32_t base) {
    char digits[10];
    int count = 0;
    do
        digits[count++] = "0123456789abcdef"[number % base];
    while (number /= base);
    while (count)
        *to->at++ = digits[--count];
}

static void append_v4(struct text *to, const uint8_t *bytes) {
    for (int i = 0; i < 4; i++) {
        append_number(to, bytes[i], 10);
        if (i < 3)
            *to->at++ = '.';
    }
}

/* As in RFC 5952: the longest run of zeros is left out. */
static void append_v6(struct text *to, const uint8_t *bytes) {
    int longest = 0, from = 8;
    for (int i = 0, run = 0; i < 8; i++) {
        run = bytes[2 * i] || bytes[2 * i + 1] ? 0 : run + 1;
        if (run > longest && run > 1) {
            longest = run;
            from = i + 1 - run;
        }
    }
    *to->at++ = '[';
    for (int i = 0; i < 8; i++) {
        if (i == from) {
            append(to, "::", 2);
            i += longest - 1;
            continue;
        }
        if (i && i != from + longest)
            *to->at++ = ':';
        append_number(to, (uint32_t)bytes[2 * i] << 8 | bytes[2 * i + 1], 16);
    }
    *to->at++ = ']';
}

static bool is_v4(const union address *address) {
    return address->any.sa_family == AF_INET || IN6_IS_ADDR_V4MAPPED(&address->v6.sin6_addr);
}

static void append_endpoint(struct text *to, const union address *end) {
    if (end->any.sa_family == AF_INET)
        append_v4(to, (const uint8_t *)&end->v4.sin_addr);
    else if (is_v4(end)) /* of a server for both families, whose client sees 127.0.0.1 */
        append_v4(to, end->v6.sin6_addr.s6_addr + 12);
    else
        append_v6(to, end->v6.sin6_addr.s6_addr);
    *to->at++ = ':';
    append_number(to, ntohs(end->any.sa_family == AF_INET ? end->v4.sin_port : end->v6.sin6_port), 10);
}

static bool append_network_name(struct text *to, int fd, const union address *own, const union address *peer) {
    int type = 0;
    socklen_t size = sizeof type;
    if (iotide_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || (type != SOCK_STREAM && type != SOCK_DGRAM))
        return false;
    append(to, type == SOCK_STREAM ? "TCP" : "UDP", 3);
    append(to, is_v4(own) ? ":[" : "v6:[", is_v4(own) ? 2 : 4);
    append_endpoint(to, own);
    append(to, "->", 2);
    append_endpoint(to, peer);
    return true;
}

static size_t path_size(const union address *address, socklen_t size) {
    size_t before = offsetof(struct sockaddr_un, sun_path);
    if (size <= before)
        return 0;
    size_t length = size < sizeof address->local ? size - before : sizeof address->local.sun_path;
    bool is_abstract = !address->local.sun_path[0];
    return is_abstract ? length : strnlen(address->local.sun_path, length);
}

/* Usually only the server's end has a path; at that end, the kernel knows the connected process. */
static bool append_local_name(struct text *to, int fd, const union address *own, socklen_t own_size,
                              const union address *peer,
                              socklen_t peer_size) {
    size_t served = path_size(peer, peer_size);
    const union address *server = served ? peer : own;
    struct ucred client = {.pid = (pid_t)iotide_syscall(SYS_getpid)};
    if (!served) {
        served = path_size(own, own_size);
        socklen_t size = sizeof client;
        if (!served || iotide_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, &client, &size) != 0)
            return false;
    }
    append(to, "UNIX:[", 6);
    append_number(to, (uint32_t)client.pid, 10);
    append(to, "->", 2);
    append(to, server->local.sun_path, served);
    if (!server->local.sun_path[0])
        to->at[-(ptrdiff_t)served] = '@';
    return true;
}

size_t iotide_connection(int fd, char *name, size_t length) {
    static const char unnamed[] = "socket:[";
    union address own = {.any.sa_family = AF_UNSPEC}, peer = own; /* remain unchanged for an unnamed socket */
    socklen_t own_size = sizeof own, peer_size = sizeof peer;
    if (length < sizeof unnamed || memcmp(name, unnamed, sizeof unnamed - 1) != 0 ||
        iotide_syscall(SYS_getpeername, fd, &peer, &peer_size) != 0 || iotide_syscall(SYS_getsockname, fd, &own, &own_size) != 0)
        return length;
    struct text to = {name};
    bool known = false;
    if (own.any.sa_family == peer.any.sa_family && (own.any.sa_family == AF_INET || own.any.sa_family == AF_INET6))
        known = append_network_name(&to, fd, &own, &peer);
    else if (own.any.sa_family == AF_UNIX)
        known = append_local_name(&to, fd, &own, own_size, &peer, peer_size);
    if (!known)
        return length;
    *to.at++ = ']';
    return (size_t)(to.at - name);
}

bool iotide_is_pipe(int fd, struct statx *facts) {
    struct statx unused;
    facts = facts ? facts : &unused;
    int error = errno;
    long result = iotide_syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, facts);
    errno = error;
    return result == 0 && (S_ISFIFO(facts->stx_mode) || S_ISSOCK(facts->stx_mode));
}
