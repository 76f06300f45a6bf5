/* The clock of records. */
#ifndef IOTIDE_CLOCK_H
#define IOTIDE_CLOCK_H

#include "tracer.h"

void iotide_choose_clock(void); /* once, before the first call is traced */

#endif
