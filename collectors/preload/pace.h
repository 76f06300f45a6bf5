/* Pacing: calls that move data on one file system wait for their turn, where the collector says so (IOTIDE_PACE=1). */
#ifndef IOTIDE_PACE_H
#define IOTIDE_PACE_H

#include "state.h"

bool iotide_pace(int fd, int64_t start_ns);
void iotide_paced(int64_t bytes);

/* Before a call that moves data of a descriptor: notes that it goes on, and waits while the collector says so, for a bounded
 * time. Returns whether iotide_end_turn has something to do. errno stays. */
static inline bool iotide_take_turn(struct iotide_span span, int fd) {
    return unlikely(span.paced) && iotide_pace(fd, span.start_ns);
}

static inline void iotide_end_turn(bool paced, int64_t bytes) {
    if (unlikely(paced))
        iotide_paced(bytes);
}

#endif
