/* Pacing: calls that move data on one file system wait for their turn, where the collector says so (IOTIDE_PACE=1). */
#ifndef IOTIDE_PACE_H
#define IOTIDE_PACE_H

#include "state.h"

/* Whether this process takes part; one load of a page that each traced call reads anyway. */
static inline bool iotide_paces(void) {
    volatile uint32_t *alive = iotide_alive;
    return likely(alive != NULL) && unlikely(alive[ALIVE_PACED] != 0);
}

bool iotide_pace(int fd, int64_t start_ns) __attribute__((cold));
void iotide_paced(int64_t bytes) __attribute__((cold));

/* Before a call that moves data of a descriptor: notes that it goes on, and waits while the collector says so, for a bounded
 * time. Returns whether iotide_end_turn has something to do. errno stays. */
static inline bool iotide_take_turn(int fd, int64_t start_ns) {
    return iotide_paces() && iotide_pace(fd, start_ns);
}

static inline void iotide_end_turn(bool paced, int64_t bytes) {
    if (unlikely(paced))
        iotide_paced(bytes);
}

#endif
