/* Pacing: calls that move data on one file system wait for their turn, where the collector says so (IOTIDE_PACE=1). */
#ifndef IOTIDE_PACE_H
#define IOTIDE_PACE_H

#include "state.h"

/* Whether this process takes part; one load of a page that each traced call reads anyway. */
static inline bool iotide_paces(void) {
    volatile uint32_t *alive = iotide_alive;
    return likely(alive != NULL) && unlikely(alive[ALIVE_PACED] != 0);
}

/* Before a call that moves data of a descriptor: notes that it goes on, and waits while the collector says so, for a bounded
 * time. Returns whether iotide_paced is to be told of its end. errno stays. */
bool iotide_pace(int fd, int64_t start_ns);
void iotide_paced(int64_t bytes);

#endif
