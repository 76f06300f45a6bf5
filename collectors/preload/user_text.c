/* Whether a text of the program's can be read, without a fault: the kernel is asked to read it. */
#include "user_text.h"
#include "raw_syscall.h"

#include <fcntl.h>

bool iotide_is_text(const char *text) {
    if (!text)
        return false;
    int error = errno;
    /* A link to it that is to have no name: that is refused once both have been read, before anything is looked up. */
    iotide_syscall(SYS_symlinkat, text, AT_FDCWD, "");
    bool read = errno == ENOENT || errno == ENAMETOOLONG;
    errno = error;
    return read;
}
