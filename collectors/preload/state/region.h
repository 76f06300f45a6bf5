/* Creates regions of shared memory and hands them to the collector. */
#ifndef IOTIDE_REGION_H
#define IOTIDE_REGION_H

#include "base/types.h"
#include "state/state.h"

EXPORT void iotide_set_rank(int32_t rank, int32_t ranks);

#define IOTIDE_SLOTS 64
#define IOTIDE_LOG_BYTES (1u << 22)
#define IOTIDE_WAKE_FRACTION 4 /* fraction of a ring or log, 1 / 4, at which a sleeping collector is woken */

extern uint32_t iotide_ring_lines; /* of each slot; a power of two */
extern bool iotide_pacing_wanted;  /* IOTIDE_PACE=1 */

/* Reads the collector's address and the length of rings; false: this process must not be traced. */
bool iotide_read_environment(int count, char **arguments, char **environment);

/* Whether IOTIDE_SOCKET in a program's environment is the collector of this process. */
bool iotide_is_own_collector(const char *path);

/* Returns a mapped region, and its descriptor in *fd, or NULL: then the process (or thread) is not traced. */
struct iotide_header *iotide_create_region(uint32_t extent, bool has_log, uint64_t token, int *fd);

/* Returns a cell of an ancestor's region, in which this forked process begins; NULL: it needs a region of its own.
 * host: the region with the cells; parent: the process's parent when it was forked. */
struct iotide_header *iotide_begin_in_cell(struct iotide_header *host, pid_t parent, uint64_t token);

/* Before an extent of a process in a cell is handed over: its records continue there. left false: it was refused. */
void iotide_mark_cell_left(struct iotide_header *host, const struct iotide_header *cell, bool left);

/* Unmaps the rings of a region with cells, which another process uses; its log and cells remain mapped. Writes the size
 * of what remains before the cells. */
bool iotide_unmap_rings(struct iotide_header *host, uint64_t *bytes);

/* Returns 0 if a collector listens, otherwise an errno. */
int iotide_probe_collector(void);

/* Returns 0 when the collector has the region, otherwise an errno. No descriptor remains open, and nothing blocks. */
int iotide_hand_over(const struct iotide_header *region, int fd);

/* Wakes the collector of a region if it sleeps. */
void iotide_wake_collector(struct iotide_header *region);

/* Reports to the collector that this process is not traced, even if its socket is hidden or forbidden; false: the
 * report failed, too. */
bool iotide_report_untraced(int failure);

static inline uint32_t iotide_slots_of(const struct iotide_header *region) {
    return iotide_is_cell(region) ? 1 : IOTIDE_SLOTS;
}

/* Bytes that a call moved; those of nested calls belong to the outer call. */
static inline uint64_t iotide_moved_bytes(const struct iotide_record *record) {
    bool moves = (record->kind == KIND_READ || record->kind == KIND_WRITE) && record->depth == 0 && record->bytes > 0;
    return moves ? (uint64_t)record->bytes : 0;
}

#endif
