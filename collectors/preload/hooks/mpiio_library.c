/* Identifies the MPI library of a process, and finds the functions to query it. */
#include "mpiio_library.h"

#include "sites_mpiio.h"

static struct mpiio_mpi unknown_mpi; /* unknown MPI */
static struct mpiio_mpi found;
static _Atomic(const struct mpiio_mpi *) known;
static _Atomic bool resolving;

/* Constants of MPICH's binary interface, which Intel MPI, MVAPICH and others share. */
enum {
    MPICH_COMM_WORLD = 0x44000000,
    MPICH_COMM_SELF = 0x44000001,
    MPICH_BYTE = 0x4c00010d,
    MPICH_INFO_NULL = 0x1c000000,
    MPICH_REQUEST_NULL = 0x2c000000
};

/* A program linked with the library may contain copies of its variables, which are then the ones in use. */
void *mpiio_variable(const char *symbol, const void *caller) {
    int error = errno;
    void *found = dlsym(RTLD_DEFAULT, symbol);
    if (!found) {
        dlerror(); /* clears the error, which the program must not see */
        found = iotide_helper(&iotide_library_mpiio, symbol, caller);
    }
    errno = error;
    return found;
}

static void resolve_functions(struct mpiio_mpi *mpi, const void *caller) {
#define VARIABLE(symbol) (mpiio_word) mpiio_variable(symbol, caller)
#define RESOLVE(member, symbol) mpi->member = (__typeof__(mpi->member))iotide_helper(&iotide_library_mpiio, symbol, caller)
    mpi->world = VARIABLE("ompi_mpi_comm_world");
    mpi->addresses = mpi->world != 0;
    if (mpi->addresses) {
        mpi->self = VARIABLE("ompi_mpi_comm_self");
        mpi->byte = VARIABLE("ompi_mpi_byte");
        mpi->no_info = VARIABLE("ompi_mpi_info_null");
        mpi->no_request = VARIABLE("ompi_request_null");
        mpi->status_bytes = 24;
        mpi->status_error = 8;
        mpi->in_status = 18;
        mpi->named = 0;
    } else {
        mpi->world = MPICH_COMM_WORLD;
        mpi->self = MPICH_COMM_SELF;
        mpi->byte = MPICH_BYTE;
        mpi->no_info = MPICH_INFO_NULL;
        mpi->no_request = MPICH_REQUEST_NULL;
        mpi->status_bytes = 20;
        mpi->status_error = 16;
        mpi->in_status = 17;
        mpi->named = 1;
    }
    RESOLVE(initialized, "PMPI_Initialized");
    RESOLVE(error_class, "PMPI_Error_class");
    RESOLVE(comm_rank, "PMPI_Comm_rank");
    RESOLVE(comm_size, "PMPI_Comm_size");
    RESOLVE(comm_group, "PMPI_Comm_group");
    RESOLVE(translate_ranks, "PMPI_Group_translate_ranks");
    RESOLVE(group_free, "PMPI_Group_free");
    RESOLVE(type_size, "PMPI_Type_size_x");
    RESOLVE(type_extent, "PMPI_Type_get_extent_x");
    RESOLVE(type_name, "PMPI_Type_get_name");
    RESOLVE(type_envelope, "PMPI_Type_get_envelope");
    RESOLVE(get_elements, "PMPI_Get_elements_x");
    RESOLVE(info_count, "PMPI_Info_get_nkeys");
    RESOLVE(info_key, "PMPI_Info_get_nthkey");
    RESOLVE(info_get, "PMPI_Info_get");
    RESOLVE(byte_offset, "PMPI_File_get_byte_offset");
    RESOLVE(position, "PMPI_File_get_position");
    RESOLVE(position_shared, "PMPI_File_get_position_shared");
    RESOLVE(file_f2c, "PMPI_File_f2c");
    RESOLVE(comm_f2c, "PMPI_Comm_f2c");
    RESOLVE(type_f2c, "PMPI_Type_f2c");
    RESOLVE(info_f2c, "PMPI_Info_f2c");
    RESOLVE(request_f2c, "PMPI_Request_f2c");
}

const struct mpiio_mpi *mpiio_mpi(const void *caller) {
    const struct mpiio_mpi *mpi = atomic_load_explicit(&known, memory_order_acquire);
    if (likely(mpi != NULL))
        return mpi;
    /* Without the core, no functions can be looked up; while another thread makes the first call, this one has no
     * details. */
    if (!iotide_helper || atomic_exchange(&resolving, true))
        return &unknown_mpi;
    resolve_functions(&found, caller);
    atomic_store_explicit(&known, &found, memory_order_release);
    return &found;
}

void mpiio_read_ranks(const void *caller) {
    const struct mpiio_mpi *mpi = mpiio_mpi(caller);
    int initialized = 0, rank = -1, ranks = 0;
    if (!mpi->initialized || !mpi->comm_rank || !mpi->comm_size || mpi->initialized(&initialized) != 0 || !initialized)
        return;
    if (mpi->comm_rank(mpi->world, &rank) == 0 && mpi->comm_size(mpi->world, &ranks) == 0)
        iotide_set_rank(rank, ranks);
}

int mpiio_error(int result, const void *caller) {
    const struct mpiio_mpi *mpi = mpiio_mpi(caller);
    int class = result;
    return mpi->error_class && mpi->error_class(result, &class) == 0 ? class : result;
}

int64_t mpiio_status_bytes(const void *status, const void *caller) {
    const struct mpiio_mpi *mpi = mpiio_mpi(caller);
    int64_t bytes = 0;
    return mpi->get_elements && mpi->get_elements(status, mpi->byte, &bytes) == 0 && bytes > 0 ? bytes : 0;
}

/* ---- the program's rank, however it was started ---- */

#define INIT(symbol, parameters, arguments)               \
    EXPORT int symbol parameters {                        \
        const void *caller = __builtin_return_address(0); \
        int result = REAL(symbol) arguments;              \
        if (result == 0)                                  \
            mpiio_read_ranks(caller);                     \
        return result;                                    \
    }
INIT(MPI_Init, (int *count, char ***arguments), (count, arguments))
INIT(MPI_Init_thread, (int *count, char ***arguments, int required, int *provided),
     (count, arguments, required, provided))
