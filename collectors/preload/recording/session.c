/* The regions of a process: created and handed over at its start, after a fork, when threads need more, and when the
 * collector is gone. */
#include "recording/session.h"
#include "state/clock.h"
#include "recording/collector_wait.h"
#include "tables/definitions.h"
#include "tables/descriptors.h"
#include "tables/handle_map.h"
#include "base/raw_syscall.h"
#include "state/region.h"
#include "state/path_buffers.h"
#include "state/state.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define MAX_EXTENTS 128
#define RETRY_NS 10000000
#define MAX_YIELDS 1000
#define COLLECTOR_CHECK_NS INT64_C(1000000000)   /* interval at which a thread checks that the collector is alive */
#define COLLECTOR_TIMEOUT_NS INT64_C(3000000000) /* time without a poll after which the collector counts as gone */
#define MAX_REPLACED_REGIONS 8                   /* regions of lost collectors, kept because other threads may be writing */

/* Process-wide; written by iotide_start_tracing before any other thread of this process traces. */
FORK_WRITTEN static struct iotide_header *_Atomic regions[MAX_EXTENTS];
FORK_WRITTEN static _Atomic uint32_t region_count;
FORK_WRITTEN static _Atomic bool adding_region;
FORK_WRITTEN static _Atomic int64_t next_region_try_ns;
FORK_WRITTEN static _Atomic bool replacing_region;
FORK_WRITTEN static uint32_t replaced_regions;
FORK_WRITTEN static bool has_reported_untraced;
/* Of the region with the process's cell: bytes before its rings if these are unmapped; otherwise 0 */
FORK_WRITTEN static uint64_t host_bytes;

/* A region whose hand-over found the collector's queue full: retried later, while its memory fills. */
FORK_WRITTEN _Atomic int iotide_pending_fd = -1;
static _Atomic int64_t pending_since;
static struct stat pending_identity;
FORK_WRITTEN static _Atomic bool handing_over;

/* ---- delayed hand-over ---- */

/* Keeps a region's descriptor for later, at a high number that the program is unlikely to use. */
static bool save_pending(int fd) {
    struct rlimit limit;
    int high = iotide_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, NULL, &limit) == 0 && limit.rlim_cur > 256 && limit.rlim_cur < 1u << 20
                   ? (int)limit.rlim_cur - 128
                   : 1024;
    int kept = (int)iotide_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, high);
    if (kept < 0 || iotide_syscall(SYS_fstat, kept, &pending_identity) != 0)
        return false;
    atomic_store(&pending_since, iotide_now());
    atomic_store(&iotide_pending_fd, kept);
    return true;
}

/* The program may have closed it, or reused the number for a file of its own. */
static bool is_pending(int fd) {
    struct stat identity;
    return iotide_syscall(SYS_fstat, fd, &identity) == 0 && identity.st_ino == pending_identity.st_ino &&
           identity.st_dev == pending_identity.st_dev;
}

void iotide_retry_hand_over(int64_t now) {
    if (now - atomic_load(&pending_since) < RETRY_NS || atomic_exchange(&handing_over, true))
        return;
    uint64_t held = iotide_block_signals();
    int fd = atomic_load(&iotide_pending_fd);
    if (fd >= 0) {
        int failure = ENOENT;
        if (is_pending(fd)) {
            failure = iotide_hand_over(atomic_load(&regions[0]), fd);
            if (failure != EAGAIN)
                iotide_syscall(SYS_close, fd);
        }
        if (failure != EAGAIN)
            atomic_store(&iotide_pending_fd, -1);
        else
            atomic_store(&pending_since, now);
    }
    atomic_store(&handing_over, false);
    iotide_restore_signals(held);
}

/* ---- the process ---- */

/* Bytes of the records in a ring. Other threads may be writing beyond its head. */
static uint64_t unread_bytes(const struct iotide_header *region, uint32_t number, const struct iotide_slot *slot) {
    const struct iotide_record *lines =
        (const struct iotide_record *)((const char *)region + region->rings_offset) + (size_t)number * region->ring_lines;
    uint64_t head = atomic_load_explicit(&slot->head, memory_order_acquire), bytes = 0;
    for (uint64_t at = atomic_load(&slot->tail); at < head; at++) {
        const struct iotide_record *line = &lines[at & (region->ring_lines - 1)];
        bytes += line->depth == MARK_WORDS ? 0 : iotide_moved_bytes(line);
    }
    return bytes;
}

/* Records in a new region what becomes of earlier calls. */
static void add_previous_losses(struct iotide_header *fresh) {
    for (uint32_t i = 0; i < atomic_load(&region_count); i++) {
        const struct iotide_header *region = atomic_load(&regions[i]);
        const struct iotide_slot *slots = (const struct iotide_slot *)((const char *)region + region->slots_offset);
        fresh->before_token = region->token;
        fresh->lost_before += atomic_load(&region->dropped_no_slot) + atomic_load(&region->dropped_reentrant);
        fresh->lost_before_bytes +=
            atomic_load(&region->dropped_no_slot_bytes) + atomic_load(&region->dropped_reentrant_bytes);
        for (uint32_t j = 0; j < iotide_slots_of(region); j++) {
            uint64_t taken = atomic_load(&slots[j].taken);
            fresh->taken_before += taken;
            fresh->lost_before += atomic_load(&slots[j].made) - taken + atomic_load(&slots[j].dropped_full);
            fresh->lost_before_bytes += atomic_load(&slots[j].dropped_bytes) + unread_bytes(region, j, &slots[j]);
        }
    }
}

static uint64_t new_token(void) {
    int place;
    return (uint64_t)iotide_now() ^ ((uint64_t)iotide_own_pid << 32) ^ (uint64_t)(uintptr_t)&place;
}

/* Creates the process's first region and hands it over. */
static struct iotide_header *create_and_hand_over(bool follows, int *failure) {
    *failure = 0;
    if (iotide_restricted())
        return NULL;
    uint64_t token = new_token();
    int fd;
    struct iotide_header *region = iotide_create_region(0, true, token, &fd);
    if (!region)
        return NULL;
    if (follows)
        add_previous_losses(region);
    else
        iotide_publish_missed_calls(region);
    *failure = iotide_hand_over(region, fd);
    bool kept = *failure == 0 || (!follows && *failure == EAGAIN && save_pending(fd));
    iotide_syscall(SYS_close, fd);
    if (!kept) {
        iotide_syscall(SYS_munmap, region, region->region_bytes);
        return NULL;
    }
    return region;
}

/* Numbering restarts with a region, because its collector has received no definitions. */
FREQUENT static void activate_region(struct iotide_header *region, struct iotide_header *host) {
    if (host != iotide_cell_host)
        host_bytes = 0;
    iotide_cell_host = host;
    atomic_store(&iotide_region, region);
    atomic_store(&regions[0], region);
    iotide_reset_definitions();
    iotide_reset_descriptors();
    atomic_fetch_add(&iotide_generation, 1);
    iotide_self.generation = 0;
    iotide_self.slot = NULL;
    atomic_store(&region_count, 1);
}

/* Unmaps a forked child's regions, which belong to its parent; returns the one with cells, which remains mapped. */
FREQUENT static struct iotide_header *unmap_parent_regions(void) {
    uint32_t inherited = atomic_exchange(&region_count, 0);
    struct iotide_header *first = NULL;
    for (uint32_t i = 0; i < inherited && i < MAX_EXTENTS; i++) {
        struct iotide_header *old = atomic_exchange(&regions[i], NULL);
        if (!old || iotide_self.storing) /* a fork in a signal handler may continue in the middle of a record */
            continue;
        if (i == 0)
            first = iotide_is_cell(old) ? iotide_cell_host : old;
        else
            iotide_syscall(SYS_munmap, old, old->region_bytes);
    }
    if (!iotide_self.storing)
        atomic_store(&iotide_cell, NULL);
    return first;
}

/* Begins in a cell of the parent's region; false: the process needs a region of its own. */
FREQUENT static bool begin_in_cell(struct iotide_header *host, pid_t parent) {
    uint64_t token = new_token();
    struct iotide_header *cell = host ? iotide_begin_in_cell(host, parent, token) : NULL;
    if (!cell)
        return false;
    iotide_publish_missed_calls(cell);
    atomic_store(&iotide_cell, cell);
    iotide_cell_token = token;
    activate_region(cell, host);
    return true;
}

/* Resets what belongs to the parent. */
FREQUENT static void reset_after_fork(void) {
    int left = atomic_exchange(&iotide_pending_fd, -1);
    if (left >= 0 && is_pending(left))
        iotide_syscall(SYS_close, left);
    /* The threads that were doing this remained in the parent. */
    atomic_store(&handing_over, false);
    atomic_store(&adding_region, false);
    atomic_store(&replacing_region, false);
    atomic_store(&next_region_try_ns, 0);
    if (atomic_load(&iotide_generation)) { /* otherwise these pages were not written yet */
        iotide_reset_path_buffers();
        iotide_reset_handles();
    }
    replaced_regions = 0;
    has_reported_untraced = false;
    iotide_reset_missed_calls();
    iotide_own_pid = (pid_t)iotide_syscall(SYS_getpid);
}

/* Determines the process's state: at its start, or after a fork. */
FREQUENT static bool set_up_process(void) {
    pid_t parent = iotide_own_pid;
    struct iotide_header *parents = unmap_parent_regions();
    uint64_t parents_bytes = !parents ? 0 : parents == iotide_cell_host && host_bytes ? host_bytes : parents->region_bytes;
    reset_after_fork();
    if (iotide_waits_for_collector()) { /* like its parent: many short children would create regions in vain */
        if (!iotide_is_check_due())
            return false;
        if (iotide_probe_collector() != 0) {
            iotide_schedule_check();
            return false;
        }
    }
    if (begin_in_cell(parents, parent))
        return true;
    int failure;
    struct iotide_header *region = create_and_hand_over(false, &failure);
    /* If there is no memory for both, the parent's region is unmapped, except the page with its counters. */
    if (!region && !failure && parents_bytes > IOTIDE_HEADER_BYTES &&
        iotide_syscall(SYS_munmap, (char *)parents + IOTIDE_HEADER_BYTES, parents_bytes - IOTIDE_HEADER_BYTES) == 0) {
        parents_bytes = IOTIDE_HEADER_BYTES;
        region = create_and_hand_over(false, &failure);
    }
    if (region) {
        activate_region(region, region);
        if (!parent)
            iotide_define_emulator();
    } else if (!(has_reported_untraced = iotide_report_untraced(failure)) && parents)
        atomic_fetch_add(&parents->children_unheard, 1);
    if (parents)
        iotide_syscall(SYS_munmap, parents, parents_bytes);
    if (!region) {
        iotide_cell_host = NULL;
        host_bytes = 0;
        atomic_store(&iotide_region, NULL);
        if (!iotide_self.storing) {
            iotide_self.generation = 0;
            iotide_self.slot = NULL;
        }
        iotide_schedule_check();
    }
    return region != NULL;
}

/* Checks again after a wait. */
static bool retry_setup(void) {
    int failure = iotide_probe_collector();
    struct iotide_header *region = failure ? NULL : create_and_hand_over(false, &failure);
    if (region) {
        activate_region(region, region);
        return true;
    }
    if (!has_reported_untraced && failure != EAGAIN)
        has_reported_untraced = iotide_report_untraced(failure);
    iotide_schedule_check();
    return false;
}

FREQUENT bool iotide_start_tracing(struct iotide_site *site) {
    volatile uint32_t *alive = iotide_process_state;
    if (!alive) /* another thread has just given up */
        return false;
    uint32_t asked = alive[STATE_SETUP];
    bool waits = asked == SETUP_CLAIMED || (asked == SETUP_WAITING && likely(!iotide_is_check_due()));
    if (waits || !__atomic_compare_exchange_n((uint32_t *)&alive[STATE_SETUP], &asked, SETUP_CLAIMED, false,
                                              __ATOMIC_ACQ_REL,
                                              __ATOMIC_ACQUIRE)) {
        if (!alive[STATE_MODE])
            iotide_count_missed_call(site);
        return alive[STATE_MODE] != 0;
    }
    int error = errno;
    uint64_t held = iotide_block_signals();
    if (asked == SETUP_NONE && iotide_restricted()) {
        iotide_define_unseen(UNSEEN_CHILD, NULL);
        iotide_disable_tracing(); /* for good: it may make no system calls */
    } else if (asked == SETUP_NONE ? set_up_process() : retry_setup()) {
        iotide_end_collector_wait();
        __atomic_store_n((uint32_t *)&alive[STATE_MODE], MODE_TRACED | (iotide_pacing_wanted ? MODE_PACED : 0),
                         __ATOMIC_RELEASE);
    } else {
        __atomic_store_n((uint32_t *)&alive[STATE_SETUP], SETUP_WAITING, __ATOMIC_RELEASE);
        iotide_count_missed_call(site);
    }
    iotide_restore_signals(held);
    errno = error;
    return alive[STATE_MODE] != 0;
}

/* ---- more regions ---- */

uint32_t iotide_region_count(void) {
    return atomic_load(&region_count);
}

struct iotide_header *iotide_region_at(uint32_t number) {
    return atomic_load(&regions[number]);
}

/* Waits until another thread has made the first region after a cell, which has no room for further threads: for about
 * as long as making it takes. */
static bool await_region(uint32_t count) {
    if (count != 1 || !iotide_is_cell(atomic_load(&regions[0])))
        return false;
    for (int i = 0; i < MAX_YIELDS && atomic_load(&adding_region); i++)
        iotide_syscall(SYS_sched_yield);
    return atomic_load(&region_count) > count;
}

/* Creates a further region. If there is no memory for both, the rings of the region with the process's cell are
 * unmapped. */
static struct iotide_header *create_extent(uint32_t count, bool leaves_cell, uint64_t token, int *fd) {
    struct iotide_header *region = iotide_create_region(count, leaves_cell, token, fd);
    if (!region && leaves_cell && !host_bytes && iotide_unmap_rings(iotide_cell_host, &host_bytes))
        region = iotide_create_region(count, true, token, fd);
    return region;
}

bool iotide_add_region(uint32_t count, int64_t now) {
    /* A failed creation of a region costs tens of microseconds, so it is not retried at each call. */
    if (now < atomic_load_explicit(&next_region_try_ns, memory_order_relaxed))
        return false;
    /* The collector accepts extents only of processes whose first region it has. */
    if (!count || count >= MAX_EXTENTS || iotide_restricted() || atomic_load(&iotide_pending_fd) >= 0)
        return false;
    if (atomic_exchange(&adding_region, true))
        return await_region(count);
    uint64_t held = iotide_block_signals();
    bool made = false;
    if (atomic_load(&region_count) == count) {
        int fd;
        struct iotide_header *first = atomic_load(&regions[0]);
        bool leaves_cell = count == 1 && iotide_is_cell(first);
        struct iotide_header *region = create_extent(count, leaves_cell, first->token, &fd);
        if (region) {
            if (leaves_cell)
                iotide_mark_cell_left(iotide_cell_host, first, true);
            made = iotide_hand_over(region, fd) == 0;
            iotide_syscall(SYS_close, fd);
            if (made) {
                atomic_store(&regions[count], region);
                atomic_store(&region_count, count + 1);
                if (leaves_cell) /* definitions and counters continue there */
                    atomic_store(&iotide_region, region);
            } else {
                if (leaves_cell)
                    iotide_mark_cell_left(iotide_cell_host, first, false);
                iotide_syscall(SYS_munmap, region, region->region_bytes);
            }
        }
    }
    if (!made && atomic_load(&region_count) == count)
        atomic_store(&next_region_try_ns, now + RETRY_NS);
    atomic_store(&adding_region, false);
    iotide_restore_signals(held);
    return made;
}

/* ---- a collector that is gone ---- */

/* Hands a new region to the current listener. The content of the old one counts as lost, although a collector that
 * was only stopped will still read it. The old region stays mapped, because other threads may be writing to it. */
void iotide_check_collector(int64_t now) {
    iotide_self.next_check_ns = now + COLLECTOR_CHECK_NS;
    struct iotide_header *region = atomic_load(&iotide_region);
    if (now - atomic_load_explicit(&region->collector_seen_ns, memory_order_relaxed) < COLLECTOR_TIMEOUT_NS ||
        atomic_load(&iotide_pending_fd) >= 0 || replaced_regions >= MAX_REPLACED_REGIONS ||
        atomic_exchange(&replacing_region, true))
        return;
    uint64_t held = iotide_block_signals();
    if (region == atomic_load(&iotide_region)) { /* otherwise another thread has just done it */
        int failure = iotide_probe_collector();
        struct iotide_header *fresh = failure ? NULL : create_and_hand_over(true, &failure);
        if (fresh) {
            iotide_reset_missed_calls();
            replaced_regions++;
            activate_region(fresh, fresh);
            atomic_store(&region->unrecorded_streams, 0); /* these are recorded in the new one, if at all */
            atomic_store(&region->unrecorded_bytes, 0);
        }
    }
    atomic_store(&replacing_region, false);
    iotide_restore_signals(held);
}
