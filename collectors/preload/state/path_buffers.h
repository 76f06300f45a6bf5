/* Buffers for paths. A thread's stack may be a few kilobytes, so they are not on the stack. */
#ifndef IOTIDE_PATH_BUFFERS_H
#define IOTIDE_PATH_BUFFERS_H

#include "base/types.h"

#include <limits.h>

#define IOTIDE_PATH_BUFFER_BYTES (2 * PATH_MAX)
char *iotide_acquire_path_buffer(void); /* IOTIDE_PATH_BUFFER_BYTES bytes, or NULL if all are in use */
void iotide_release_path_buffer(char *scratch);
void iotide_reset_path_buffers(void);

#endif
