/* The regions of the process, and the collector that has them. */
#ifndef IOTIDE_SESSION_H
#define IOTIDE_SESSION_H

#include "region.h"
#include "state.h"

EXPORT bool iotide_start(struct iotide_site *site); /* for a call at it; NULL: for none */
/* As what this process is to be treated: 0, or AS_TRACED and maybe AS_PACED. */
static inline uint32_t iotide_active(struct iotide_site *site) {
    volatile uint32_t *alive = iotide_alive;
    if (unlikely(alive == NULL))
        return 0;
    uint32_t as = __atomic_load_n(&alive[ALIVE_AS], __ATOMIC_ACQUIRE); /* regions are read after it */
    if (unlikely(as == 0))
        as = iotide_start(site) ? alive[ALIVE_AS] : 0;
    return as;
}

/* At least 0: a region whose hand-over found the collector's queue full. */
extern __attribute__((visibility("hidden"))) _Atomic int iotide_pending_fd;
void iotide_retry_hand_over(int64_t now); /* of that region */
void iotide_look_for_collector(int64_t now); /* of the calling thread's: is it gone, another gets a new region */
uint32_t iotide_region_count(void);
struct iotide_header *iotide_region_at(uint32_t number); /* below the count */
bool iotide_extend(uint32_t count, int64_t now); /* makes a region more, unless there are other than count by now */

#endif
