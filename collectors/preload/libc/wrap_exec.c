/* Starts of programs: they are examined before (recording/program_inspection.h), and the characters of this one recorded. */
#include "libc/wrap_exec.h"
#include "recording/program_inspection.h"
#include "base/raw_syscall.h"
#include "recording/characters.h"
#include "tracer.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <string.h>

static int continue_after(int result) {
    int error = errno;
    iotide_continue_characters();
    errno = error;
    return result;
}

/* ---- the calls ---- */

#define STARTS(name) static struct iotide_site SITE(name) = {SITE_TEXT(#name, "")};
STARTS(execve)
STARTS(execv)
STARTS(execvp)
STARTS(execvpe)
STARTS(fexecve)
STARTS(posix_spawn)
STARTS(posix_spawnp)

/* Makes a call with an environment in which the program can start: `given`, or the one on the stack. */
#define STARTING(path, given, inspected, call)                   \
    struct iotide_inspection look = inspected;                   \
    char *const *environment_given = given;                      \
    char *lighter[look.barred ? look.words.count + 1 : 1];       \
    char list[look.barred ? strlen(look.words.preload) + 1 : 1]; \
    if (look.barred) {                                           \
        iotide_remove_libraries(given, &look.words, lighter, list); \
        environment_given = lighter;                             \
    }                                                            \
    return iotide_cancel_report(&look, path, call);

EXPORT int execve(const char *path, char *const words[], char *const environment[]) {
    iotide_record_all_characters(false);
    STARTING(path, environment, iotide_inspect(path, environment), continue_after(REAL(execve)(path, words, environment_given)))
}

EXPORT int execv(const char *path, char *const words[]) {
    iotide_record_all_characters(false);
    STARTING(path, environ, iotide_inspect(path, environ),
             continue_after(look.barred ? REAL(execve)(path, words, environment_given) : REAL(execv)(path, words)))
}

EXPORT int execvp(const char *name, char *const words[]) {
    iotide_record_all_characters(false);
    STARTING(name, environ, iotide_inspect_on_path(name, environ),
             continue_after(look.barred ? REAL(execvpe)(name, words, environment_given) : REAL(execvp)(name, words)))
}

EXPORT int execvpe(const char *name, char *const words[], char *const environment[]) {
    iotide_record_all_characters(false);
    STARTING(name, environment, iotide_inspect_on_path(name, environment), continue_after(REAL(execvpe)(name, words, environment_given)))
}

EXPORT int fexecve(int descriptor, char *const words[], char *const environment[]) {
    iotide_record_all_characters(false);
    STARTING("", environment, iotide_inspect_at(descriptor, "", environment),
             continue_after(REAL(fexecve)(descriptor, words, environment_given)))
}

static int exec_by_syscall(long number, int descriptor, const char *path, char *const *words, char *const *environment,
                           long flags) {
    iotide_kernel_call *call = iotide_program_syscall();
    iotide_record_all_characters(false);
    STARTING(path, environment, iotide_inspect_at(descriptor, path, environment),
             continue_after((int)(number == SYS_execve ? call(number, path, words, environment_given)
                                                       : call(number, (long)descriptor, path, words, environment_given, flags))))
}

long iotide_exec_by_syscall(long number, const long *a) {
    bool at = number == SYS_execveat;
    return exec_by_syscall(number, at ? (int)a[0] : AT_FDCWD, (const char *)a[at], (char *const *)a[at + 1],
                           (char *const *)a[at + 2], a[4]);
}

EXPORT int execveat(int descriptor, const char *path, char *const words[], char *const environment[], int flags) {
    return exec_by_syscall(SYS_execveat, descriptor, path, words, environment, flags);
}

EXPORT int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const words[], char *const environment[]) {
    STARTING(path, environment, iotide_inspect(path, environment), REAL(posix_spawn)(pid, path, actions, attributes, words, environment_given))
}

EXPORT int posix_spawnp(pid_t *pid, const char *name, const posix_spawn_file_actions_t *actions,
                        const posix_spawnattr_t *attributes, char *const words[], char *const environment[]) {
    STARTING(name, environment, iotide_inspect_on_path(name, environment), REAL(posix_spawnp)(pid, name, actions, attributes, words,
                                                                    environment_given))
}

/* Converts variadic arguments after the first one: NULL ends them, and some calls have an environment after it. */
#define LISTED(symbol, start, ...)                                                     \
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
        return start;                                                                  \
    }
LISTED(execl, execv(path, (char *const *)words), )
LISTED(execlp, execvp(path, (char *const *)words), )
LISTED(execle, execve(path, (char *const *)words, environment),
       char *const *environment = va_arg(given, char *const *);)
