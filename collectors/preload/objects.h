/* Handles of the layers above libc. */
#ifndef IOTIDE_OBJECTS_H
#define IOTIDE_OBJECTS_H

#include "tracer.h"

void iotide_reset_objects(void); /* handles keep their numbers */

#endif
