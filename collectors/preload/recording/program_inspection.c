/* Examines a program before it is started, and reports one that cannot be traced. Failures of the examination itself
 * (no such file, no memory) are left to the real call. */
#include "recording/program_inspection.h"
#include "base/environment.h"
#include "base/raw_syscall.h"
#include "recording/collector_wait.h"
#include "state/path_buffers.h"
#include "state/region.h"
#include "tables/definitions.h"
#include "tracer.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/stat.h>

#define PAGE 4096
#define HEAD 4096 /* bytes examined: headers and notes come first */
#define PRELOAD "LD_PRELOAD="
#define SOCKET "IOTIDE_SOCKET="
#define DESCRIPTORS "/proc/self/fd/"
#define LIBRARIES "libiotide_"
#define LIBRARY LIBRARIES "preload.so"
#define MAX_GROUPS 64
#define MAX_WORDS 65536 /* of an environment that is rewritten on the stack */

#ifdef __x86_64__
#define MACHINE EM_X86_64
#elif defined __aarch64__
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE
#endif

static const void *find(const char *in, size_t size, const char *wanted, size_t length) {
    for (size_t at = 0; at + length <= size; at++)
        if (memcmp(in + at, wanted, length) == 0)
            return in + at;
    return NULL;
}

/* ---- the file ---- */

/* From the first bytes of an ELF file. */
static enum iotide_unseen obstacle_in(const char *head, size_t size) {
    static const char go[] = "\4\0\0\0Go\0"; /* type and name of its note */
    Elf64_Ehdr header;
    if (size < sizeof header || memcmp(head, ELFMAG, SELFMAG) != 0)
        return SEEN;
    memcpy(&header, head, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || (MACHINE != EM_NONE && header.e_machine != MACHINE))
        return UNSEEN_MACHINE;
    const Elf64_Phdr *interpreter = NULL;
    Elf64_Phdr segment;
    for (unsigned int i = 0; i < header.e_phnum && !interpreter; i++) {
        size_t at = header.e_phoff + (size_t)i * header.e_phentsize;
        if (header.e_phentsize < sizeof segment || at > size - sizeof segment)
            break;
        memcpy(&segment, head + at, sizeof segment);
        interpreter = segment.p_type == PT_INTERP ? &segment : NULL;
    }
    if (find(head, size, go, sizeof go))
        return UNSEEN_GO;
    if (!interpreter)
        return UNSEEN_STATIC;
    bool inside = segment.p_offset < size && segment.p_filesz <= size - segment.p_offset;
    return inside && find(head + segment.p_offset, segment.p_filesz, "musl", 4) ? UNSEEN_MUSL : SEEN;
}

static bool gains_privileges(int fd) {
    struct stat facts;
    if (iotide_syscall(SYS_fstat, fd, &facts) != 0)
        return false;
    long user = iotide_syscall(SYS_getuid), group = iotide_syscall(SYS_getgid);
    return (facts.st_mode & S_ISUID && (long)facts.st_uid != user) ||
           (facts.st_mode & S_ISGID && (long)facts.st_gid != group) ||
           (user != 0 && iotide_syscall(SYS_fgetxattr, fd, "security.capability", NULL, 0) > 0);
}

/* head: HEAD bytes. A script is treated like its interpreter. */
static enum iotide_unseen obstacle_of(const char *path, char *head) {
    for (int deep = 0; deep < 5; deep++) {
        int fd = (int)iotide_syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        long size = fd < 0 ? -1 : iotide_syscall(SYS_pread64, fd, head, HEAD - 1, 0L);
        enum iotide_unseen found = size > 0 ? obstacle_in(head, (size_t)size) : SEEN;
        bool script = size > 2 && head[0] == '#' && head[1] == '!';
        if (size > 0 && !script && found == SEEN && gains_privileges(fd))
            found = UNSEEN_PRIVILEGED;
        if (fd >= 0)
            iotide_syscall(SYS_close, fd);
        if (!script)
            return found;
        head[size] = '\0';
        path = head + 2 + strspn(head + 2, " \t");
        head[path - head + (long)strcspn(path, " \t\n")] = '\0';
    }
    return SEEN;
}

/* ---- its environment ---- */

/* Whether a text is readable; asks the kernel only when it reaches another page than the last one. */
static bool is_readable(const char *text, uintptr_t *page) {
    for (;; text++) {
        if ((uintptr_t)text / PAGE != *page) {
            if (!iotide_is_text(text))
                return false;
            *page = (uintptr_t)text / PAGE;
        }
        if (!*text)
            return true;
    }
}

static size_t entry_length(const char *at) {
    return strcspn(at, ": ");
}

static const char *file_name(const char *entry, size_t *length) {
    for (const char *slash; (slash = memchr(entry, '/', *length)); entry = slash + 1)
        *length -= (size_t)(slash + 1 - entry);
    return entry;
}

static bool equals(const char *text, size_t length, const char *other) {
    return length && strlen(other) == length && strncmp(text, other, length) == 0;
}

/* This library may have been loaded by another name, such as that of a link. */
static bool is_core(const char *entry, size_t length) {
    const char *name = file_name(entry, &length);
    return equals(name, length, LIBRARY) || equals(name, length, iotide_own_file_name());
}

static bool is_tracer_library(const char *entry, size_t length) {
    size_t left = length;
    const char *name = file_name(entry, &left);
    return (left > strlen(LIBRARIES) && strncmp(name, LIBRARIES, strlen(LIBRARIES)) == 0) || is_core(entry, length);
}

static bool has_core(const char *list) {
    for (const char *at = list; *at; at += entry_length(at) + !!at[entry_length(at)])
        if (is_core(at, entry_length(at)))
            return true;
    return false;
}

/* False: it is unreadable, and the program will not start. */
static bool read_environment(char *const *environment, struct iotide_environment *found) {
    const char *socket = NULL;
    uintptr_t page = 0;
    *found = (struct iotide_environment){0};
    if (environment && !iotide_is_text((const char *)environment))
        return false;
    for (; environment && environment[found->count]; found->count++) {
        const char *word = environment[found->count];
        if (!is_readable(word, &page))
            return false;
        if (strncmp(word, PRELOAD, strlen(PRELOAD)) == 0 && has_core(word + strlen(PRELOAD)))
            found->preload = word;
        if (!socket && strncmp(word, SOCKET, strlen(SOCKET)) == 0)
            socket = word + strlen(SOCKET);
    }
    found->traced = found->preload && socket && *socket;
    found->elsewhere = found->traced && !iotide_is_own_collector(socket);
    return true;
}

/* Whether a non-root user with root's capabilities can read a path without them, because exec drops them. */
static bool is_readable_by_user(char *path) {
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    long user = iotide_syscall(SYS_geteuid);
    if (user == 0 || iotide_syscall(SYS_capget, &header, sets) != 0 ||
        !(sets[0].effective & (1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH)))
        return true;
    gid_t groups[MAX_GROUPS];
    long count = iotide_syscall(SYS_getgroups, MAX_GROUPS - 1, groups);
    groups[count < 0 ? 0 : count] = (gid_t)iotide_syscall(SYS_getegid);
    for (char *end = path + 1;; end++) {
        if (*end && *end != '/')
            continue;
        struct stat facts;
        char kept = *end;
        *end = '\0';
        long failed = iotide_syscall(SYS_newfstatat, AT_FDCWD, path, &facts, 0);
        *end = kept;
        unsigned int shift = (long)facts.st_uid == user ? 6 : 0;
        for (long i = 0; !shift && i <= (count < 0 ? 0 : count); i++)
            shift = facts.st_gid == groups[i] ? 3 : 0;
        if (failed || !(facts.st_mode >> shift & (kept ? 1u : 4u)))
            return false;
        if (!kept)
            return true;
    }
}

/* Whether this process, with its current user and root folder, cannot read the library: the dynamic linker would
 * report that in the program's output. */
static bool cannot_read_libraries(const struct iotide_environment *known) {
    const char *list = known->preload ? known->preload + strlen(PRELOAD) : "";
    for (const char *at = list; *at; at += entry_length(at) + !!at[entry_length(at)]) {
        size_t length = entry_length(at);
        char *path = is_tracer_library(at, length) && length < PATH_MAX ? iotide_acquire_path_buffer() : NULL;
        if (!path)
            continue;
        memcpy(path, at, length);
        path[length] = '\0';
        int fd = (int)iotide_syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        int error = fd < 0 ? errno : 0;
        if (fd >= 0)
            iotide_syscall(SYS_close, fd);
        if (!error && !is_readable_by_user(path))
            error = EACCES;
        iotide_release_path_buffer(path);
        return error == EACCES || error == EPERM || error == ENOENT || error == ENOTDIR;
    }
    return false;
}

void iotide_remove_libraries(char *const *environment, const struct iotide_environment *known, char **to, char *text) {
    char *end = text + strlen(PRELOAD);
    memcpy(text, PRELOAD, strlen(PRELOAD));
    for (const char *at = known->preload + strlen(PRELOAD); *at; at += entry_length(at) + !!at[entry_length(at)]) {
        size_t length = entry_length(at);
        if (!length || is_tracer_library(at, length))
            continue;
        if (end > text + strlen(PRELOAD))
            *end++ = ':';
        memcpy(end, at, length);
        end += length;
    }
    *end = '\0';
    for (size_t i = 0; i < known->count; i++)
        if (environment[i] != known->preload)
            *to++ = environment[i];
        else if (end > text + strlen(PRELOAD))
            *to++ = text;
    *to = NULL;
}

/* ---- both ---- */

/* name: that is reported. Its frame is below that of a caller, which may have borrowed a buffer. */
__attribute__((noinline)) static struct iotide_inspection inspect(const char *path, const char *name, char *const *environment) {
    struct iotide_inspection look = {.found = SEEN};
    if (iotide_restricted())
        return look;
    int error = errno;
    bool readable = read_environment(environment, &look.words);
    if (look.words.count > MAX_WORDS)
        readable = false;
    look.barred = readable && look.words.preload && cannot_read_libraries(&look.words);
    bool can_inspect = iotide_process_state && !iotide_waits_for_collector() && iotide_is_text(path);
    char *head = can_inspect ? iotide_acquire_path_buffer() : NULL;
    if (head) {
        enum iotide_unseen found = obstacle_of(path, head);
        if (found == SEEN && readable && !look.words.traced)
            found = UNSEEN_ENVIRONMENT;
        if (found == SEEN && look.barred)
            found = UNSEEN_BARRED;
        if (found == SEEN && readable && look.words.elsewhere)
            found = UNSEEN_ELSEWHERE;
        if (found != SEEN && iotide_syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0 &&
            iotide_trace_mode(NULL)) { /* activates a forked child that has made no call yet */
            iotide_define_unseen(found, name);
            look.found = found;
        }
    }
    iotide_release_path_buffer(head);
    errno = error;
    return look;
}

struct iotide_inspection iotide_inspect(const char *path, char *const *environment) {
    return inspect(path, path, environment);
}

/* Writes /proc/self/fd/DESCRIPTOR/PATH; returns its length, 0 if it is too long. */
static size_t write_path(char *to, int descriptor, const char *path) {
    size_t length = strlen(DESCRIPTORS), size = strnlen(path, PATH_MAX);
    memcpy(to, DESCRIPTORS, length);
    char digits[12];
    size_t count = 0;
    for (unsigned int left = (unsigned int)descriptor; !count || left; left /= 10)
        digits[count++] = (char)('0' + left % 10);
    while (count)
        to[length++] = digits[--count];
    if (!size)
        to[length] = '\0';
    else if (length + 1 + size < PATH_MAX)
        memcpy(to + length + 1, path, size + 1), to[length] = '/';
    else
        return 0;
    return length;
}

struct iotide_inspection iotide_inspect_at(int descriptor, const char *path, char *const *environment) {
    if (iotide_restricted() || !iotide_is_text(path) || descriptor < 0 || *path == '/')
        return iotide_inspect(path, environment);
    char *at = iotide_acquire_path_buffer(), *name = at + PATH_MAX; /* one buffer, as each belongs to a frame */
    size_t size = strnlen(path, PATH_MAX), folder = at ? write_path(at, descriptor, path) : 0;
    struct iotide_inspection look = {.found = SEEN};
    if (folder) {
        int error = errno;
        char kept = at[folder];
        at[folder] = '\0';
        long length = iotide_syscall(SYS_readlinkat, AT_FDCWD, at, name, (long)PATH_MAX);
        at[folder] = kept;
        length = length < 0 || (size_t)length + 1 + size >= PATH_MAX ? 0 : length;
        memcpy(name + length, at + folder, size ? size + 2 : 1);
        errno = error;
        look = inspect(at, length ? name : at, environment);
    }
    iotide_release_path_buffer(at);
    return look;
}

struct iotide_inspection iotide_inspect_on_path(const char *name, char *const *environment) {
    if (iotide_restricted() || !iotide_is_text(name))
        return (struct iotide_inspection){.found = SEEN};
    if (strchr(name, '/'))
        return inspect(name, name, environment);
    const char *list = iotide_setting(environ, "PATH");
    char *path = list && *name ? iotide_acquire_path_buffer() : NULL;
    size_t length = strnlen(name, NAME_MAX + 1);
    int error = errno;
    bool there = false;
    for (bool more = path && length <= NAME_MAX; more && !there;) {
        size_t folder = strcspn(list, ":");
        more = list[folder] == ':';
        if (folder < PATH_MAX) {
            memcpy(path, list, folder);
            path[folder] = '/';
            memcpy(path + folder + !!folder, name, length + 1);
            there = iotide_syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0;
        }
        list += folder + 1;
    }
    errno = error;
    struct iotide_inspection look = inspect(there ? path : name, there ? path : name, environment);
    iotide_release_path_buffer(path);
    return look;
}

int iotide_cancel_report(const struct iotide_inspection *look, const char *path, int result) {
    int error = errno;
    if (look->found != SEEN && result != 0)
        iotide_define_unseen(UNSEEN_NOT_STARTED, path);
    errno = error;
    return result;
}
