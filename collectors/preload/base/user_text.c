/* Checks whether a text of the program is readable, without a fault: by asking the kernel to read it. */
#include "base/user_text.h"
#include "base/raw_syscall.h"

#include <fcntl.h>

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
