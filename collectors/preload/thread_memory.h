/* Memory of a thread's own for hooks. Thread-local variables of preloaded libraries come off each thread's stack, in
 * programs too that never call the library, and a stack may be 16 KiB: what is larger than a word or two belongs here. */
#ifndef IOTIDE_THREAD_MEMORY_H
#define IOTIDE_THREAD_MEMORY_H

#include "types.h"

struct iotide_room {
    uint32_t size; /* bytes */
    _Atomic uint32_t place; /* 0: none yet, else one more than where it begins in each thread's room */
};
/* The calling thread's, zeroed at first; NULL when there is no memory to be had. Safe in signal handlers. */
EXPORT void *iotide_thread_room(struct iotide_room *room);
void iotide_leave_room(void); /* at the end of the thread */

#endif
