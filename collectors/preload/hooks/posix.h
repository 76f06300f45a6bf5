/* Functions for the expressions of signatures/posix.sig. All read only memory that a successful call has read. */
#ifndef IOTIDE_HOOKS_POSIX_H
#define IOTIDE_HOOKS_POSIX_H

#include "base/raw_syscall.h"
#include "state/path_buffers.h"
#include "tracer.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Programs may use deprecated functions. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static inline int64_t iotide_iovec_bytes(const struct iovec *parts, uint64_t count) {
    int64_t sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += (int64_t)parts[i].iov_len;
    return sum;
}

static inline int64_t iotide_message_bytes(const struct msghdr *message) {
    return iotide_iovec_bytes(message->msg_iov, message->msg_iovlen);
}

/* Requested bytes of the messages that were passed on; the others may not be readable. */
static inline int64_t iotide_messages_bytes(const struct mmsghdr *messages, int count) {
    int64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += iotide_message_bytes(&messages[i].msg_hdr);
    return sum;
}

static inline int64_t iotide_messages_moved_bytes(const struct mmsghdr *messages, int count) {
    int64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += messages[i].msg_len;
    return sum;
}

/* The file that glibc uses for a name of shared memory. */
static inline uint32_t iotide_shared_file(const char *name) {
    static const char folder[] = "/dev/shm/";
    char path[sizeof folder + NAME_MAX];
    while (*name == '/')
        name++;
    size_t length = strnlen(name, NAME_MAX);
    memcpy(path, folder, sizeof folder - 1);
    memcpy(path + sizeof folder - 1, name, length);
    return iotide_define_file(path, sizeof folder - 1 + length);
}

/* The directory after a chdir: resolved afterwards, because a relative path is then no longer valid. */
static inline uint32_t iotide_changed_directory(bool failed, const char *path) {
    if (failed)
        return iotide_is_path(path, errno) ? iotide_file_at(AT_FDCWD, path) : 0;
    iotide_clear_saved_directory();
    char *scratch = iotide_acquire_path_buffer();
    long size = scratch ? iotide_syscall(SYS_getcwd, scratch, PATH_MAX) : 0; /* including the terminating zero */
    uint32_t file = size > 1 && *scratch == '/' ? iotide_define_file(scratch, (size_t)size - 1) : 0;
    iotide_release_path_buffer(scratch);
    return file;
}

/* The path of a readlink. EINVAL means either that the file is not a link, or an invalid size, which is checked
 * before the path. */
static inline uint32_t iotide_readlink_file(bool failed, int directory, const char *path, size_t size) {
    bool is_no_link = failed && errno == EINVAL && (int)size > 0;
    return !failed || is_no_link || iotide_is_path(path, errno) ? iotide_file_at(directory, path) : 0;
}

#endif
