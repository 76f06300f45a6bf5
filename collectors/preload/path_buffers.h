/* Buffers for paths. A thread's stack may be a few kilobytes, so they are not on the stack. */
#ifndef IOTIDE_PATH_BUFFERS_H
#define IOTIDE_PATH_BUFFERS_H

#include "types.h"

#include <limits.h>

#define IOTIDE_SCRATCH (2 * PATH_MAX)
char *iotide_borrow(void); /* IOTIDE_SCRATCH bytes, or NULL if all are in use */
void iotide_give_back(char *scratch);
void iotide_reset_scratch(void);
/* Acquires an exclusive resource without waiting, unless its holder (0: none) has it; frame: of the caller. A
 * resource whose holder was abandoned by a handler's siglongjmp is free again. */
bool iotide_borrowed(_Atomic uint64_t *holder, const void *frame);

#endif
