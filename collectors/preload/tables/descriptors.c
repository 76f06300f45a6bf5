/* Handle and file of each descriptor, and of the stream on it. */
#include "tables/descriptors.h"
#include "tables/definitions.h"
#include "base/hash.h"
#include "tables/handle_map.h"
#include "base/raw_syscall.h"
#include "base/user_text.h"
#include "state/path_buffers.h"
#include "base/sockets.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define TABLE 65536
#define RECENT_OPENS 1024
#define FIRST_NAMES 16        /* names that a process asks for before it asks for its number, */
#define NAMES_PER_NUMBER 1024 /* and for how many that number is used */

/* One word per descriptor and one per stream on it, so that threads read handle and file consistently; 0: unknown. */
static struct descriptor_words {
    _Atomic uint64_t descriptor;
    _Atomic uint64_t stream;
} places[TABLE];
#define LOW_NUMBERS 16
FORK_WRITTEN static struct descriptor_words low_places[LOW_NUMBERS]; /* instead of the first places */
FORK_WRITTEN static _Atomic int highest = -1; /* so that a forked child clears only what was used */

static struct descriptor_words *place_of(int fd) {
    return fd < LOW_NUMBERS ? &low_places[fd] : &places[fd];
}

static uint64_t pack(struct iotide_target target) {
    return (uint64_t)target.handle << 32 | target.file;
}

static struct iotide_target unpack(uint64_t word) {
    return (struct iotide_target){(uint32_t)(word >> 32), (uint32_t)word};
}

static bool in_table(int fd) {
    return fd >= 0 && fd < TABLE;
}

static struct iotide_target load_target(_Atomic uint64_t *at) {
    return unpack(atomic_load_explicit(at, memory_order_relaxed));
}

/* Returns the words of a descriptor for writing; NULL: it has none. */
static struct descriptor_words *words_of(int fd) {
    if (unlikely(!in_table(fd))) {
        if (fd >= TABLE)
            iotide_count_overflow(BOUND_DESCRIPTORS);
        return NULL;
    }
    int seen = atomic_load_explicit(&highest, memory_order_relaxed);
    while (fd > seen && !atomic_compare_exchange_weak(&highest, &seen, fd))
        ;
    return place_of(fd);
}

static void store_descriptor_target(int fd, struct iotide_target target) {
    struct descriptor_words *place = words_of(fd);
    if (place)
        atomic_store_explicit(&place->descriptor, pack(target), memory_order_relaxed);
}

static void store_stream_target(int fd, struct iotide_target target) {
    struct descriptor_words *place = words_of(fd);
    if (place)
        atomic_store_explicit(&place->stream, pack(target), memory_order_relaxed);
}

/* Writes a prefix, a number and a suffix without stdio, which is not safe in a signal handler. Returns the length. */
static size_t write_name(char *to, const char *prefix, uint64_t number, const char *suffix) {
    const char *begin = to;
    to = stpcpy(to, prefix);
    char digits[20];
    int count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    while (count)
        *to++ = digits[--count];
    return (size_t)(stpcpy(to, suffix) - begin);
}

/* The process's number in /proc, which may be another than in its own pid namespace; 0: unknown. The kernel takes a
 * fifth less time for a name below it than below "self". A process that opens few files does not ask for it; others ask
 * again from time to time, as they may have moved to another /proc. */
FORK_WRITTEN static _Atomic uint32_t number_in_proc;
FORK_WRITTEN static _Atomic uint32_t names_asked;

static uint32_t find_number_in_proc(void) {
    char digits[12];
    uint32_t number = 0;
    long length = iotide_syscall(SYS_readlinkat, AT_FDCWD, "/proc/self", digits, sizeof digits);
    for (long i = 0; i < length && digits[i] >= '0' && digits[i] <= '9'; i++)
        number = number * 10 + (uint32_t)(digits[i] - '0');
    return number;
}

static uint32_t number_for_name(void) {
    uint32_t asked = atomic_fetch_add_explicit(&names_asked, 1, memory_order_relaxed);
    if (asked % NAMES_PER_NUMBER == FIRST_NAMES)
        atomic_store_explicit(&number_in_proc, find_number_in_proc(), memory_order_relaxed);
    return atomic_load_explicit(&number_in_proc, memory_order_relaxed);
}

static long read_descriptor_link(uint32_t number, int fd, char *to, size_t size) {
    char folder[32] = "/proc/self/fd/", link[48];
    if (number)
        write_name(folder, "/proc/", number, "/fd/");
    write_name(link, folder, (unsigned int)fd, "");
    return iotide_syscall(SYS_readlinkat, AT_FDCWD, link, to, size);
}

static size_t descriptor_path(int fd, char *to, size_t size) {
    uint32_t number = number_for_name();
    long length = read_descriptor_link(number, fd, to, size);
    if (length < 0 && number && errno != ENAMETOOLONG) {
        atomic_store_explicit(&number_in_proc, 0, memory_order_relaxed);
        length = read_descriptor_link(0, fd, to, size);
    }
    if (length < 0 && errno == ENAMETOOLONG)
        iotide_count_overflow(BOUND_PATHS);
    return length > 0 ? (size_t)length : 0;
}

/* The kernel's name of a pipe or socket, made from its identity: without /proc (another root folder), the kernel
 * cannot be asked for it, and data through it would count as those of a file without a name. */
static size_t pipe_or_socket(int fd, char *to) {
    struct statx facts;
    if (!iotide_is_pipe(fd, &facts))
        return 0;
    return write_name(to, S_ISFIFO(facts.stx_mode) ? "pipe:[" : "socket:[", facts.stx_ino, "]");
}

static size_t working_directory(char *to) {
    if (unlikely(iotide_restricted()))
        return iotide_saved_directory(to);
    long size = iotide_syscall(SYS_getcwd, to, PATH_MAX); /* including the terminating zero */
    if (size < 0 && (errno == ERANGE || errno == ENAMETOOLONG))
        iotide_count_overflow(BOUND_PATHS);
    return size > 0 ? (size_t)size - 1 : 0;
}

/* Recently opened files, by the program's name and their identity: half of a hash, and the number. Asking the kernel
 * for a name costs as much as an open and a close; asking for the identity costs a tenth of that. */
static _Atomic uint64_t recent_opens[RECENT_OPENS];
/* Halves of hashes of the program's file names. A name that is new, as for most files that it creates, cannot be in
 * the table above, so its identity is not requested. */
static _Atomic uint32_t recent_names[RECENT_OPENS];

static bool is_recent_name(const char *path) {
    uint64_t hash = iotide_hash(atomic_load_explicit(&iotide_generation, memory_order_relaxed), path, strlen(path));
    _Atomic uint32_t *before = &recent_names[hash >> 32 & (RECENT_OPENS - 1)];
    if (atomic_load_explicit(before, memory_order_relaxed) == (uint32_t)hash)
        return true;
    atomic_store_explicit(before, (uint32_t)hash, memory_order_relaxed);
    return false;
}

/* Inodes are reused, also for a file of the same name in another folder. So the creation time and the working
 * directory are included. 0: unknown. */
static uint64_t hash_of(int fd, int directory, const char *path, char *scratch) {
    struct statx facts;
    bool relative = *path != '/';
    if (relative && (directory != AT_FDCWD || !working_directory(scratch)))
        return 0;
    const unsigned int wanted = STATX_INO | STATX_BTIME | STATX_CTIME;
    if (iotide_syscall(SYS_statx, fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, wanted, &facts) != 0)
        return 0;
    /* If the file system lacks creation times: the time of the last change, which is not earlier. */
    const struct statx_timestamp *made = facts.stx_mask & STATX_BTIME ? &facts.stx_btime : &facts.stx_ctime;
    if (!(facts.stx_mask & (STATX_BTIME | STATX_CTIME)))
        return 0;
    uint64_t hash = iotide_hash(atomic_load_explicit(&iotide_generation, memory_order_relaxed), path, strlen(path));
    if (relative)
        hash = iotide_hash(hash ^ '/', scratch, strlen(scratch));
    const uint64_t identity[] = {facts.stx_ino, (uint64_t)facts.stx_dev_major << 32 | facts.stx_dev_minor,
                                 (uint64_t)made->tv_sec, made->tv_nsec};
    for (size_t i = 0; i < sizeof identity / sizeof *identity; i++) {
        hash = (hash ^ identity[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash ^ hash >> 32;
}

/* The file of an open descriptor, by the kernel's name, otherwise by the program's. */
static uint32_t file_of_descriptor(int fd, int directory, const char *path) {
    char *scratch = iotide_acquire_path_buffer();
    if (!scratch)
        return 0;
    /* Of a process in a cell, these pages would be written for the first time. */
    bool is_short = iotide_is_cell(atomic_load_explicit(&iotide_region, memory_order_relaxed));
    uint64_t hash = path && !is_short && is_recent_name(path) ? hash_of(fd, directory, path, scratch) : 0;
    _Atomic uint64_t *lately = &recent_opens[hash % RECENT_OPENS];
    uint64_t known = hash ? atomic_load_explicit(lately, memory_order_relaxed) : 0;
    if (known && known >> 32 == hash >> 32) {
        iotide_release_path_buffer(scratch);
        return (uint32_t)known;
    }
    size_t length = descriptor_path(fd, scratch, PATH_MAX);
    if (!length && !path)
        length = pipe_or_socket(fd, scratch);
    length = iotide_connection(fd, scratch, length);
    uint32_t file = length ? iotide_define_file(scratch, length) : 0;
    iotide_release_path_buffer(scratch);
    if (!length)
        return path ? iotide_file_at(directory, path) : file;
    if (hash && file)
        atomic_store_explicit(lately, (hash & ~UINT64_C(0xffffffff)) | file, memory_order_relaxed);
    return file;
}

struct iotide_target iotide_register_open(int fd, int directory, const char *path) {
    int error = errno;
    struct iotide_target target = {0, 0};
    if (fd >= 0) {
        target = (struct iotide_target){iotide_new_handle(), file_of_descriptor(fd, directory, path)};
        store_descriptor_target(fd, target);
        if (in_table(fd))
            atomic_store_explicit(&place_of(fd)->stream, 0, memory_order_relaxed);
    } else if (path && iotide_is_path(path, error)) {
        target.file = iotide_file_at(directory, path);
    }
    errno = error;
    return target;
}

void iotide_register_connect(int fd) {
    int error = errno;
    uint32_t file = in_table(fd) && iotide_same_process() ? file_of_descriptor(fd, 0, NULL) : 0;
    if (file)
        store_descriptor_target(fd, (struct iotide_target){load_target(&place_of(fd)->descriptor).handle, file});
    errno = error;
}

static const char *origin_of(int fd) {
    return fd == 0 ? "stdin" : fd == 1 ? "stdout" : fd == 2 ? "stderr" : "inherited";
}

/* A handle for something that no recorded call created. */
static struct iotide_target define_untraced(int fd, uint8_t layer, uint32_t file, uint32_t parent, const char *origin) {
    int flags = (int)iotide_syscall(SYS_fcntl, fd, F_GETFL);
    struct iotide_target target = {iotide_new_handle(), file};
    if (file != IOTIDE_EXCLUDED)
        iotide_define_handle(target.handle, layer,
                             (struct iotide_handle_text){fd, file, parent, flags < 0 ? 0 : flags, origin});
    return target;
}

/* For a descriptor that no recorded call created. */
__attribute__((noinline)) static struct iotide_target resolved(int fd) {
    if (!iotide_same_process()) /* descriptors of a vfork child are not valid in the parent, to which this table
                                 * belongs */
        return (struct iotide_target){0, 0};
    int error = errno;
    struct iotide_target target = {0, 0}, stream = load_target(&place_of(fd)->stream);
    if (stream.handle)
        target = define_untraced(fd, LAYER_POSIX, stream.file, stream.handle, "stream");
    else if (iotide_syscall(SYS_fcntl, fd, F_GETFD) >= 0) /* otherwise not a descriptor: the number may become one
                                                           * later */
        target = define_untraced(fd, LAYER_POSIX, file_of_descriptor(fd, 0, NULL), 0, origin_of(fd));
    if (target.handle)
        store_descriptor_target(fd, target);
    errno = error;
    return target;
}

struct iotide_target iotide_descriptor_target(int fd) {
    if (!in_table(fd))
        return (struct iotide_target){0, 0};
    struct iotide_target target = load_target(&place_of(fd)->descriptor);
    return likely(target.handle != 0) ? target : resolved(fd);
}

struct iotide_target iotide_register_duplicate(int from, int to) {
    struct iotide_target target = iotide_descriptor_target(from);
    target.handle = iotide_new_handle();
    store_descriptor_target(to, target);
    if (in_table(to))
        atomic_store_explicit(&place_of(to)->stream, 0, memory_order_relaxed);
    return target;
}

struct iotide_target iotide_unregister_descriptor(int fd) {
    if (!in_table(fd))
        return (struct iotide_target){0, 0};
    atomic_store_explicit(&place_of(fd)->stream, 0, memory_order_relaxed);
    return unpack(atomic_exchange_explicit(&place_of(fd)->descriptor, 0, memory_order_relaxed));
}

void iotide_unregister_descriptors(unsigned int first, unsigned int last) {
    int most = atomic_load_explicit(&highest, memory_order_relaxed);
    for (int fd = (int)(first < TABLE ? first : TABLE); fd <= most && (unsigned int)fd <= last; fd++) {
        atomic_store_explicit(&place_of(fd)->descriptor, 0, memory_order_relaxed);
        atomic_store_explicit(&place_of(fd)->stream, 0, memory_order_relaxed);
    }
}

void iotide_reset_descriptors(void) {
    iotide_unregister_descriptors(0, TABLE - 1);
    atomic_store(&highest, -1);
    atomic_store(&number_in_proc, 0);
    atomic_store(&names_asked, 0);
}

/* ---- streams ---- */

struct iotide_target iotide_register_stream_open(int fd, const char *path) {
    int error = errno;
    struct iotide_target target = {0, 0};
    if (fd >= 0) {
        target = (struct iotide_target){iotide_new_handle(), file_of_descriptor(fd, AT_FDCWD, path)};
        store_stream_target(fd, target);
        if (in_table(fd))
            atomic_store_explicit(&place_of(fd)->descriptor, 0, memory_order_relaxed);
    } else if (path && iotide_is_path(path, error)) {
        target.file = iotide_file_at(AT_FDCWD, path);
    }
    errno = error;
    return target;
}

struct iotide_target iotide_register_stream(int fd) {
    struct iotide_target target = {iotide_new_handle(), iotide_descriptor_target(fd).file};
    store_stream_target(fd, target);
    return target;
}

struct iotide_target iotide_stream_target(int fd) {
    if (!in_table(fd))
        return (struct iotide_target){0, 0};
    struct iotide_target target = load_target(&place_of(fd)->stream);
    if (likely(target.handle != 0) || !iotide_same_process())
        return target;
    int error = errno;
    struct iotide_target under = load_target(&place_of(fd)->descriptor);
    uint32_t file = under.handle ? under.file : file_of_descriptor(fd, 0, NULL);
    target = define_untraced(fd, LAYER_STDIO, file, under.handle, origin_of(fd));
    store_stream_target(fd, target);
    errno = error;
    return target;
}

struct iotide_target iotide_unregister_stream(int fd) {
    if (!in_table(fd))
        return (struct iotide_target){0, 0};
    atomic_store_explicit(&place_of(fd)->descriptor, 0, memory_order_relaxed);
    return unpack(atomic_exchange_explicit(&place_of(fd)->stream, 0, memory_order_relaxed));
}

/* ---- by path ---- */

/* By the kernel's name, otherwise (without /proc, or sandboxed) by the name under which the program opened it. */
static size_t directory_path(int fd, char *to) {
    size_t length = descriptor_path(fd, to, PATH_MAX);
    if (length || !in_table(fd) || !iotide_same_process())
        return length;
    uint32_t file = load_target(&place_of(fd)->descriptor).file;
    return file && file != IOTIDE_EXCLUDED ? iotide_stored_path(file, to) : 0;
}

uint32_t iotide_file_at(int directory, const char *path) {
    if (!path || !*path)
        return 0;
    char *whole = iotide_acquire_path_buffer();
    if (!whole)
        return 0;
    int error = errno;
    size_t length = 0;
    bool known = true;
    if (*path != '/') {
        length = directory == AT_FDCWD ? working_directory(whole) : directory_path(directory, whole);
        known = length != 0 && whole[0] == '/';
        if (known && length > 1)
            whole[length++] = '/';
    }
    uint32_t file = 0;
    if (known) {
        size_t rest = strnlen(path, PATH_MAX - 1);
        if (path[rest])
            iotide_count_overflow(BOUND_PATHS);
        memcpy(whole + length, path, rest);
        file = iotide_define_file(whole, length + rest);
    }
    iotide_release_path_buffer(whole);
    errno = error;
    return file;
}
