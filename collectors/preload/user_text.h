/* Whether a text of the program's can be read. */
#ifndef IOTIDE_USER_TEXT_H
#define IOTIDE_USER_TEXT_H

#include "types.h"

/* Whether text can be read up to its end, as nothing says so of what a call that failed was given. Asks the kernel. */
EXPORT bool iotide_is_text(const char *text);
/* The same of the (first) path of a call that failed so: mostly the call has read it before. */
static inline bool iotide_is_path(const char *path, int error) {
    bool was_read = error != EFAULT && error != EINVAL && error != EBADF && error != ENOSYS && error != ENOMEM;
    return was_read || iotide_is_text(path);
}

#endif
