/* Buffers for paths, shared by all threads: borrowed without waiting, from signal handlers too. */
#include "scratch.h"
#include "state.h"

#define COUNT 32
#define FRAME_BITS 47

static char buffers[COUNT][IOTIDE_SCRATCH];
/* Who has it: a mark of the thread over where on that thread's stack it was borrowed; 0: nobody. */
TOGETHER static _Atomic uint64_t borrowers[COUNT];

static uint64_t borrower_at(const void *frame) {
    uint64_t mark = (uint64_t)(uintptr_t)&iotide_self * UINT64_C(0x9e3779b97f4a7c15) >> FRAME_BITS;
    return mark << FRAME_BITS | ((uint64_t)(uintptr_t)frame & ((UINT64_C(1) << FRAME_BITS) - 1));
}

/* Whether a handler's siglongjmp has left the borrower: while one is at it, others of its thread stand below it. */
static bool was_left(uint64_t borrower, uint64_t other) {
    return borrower >> FRAME_BITS == other >> FRAME_BITS && other >= borrower && !iotide_on_signal_stack();
}

char *iotide_borrow(void) {
    uint64_t self = borrower_at(__builtin_frame_address(0));
    for (int i = 0; i < COUNT; i++) {
        uint64_t borrower = atomic_load_explicit(&borrowers[i], memory_order_relaxed);
        if ((!borrower || was_left(borrower, self)) && atomic_compare_exchange_strong(&borrowers[i], &borrower, self))
            return buffers[i];
    }
    return NULL;
}

void iotide_give_back(char *scratch) {
    if (scratch)
        atomic_store(&borrowers[(scratch - buffers[0]) / IOTIDE_SCRATCH], 0);
}

/* Those who had borrowed stayed in the parent. */
void iotide_reset_scratch(void) {
    for (int i = 0; i < COUNT; i++)
        atomic_store_explicit(&borrowers[i], 0, memory_order_relaxed);
}
