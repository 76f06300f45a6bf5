/* Pacing: a call waits before the real one, so that the wait is part of its record.
 *
 * The collector writes the time until which to wait, at most a quarter of a second ahead, and renews it while the
 * wait continues. So a process whose collector is gone continues by itself. */
#include "recording/pace.h"
#include "state/clock.h"
#include "base/raw_syscall.h"
#include "recording/record.h"

#include <linux/futex.h>
#include <sys/stat.h>

#define MAX_LEASE_NS INT64_C(1000000000) /* a later time is checked again after this time */
#define MAX_WAIT_NS INT64_C(10000000000) /* of one call, whatever the collector writes */
#define SECOND_NS INT64_C(1000000000)

static bool is_paced(const struct iotide_header *region, int fd) {
    uint64_t device = atomic_load_explicit(&region->pace_device, memory_order_relaxed);
    struct stat file;
    return device && !iotide_restricted() && iotide_same_process() && iotide_syscall(SYS_fstat, fd, &file) == 0 &&
           S_ISREG(file.st_mode) && file.st_dev == device;
}

/* The slot of this thread in the collector's current regions; NULL: none. */
static struct iotide_slot *own_slot(void) {
    iotide_claim_slot();
    return iotide_self.generation == atomic_load_explicit(&iotide_generation, memory_order_relaxed) ? iotide_self.slot : NULL;
}

/* A signal handler may run meanwhile and never return: no lock is held here. */
static void wait_for_turn(struct iotide_header *region) {
    int64_t begun = 0, now = iotide_now();
    for (;;) {
        uint32_t word = atomic_load(&region->pace_word);
        int64_t until = atomic_load(&region->pace_until_ns);
        if (until <= now || (begun && now - begun >= MAX_WAIT_NS))
            break;
        if (!begun) {
            begun = now;
            atomic_fetch_add_explicit(&region->pace_waits, 1, memory_order_relaxed);
        }
        int64_t left = until - now < MAX_LEASE_NS ? until - now : MAX_LEASE_NS;
        struct timespec most = {left / SECOND_NS, left % SECOND_NS};
        if (iotide_syscall(SYS_futex, &region->pace_word, FUTEX_WAIT, word, &most, NULL, 0) != 0 && errno == ENOSYS)
            break;
        now = iotide_now();
    }
    if (begun)
        atomic_fetch_add_explicit(&region->pace_wait_ns, (uint64_t)(now - begun), memory_order_relaxed);
}

bool iotide_pace_call(int fd, int64_t start_ns) {
    struct iotide_header *region = atomic_load_explicit(&iotide_region, memory_order_relaxed);
    int error = errno;
    struct iotide_slot *slot = region && is_paced(region, fd) ? own_slot() : NULL;
    if (slot) {
        atomic_store_explicit(&slot->in_call_ns, start_ns, memory_order_relaxed);
        wait_for_turn(region);
    }
    errno = error;
    return slot != NULL;
}

void iotide_finish_paced_call(int64_t bytes) {
    struct iotide_header *region = atomic_load_explicit(&iotide_region, memory_order_relaxed);
    struct iotide_slot *slot = iotide_self.slot;
    if (!region || !slot) /* both have been replaced meanwhile */
        return;
    atomic_store_explicit(&slot->in_call_ns, 0, memory_order_relaxed);
    if (bytes > 0)
        atomic_fetch_add_explicit(&region->paced_bytes, (uint64_t)bytes, memory_order_relaxed);
}
