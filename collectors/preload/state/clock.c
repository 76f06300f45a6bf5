/* CLOCK_MONOTONIC from the processor's ticks. Two readings of the kernel's clock took half of a call's cost, because
 * each waits for all instructions in progress. So a reading is used for a while, and ticks give the time since. */
#include "state/clock.h"
#include "base/raw_syscall.h"
#include "base/symbol_lookup.h"

#include <fcntl.h>
#include <link.h>
#include <string.h>

/* libc's own: other libraries may wrap it and give the program another time (libfaketime). */
static __typeof__(clock_gettime) *libc_clock = clock_gettime;

static void find_libc_clock(void) {
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
        const char *slash = strrchr(map->l_name, '/');
        bool is_libc = strcmp(slash ? slash + 1 : map->l_name, "libc.so.6") == 0;
        void *found = is_libc ? iotide_find_symbol_in(map, "clock_gettime") : NULL;
        if (found)
            libc_clock = (__typeof__(clock_gettime) *)found;
    }
}

int64_t iotide_kernel_clock(clockid_t which) {
    struct timespec now;
    libc_clock(which, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

#if IOTIDE_HAS_TICKS

#define SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#ifdef __x86_64__
#define STEADY "tsc\n"
#else
#define STEADY "arch_sys_counter\n"
#endif
#define BASELINE_NS INT64_C(10000000)       /* between the two readings that measure the length of a tick */
#define MAX_TICK_AGE_NS INT64_C(1000000000) /* an older tick length is discarded: virtual machines migrate */
#define MAX_READING_AGE_NS INT64_C(100000)  /* maximum age of a reading, to follow a clock that is being slewed */
#define MAX_READ_TICKS 1000                 /* a reading that took longer was interrupted, and is not used to measure
                                             * ticks */
#define CLOCK_TOLERANCE_NS 300              /* tolerated deviation between readings of the kernel's clock */

static bool counts_ticks; /* the kernel uses ticks, too, so they are steady and the same on all cores */

void iotide_choose_clock(void) {
    find_libc_clock();
    char name[sizeof STEADY] = "";
    int fd = (int)iotide_syscall(SYS_openat, AT_FDCWD, SOURCE, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    counts_ticks = iotide_syscall(SYS_read, fd, name, sizeof name) == sizeof STEADY - 1 &&
                   memcmp(name, STEADY, sizeof STEADY - 1) == 0;
    iotide_syscall(SYS_close, fd);
}

/* Measures the length of a tick, 0: unknown so far. Returns whether it is known. */
static bool measure(struct iotide_clock *clock, uint64_t ticks, int64_t ns) {
    int64_t passed = ns - clock->since_ns;
    if (passed < BASELINE_NS)
        return clock->length != 0;
    uint64_t counted = ticks - clock->since_ticks;
    bool sensible = passed < MAX_TICK_AGE_NS && counted > (uint64_t)passed / 2 && counted < (uint64_t)passed * 16;
    clock->length = sensible ? (uint32_t)(((uint64_t)passed << IOTIDE_TICK_BITS) / counted) : 0;
    clock->since_ns = ns;
    clock->since_ticks = ticks;
    return sensible;
}

int64_t iotide_read_clock(void) {
    struct iotide_clock *clock = &iotide_self.clock;
    uint64_t before = iotide_ticks();
    int64_t ns = iotide_kernel_clock(CLOCK_MONOTONIC);
    uint64_t took = iotide_ticks() - before;
    if (!counts_ticks || took > MAX_READ_TICKS)
        return ns;
    uint64_t ticks = before + took / 2;
    int64_t ahead = clock->ns + iotide_ticks_ns(clock, ticks - clock->ticks) - ns;
    clock->trusted = 0; /* a signal handler must not use values that are being changed */
    atomic_signal_fence(memory_order_seq_cst);
    if (!measure(clock, ticks, ns))
        return ns;
    /* Time never goes back: if it is slightly ahead, because readings vary, the next ticks are shortened. */
    bool waits = ahead > 0 && ahead < CLOCK_TOLERANCE_NS;
    clock->pace = clock->length - (waits ? (uint32_t)((uint64_t)clock->length * (uint64_t)ahead / MAX_READING_AGE_NS) : 0);
    clock->ns = waits ? ns + ahead : ns;
    clock->ticks = ticks;
    int64_t now = clock->ns;
    atomic_signal_fence(memory_order_seq_cst);
    clock->trusted = ((uint64_t)MAX_READING_AGE_NS << IOTIDE_TICK_BITS) / clock->length;
    return now;
}

#else

void iotide_choose_clock(void) {
    find_libc_clock();
}

int64_t iotide_read_clock(void) {
    return iotide_kernel_clock(CLOCK_MONOTONIC);
}

#endif
