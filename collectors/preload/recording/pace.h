/* Pacing: calls that move data on one file system wait for their turn, if the collector requests it (IOTIDE_PACE=1). */
#ifndef IOTIDE_PACE_H
#define IOTIDE_PACE_H

#include "state/state.h"

bool iotide_pace_call(int fd, int64_t start_ns);
void iotide_finish_paced_call(int64_t bytes);

/* Called before a call that moves data of a descriptor: marks it as running, and waits while the collector requests
 * it, for a bounded time. Returns whether iotide_end_turn must be called. Preserves errno. */
static inline bool iotide_begin_turn(struct iotide_span span, int fd) {
    return unlikely(span.paced) && iotide_pace_call(fd, span.start_ns);
}

static inline void iotide_end_turn(bool paced, int64_t bytes) {
    if (unlikely(paced))
        iotide_finish_paced_call(bytes);
}

#endif
