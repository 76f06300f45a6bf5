/* The MPI library of the process, its handles as machine words, and functions to query it. */
#ifndef IOTIDE_HOOKS_MPIIO_LIBRARY_H
#define IOTIDE_HOOKS_MPIIO_LIBRARY_H

#include "layer.h"

/* In MPICH only the lower half of the register holds an int. */
typedef uintptr_t mpiio_word;

struct mpiio_mpi {
    bool addresses; /* handles are addresses (Open MPI), not ints (MPICH and derivatives) */
    uint8_t status_bytes;
    uint8_t status_error; /* offset of MPI_ERROR in a status */
    int in_status;        /* MPI_ERR_IN_STATUS: individual errors are in the statuses */
    int named;            /* MPI_COMBINER_NAMED; the following combiners have the same order in every MPI */
    mpiio_word world, self, byte, no_info;
    uint64_t no_request;
    int (*initialized)(int *);
    int (*error_class)(int, int *);
    int (*comm_rank)(mpiio_word, int *);
    int (*comm_size)(mpiio_word, int *);
    int (*comm_group)(mpiio_word, mpiio_word *);
    int (*translate_ranks)(mpiio_word, int, const int *, mpiio_word, int *);
    int (*group_free)(mpiio_word *);
    int (*type_size)(mpiio_word, int64_t *);
    int (*type_extent)(mpiio_word, int64_t *, int64_t *);
    int (*type_name)(mpiio_word, char *, int *);
    int (*type_envelope)(mpiio_word, int *, int *, int *, int *);
    int (*get_elements)(const void *, mpiio_word, int64_t *);
    int (*info_count)(mpiio_word, int *);
    int (*info_key)(mpiio_word, int, char *);
    int (*info_get)(mpiio_word, const char *, int, char *, int *);
    int (*byte_offset)(mpiio_word, int64_t, int64_t *);
    int (*position)(mpiio_word, int64_t *);
    int (*position_shared)(mpiio_word, int64_t *);
    mpiio_word (*file_f2c)(int);
    mpiio_word (*comm_f2c)(int);
    mpiio_word (*type_f2c)(int);
    mpiio_word (*info_f2c)(int);
    mpiio_word (*request_f2c)(int);
};
/* Each function pointer is valid or NULL; the result is never NULL. */
const struct mpiio_mpi *mpiio_mpi(const void *caller);
/* Address of the library's variable, or NULL. */
void *mpiio_variable(const char *symbol, const void *caller);
/* Value of a handle, without other bits of its register. */
static inline mpiio_word mpiio_value(const struct mpiio_mpi *mpi, mpiio_word word) {
    return mpi->addresses ? word : (uint32_t)word;
}
void mpiio_read_ranks(const void *caller); /* reads rank and size of MPI_COMM_WORLD, once it is initialized */
int mpiio_error(int result, const void *caller); /* the class of an error */

/* Replacement for an ignored status in the real call. */
struct mpiio_status {
    _Alignas(16) char bytes[64];
};
static inline void *mpiio_status(void *status, struct mpiio_status *own) {
    *own = (struct mpiio_status){{0}};
    return (uintptr_t)status <= 1 ? own : status; /* MPI_STATUS_IGNORE: 0 in Open MPI, 1 in MPICH */
}
int64_t mpiio_status_bytes(const void *status, const void *caller); /* bytes; 0 if the library does not report them */

#endif
