/* Handles of the libraries above libc, by the library's own value. A bounded table in stripes. A stripe's lock is
 * held for tens of instructions. A thread waits for a holder that has lost its processor, but not for one that never
 * proceeds. */
#include "tables/handle_map.h"
#include "tables/path_cache.h"
#include "state/locks.h"
#include "state/state.h"

#include <string.h>

#define STRIPES 256
#define STRIPE 256 /* objects that hash to one stripe; hands[] wraps around at it */
#define GENERATIONS 0x7fffffff

struct object {
    uint64_t value;
    uint32_t space;
    uint32_t generation : 31; /* of the region that numbers the file; 0: no object */
    uint32_t used : 1;        /* looked up since an entry was last evicted */
    uint32_t kept; /* mark of its file in the path cache, for use in another region */
    struct iotide_target target;
};
static struct object objects[STRIPES][STRIPE];
static uint16_t counts[STRIPES];
static uint8_t eviction_positions[STRIPES]; /* position at which eviction from a full stripe continues */
/* State of a lock: free, a mark of its holder, or abandoned: its holder did not proceed while another thread waited. */
enum { FREE, FIRST_MARK, ABANDONED = UINT8_MAX };
FORK_WRITTEN static _Atomic uint8_t locks[STRIPES];
static _Atomic uint64_t used[STRIPES / 64]; /* one bit per stripe: whether it has objects */
FORK_WRITTEN static _Atomic uint32_t next_handle;

uint32_t iotide_new_handle(void) {
    return atomic_fetch_add_explicit(&next_handle, 1, memory_order_relaxed) + 1;
}

static uint32_t stripe_of(uint32_t space, uint64_t value) {
    uint64_t mixed = (value + space) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(mixed >> 56);
}

static bool lock(uint32_t stripe) {
    struct iotide_lock_wait wait = {0};
    uint8_t state, own = (uint8_t)(FIRST_MARK + iotide_thread_mark() % (ABANDONED - FIRST_MARK));
    do {
        state = atomic_load_explicit(&locks[stripe], memory_order_relaxed);
        if (state == FREE && atomic_compare_exchange_strong_explicit(&locks[stripe], &state, own, memory_order_acquire,
                                                                      memory_order_relaxed))
            return true;
        wait.is_hopeless = state == ABANDONED || state == own;
    } while (iotide_await_lock(&wait));
    atomic_compare_exchange_strong_explicit(&locks[stripe], &state, ABANDONED, memory_order_relaxed, memory_order_relaxed);
    iotide_count_overflow(BOUND_CONTENDED);
    return false;
}

static void unlock(uint32_t stripe) {
    atomic_store_explicit(&locks[stripe], FREE, memory_order_release);
}

static bool has_any(uint32_t stripe) {
    return atomic_load_explicit(&used[stripe / 64], memory_order_relaxed) >> stripe % 64 & 1;
}

/* Most objects that libraries close, such as dataspaces, are not in the table. Checking for that takes no lock, and
 * one cache line. */
static bool lock_if_used(uint32_t stripe) {
    return has_any(stripe) && lock(stripe);
}

static struct object *find(uint32_t stripe, uint32_t space, uint64_t value) {
    for (int i = counts[stripe] - 1; i >= 0; i--) /* recent objects are used most */
        if (objects[stripe][i].value == value && objects[stripe][i].space == space)
            return &objects[stripe][i];
    return NULL;
}

/* Returns a free entry. Libraries free objects that were never closed together with their file. So a full stripe
 * evicts an entry that was not used recently. */
static struct object *free_entry(uint32_t stripe) {
    atomic_fetch_or_explicit(&used[stripe / 64], UINT64_C(1) << stripe % 64, memory_order_relaxed);
    if (counts[stripe] < STRIPE)
        return &objects[stripe][counts[stripe]++];
    struct object *chosen;
    while ((chosen = &objects[stripe][eviction_positions[stripe]++])->used)
        chosen->used = 0;
    iotide_count_overflow(BOUND_HANDLES);
    return chosen;
}

static struct iotide_target entry_target(struct object *object) {
    uint32_t generation = atomic_load_explicit(&iotide_generation, memory_order_relaxed) & GENERATIONS;
    bool is_number = object->target.file != IOTIDE_EXCLUDED; /* files that are left out remain so, in a forked child,
                                                                 * too */
    if (unlikely(is_number && object->generation != generation)) {
        uint32_t file = iotide_cached_file(object->kept);
        if (object->target.file && !file)
            iotide_count_overflow(BOUND_FORKED_FILES);
        object->target.file = file;
        object->generation = generation;
    }
    return object->target;
}

void iotide_bind(uint32_t space, uint64_t value, struct iotide_target target) {
    uint32_t stripe = stripe_of(space, value), kept = iotide_cache_file(target.file);
    if (!lock(stripe))
        return;
    struct object *object = find(stripe, space, value);
    if (!object)
        object = free_entry(stripe);
    *object = (struct object){.value = value,
                              .space = space,
                              .generation =
                                  atomic_load_explicit(&iotide_generation, memory_order_relaxed) & GENERATIONS,
                              .kept = kept,
                              .target = target};
    unlock(stripe);
}

struct iotide_target iotide_object(uint32_t space, uint64_t value) {
    struct iotide_target target = {0, 0};
    uint32_t stripe = stripe_of(space, value);
    if (lock_if_used(stripe)) {
        struct object *object = find(stripe, space, value);
        if (object) {
            target = entry_target(object);
            object->used = 1;
        }
        unlock(stripe);
    }
    return target;
}

struct iotide_target iotide_unbind(uint32_t space, uint64_t value) {
    struct iotide_target target = {0, 0};
    uint32_t stripe = stripe_of(space, value);
    if (lock_if_used(stripe)) {
        struct object *object = find(stripe, space, value);
        if (object) {
            target = entry_target(object);
            *object = objects[stripe][--counts[stripe]];
            if (!counts[stripe])
                atomic_fetch_and_explicit(&used[stripe / 64], ~(UINT64_C(1) << stripe % 64), memory_order_relaxed);
        }
        unlock(stripe);
    }
    return target;
}

/* Holders of locks remained in the parent. */
FREQUENT void iotide_reset_handles(void) {
    for (int i = 0; i < STRIPES; i++)
        atomic_store_explicit(&locks[i], FREE, memory_order_relaxed);
    iotide_reset_file_cache();
}
