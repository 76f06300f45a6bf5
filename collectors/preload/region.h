/* Making regions of shared memory and handing them to the collector. */
#ifndef IOTIDE_REGION_H
#define IOTIDE_REGION_H

#include "types.h"

EXPORT void iotide_set_rank(int32_t rank, int32_t ranks);

#define IOTIDE_SLOTS 64
#define IOTIDE_LOG_BYTES (1u << 22)
#define IOTIDE_WAKE_AT 4 /* the part of a ring or log, 1 / 4, that is filled when a collector that sleeps is woken */

extern uint32_t iotide_ring_lines; /* of each slot; a power of two */
extern bool iotide_pacing_wanted;  /* IOTIDE_PACE=1 */

/* Reads where the collector is and how long rings are; false: this process is not to be traced. */
bool iotide_read_environment(int count, char **arguments, char **environment);

/* Returns a mapped region, and its descriptor in *fd, or NULL: then the process (or thread) goes untraced. */
struct iotide_header *iotide_make_region(uint32_t extent, uint64_t token, int *fd);

/* Returns 0 where a collector listens, else an errno. */
int iotide_knock(void);

/* Returns 0 when the collector has the region, else an errno. No descriptor stays open, and nothing waits. */
int iotide_hand_over(const struct iotide_header *region, int fd);

/* Wakes the collector of a region if it sleeps. */
void iotide_wake(struct iotide_header *region);

/* Tells the collector that this process goes untraced, past what hides its socket or forbids to use it; false: it does not
 * hear that either. */
bool iotide_leave_word(int failure);

/* That a call moved; those of a call within another are the other's. */
static inline uint64_t iotide_bytes_of(const struct iotide_record *record) {
    bool moves = (record->kind == KIND_READ || record->kind == KIND_WRITE) && record->depth == 0 && record->bytes > 0;
    return moves ? (uint64_t)record->bytes : 0;
}

#endif
