/* Operations that have begun and not completed. The lowest free number is used next, so that a program that repeats
 * its operations repeats its signatures. */
#include "mpiio_pending.h"

#include <sched.h>

#define MAX_PENDING 1024
#define BUCKETS 1024
#define SPLIT (UINT64_C(1) << 63) /* keys of split collectives: no request has this bit */

_Atomic uint32_t mpiio_pending_count;
static struct mpiio_pending_operation pool[MAX_PENDING]; /* [0] is number 1 */
static uint64_t in_use[MAX_PENDING / 64];
static uint16_t buckets[BUCKETS]; /* numbers */
static _Atomic bool locked;

/* MPI calls are forbidden in signal handlers, so a lock's holder proceeds; only in a forked child it may never do
 * so. */
static bool lock(void) {
    for (int i = 0; i < 1 << 16; i++) {
        if (!atomic_load_explicit(&locked, memory_order_relaxed) &&
            !atomic_exchange_explicit(&locked, true, memory_order_acquire))
            return true;
        if (i > 256)
            sched_yield();
    }
    return false;
}

static void unlock(void) {
    atomic_store_explicit(&locked, false, memory_order_release);
}

static uint16_t *bucket_of(uint64_t key) {
    return &buckets[(key * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

static uint32_t free_number(void) {
    for (uint32_t i = 0; i < MAX_PENDING / 64; i++)
        if (~in_use[i])
            return i * 64 + (uint32_t)__builtin_ctzll(~in_use[i]) + 1;
    return 0;
}

static struct mpiio_pending_operation *find(uint64_t key) {
    for (uint16_t number = *bucket_of(key); number; number = pool[number - 1].next)
        if (pool[number - 1].key == key)
            return &pool[number - 1];
    return NULL;
}

uint32_t mpiio_add_pending(uint64_t key, struct mpiio_operation operation) {
    if (!lock())
        return 0;
    struct mpiio_pending_operation *stale = find(key); /* was completed without being traced */
    uint32_t number = stale ? stale->number : free_number();
    if (stale) {
        stale->operation = operation;
    } else if (number) {
        in_use[(number - 1) / 64] |= UINT64_C(1) << (number - 1) % 64;
        uint16_t *bucket = bucket_of(key);
        pool[number - 1] = (struct mpiio_pending_operation){
            .key = key, .operation = operation, .number = (uint16_t)number, .next = *bucket};
        *bucket = (uint16_t)number;
        atomic_fetch_add(&mpiio_pending_count, 1);
    }
    unlock();
    if (unlikely(!number))
        iotide_layer_count_overflow(BOUND_OPERATIONS);
    return number;
}

struct mpiio_pending_operation *mpiio_find_pending(uint64_t key) {
    if (!lock())
        return NULL;
    struct mpiio_pending_operation *found = find(key);
    unlock();
    return found;
}

void mpiio_release_pending(struct mpiio_pending_operation *begun) {
    if (!lock())
        return;
    uint16_t *link = bucket_of(begun->key);
    while (*link && *link != begun->number)
        link = &pool[*link - 1].next;
    if (*link) {
        *link = begun->next;
        in_use[(begun->number - 1) / 64] &= ~(UINT64_C(1) << (begun->number - 1) % 64);
        atomic_fetch_sub(&mpiio_pending_count, 1);
    }
    unlock();
}

uint64_t mpiio_request_at(const struct mpiio_mpi *mpi, const void *request) {
    return mpi->addresses ? *(const uintptr_t *)request : *(const uint32_t *)request;
}

uint32_t mpiio_begin_split(struct mpiio_operation operation) {
    return mpiio_add_pending(operation.fh | SPLIT, operation);
}

uint32_t mpiio_end_split(mpiio_word fh, struct mpiio_operation *operation) {
    struct mpiio_pending_operation *begun = mpiio_find_pending(fh | SPLIT);
    if (!begun)
        return 0;
    uint32_t number = begun->number;
    *operation = begun->operation;
    mpiio_release_pending(begun);
    return number;
}
