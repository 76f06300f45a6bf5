/* Settings in the environment of the program's start. */
#ifndef IOTIDE_ENVIRONMENT_H
#define IOTIDE_ENVIRONMENT_H

#include "tracer.h"

const char *iotide_setting(char **environment, const char *name); /* NULL: not set */

#endif
