/* Thread-local memory for hooks. Thread-local variables of preloaded libraries reduce each thread's stack, even in
 * programs that never call the library, and a stack may be 16 KiB. So anything larger than a word or two belongs
 * here. */
#ifndef IOTIDE_THREAD_MEMORY_H
#define IOTIDE_THREAD_MEMORY_H

#include "base/types.h"

struct iotide_thread_memory {
    uint32_t size; /* bytes */
    _Atomic uint32_t place; /* 0: none yet, otherwise its offset in each thread's memory plus one */
};
/* The calling thread's memory, initially zero; NULL if there is no memory. Safe in signal handlers. */
EXPORT void *iotide_get_thread_memory(struct iotide_thread_memory *room);
void iotide_release_thread_memory(void); /* at the end of the thread */

#endif
