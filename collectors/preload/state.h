/* Whether and as what the process is traced. */
#ifndef IOTIDE_STATE_H
#define IOTIDE_STATE_H

#include "types.h"

extern EXPORT _Atomic uint32_t iotide_generation; /* counts the regions that this memory image has begun */
/* Words of the page that reads 0 in a forked child: what the process is, and how far it is with finding that out. */
enum { ALIVE_AS, ALIVE_ASKED };
enum { NOT_ASKED, IS_ASKED, WAITS }; /* is asked: by one thread, or it is known */
enum { AS_TRACED = 1, AS_PACED = 2 };
extern EXPORT volatile uint32_t *iotide_alive; /* that page; NULL while untraced */
/* A fork in a signal handler can end a call in the child that began in the parent: that must not be recorded. */
static inline bool iotide_begun(void) {
    volatile uint32_t *alive = iotide_alive;
    return likely(alive != NULL && __atomic_load_n(&alive[ALIVE_AS], __ATOMIC_ACQUIRE) != 0);
}
/* A vfork child shares our memory but not our descriptors: what it does to its descriptors is not recorded. */
EXPORT bool iotide_same_process(void);
extern EXPORT __thread struct iotide_thread iotide_self __attribute__((tls_model("initial-exec")));

extern __attribute__((visibility("hidden"))) struct iotide_header *_Atomic iotide_region; /* the first, with the log; NULL while untraced */
extern __attribute__((visibility("hidden"))) pid_t iotide_own_pid; /* of the process that the region is of */
EXPORT void iotide_met(enum iotide_bound bound); /* counts that a table had no room */
void iotide_give_up(void); /* traces nothing any more in this process and its children */
bool iotide_on_signal_stack(void); /* where addresses say nothing of what called what */

#endif
