/* What the wrappers of MPI-IO need beyond a signature. One binary serves Open MPI, where handles are addresses, and
 * MPICH, where they are ints, without the headers of either: handles travel as machine words.
 *
 * Helpers of the library are asked only after the real call has succeeded: they would call the program's error handler
 * for a handle that is not one.
 */
#ifndef IOTIDE_HOOKS_MPIIO_H
#define IOTIDE_HOOKS_MPIIO_H

#include "layer.h"

#include <fcntl.h>

/* In MPICH only the lower half of the register is an int's. */
typedef uintptr_t mpiio_word;

/* ---- mpiio.c: which MPI this is, and what it is asked ---- */

struct mpiio_mpi {
    bool addresses; /* handles are addresses (Open MPI), not ints (MPICH and its kin) */
    uint8_t status_bytes;
    uint8_t status_error; /* where in a status its MPI_ERROR is */
    int in_status;        /* MPI_ERR_IN_STATUS: which of several failed stands in their statuses */
    int named;            /* MPI_COMBINER_NAMED; the combiners after it are in the same order everywhere */
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
/* All functions are there or NULL; never NULL itself. */
const struct mpiio_mpi *mpiio_mpi(const void *caller);
/* Where the library's variable of that name is, NULL: nowhere. */
void *mpiio_variable(const char *symbol, const void *caller);
/* A handle's value, without what else is in its register. */
static inline mpiio_word mpiio_value(const struct mpiio_mpi *mpi, mpiio_word word) {
    return mpi->addresses ? word : (uint32_t)word;
}
void mpiio_know_ranks(const void *caller); /* asks for rank and size of MPI_COMM_WORLD, once it is initialized */
int mpiio_error(int result, const void *caller); /* the class of an error */

/* Where the program ignores the status, the real call gets one of ours. */
struct mpiio_status {
    _Alignas(16) char bytes[64];
};
static inline void *mpiio_status(void *status, struct mpiio_status *own) {
    *own = (struct mpiio_status){{0}};
    return (uintptr_t)status <= 1 ? own : status; /* MPI_STATUS_IGNORE: 0 in Open MPI, 1 in MPICH */
}
int64_t mpiio_moved(const void *status, const void *caller); /* bytes; 0 where the library does not say */

/* ---- mpiio_names.c: texts, valid until the thread's next two ---- */

int64_t mpiio_type_size(mpiio_word datatype, bool failed, const void *caller); /* 0: unknown */
const char *mpiio_type_name(mpiio_word datatype, bool failed, const void *caller);
const char *mpiio_info(mpiio_word info, bool failed, const void *caller); /* "key=value;key=value" */
const char *mpiio_comm(mpiio_word comm, bool failed, const void *caller); /* its name or "size N" */
const char *mpiio_amode(int amode);
const char *mpiio_whence(int whence);

/* ---- mpiio_files.c: open files ---- */

struct mpiio_file {
    _Atomic mpiio_word fh; /* 0: free */
    uint64_t group;        /* names the opened file on all ranks that opened it */
    int64_t displacement;
    int64_t unit;  /* bytes of the view's elementary type */
    bool is_plain; /* a view without holes: a position is a multiple of unit after displacement */
    bool is_appended;
};
/* "ufs:/a/b" names a driver of ROMIO ahead of the path. */
const char *mpiio_path(const char *filename);
void mpiio_opened(mpiio_word fh, mpiio_word comm, const char *filename, int amode, const void *caller);
struct mpiio_file mpiio_closing(mpiio_word fh); /* forgets it, ahead of the real call */
void mpiio_not_closed(const struct mpiio_file *file);
void mpiio_viewed(mpiio_word fh, int64_t displacement, mpiio_word etype, mpiio_word filetype, const char *representation,
                  const void *caller);
uint64_t mpiio_group(mpiio_word fh);
int mpiio_flags(mpiio_word fh); /* FLAG_APPEND or 0 */
/* Where in the file a position of the view lies; -1: unknown. */
int64_t mpiio_offset(mpiio_word fh, int64_t position, const void *caller);
int64_t mpiio_position(mpiio_word fh, bool shared, const void *caller); /* of a file pointer, in bytes of the file */

/* ---- mpiio_pending.c: operations that have begun ---- */

struct mpiio_operation {
    mpiio_word fh;
    int64_t requested;
    int64_t offset;
    uint8_t kind;
    uint16_t flags; /* of its completion, without FLAG_BLOCKING */
};
extern _Atomic uint32_t mpiio_pending_count;
static inline bool mpiio_pending(void) {
    return unlikely(atomic_load_explicit(&mpiio_pending_count, memory_order_relaxed) != 0);
}
/* What a call asks for; position: in the view, -1: at a file pointer. */
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
/* What a call has begun, by the value of its request; returns its number, 0: too many are under way. */
uint32_t mpiio_begun(uint64_t request, struct mpiio_operation operation);
uint64_t mpiio_request_at(const struct mpiio_mpi *mpi, const void *request);
/* Split collectives have no request: one a file. Returns the number, and what was begun in operation. */
uint32_t mpiio_split_begun(struct mpiio_operation operation);
uint32_t mpiio_split_ended(mpiio_word fh, struct mpiio_operation *operation);

#endif
