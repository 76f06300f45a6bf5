/* Exclusive resources that threads and signal handlers share, and the wait for them. */
#include "state/locks.h"
#include "base/raw_syscall.h"
#include "state/clock.h"

#include <errno.h>

#define FRAME_BITS 47
#define SPINS 2000
#define MAX_WAIT_NS INT64_C(100000000) /* a holder that waits for a processor gets one within this on busy machines */

uint64_t iotide_thread_mark(void) {
    return (uint64_t)(uintptr_t)&iotide_self * UINT64_C(0x9e3779b97f4a7c15) >> FRAME_BITS;
}

/* Holder: a mark of the thread above its stack position when acquiring; 0: none. */
static uint64_t holder_at(const void *frame) {
    return iotide_thread_mark() << FRAME_BITS | ((uint64_t)(uintptr_t)frame & ((UINT64_C(1) << FRAME_BITS) - 1));
}

/* Whether a handler's siglongjmp has abandoned the lock: while it is active, later frames of its thread are
 * below it. */
static bool is_abandoned(uint64_t present, uint64_t other) {
    return present >> FRAME_BITS == other >> FRAME_BITS && other >= present && !iotide_on_signal_stack();
}

bool iotide_try_acquire(_Atomic uint64_t *holder, const void *frame) {
    uint64_t self = holder_at(frame), present = atomic_load_explicit(holder, memory_order_relaxed);
    return (!present || is_abandoned(present, self)) && atomic_compare_exchange_strong(holder, &present, self);
}

bool iotide_is_own(uint64_t holder) {
    return holder >> FRAME_BITS == iotide_thread_mark();
}

bool iotide_await_lock(struct iotide_lock_wait *wait) {
    if (wait->tries++ < SPINS)
        return true;
    if (wait->is_hopeless)
        return false;
    int64_t now = iotide_kernel_clock(CLOCK_MONOTONIC);
    if (!wait->until_ns)
        wait->until_ns = now + MAX_WAIT_NS;
    int error = errno;
    bool yields = now < wait->until_ns && iotide_syscall(SYS_sched_yield) == 0;
    errno = error;
    return yields;
}
