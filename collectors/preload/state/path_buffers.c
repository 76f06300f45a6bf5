/* Buffers for paths, shared by all threads: borrowed without waiting, also from signal handlers. */
#include "state/path_buffers.h"
#include "state/state.h"

#define COUNT 32
#define FRAME_BITS 47

static char buffers[COUNT][IOTIDE_PATH_BUFFER_BYTES];
/* Borrower: a mark of the thread above its stack position when borrowing; 0: none. */
FORK_WRITTEN static _Atomic uint64_t borrowers[COUNT];

static uint64_t borrower_at(const void *frame) {
    uint64_t mark = (uint64_t)(uintptr_t)&iotide_self * UINT64_C(0x9e3779b97f4a7c15) >> FRAME_BITS;
    return mark << FRAME_BITS | ((uint64_t)(uintptr_t)frame & ((UINT64_C(1) << FRAME_BITS) - 1));
}

/* Whether a handler's siglongjmp has abandoned the borrower: while it is active, later frames of its thread are
 * below it. */
static bool is_abandoned(uint64_t borrower, uint64_t other) {
    return borrower >> FRAME_BITS == other >> FRAME_BITS && other >= borrower && !iotide_on_signal_stack();
}

bool iotide_try_acquire(_Atomic uint64_t *holder, const void *frame) {
    uint64_t self = borrower_at(frame), borrower = atomic_load_explicit(holder, memory_order_relaxed);
    return (!borrower || is_abandoned(borrower, self)) && atomic_compare_exchange_strong(holder, &borrower, self);
}

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
