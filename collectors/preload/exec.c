/* Looks at a program that is about to be started: one that the tracer does not get into is said to be unseen. What is wrong
 * with the look itself (no such file, no memory) is left to the call to say. */
#include "core.h"

#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#define PAGE 4096
#define HEAD 4096 /* bytes looked at: headers and notes stand first */
#define LIBRARY "libiotide_preload.so"

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

/* By the first bytes of an ELF file. */
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
    if (syscall(SYS_fstat, fd, &facts) != 0)
        return false;
    long user = syscall(SYS_getuid), group = syscall(SYS_getgid);
    return (facts.st_mode & S_ISUID && (long)facts.st_uid != user) ||
           (facts.st_mode & S_ISGID && (long)facts.st_gid != group) ||
           (user != 0 && syscall(SYS_fgetxattr, fd, "security.capability", NULL, 0) > 0);
}

/* head: HEAD bytes. A script is as its interpreter. */
static enum iotide_unseen obstacle_of(const char *path, char *head) {
    for (int deep = 0; deep < 5; deep++) {
        int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        long size = fd < 0 ? -1 : syscall(SYS_pread64, fd, head, HEAD - 1, 0L);
        enum iotide_unseen found = size > 0 ? obstacle_in(head, (size_t)size) : SEEN;
        bool script = size > 2 && head[0] == '#' && head[1] == '!';
        if (size > 0 && !script && found == SEEN && gains_privileges(fd))
            found = UNSEEN_PRIVILEGED;
        if (fd >= 0)
            syscall(SYS_close, fd);
        if (!script)
            return found;
        head[size] = '\0';
        path = head + 2 + strspn(head + 2, " \t");
        head[path - head + (long)strcspn(path, " \t\n")] = '\0';
    }
    return SEEN;
}

/* ---- its environment ---- */

/* Whether a text can be read; asks the kernel only where it reaches a page other than the one asked of last. */
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

static bool names_us(char *const *environment) {
    bool library = false, socket = false;
    uintptr_t page = 0;
    if (environment && !iotide_is_text((const char *)environment))
        return true; /* it will not start */
    for (; environment && *environment; environment++) {
        if (!is_readable(*environment, &page))
            return true;
        library = library || (strncmp(*environment, "LD_PRELOAD=", 11) == 0 && strstr(*environment, LIBRARY));
        socket = socket || strncmp(*environment, "IOTIDE_SOCKET=", 14) == 0;
    }
    return library && socket;
}

/* ---- both ---- */

static void look_at(const char *path, char *const *environment) {
    int error = errno;
    char *head = iotide_alive && !iotide_restricted() && iotide_is_text(path) ? iotide_borrow() : NULL;
    if (head) {
        enum iotide_unseen found = obstacle_of(path, head);
        if (found == SEEN && !names_us(environment) && syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0)
            found = UNSEEN_ENVIRONMENT;
        if (found != SEEN && iotide_active()) /* which a forked child that has done nothing yet is not before */
            iotide_define_unseen(found, path);
    }
    iotide_give_back(head);
    errno = error;
}

/* As execvp finds it on PATH. */
static void look_for(const char *name, char *const *environment) {
    if (!iotide_alive || iotide_restricted() || !iotide_is_text(name))
        return;
    if (strchr(name, '/')) {
        look_at(name, environment);
        return;
    }
    const char *list = iotide_setting(environ, "PATH");
    char *path = list && *name ? iotide_borrow() : NULL;
    size_t length = strnlen(name, NAME_MAX + 1);
    int error = errno;
    for (bool more = path && length <= NAME_MAX; more;) {
        size_t folder = strcspn(list, ":");
        more = list[folder] == ':';
        if (folder < PATH_MAX) {
            memcpy(path, list, folder);
            path[folder] = '/';
            memcpy(path + folder + !!folder, name, length + 1);
            if (syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0) {
                look_at(path, environment);
                break;
            }
        }
        list += folder + 1;
    }
    errno = error;
    iotide_give_back(path);
}

/* ---- the calls ---- */

#define STARTS(name) static struct iotide_site SITE(name) = {SITE_TEXT(#name, "")};
STARTS(execve)
STARTS(execv)
STARTS(execvp)
STARTS(execvpe)
STARTS(posix_spawn)
STARTS(posix_spawnp)

EXPORT int execve(const char *path, char *const words[], char *const environment[]) {
    look_at(path, environment);
    return REAL(execve)(path, words, environment);
}

EXPORT int execv(const char *path, char *const words[]) {
    look_at(path, environ);
    return REAL(execv)(path, words);
}

EXPORT int execvp(const char *name, char *const words[]) {
    look_for(name, environ);
    return REAL(execvp)(name, words);
}

EXPORT int execvpe(const char *name, char *const words[], char *const environment[]) {
    look_for(name, environment);
    return REAL(execvpe)(name, words, environment);
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const words[], char *const environment[]) {
    look_at(path, environment);
    return REAL(posix_spawn)(pid, path, actions, attributes, words, environment);
}

EXPORT int posix_spawnp(pid_t *pid, const char *name, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const words[], char *const environment[]) {
    look_for(name, environment);
    return REAL(posix_spawnp)(pid, name, actions, attributes, words, environment);
}

/* The words of a call that has them as parameters, after the first; in the end NULL, and an environment where it has one. */
#define LISTED(symbol, real, look, ...)                                                \
    EXPORT int symbol(const char *path, const char *word, ...) {                       \
        va_list given;                                                                 \
        int count = 1;                                                                 \
        va_start(given, word);                                                         \
        for (const char *at = word; at; count++)                                       \
            at = va_arg(given, const char *);                                          \
        va_end(given);                                                                 \
        const char *words[count];                                                      \
        va_start(given, word);                                                         \
        words[0] = word;                                                               \
        for (int i = 1; i < count; i++)                                                \
            words[i] = va_arg(given, const char *);                                    \
        __VA_ARGS__                                                                    \
        va_end(given);                                                                 \
        look;                                                                          \
        return real;                                                                   \
    }
LISTED(execl, REAL(execv)(path, (char *const *)words), look_at(path, environ), )
LISTED(execlp, REAL(execvp)(path, (char *const *)words), look_for(path, environ), )
LISTED(execle, REAL(execve)(path, (char *const *)words, environment), look_at(path, environment),
       char *const *environment = va_arg(given, char *const *);)
