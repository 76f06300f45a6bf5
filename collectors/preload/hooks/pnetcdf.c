/* Requests: operations begun by iput, iget and bput move their data together when they are waited for. A wait is
 * recorded as the transfer of what it completes; for reads and writes, as one of each. */
#include "sites_pnetcdf.h"

#include "pnetcdf.h"

#define MAX_PENDING 16384
#define SET_BITS 64
#define NO_REQUEST (-1)
/* Space of requests, by file and number; another one for each copy of the library. */
#define SPACE_requests iotide_copy_space(&iotide_library_pnetcdf, LAYER_PNETCDF + 64, caller)
enum { ALL_REQUESTS = -1, ALL_READS = -2, ALL_WRITES = -3 };
#define SHOWN 16

static struct pending {
    const void *_Atomic waiting; /* the call that waits for it; NULL: none */
    int64_t bytes;
    uint32_t space; /* SPACE_requests; 0: being filled in */
    int ncid;
    int request;
    int place; /* index in the arrays of that call; -1: it waits for all */
    uint8_t kind;
} pending[MAX_PENDING];
static _Atomic uint64_t used[MAX_PENDING / SET_BITS];
static _Atomic uint32_t used_count;

static uint64_t key_of(int ncid, int request) {
    return (uint64_t)(uint32_t)ncid << 32 | (uint32_t)request;
}

static int claim(void) {
    for (int word = 0; word < MAX_PENDING / SET_BITS; word++) {
        uint64_t seen = atomic_load_explicit(&used[word], memory_order_relaxed);
        while (~seen) {
            int bit = __builtin_ctzll(~seen);
            if (atomic_compare_exchange_weak(&used[word], &seen, seen | UINT64_C(1) << bit)) {
                atomic_fetch_add(&used_count, 1);
                return word * SET_BITS + bit;
            }
        }
    }
    iotide_layer_count_overflow(BOUND_OPERATIONS);
    return -1;
}

static void release(int number) {
    atomic_store(&pending[number].waiting, NULL);
    if (pending[number].request != NO_REQUEST)
        iotide_unbind(pending[number].space, key_of(pending[number].ncid, pending[number].request));
    pending[number].space = 0;
    atomic_fetch_and(&used[number / SET_BITS], ~(UINT64_C(1) << number % SET_BITS));
    atomic_fetch_sub(&used_count, 1);
}

/* The next one in use, from number; MAX_PENDING: none. */
static int next_used(int number) {
    while (number < MAX_PENDING) {
        uint64_t left = atomic_load(&used[number / SET_BITS]) >> number % SET_BITS;
        if (left)
            return number + __builtin_ctzll(left);
        number = (number / SET_BITS + 1) * SET_BITS;
    }
    return number;
}

uint32_t pnetcdf_add_pending(bool failed, int ncid, const int *request, int kind, int64_t bytes, const void *caller) {
    if (failed || (request && *request == NO_REQUEST))
        return 0;
    int number = claim();
    if (number < 0)
        return 0;
    struct pending *at = &pending[number];
    at->bytes = bytes;
    at->ncid = ncid;
    at->request = request ? *request : NO_REQUEST;
    at->kind = (uint8_t)kind;
    at->space = SPACE_requests;
    if (request)
        iotide_bind(at->space, key_of(ncid, *request), (struct iotide_target){(uint32_t)number + 1, 0});
    return (uint32_t)number + 1;
}

void pnetcdf_release_all(bool failed, int ncid, const void *caller) {
    if (failed || !atomic_load(&used_count))
        return;
    uint32_t space = SPACE_requests;
    for (int i = next_used(0); i < MAX_PENDING; i = next_used(i + 1))
        if (pending[i].ncid == ncid && pending[i].space == space)
            release(i);
}

/* ---- waiting ---- */

static void mark_all(uint32_t space, int ncid, int which, const void *call) {
    for (int i = next_used(0); i < MAX_PENDING; i = next_used(i + 1)) {
        if (pending[i].space != space || pending[i].ncid != ncid || (which == ALL_READS && pending[i].kind != KIND_READ) ||
            (which == ALL_WRITES && pending[i].kind != KIND_WRITE))
            continue;
        pending[i].place = -1;
        atomic_store(&pending[i].waiting, call);
    }
}

void pnetcdf_mark_requests(int ncid, int count, const int *requests, const void *call, const void *caller) {
    if (!atomic_load(&used_count))
        return;
    uint32_t space = SPACE_requests;
    if (count < 0)
        mark_all(space, ncid, count, call);
    for (int i = 0; requests && i < count; i++) {
        uint32_t number = requests[i] == NO_REQUEST ? 0 : iotide_object(space, key_of(ncid, requests[i])).handle;
        if (!number)
            continue;
        pending[number - 1].place = i;
        atomic_store(&pending[number - 1].waiting, call);
    }
}

/* The next one from number that a call has marked and completed; MAX_PENDING: none. Requests that a failed call has
 * not completed remain pending. */
static int next_completed(int number, bool failed, const int *requests, const void *call) {
    for (int i = next_used(number); i < MAX_PENDING; i = next_used(i + 1)) {
        if (atomic_load(&pending[i].waiting) != call)
            continue;
        if (!failed || (requests && pending[i].place >= 0 && requests[pending[i].place] == NO_REQUEST))
            return i;
        atomic_store(&pending[i].waiting, NULL);
    }
    return MAX_PENDING;
}

void pnetcdf_release_cancelled(bool failed, const int *requests, const void *call) {
    for (int i = next_completed(0, failed, requests, call); i < MAX_PENDING;
         i = next_completed(i + 1, failed, requests, call))
        release(i);
}

struct completed {
    int64_t bytes;
    uint32_t count;
    uint64_t shown[SHOWN];
};

struct wait {
    int ncid, count;
    const int *requests, *statuses;
    int result;
    struct iotide_target file;
};

static void collect(const struct wait *wait, struct completed *reads, struct completed *writes) {
    bool failed = pnetcdf_failed(wait->result);
    for (int i = next_completed(0, failed, wait->requests, wait); i < MAX_PENDING;
         i = next_completed(i + 1, failed, wait->requests, wait)) {
        const struct pending *at = &pending[i];
        struct completed *to = at->kind == KIND_READ ? reads : writes;
        if (to->count < SHOWN)
            to->shown[to->count] = (uint64_t)i + 1;
        to->count++;
        if (!pnetcdf_failed(wait->statuses && at->place >= 0 ? wait->statuses[at->place] : wait->result))
            to->bytes += at->bytes;
        release(i);
    }
}

static void record(struct iotide_span span, struct iotide_site *site, const struct wait *wait, uint8_t kind,
                   uint16_t flags, const struct completed *of) {
    uint32_t shown = of->count < SHOWN ? of->count : SHOWN;
    uint64_t words[2 + SHOWN] = {(uint64_t)(int64_t)wait->count, shown | (of->count > SHOWN ? IOTIDE_TRUNCATED : 0)};
    for (uint32_t i = 0; i < shown; i++)
        words[2 + i] = of->shown[i];
    struct iotide_facts facts = {
        .target = wait->file,
        .offset = -1,
        .requested = of->bytes,
        .bytes = of->bytes,
        .descriptor = wait->ncid,
        .kind = kind,
        .flags = flags,
        .failed = pnetcdf_failed(wait->result) && of->bytes == 0,
        .error = pnetcdf_error(wait->result),
    };
    iotide_leave(span, site, facts, words, 2 + shown);
}

static int wait_for(struct iotide_site *site, int (*real)(int, int, int *, int *), int ncid, int count, int *requests,
                    int *statuses, uint16_t flags, const void *caller) {
    struct iotide_target file = iotide_object(SPACE_pnetcdf, (uint64_t)(int64_t)ncid);
    struct iotide_span span = iotide_push(site, file.handle);
    if (!span.start_ns)
        return real(ncid, count, requests, statuses);
    struct wait wait = {ncid, count, requests, statuses, 0, file};
    pnetcdf_mark_requests(ncid, count, requests, &wait, caller);
    wait.result = real(ncid, count, requests, statuses);
    iotide_pop(span);
    struct completed reads = {0}, writes = {0};
    collect(&wait, &reads, &writes);
    if (reads.count)
        record(span, site, &wait, KIND_READ, flags, &reads);
    if (writes.count || !reads.count)
        record(span, site, &wait, writes.count ? KIND_WRITE : KIND_OTHER, flags, &writes);
    return wait.result;
}

EXPORT int ncmpi_wait(int ncid, int count, int *requests, int *statuses) {
    const void *caller = __builtin_return_address(0);
    return wait_for(&SITE(ncmpi_wait), REAL(ncmpi_wait), ncid, count, requests, statuses, FLAG_BLOCKING,
                    caller);
}

EXPORT int ncmpi_wait_all(int ncid, int count, int *requests, int *statuses) {
    const void *caller = __builtin_return_address(0);
    return wait_for(&SITE(ncmpi_wait_all), REAL(ncmpi_wait_all), ncid, count, requests, statuses,
                    FLAG_BLOCKING | FLAG_COLLECTIVE, caller);
}
