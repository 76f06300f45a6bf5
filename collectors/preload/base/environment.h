/* Settings in the environment at the program's start. */
#ifndef IOTIDE_ENVIRONMENT_H
#define IOTIDE_ENVIRONMENT_H

#include "base/types.h"

const char *iotide_setting(char **environment, const char *name); /* NULL: not set */

#endif
