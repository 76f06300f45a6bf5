/* System calls of the tracer; none once the program has restricted itself. */
#include "raw_syscall.h"

#include <signal.h>
#include <string.h>

static _Atomic bool restricted;
static struct iotide_site own = {SITE_TEXT("syscall", "")};

static long refused(long number, ...) {
    (void)number;
    errno = ENOSYS;
    return -1;
}

bool iotide_restricted(void) {
    return atomic_load_explicit(&restricted, memory_order_relaxed);
}

iotide_kernel_call *iotide_program_syscall(void) {
    return (iotide_kernel_call *)iotide_real(&own);
}

iotide_kernel_call *iotide_kernel(void) {
    return unlikely(iotide_restricted()) ? refused : iotide_program_syscall();
}

/* The working directory, the base of relative paths. */
static char directory[PATH_MAX];
static _Atomic size_t directory_size;

size_t iotide_directory_before(char *to) {
    size_t size = atomic_load(&directory_size);
    memcpy(to, directory, size);
    return size;
}

void iotide_leave_directory(void) {
    atomic_store(&directory_size, 0);
}

void iotide_note_directory(void) {
    long size = iotide_kernel()(SYS_getcwd, directory, sizeof directory); /* including the terminating zero */
    atomic_store(&directory_size, size > 1 && *directory == '/' ? (size_t)size - 1 : 0);
}

#define NOTHING_HELD UINT64_MAX /* not a valid mask: SIGKILL cannot be blocked */
#define BIT(number) (UINT64_C(1) << ((number)-1))
/* Signals caused by the thread itself are delivered immediately, or the kernel ends the process. */
#define OWN_FAULTS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGSYS))

uint64_t iotide_hold_signals(void) {
    uint64_t all = ~OWN_FAULTS, before;
    if (iotide_restricted() || iotide_kernel()(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof before) != 0)
        return NOTHING_HELD;
    return before;
}

void iotide_let_signals_go(uint64_t held) {
    if (held != NOTHING_HELD) /* even if another thread has restricted the program meanwhile */
        ((iotide_kernel_call *)iotide_real(&own))(SYS_rt_sigprocmask, SIG_SETMASK, &held, NULL, sizeof held);
}

void iotide_refuse_kernel(bool on) {
    atomic_store(&restricted, on);
}
