/* Operations that have begun and not completed. */
#ifndef IOTIDE_HOOKS_MPIIO_PENDING_H
#define IOTIDE_HOOKS_MPIIO_PENDING_H

#include "mpiio_files.h"
#include "mpiio_names.h"

struct mpiio_operation {
    mpiio_word fh;
    int64_t requested;
    int64_t offset;
    uint8_t kind;
    uint16_t flags; /* flags of its completion, without FLAG_BLOCKING */
};
extern _Atomic uint32_t mpiio_pending_count;
static inline bool mpiio_has_pending(void) {
    return unlikely(atomic_load_explicit(&mpiio_pending_count, memory_order_relaxed) != 0);
}
/* Parameters of an operation; position: in the view, -1: at a file pointer. */
static inline struct mpiio_operation mpiio_operation(uint8_t kind, uint16_t flags, mpiio_word fh, int64_t position,
                                                     int64_t count, mpiio_word datatype, bool failed,
                                                     const void *caller) {
    return (struct mpiio_operation){
        .fh = fh,
        .requested = count * mpiio_type_size(datatype, failed, caller),
        .offset = failed || position < 0 ? -1 : mpiio_offset(fh, position, caller),
        .kind = kind,
        .flags = (uint16_t)(flags | mpiio_flags(fh)),
    };
}
/* Stores a begun operation by the value of its request; returns its number, 0: too many are pending. */
uint32_t mpiio_add_pending(uint64_t request, struct mpiio_operation operation);
uint64_t mpiio_request_at(const struct mpiio_mpi *mpi, const void *request);
/* Split collectives have no request: one per file. Returns the number, and the begun operation in operation. */
uint32_t mpiio_begin_split(struct mpiio_operation operation);
uint32_t mpiio_end_split(mpiio_word fh, struct mpiio_operation *operation);

struct mpiio_pending_operation {
    uint64_t key;
    struct mpiio_operation operation;
    uint16_t number;
    uint16_t next; /* number of the next with the same hash */
    /* Fields of the waiting thread: two threads must not wait for one request. */
    int index;
    uint64_t request;         /* value in the program's array until it completes */
    struct mpiio_pending_operation *also; /* the next that the same call waits for */
};
struct mpiio_pending_operation *mpiio_find_pending(uint64_t key); /* NULL: none */
void mpiio_release_pending(struct mpiio_pending_operation *begun); /* frees its number */

#endif
