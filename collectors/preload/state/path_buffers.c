/* Buffers for paths, shared by all threads: borrowed without waiting, also from signal handlers. */
#include "state/path_buffers.h"
#include "state/locks.h"
#include "state/state.h"

#define COUNT 32

static char buffers[COUNT][IOTIDE_PATH_BUFFER_BYTES];
FORK_WRITTEN static _Atomic uint64_t borrowers[COUNT]; /* holders of locks.h; 0: none */

char *iotide_acquire_path_buffer(void) {
    for (int i = 0; i < COUNT; i++)
        if (iotide_try_acquire(&borrowers[i], __builtin_frame_address(0)))
            return buffers[i];
    iotide_count_overflow(BOUND_PATH_BUFFERS);
    return NULL;
}

void iotide_release_path_buffer(char *scratch) {
    if (scratch)
        atomic_store(&borrowers[(scratch - buffers[0]) / IOTIDE_PATH_BUFFER_BYTES], 0);
}

/* Borrowers remained in the parent. */
void iotide_reset_path_buffers(void) {
    for (int i = 0; i < COUNT; i++)
        atomic_store_explicit(&borrowers[i], 0, memory_order_relaxed);
}
