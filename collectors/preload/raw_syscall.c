/* Our own calls of the kernel, none once the program has restricted itself. */
#include "raw_syscall.h"

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

/* The working directory, which relative paths begin with. */
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
    long size = iotide_kernel()(SYS_getcwd, directory, sizeof directory); /* with the terminating zero */
    atomic_store(&directory_size, size > 1 && *directory == '/' ? (size_t)size - 1 : 0);
}

void iotide_refuse_kernel(bool on) {
    atomic_store(&restricted, on);
}
