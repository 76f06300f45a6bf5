/* The regions of the process, and the collector that has them. */
#ifndef IOTIDE_SESSION_H
#define IOTIDE_SESSION_H

#include "state/region.h"
#include "state/state.h"

EXPORT bool iotide_start_tracing(struct iotide_site *site); /* for a call at this site; NULL: for no call */
/* How to trace this process: 0, or MODE_TRACED and possibly MODE_PACED. */
static inline uint32_t iotide_trace_mode(struct iotide_site *site) {
    volatile uint32_t *alive = iotide_process_state;
    if (unlikely(alive == NULL))
        return 0;
    uint32_t as = __atomic_load_n(&alive[STATE_MODE], __ATOMIC_ACQUIRE); /* regions are read after it */
    if (unlikely(as == 0))
        as = iotide_start_tracing(site) ? alive[STATE_MODE] : 0;
    return as;
}

/* At least 0: a region whose hand-over found the collector's queue full. */
extern __attribute__((visibility("hidden"))) _Atomic int iotide_pending_fd;
void iotide_retry_hand_over(int64_t now); /* of that region */
void iotide_check_collector(int64_t now); /* for the calling thread's; if it is gone, another collector gets a new
                                              * region */
uint32_t iotide_region_count(void);
struct iotide_header *iotide_region_at(uint32_t number); /* number: below the count */
bool iotide_add_region(uint32_t count,
                       int64_t now); /* adds a region, unless the number of regions differs from count by
                                                  * now */

#endif
