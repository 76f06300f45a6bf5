/* The calls that complete operations, the same for C and Fortran. Written around the real call:
 *
 *     mpiio_collect_pending(&wait, ...);                      which of these requests belong to files?
 *     statuses = mpiio_wait_statuses(&wait, ...);   ours where the program ignores them
 *     span = iotide_push(...); the real call; iotide_pop(span);
 *     mpiio_record_completed(&wait, ...);                       one event for each that has completed
 */
#ifndef IOTIDE_HOOKS_MPIIO_WAIT_H
#define IOTIDE_HOOKS_MPIIO_WAIT_H

#include "mpiio_pending.h"

#define MPIIO_INLINE_STATUSES 16
#define MPIIO_MAX_STATUS_BYTES 32
struct mpiio_wait {
    const struct mpiio_mpi *mpi;
    const void *caller;
    struct mpiio_pending_operation *first; /* NULL: none of the requests belongs to a file */
    uint32_t handle;           /* handle of its file */
    const void *requests;
    bool fortran; /* requests are Fortran's numbers, indices count from 1 */
    void *mapped; /* memory for more statuses than few has */
    size_t mapped_bytes;
    _Alignas(16) char few[MPIIO_INLINE_STATUSES * MPIIO_MAX_STATUS_BYTES];
};
void mpiio_collect_pending(struct mpiio_wait *wait, const void *caller, bool fortran, int count, const void *requests);
/* Statuses that are readable after the call, or NULL if there is no memory; ignored: the program wants none. */
void *mpiio_wait_statuses(struct mpiio_wait *wait, void *statuses, bool ignored, int count);

/* Relation between statuses and requests. */
enum mpiio_shape { MPIIO_ONE, MPIIO_ALL, MPIIO_SOME };
struct mpiio_outcome {
    int result;
    enum mpiio_shape shape;
    const void *statuses; /* NULL: not available */
    const int *indices;   /* for MPIIO_SOME: as many as completed */
    int completed;
};
void mpiio_record_completed(struct mpiio_wait *wait, struct iotide_site *site, struct iotide_span span,
                            struct mpiio_outcome outcome);
/* Its result will not be available. */
void mpiio_record_freed(struct mpiio_wait *wait, struct iotide_site *site, struct iotide_span span, int result,
                        bool freed);

#endif
