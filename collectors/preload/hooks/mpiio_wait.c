/* MPI_Wait, MPI_Test and related functions. They cost one load while no operation on a file is pending. */
#include "mpiio_wait.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sites_mpiio.h"

static uint64_t request_in(const struct mpiio_wait *wait, int index) {
    if (wait->fortran)
        return ((const uint32_t *)wait->requests)[index];
    return mpiio_request_at(wait->mpi, (const char *)wait->requests + (size_t)index * (wait->mpi->addresses ? 8 : 4));
}

static uint64_t key_of(const struct mpiio_wait *wait, uint64_t request) {
    return wait->fortran && wait->mpi->request_f2c ? wait->mpi->request_f2c((int)request) : request;
}

void mpiio_collect_pending(struct mpiio_wait *wait, const void *caller, bool fortran, int count, const void *requests) {
    wait->mpi = mpiio_mpi(caller);
    wait->caller = caller;
    wait->first = NULL;
    wait->handle = 0;
    wait->requests = requests;
    wait->fortran = fortran;
    wait->mapped = NULL;
    struct mpiio_pending_operation **end = &wait->first;
    for (int i = 0; i < count; i++) {
        uint64_t request = request_in(wait, i), key = key_of(wait, request);
        struct mpiio_pending_operation *begun = key && key != wait->mpi->no_request ? mpiio_find_pending(key) : NULL;
        if (!begun)
            continue;
        begun->index = i;
        begun->request = request;
        begun->also = NULL;
        *end = begun;
        end = &begun->also;
    }
    if (wait->first)
        wait->handle = iotide_object(LAYER_MPIIO, wait->first->operation.fh).handle;
}

void *mpiio_wait_statuses(struct mpiio_wait *wait, void *statuses, bool ignored, int count) {
    if (!ignored)
        return statuses;
    if (count <= MPIIO_INLINE_STATUSES)
        return memset(wait->few, 0, sizeof wait->few);
    wait->mapped_bytes = (size_t)count * MPIIO_MAX_STATUS_BYTES;
    void *room = (void *)syscall(SYS_mmap, NULL, wait->mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    wait->mapped = room == MAP_FAILED ? NULL : room;
    return wait->mapped;
}

static bool has_completed(const struct mpiio_wait *wait, const struct mpiio_pending_operation *begun) {
    return request_in(wait, begun->index) != begun->request;
}

/* Index of this one among the completed ones; -1: none. */
static int rank_of(const struct mpiio_outcome *outcome, int index, int first) {
    for (int i = 0; i < outcome->completed; i++)
        if (outcome->indices[i] - first == index)
            return i;
    return -1;
}

/* First index: in Fortran 1, except in MPICH's mpi_waitsome_f08_ and mpi_testsome_f08_, which count from 0. */
static int first_index(const struct mpiio_wait *wait, const struct mpiio_outcome *outcome) {
    for (const struct mpiio_pending_operation *begun = wait->first; begun && wait->fortran; begun = begun->also)
        if (has_completed(wait, begun) && rank_of(outcome, begun->index, 1) < 0)
            return 0;
    return wait->fortran;
}

static const void *status_of(const struct mpiio_wait *wait, const struct mpiio_outcome *outcome, int index, int first) {
    const char *statuses = outcome->statuses;
    if (!statuses || outcome->shape == MPIIO_ONE)
        return statuses;
    int rank = outcome->shape == MPIIO_ALL ? index : rank_of(outcome, index, first);
    return rank < 0 ? NULL : statuses + (size_t)rank * wait->mpi->status_bytes;
}

static void record_completion(const struct mpiio_wait *wait, struct iotide_site *site, struct iotide_span span,
                              const struct mpiio_pending_operation *begun, int64_t bytes, int result) {
    const struct mpiio_operation *operation = &begun->operation;
    const uint64_t words[2] = {mpiio_group(operation->fh), begun->number};
    struct iotide_facts facts = {
        .target = iotide_object(LAYER_MPIIO, operation->fh),
        .offset = operation->offset,
        .bytes = bytes,
        .descriptor = -1,
        .kind = operation->kind,
        .flags = operation->flags,
        .failed = result != 0,
        .error = result ? mpiio_error(result, wait->caller) : 0,
    };
    iotide_leave(span, site, facts, words, 2);
}

static void unmap(struct mpiio_wait *wait) {
    if (wait->mapped)
        syscall(SYS_munmap, wait->mapped, wait->mapped_bytes);
}

void mpiio_record_completed(struct mpiio_wait *wait, struct iotide_site *site, struct iotide_span span,
                            struct mpiio_outcome outcome) {
    int error = errno;
    bool in_status = outcome.shape != MPIIO_ONE && outcome.result &&
                     mpiio_error(outcome.result, wait->caller) == wait->mpi->in_status;
    int first = outcome.shape == MPIIO_SOME ? first_index(wait, &outcome) : 0;
    for (struct mpiio_pending_operation *begun = wait->first, *also; begun; begun = also) {
        also = begun->also;
        if (!has_completed(wait, begun))
            continue;
        const void *status = status_of(wait, &outcome, begun->index, first);
        int result = outcome.result;
        if (in_status && status)
            memcpy(&result, (const char *)status + wait->mpi->status_error, sizeof result);
        int64_t bytes = !status || result ? 0 : mpiio_status_bytes(status, wait->caller);
        if (span.start_ns)
            record_completion(wait, site, span, begun, bytes, result);
        mpiio_release_pending(begun);
    }
    unmap(wait);
    errno = error;
}

void mpiio_record_freed(struct mpiio_wait *wait, struct iotide_site *site, struct iotide_span span, int result,
                        bool freed) {
    int error = errno;
    if (span.start_ns)
        record_completion(wait, site, span, wait->first, 0, result);
    if (freed && result == 0)
        mpiio_release_pending(wait->first);
    errno = error;
}

/* ---- C ---- */

/* The last arguments: which status belongs to which request, as fields of struct mpiio_outcome. */
#define COMPLETES(symbol, parameters, arguments, count_, requests_, statuses_, ...)                         \
    EXPORT int symbol parameters {                                                                          \
        const void *caller = __builtin_return_address(0);                                                   \
        if (likely(!mpiio_has_pending()))                                                                   \
            return REAL(symbol) arguments;                                                                  \
        struct mpiio_wait wait;                                                                             \
        mpiio_collect_pending(&wait, caller, false, count_, requests_);                                     \
        if (!wait.first)                                                                                    \
            return REAL(symbol) arguments;                                                                  \
        void *seen = mpiio_wait_statuses(&wait, statuses_, (uintptr_t)statuses_ <= 1, count_);              \
        statuses_ = seen ? seen : statuses_;                                                                \
        struct iotide_span span = iotide_push(&SITE(symbol), wait.handle);                                  \
        int result = REAL(symbol) arguments;                                                                \
        if (span.start_ns)                                                                                  \
            iotide_pop(span);                                                                               \
        mpiio_record_completed(&wait, &SITE(symbol), span, (struct mpiio_outcome){result, .statuses = seen, \
                                                                                  __VA_ARGS__});            \
        return result;                                                                                      \
    }

COMPLETES(MPI_Wait, (MPI_Request * request, MPI_Status *status), (request, status), 1, request, status,
          .shape = MPIIO_ONE)
COMPLETES(MPI_Test, (MPI_Request * request, int *flag, MPI_Status *status), (request, flag, status), 1, request, status,
          .shape = MPIIO_ONE)
COMPLETES(MPI_Waitany, (int count, MPI_Request *requests, int *index, MPI_Status *status),
          (count, requests, index, status), count, requests, status, .shape = MPIIO_ONE)
COMPLETES(MPI_Testany, (int count, MPI_Request *requests, int *index, int *flag, MPI_Status *status),
          (count, requests, index, flag, status), count, requests, status, .shape = MPIIO_ONE)
COMPLETES(MPI_Waitall, (int count, MPI_Request *requests, MPI_Status *statuses), (count, requests, statuses), count,
          requests, statuses, .shape = MPIIO_ALL)
COMPLETES(MPI_Testall, (int count, MPI_Request *requests, int *flag, MPI_Status *statuses),
          (count, requests, flag, statuses), count, requests, statuses, .shape = MPIIO_ALL)
COMPLETES(MPI_Waitsome, (int count, MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses),
          (count, requests, completed, indices, statuses), count, requests, statuses, .shape = MPIIO_SOME,
          .indices = indices, .completed = *completed)
COMPLETES(MPI_Testsome, (int count, MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses),
          (count, requests, completed, indices, statuses), count, requests, statuses, .shape = MPIIO_SOME,
          .indices = indices, .completed = *completed)

#define RELEASES(symbol, frees)                                            \
    EXPORT int symbol(MPI_Request *request) {                              \
        const void *caller = __builtin_return_address(0);                  \
        if (likely(!mpiio_has_pending()))                                  \
            return REAL(symbol)(request);                                  \
        struct mpiio_wait wait;                                            \
        mpiio_collect_pending(&wait, caller, false, 1, request);           \
        if (!wait.first)                                                   \
            return REAL(symbol)(request);                                  \
        struct iotide_span span = iotide_push(&SITE(symbol), wait.handle); \
        int result = REAL(symbol)(request);                                \
        if (span.start_ns)                                                 \
            iotide_pop(span);                                              \
        mpiio_record_freed(&wait, &SITE(symbol), span, result, frees);     \
        return result;                                                     \
    }
RELEASES(MPI_Request_free, true)
RELEASES(MPI_Cancel, false)
