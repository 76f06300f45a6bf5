/* Whether and as what the process is traced. */
#ifndef IOTIDE_STATE_H
#define IOTIDE_STATE_H

#include "tracer.h"

extern __attribute__((visibility("hidden"))) struct iotide_header *_Atomic iotide_region; /* the first, with the log; NULL while untraced */
extern __attribute__((visibility("hidden"))) pid_t iotide_own_pid; /* of the process that the region is of */
void iotide_give_up(void); /* traces nothing any more in this process and its children */
bool iotide_on_signal_stack(void); /* where addresses say nothing of what called what */

#endif
