/* The table of descriptors. */
#ifndef IOTIDE_DESCRIPTORS_H
#define IOTIDE_DESCRIPTORS_H

#include "tracer.h"

void iotide_reset_descriptors(void);

#endif
