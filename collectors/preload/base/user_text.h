/* Reads memory of the program that may be unreadable. */
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
/* Copies memory that may be unreadable, or freed meanwhile. NOT_ALLOWED: the kernel, or a filter of calls, has no such copy. */
enum iotide_copied { COPIED, UNREADABLE, NOT_ALLOWED };
enum iotide_copied iotide_copy(void *to, const void *from, size_t bytes);

#endif
