/* System calls of the tracer; none once the program has restricted itself. */
#include "base/raw_syscall.h"

#include <signal.h>
#include <string.h>

static _Atomic bool restricted;
static struct iotide_site syscall_site = {SITE_TEXT("syscall", "")};

static long refuse_syscall(long number, ...) {
    (void)number;
    errno = ENOSYS;
    return -1;
}

bool iotide_restricted(void) {
    return atomic_load_explicit(&restricted, memory_order_relaxed);
}

iotide_kernel_call *iotide_program_syscall(void) {
    return (iotide_kernel_call *)iotide_real(&syscall_site);
}

iotide_kernel_call *iotide_kernel(void) {
    return unlikely(iotide_restricted()) ? refuse_syscall : iotide_program_syscall();
}

/* The working directory, the base of relative paths. */
static char directory[PATH_MAX];
static _Atomic size_t directory_size;

size_t iotide_saved_directory(char *to) {
    size_t size = atomic_load(&directory_size);
    memcpy(to, directory, size);
    return size;
}

void iotide_clear_saved_directory(void) {
    atomic_store(&directory_size, 0);
}

void iotide_save_directory(void) {
    long size = iotide_kernel()(SYS_getcwd, directory, sizeof directory); /* including the terminating zero */
    atomic_store(&directory_size, size > 1 && *directory == '/' ? (size_t)size - 1 : 0);
}

#define MASK_UNCHANGED UINT64_MAX /* not a valid mask: SIGKILL cannot be blocked */
#define BIT(number) (UINT64_C(1) << ((number)-1))
/* Signals caused by the thread itself are delivered immediately, or the kernel ends the process. */
#define OWN_FAULTS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGILL) | BIT(SIGTRAP) | BIT(SIGSYS))

uint64_t iotide_block_signals(void) {
    uint64_t all = ~OWN_FAULTS, before;
    if (iotide_restricted() || iotide_kernel()(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof before) != 0)
        return MASK_UNCHANGED;
    return before;
}

void iotide_restore_signals(uint64_t held) {
    if (held != MASK_UNCHANGED) /* even if another thread has restricted the program meanwhile */
        ((iotide_kernel_call *)iotide_real(&syscall_site))(SYS_rt_sigprocmask, SIG_SETMASK, &held, NULL, sizeof held);
}

void iotide_block_syscalls(bool on) {
    atomic_store(&restricted, on);
}
