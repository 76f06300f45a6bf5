/* Reads memory of the program that may be unreadable, without a fault: by asking the kernel to read it. */
#include "base/user_text.h"
#include "base/raw_syscall.h"

#include <fcntl.h>
#include <sys/uio.h>

#define SIGNALS_BYTES 8
#define NO_OPERATION 99

bool iotide_is_text(const char *text) {
    if (!text)
        return false;
    int error = errno;
    /* A symbolic link to it with an empty name: refused after both were read and before anything is looked up. */
    iotide_syscall(SYS_symlinkat, text, AT_FDCWD, "");
    bool read = errno == ENOENT || errno == ENAMETOOLONG;
    errno = error;
    return read;
}

/* Its first and last bytes as a set of signals for an operation that does not exist. */
bool iotide_is_readable(const void *from, size_t bytes) {
    const char *last = (const char *)from + bytes - SIGNALS_BYTES;
    int error = errno;
    bool read = true;
    for (int i = 0; i < 2; i++) {
        iotide_syscall(SYS_rt_sigprocmask, NO_OPERATION, i ? last : from, NULL, (long)SIGNALS_BYTES);
        read = read && errno == EINVAL;
    }
    errno = error;
    return read;
}

enum iotide_copied iotide_copy(void *to, const void *from, size_t bytes) {
    struct iovec here = {to, bytes}, there = {(void *)(uintptr_t)from, bytes};
    int error = errno;
    long copied = iotide_syscall(SYS_process_vm_readv, iotide_syscall(SYS_getpid), &here, 1L, &there, 1L, 0L);
    enum iotide_copied result = copied == (long)bytes ? COPIED : copied >= 0 || errno == EFAULT ? UNREADABLE : NOT_ALLOWED;
    errno = error;
    return result;
}
