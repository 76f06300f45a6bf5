/* Settings in the environment at the program's start, and who runs the program. */
#ifndef IOTIDE_ENVIRONMENT_H
#define IOTIDE_ENVIRONMENT_H

#include "base/types.h"

const char *iotide_setting(char **environment, const char *name); /* NULL: not set */

/* Whether the kernel has given the process an object with functions (vDSO): then no emulator runs it. valgrind and qemu give
 * none, or one without the kernel's version. */
bool iotide_has_kernels_object(void);

#endif
