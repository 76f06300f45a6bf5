/* Waiting for a collector. Checking for one costs system calls, so it is done after 1, 2, 4 ... 60 s, and only
 * within a call of the program. In between, each call costs a count, and sometimes a reading of the coarse clock,
 * which needs no system call. */
#include "recording/collector_wait.h"
#include "state/clock.h"
#include "state/filters.h"
#include "base/raw_syscall.h"

#define FIRST_WAIT_NS INT64_C(1000000000)
#define MAX_WAIT_NS INT64_C(60000000000)
#define CLOCK_SKIP_CALLS 15 /* consecutive calls that do not read the clock */
#define COUNTERS 16         /* most threads have one each, because on a shared one they would contend */

struct counter {
    _Alignas(64) _Atomic uint64_t calls;
};
static struct counter missed[COUNTERS];
FORK_WRITTEN static _Atomic int64_t next_check_ns; /* 0: not waiting */
FORK_WRITTEN static int64_t wait_ns;
FORK_WRITTEN static _Atomic bool has_missed;

static int64_t coarse_now(void) {
    return iotide_kernel_clock(CLOCK_MONOTONIC_COARSE);
}

FREQUENT bool iotide_waits_for_collector(void) {
    return atomic_load_explicit(&next_check_ns, memory_order_relaxed) != 0 && !iotide_is_tracing();
}

static bool is_recorded(struct iotide_site *site) {
    if (!site || iotide_self.quiet)
        return false;
    uint8_t state = atomic_load_explicit(&site->state, memory_order_relaxed);
    return state == SITE_ON || (state == SITE_NEW && iotide_filter_site(site) && atomic_load(&site->state) == SITE_ON);
}

bool iotide_is_check_due(void) {
    struct iotide_thread *thread = &iotide_self;
    if (thread->clock_skips) {
        thread->clock_skips--;
        return false;
    }
    int64_t now = coarse_now();
    if (now == thread->coarse_ns) /* calls are more frequent than the clock's steps */
        thread->clock_skips = CLOCK_SKIP_CALLS;
    thread->coarse_ns = now;
    return now >= atomic_load_explicit(&next_check_ns, memory_order_relaxed) && !iotide_restricted();
}

void iotide_count_missed_call(struct iotide_site *site) {
    if (!is_recorded(site))
        return;
    /* Threads' stacks, and the TLS blocks on them, differ by pages. */
    struct counter *own = &missed[(uintptr_t)&iotide_self >> 12 & (COUNTERS - 1)];
    atomic_fetch_add_explicit(&own->calls, 1, memory_order_relaxed);
    if (unlikely(!atomic_load_explicit(&has_missed, memory_order_relaxed)))
        atomic_store(&has_missed, true);
}

void iotide_schedule_check(void) {
    int64_t longer = 2 * wait_ns;
    wait_ns = longer == 0 ? FIRST_WAIT_NS : longer < MAX_WAIT_NS ? longer : MAX_WAIT_NS;
    atomic_store(&next_check_ns, coarse_now() + wait_ns);
}

void iotide_end_collector_wait(void) {
    atomic_store(&next_check_ns, 0);
    wait_ns = 0;
}

FREQUENT void iotide_publish_missed_calls(struct iotide_header *region) {
    uint64_t calls = 0;
    if (!atomic_load_explicit(&has_missed, memory_order_relaxed))
        return;
    for (int i = 0; i < COUNTERS; i++)
        calls += atomic_load_explicit(&missed[i].calls, memory_order_relaxed);
    atomic_store(&region->missed_before, calls);
}

void iotide_reset_missed_calls(void) {
    iotide_self.clock_skips = 0;
    if (!atomic_exchange(&has_missed, false)) /* counters that were not written stay in the parent's pages */
        return;
    for (int i = 0; i < COUNTERS; i++)
        atomic_store(&missed[i].calls, 0);
}
