/* The clock of records. */
#ifndef IOTIDE_CLOCK_H
#define IOTIDE_CLOCK_H

#include "state/state.h"

#include <time.h>

#ifdef __x86_64__
#define IOTIDE_HAS_TICKS 1
static inline uint64_t iotide_ticks(void) {
    return __builtin_ia32_rdtsc();
}
#elif defined(__aarch64__)
#define IOTIDE_HAS_TICKS 1
static inline uint64_t iotide_ticks(void) { /* the kernel's counter; the same on all cores */
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}
#else
#define IOTIDE_HAS_TICKS 0
#endif
#define IOTIDE_TICK_BITS 30 /* lengths of ticks are in units of 2^-30 ns */
static inline int64_t iotide_ticks_ns(const struct iotide_clock *clock, uint64_t ticks) {
    return (int64_t)(ticks * clock->pace >> IOTIDE_TICK_BITS);
}
EXPORT int64_t iotide_read_clock(void);
static inline int64_t iotide_now(void) {
#if IOTIDE_HAS_TICKS
    const struct iotide_clock *clock = &iotide_self.clock;
    uint64_t ticks = iotide_ticks() - clock->ticks;
    if (likely(ticks < clock->trusted))
        return clock->ns + iotide_ticks_ns(clock, ticks);
#endif
    return iotide_read_clock();
}

void iotide_choose_clock(void);                /* once, before the first call is traced */
int64_t iotide_kernel_clock(clockid_t which); /* ns; not affected by wrappers of the clock */

#endif
