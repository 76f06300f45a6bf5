/* Paths of the files that handles of higher layers refer to. A forked child's collector, and the next collector,
 * have no definitions of them. So each is defined again when its number belongs to another region. */
#include "tables/path_cache.h"
#include "tables/definitions.h"
#include "state/locks.h"

#include <string.h>

#define CACHED_PATHS 512 /* files; one whose entry is overwritten by a later one has no name from then on */

static struct cached_path {
    uint32_t mark; /* identifies the entry: its index, and how often it was overwritten; 0: empty */
    uint32_t number;
    uint32_t generation;
    uint32_t length;
    char text[IOTIDE_MAX_STORED_PATH];
} all[CACHED_PATHS];
FORK_WRITTEN static _Atomic uint64_t holder; /* of locks.h; 0: none */
FORK_WRITTEN static _Atomic bool is_abandoned; /* the holder still had it after the longest wait */

static bool lock(void) {
    struct iotide_lock_wait wait = {0};
    do {
        if (iotide_try_acquire(&holder, __builtin_frame_address(0)))
            return true;
        wait.is_hopeless = atomic_load_explicit(&is_abandoned, memory_order_relaxed) ||
                           iotide_is_own(atomic_load_explicit(&holder, memory_order_relaxed));
    } while (iotide_await_lock(&wait));
    atomic_store_explicit(&is_abandoned, true, memory_order_relaxed);
    return false;
}

static void unlock(void) {
    if (atomic_load_explicit(&is_abandoned, memory_order_relaxed))
        atomic_store_explicit(&is_abandoned, false, memory_order_relaxed);
    atomic_store_explicit(&holder, 0, memory_order_release);
}

uint32_t iotide_cache_file(uint32_t file) {
    if (!file || file == IOTIDE_EXCLUDED || !lock())
        return 0;
    uint32_t generation = atomic_load_explicit(&iotide_generation, memory_order_relaxed);
    uint32_t place = file % CACHED_PATHS;
    struct cached_path *kept = &all[place];
    if (!kept->mark || kept->number != file || kept->generation != generation) {
        uint32_t length = iotide_stored_path(file, kept->text);
        kept->mark = length ? (kept->mark ? kept->mark : place) + CACHED_PATHS : 0;
        kept->number = file;
        kept->generation = generation;
        kept->length = length;
    }
    uint32_t mark = kept->mark;
    unlock();
    return mark;
}

uint32_t iotide_cached_file(uint32_t mark) {
    if (!mark || !lock())
        return 0;
    struct cached_path *kept = &all[mark % CACHED_PATHS];
    uint32_t generation = atomic_load_explicit(&iotide_generation, memory_order_relaxed);
    if (kept->mark == mark && kept->generation != generation) {
        kept->number = iotide_define_file(kept->text, kept->length);
        kept->generation = generation;
    }
    uint32_t number = kept->mark == mark ? kept->number : 0;
    unlock();
    return number;
}

FREQUENT void iotide_reset_file_cache(void) {
    atomic_store_explicit(&holder, 0, memory_order_relaxed);
    atomic_store_explicit(&is_abandoned, false, memory_order_relaxed);
}
