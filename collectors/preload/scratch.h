/* Buffers for paths. A thread's stack may be a few kilobytes, so they are not on the stack. */
#ifndef IOTIDE_SCRATCH_H
#define IOTIDE_SCRATCH_H

#include "types.h"

#include <limits.h>

#define IOTIDE_SCRATCH (2 * PATH_MAX)
char *iotide_borrow(void); /* IOTIDE_SCRATCH bytes, or NULL when all are in use */
void iotide_give_back(char *scratch);
void iotide_reset_scratch(void);

#endif
