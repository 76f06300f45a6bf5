#include "state/thread_memory.h"
#include "base/raw_syscall.h"
#include "state/state.h"

#include <sys/mman.h>

#define BYTES 16384 /* of all libraries together */

static _Atomic uint32_t used;
static __thread char *own __attribute__((tls_model("initial-exec")));

static uint32_t memory_offset(struct iotide_thread_memory *room) {
    uint32_t place = atomic_load_explicit(&room->place, memory_order_relaxed);
    if (likely(place != 0))
        return place;
    uint32_t fresh = atomic_fetch_add(&used, (room->size + 15) & ~UINT32_C(15)) + 1;
    /* The thread that loses the race has reserved space in vain, once. */
    return atomic_compare_exchange_strong(&room->place, &place, fresh) ? fresh : place;
}

void *iotide_get_thread_memory(struct iotide_thread_memory *room) {
    uint32_t place = memory_offset(room) - 1;
    if (unlikely(place + room->size > BYTES)) {
        iotide_count_overflow(BOUND_THREAD_MEMORY);
        return NULL;
    }
    if (unlikely(!own)) {
        int error = errno;
        void *made = (void *)iotide_syscall(SYS_mmap, NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        errno = error;
        if (made == MAP_FAILED)
            return NULL;
        own = made;
    }
    return own + place;
}

void iotide_release_thread_memory(void) {
    char *left = own;
    own = NULL;
    if (left)
        iotide_syscall(SYS_munmap, left, BYTES);
}
