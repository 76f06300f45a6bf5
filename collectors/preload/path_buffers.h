/* Buffers for paths. A thread's stack may be a few kilobytes, so they are not on the stack. */
#ifndef IOTIDE_PATH_BUFFERS_H
#define IOTIDE_PATH_BUFFERS_H

#include "types.h"

#include <limits.h>

#define IOTIDE_SCRATCH (2 * PATH_MAX)
char *iotide_borrow(void); /* IOTIDE_SCRATCH bytes, or NULL when all are in use */
void iotide_give_back(char *scratch);
void iotide_reset_scratch(void);
/* Takes what one at a time may have, without waiting, unless its holder (0: nobody) has it; frame: of who asks. What a
 * handler's siglongjmp has taken the holder away from is free again. */
bool iotide_borrowed(_Atomic uint64_t *holder, const void *frame);

#endif
