/* Whether and how the process is traced. */
#ifndef IOTIDE_STATE_H
#define IOTIDE_STATE_H

#include "base/types.h"

extern EXPORT _Atomic uint32_t iotide_generation; /* number of regions that this memory image has begun */
/* Words of the page that is zero in a forked child: the process's state, and progress in determining it. */
enum { STATE_MODE, STATE_SETUP };
enum { SETUP_NONE, SETUP_CLAIMED, SETUP_WAITING }; /* SETUP_CLAIMED: one thread is determining it, or it is known */
enum { MODE_TRACED = 1, MODE_PACED = 2 };
extern EXPORT volatile uint32_t *iotide_process_state; /* that page; NULL while untraced */
/* After a fork in a signal handler, a call that began in the parent can end in the child: it must not be recorded. */
static inline bool iotide_is_tracing(void) {
    volatile uint32_t *alive = iotide_process_state;
    return likely(alive != NULL && __atomic_load_n(&alive[STATE_MODE], __ATOMIC_ACQUIRE) != 0);
}
/* A vfork child shares the memory but not the descriptors: what it does to its descriptors is not recorded. */
EXPORT bool iotide_same_process(void);
extern EXPORT __thread struct iotide_thread iotide_self __attribute__((tls_model("initial-exec")));

/* the first, with the log; NULL while untraced */
extern __attribute__((visibility("hidden"))) struct iotide_header *_Atomic iotide_region;
extern __attribute__((visibility("hidden"))) pid_t iotide_own_pid; /* process that the region belongs to */
/* The cell in which the process began; it may have left it. NULL: none */
extern __attribute__((visibility("hidden"))) struct iotide_header *_Atomic iotide_cell;
/* The region with the cells in which its forked children begin */
extern __attribute__((visibility("hidden"))) struct iotide_header *iotide_cell_host;
extern __attribute__((visibility("hidden"))) uint64_t iotide_cell_token; /* that was put there */
static inline bool iotide_is_cell(const struct iotide_header *region) {
    return region && region == atomic_load_explicit(&iotide_cell, memory_order_relaxed);
}
/* Whether a region is the cell of a process that has ended, which others may use: this process shares its memory, or was
 * forked by it in a signal handler. */
static inline bool iotide_is_lost_cell(const struct iotide_header *region) {
    return iotide_is_cell(region) &&
           (!iotide_is_tracing() || *(const volatile uint64_t *)&region->token != iotide_cell_token);
}
EXPORT void iotide_count_overflow(enum iotide_bound bound); /* counts an overflow of a table */
void iotide_disable_tracing(void); /* stops tracing in this process and its children */
extern char __libc_single_threaded __attribute__((weak)); /* of glibc 2.32 and later: nonzero with one thread */
bool iotide_on_signal_stack(void); /* on which addresses do not reflect the nesting of calls */

#endif
