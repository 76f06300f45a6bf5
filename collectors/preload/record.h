/* Records, and the rings of the threads that they go into. */
#ifndef IOTIDE_RECORD_H
#define IOTIDE_RECORD_H

#include "tracer.h"

void iotide_take_slot(void); /* for the calling thread, unless it has one */
void iotide_watch_threads(void); /* once: from then on a thread that ends gives its slot back */

#endif
