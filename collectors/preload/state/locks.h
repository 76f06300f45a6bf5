/* Exclusive resources that threads and signal handlers share, and the wait for them. */
#ifndef IOTIDE_LOCKS_H
#define IOTIDE_LOCKS_H

#include "base/types.h"

/* Acquires an exclusive resource without waiting, unless its holder (0: none) has it; frame: of the caller. A
 * resource whose holder was abandoned by a handler's siglongjmp is free again. */
bool iotide_try_acquire(_Atomic uint64_t *holder, const void *frame);
bool iotide_is_own(uint64_t holder);   /* whether this thread has it */
uint64_t iotide_thread_mark(void);     /* 17 bits, for most threads different */

/* Between two tries to get a lock that is held for at most microseconds. A holder that has lost its processor may take
 * milliseconds. Starts as {0}; is_hopeless: the holder does not proceed: this thread is its signal handler,
 * or an earlier one waited in vain, as if a handler's siglongjmp had abandoned the lock. */
struct iotide_lock_wait {
    int64_t until_ns;
    uint32_t tries;
    bool is_hopeless;
};
bool iotide_await_lock(struct iotide_lock_wait *wait); /* false: proceed without the lock */

#endif
