/* syscall(2) without libc's function for it, which tracers wrap: for calls of the test itself, which must not be
 * recorded. */
#ifndef PAST_LIBC_H
#define PAST_LIBC_H

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef __x86_64__
static inline long past_libc(long number, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}
#define PAST_LIBC(number, a, b, c, d, e, f, ...) \
    past_libc(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define syscall(...) PAST_LIBC(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#endif

#endif
