/* Common code of programs that call every function of a signature file: each step notes the event that a tracer should
 * record. The transcript goes to standard output at the end without libc, so that it adds no recorded calls.
 *
 *   call SYMBOL RESULT ERRNO
 *   see  KIND PATH REQUESTED BYTES OFFSET ERRNO SIGNATURE     (tabs between; "*" in a signature: anything)
 */
#ifndef POSIX_STEPS_H
#define POSIX_STEPS_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "past_libc.h"

static char transcript[1 << 20];
static size_t transcript_size;
static int failure; /* errno of the last call, if that failed */

static void note(const char *format, ...) {
    va_list values;
    va_start(values, format);
    transcript_size +=
        (size_t)vsnprintf(transcript + transcript_size, sizeof transcript - transcript_size, format, values);
    va_end(values);
}

static void *find(const char *symbol) {
    void *found = dlsym(RTLD_DEFAULT, symbol);
    if (!found) {
        note("absent\t%s\n", symbol);
        syscall(SYS_write, 1, transcript, transcript_size);
        syscall(SYS_exit_group, 3);
    }
    return found;
}

static long noted(const char *symbol, long result, int error) {
    note("call\t%s\t%ld\t%d\n", symbol, result, error);
    return result;
}

/* Makes a call and notes its result. Pointers are noted as present or not; failed: a condition over r. */
#define RUN_AS(type, symbol, types, arguments, shown, failed)        \
    ({                                                               \
        type(*f_) types = (type(*) types)find(#symbol);              \
        errno = 0;                                                   \
        type r = f_ arguments;                                       \
        failure = (failed) ? errno : 0;                              \
        noted(#symbol, (long)(shown), failure);                      \
        r;                                                           \
    })
#define RUN(type, symbol, types, arguments) RUN_AS(type, symbol, types, arguments, r, r == (type)-1)
#define RUN_POINTER(type, symbol, types, arguments) RUN_AS(type, symbol, types, arguments, r != NULL, r == NULL)
#define RUN_NUMBER(type, symbol, types, arguments) RUN_AS(type, symbol, types, arguments, r, 0)
#define RUN_VOID(symbol, types, arguments)                     \
    ({                                                         \
        void(*f_) types = (void (*) types)find(#symbol);       \
        f_ arguments;                                          \
        failure = 0;                                           \
        noted(#symbol, 0, 0);                                  \
    })

/* path: below the working directory, or unchanged if it begins with '/' or contains a colon; "-": none. */
static void see(const char *kind, const char *path, long requested, long bytes, long offset, const char *format, ...) {
    note("see\t%s\t%s\t%ld\t%ld\t%ld\t%d\t", kind, path, requested, failure ? 0 : bytes, offset, failure);
    va_list values;
    va_start(values, format);
    transcript_size +=
        (size_t)vsnprintf(transcript + transcript_size, sizeof transcript - transcript_size, format, values);
    va_end(values);
    note("\n");
}
#define SEE(kind, path, ...) see(#kind, path, 0, 0, -1, __VA_ARGS__)

static void finish(void) {
    for (size_t done = 0; done < transcript_size;) {
        long count = syscall(SYS_write, 1, transcript + done, transcript_size - done);
        if (count <= 0)
            break;
        done += (size_t)count;
    }
    syscall(SYS_exit_group, 7);
}

#endif
