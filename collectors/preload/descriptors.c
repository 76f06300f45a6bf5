/* What is behind each descriptor: its handle and its file. */
#define _GNU_SOURCE
#include "tracer.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TABLE 65536

/* One word a descriptor, so that threads see handle and file together; 0: not known. */
static _Atomic uint64_t table[TABLE];
static _Atomic uint32_t next_handle;
static _Atomic int highest = -1; /* so that a forked child clears no more than was used */

static uint64_t pack(struct iotide_target target) {
    return (uint64_t)target.handle << 32 | target.file;
}

static struct iotide_target unpack(uint64_t word) {
    return (struct iotide_target){(uint32_t)(word >> 32), (uint32_t)word};
}

static bool in_table(int fd) {
    return fd >= 0 && fd < TABLE;
}

static void place(int fd, struct iotide_target target) {
    if (!in_table(fd))
        return;
    atomic_store_explicit(&table[fd], pack(target), memory_order_relaxed);
    int seen = atomic_load_explicit(&highest, memory_order_relaxed);
    while (fd > seen && !atomic_compare_exchange_weak(&highest, &seen, fd))
        ;
}

/* Writes "/proc/self/fd/N" without stdio, which a signal handler must not enter. */
static void name_link(char *to, int fd) {
    static const char prefix[] = "/proc/self/fd/";
    memcpy(to, prefix, sizeof prefix - 1);
    char digits[12];
    int count = 0;
    do
        digits[count++] = (char)('0' + fd % 10);
    while (fd /= 10);
    to += sizeof prefix - 1;
    while (count)
        *to++ = digits[--count];
    *to = '\0';
}

static size_t path_of(int fd, char *to, size_t size) {
    char link[32];
    name_link(link, fd);
    ssize_t length = readlink(link, to, size);
    return length > 0 ? (size_t)length : 0;
}

static struct iotide_target define(int fd) {
    char path[PATH_MAX];
    size_t length = path_of(fd, path, sizeof path);
    if (!length && fcntl(fd, F_GETFD) < 0)
        return (struct iotide_target){0, 0}; /* no descriptor: the number may be one later */
    uint32_t file = length ? iotide_define_file(path, length) : 0;
    return (struct iotide_target){atomic_fetch_add(&next_handle, 1) + 1, file};
}

struct iotide_target iotide_opened(int fd) {
    int error = errno;
    struct iotide_target target = {0, 0};
    if (fd >= 0) {
        target = define(fd);
        place(fd, target);
    }
    errno = error;
    return target;
}

struct iotide_target iotide_target_of(int fd) {
    if (!in_table(fd))
        return (struct iotide_target){0, 0};
    uint64_t known = atomic_load_explicit(&table[fd], memory_order_relaxed);
    if (likely(known != 0))
        return unpack(known);
    /* What a number means in a vfork child says nothing of the parent, whose table this is. */
    return iotide_same_process() ? iotide_opened(fd) : (struct iotide_target){0, 0};
}

struct iotide_target iotide_duplicated(int from, int to) {
    struct iotide_target target = iotide_target_of(from);
    target.handle = atomic_fetch_add(&next_handle, 1) + 1;
    place(to, target);
    return target;
}

struct iotide_target iotide_forget(int fd) {
    if (!in_table(fd))
        return (struct iotide_target){0, 0};
    return unpack(atomic_exchange_explicit(&table[fd], 0, memory_order_relaxed));
}

void iotide_forget_range(unsigned int first, unsigned int last) {
    int most = atomic_load_explicit(&highest, memory_order_relaxed);
    for (int fd = (int)(first < TABLE ? first : TABLE); fd <= most && (unsigned int)fd <= last; fd++)
        atomic_store_explicit(&table[fd], 0, memory_order_relaxed);
}

void iotide_reset_descriptors(void) {
    iotide_forget_range(0, TABLE - 1);
    atomic_store(&highest, -1);
    atomic_store(&next_handle, 0);
}

uint32_t iotide_file_at(int directory, const char *path) {
    if (!path || !*path)
        return 0;
    int error = errno;
    char whole[2 * PATH_MAX];
    size_t length = 0;
    if (*path != '/') {
        if (directory != AT_FDCWD)
            length = path_of(directory, whole, PATH_MAX);
        else if (getcwd(whole, PATH_MAX))
            length = strlen(whole);
        if (length == 0 || whole[0] != '/') {
            errno = error;
            return 0;
        }
        if (length > 1)
            whole[length++] = '/';
    }
    size_t rest = strnlen(path, PATH_MAX - 1);
    memcpy(whole + length, path, rest);
    uint32_t file = iotide_define_file(whole, length + rest);
    errno = error;
    return file;
}
