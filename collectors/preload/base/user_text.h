/* Checks whether memory of the program is readable. */
#ifndef IOTIDE_USER_TEXT_H
#define IOTIDE_USER_TEXT_H

#include "base/types.h"

/* Whether text is readable up to its end, which is unknown for arguments of a failed call. Asks the kernel. */
EXPORT bool iotide_is_text(const char *text);
/* The same for the (first) path of a call that failed with error: usually the call has read it. */
static inline bool iotide_is_path(const char *path, int error) {
    bool was_read = error != EFAULT && error != EINVAL && error != EBADF && error != ENOSYS && error != ENOMEM;
    return was_read || iotide_is_text(path);
}

/* Whether a few bytes are readable. Asks the kernel. */
bool iotide_is_readable(const void *from, size_t bytes);

#endif
