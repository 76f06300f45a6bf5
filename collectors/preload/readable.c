/* Whether a text of the program's can be read, without a fault: the kernel is asked to read it. */
#include "core.h"

#include <sys/syscall.h>
#include <unistd.h>

#define PAGE 4096

bool iotide_is_text(const char *text) {
    if (!text)
        return false;
    int error = errno;
    /* Beside no directory, nothing is looked up but an absolute path: so the first byte, which may be its slash, is taken
     * to be as readable as the others of its page. */
    bool last = (uintptr_t)text % PAGE == PAGE - 1;
    char target;
    bool found = syscall(SYS_readlinkat, -1, text + !last, &target, sizeof target) >= 0;
    bool read = found || errno == EBADF || errno == ENOENT || errno == ENAMETOOLONG || errno == ENOTDIR ||
                errno == EINVAL || errno == ELOOP || errno == EACCES;
    errno = error;
    return read;
}
