/* The Fortran bindings (mpif.h, `use mpi`: mpi_x_; `use mpi_f08`: mpi_x_f08_). Each event equals that of the C
 * function.
 *
 * Open MPI's bindings bypass the C functions that programs can be linked with. So do MPICH's mpi_x_f08_ functions
 * without a buffer. The other bindings of MPICH and its derivatives call the C functions, whose wrappers record
 * them: these wrappers then only pass the call on. */
#include "mpiio_wait.h"

#include <limits.h>
#include <string.h>

#include "sites_mpiio.h"

#define CLASS_OF(kind)                                                                           \
    ((kind) == KIND_READ || (kind) == KIND_WRITE ? CLASS_DATA : (kind) == KIND_SEEK ? CLASS_SEEK \
     : (kind) == KIND_SYNC ? CLASS_SYNC : (kind) == KIND_CREATE || (kind) == KIND_DESTROY ? CLASS_HANDLE : CLASS_META)

/* ---- MPI_STATUS_IGNORE is a variable of the program ---- */

static bool is_ignored(const void *status, const void *caller) {
    static const char *const names[] = {"mpi_fortran_status_ignore_", "mpi_fortran_statuses_ignore_",
                                        "mpi_fortran_status_ignore", "mpi_fortran_statuses_ignore",
                                        "mpi_fortran_status_ignore__", "mpi_fortran_statuses_ignore__",
                                        "MPI_FORTRAN_STATUS_IGNORE", "MPI_FORTRAN_STATUSES_IGNORE",
                                        "MPIR_F08_MPI_STATUS_IGNORE_OBJ", "MPIR_F08_MPI_STATUSES_IGNORE_OBJ"};
    enum { NAMES = sizeof names / sizeof *names };
    static const void *_Atomic places[NAMES];
    static _Atomic bool known;
    if (unlikely(!atomic_load_explicit(&known, memory_order_acquire))) {
        for (int i = 0; i < NAMES; i++)
            atomic_store(&places[i], mpiio_variable(names[i], caller));
        atomic_store_explicit(&known, true, memory_order_release);
    }
    for (int i = 0; i < NAMES; i++)
        if (status && status == atomic_load_explicit(&places[i], memory_order_relaxed))
            return true;
    return false;
}

/* Fortran pads texts with blanks. Returns room with a terminated copy. */
static const char *c_string(const char *text, size_t length, char *room, size_t size) {
    while (length && text[length - 1] == ' ')
        length--;
    length = length < size ? length : size - 1;
    memcpy(room, text, length);
    room[length] = '\0';
    return room;
}

/* ---- one call ---- */

/* Whether a binding bypasses the C functions, so that it must be recorded here. */
#define ENDS_IN_F08(symbol) (__builtin_strcmp(&#symbol[sizeof #symbol - 6], "_f08_") == 0)
static inline bool bypasses_c(const struct mpiio_mpi *mpi, bool f08) {
    return mpi->file_f2c && (mpi->addresses || f08);
}

/* In MPICH the Fortran numbers are the C handles, except for files. */
static mpiio_word handle_of(mpiio_word (*f2c)(int), int number) {
    return f2c ? f2c(number) : (uint32_t)number;
}

struct call {
    struct iotide_site *site;
    const void *caller;
    const struct mpiio_mpi *mpi;
    struct iotide_span span;
    struct iotide_target target;
    mpiio_word fh;
    const int *ierr;
};

static void record_call(const struct call *call, struct iotide_facts facts, const uint64_t *words, unsigned int count) {
    facts.target = facts.target.handle || facts.target.file ? facts.target : call->target;
    facts.descriptor = -1;
    facts.failed = *call->ierr != 0;
    facts.error = facts.failed ? mpiio_error(*call->ierr, call->caller) : 0;
    facts.kind = call->site->kind;
    iotide_leave(call->span, call->site, facts, words, count);
}

static int64_t moved_bytes(const void *status, const void *caller) {
    struct mpiio_status aligned;
    memcpy(&aligned, status, mpiio_mpi(caller)->status_bytes);
    return mpiio_status_bytes(&aligned, caller);
}

/* Records a data operation after the real call. status, request: NULL if the call has none. */
static void record_data(const struct call *call, uint16_t flags, int64_t position, int count, int datatype,
                        const void *status,
                        const int *request) {
    int error = errno;
    bool failed = *call->ierr != 0;
    mpiio_word type = handle_of(call->mpi->type_f2c, datatype);
    struct mpiio_operation operation =
        mpiio_operation(call->site->kind, flags, call->fh, position, count, type, failed, call->caller);
    uint64_t words[4] = {mpiio_group(call->fh), (uint64_t)count,
                         iotide_define_string(mpiio_type_name(type, failed, call->caller)), 0};
    if (!status && !failed) {
        uint64_t key = request ? handle_of(call->mpi->request_f2c, *request) : 0;
        words[3] = request ? mpiio_add_pending(key, operation) : mpiio_begin_split(operation);
    }
    struct iotide_facts facts = {
        .offset = operation.offset,
        .requested = operation.requested,
        .bytes = status && !failed ? moved_bytes(status, call->caller) : 0,
        .flags = (uint16_t)(operation.flags | (status ? FLAG_BLOCKING : 0)),
    };
    record_call(call, facts, words, status ? 3 : 4);
    errno = error;
}

static void record_end(const struct call *call, const void *status) {
    int error = errno;
    struct mpiio_operation operation = {.offset = -1};
    const uint64_t words[2] = {mpiio_group(call->fh), mpiio_end_split(call->fh, &operation)};
    struct iotide_facts facts = {
        .offset = operation.offset,
        .bytes = *call->ierr ? 0 : moved_bytes(status, call->caller),
        .flags = FLAG_COLLECTIVE | operation.flags,
    };
    record_call(call, facts, words, 2);
    errno = error;
}

static void record_other(const struct call *call, uint16_t flags, int64_t offset, const uint64_t *more,
                         unsigned int count) {
    int error = errno;
    uint64_t words[8] = {mpiio_group(call->fh)};
    for (unsigned int i = 0; i < count; i++)
        words[1 + i] = more[i];
    record_call(call, (struct iotide_facts){.offset = offset, .flags = (uint16_t)(FLAG_BLOCKING | flags)}, words,
                1 + count);
    errno = error;
}

/* ---- wrappers ---- */

#define BOTH(make, name, ...)            \
    make(mpi_##name##_, __VA_ARGS__)     \
    make(mpi_##name##_f08_, __VA_ARGS__)

#define SITED(symbol_, parameters, spec_, kind_, class_)                                          \
    void symbol_ parameters;                                                                      \
    static struct iotide_site SITE(symbol_) = {                                                   \
        .layer = LAYER_MPIIO, .kind = kind_, .class = class_, SITE_TEXT(#symbol_, spec_)};

/* file: the C handle of the call's file; before, after: statements around a traced call. */
#define WRAPPER(symbol, parameters, arguments, spec, kind, file, before, after) \
    WRAPPER_OF_CLASS(CLASS_OF(kind), symbol, parameters, arguments, spec, kind, file, before, after)
#define WRAPPER_OF_CLASS(class, symbol, parameters, arguments, spec, kind, file, before, after)     \
    SITED(symbol, parameters, spec, kind, class)                                                    \
    EXPORT void symbol parameters {                                                                 \
        struct call call = {.site = &SITE(symbol), .caller = __builtin_return_address(0)};          \
        const void *caller = call.caller;                                                           \
        __typeof__(&symbol) real = REAL(symbol);                                                    \
        const struct mpiio_mpi *mpi = call.mpi = mpiio_mpi(caller);                                 \
        if (!bypasses_c(mpi, ENDS_IN_F08(symbol)) || !iotide_traced(call.site)) {                   \
            real arguments;                                                                         \
            return;                                                                                 \
        }                                                                                           \
        int own_error = 0;                                                                          \
        ierr = ierr ? ierr : &own_error;                                                            \
        call.ierr = ierr;                                                                           \
        call.fh = file;                                                                             \
        call.target = call.fh ? iotide_object(LAYER_MPIIO, call.fh) : (struct iotide_target){0, 0}; \
        uint32_t handle = call.target.handle;                                                       \
        before;                                                                                     \
        call.span = iotide_push(call.site, handle);                                                 \
        real arguments;                                                                             \
        if (!call.span.start_ns)                                                                    \
            return;                                                                                 \
        iotide_pop(call.span);                                                                      \
        after;                                                                                      \
    }
#define OF_FILE mpi->file_f2c(*fh)
#define OWN_STATUS                                     \
    struct mpiio_status own = {{0}};                   \
    status = is_ignored(status, caller) ? &own : status

#define DATA_SPEC(name, more) "MPI_File_" #name "(fh:k,count:i,datatype:s" more ")"
#define MOVE(symbol, name, kind, flags)                                                                             \
    WRAPPER(symbol, (int *fh, void *buffer, int *count, int *datatype, void *status, int *ierr),                    \
            (fh, buffer, count, datatype, status, ierr), DATA_SPEC(name, ""), kind, OF_FILE, OWN_STATUS,            \
            record_data(&call, flags, -1, *count, *datatype, status, NULL))
#define MOVE_AT(symbol, name, kind, flags)                                                                          \
    WRAPPER(symbol, (int *fh, int64_t *offset, void *buffer, int *count, int *datatype, void *status, int *ierr),   \
            (fh, offset, buffer, count, datatype, status, ierr), DATA_SPEC(name, ""), kind, OF_FILE, OWN_STATUS,    \
            record_data(&call, flags, *offset, *count, *datatype, status, NULL))
#define START(symbol, name, kind, flags)                                                                            \
    WRAPPER(symbol, (int *fh, void *buffer, int *count, int *datatype, int *request, int *ierr),                    \
            (fh, buffer, count, datatype, request, ierr), DATA_SPEC(name, ",operation:u"), kind, OF_FILE, ,         \
            record_data(&call, flags, -1, *count, *datatype, NULL, request))
#define START_AT(symbol, name, kind, flags)                                                                         \
    WRAPPER(symbol, (int *fh, int64_t *offset, void *buffer, int *count, int *datatype, int *request, int *ierr),   \
            (fh, offset, buffer, count, datatype, request, ierr), DATA_SPEC(name, ",operation:u"), kind, OF_FILE, , \
            record_data(&call, flags, *offset, *count, *datatype, NULL, request))
#define SPLIT(symbol, name, kind, flags)                                                                            \
    WRAPPER(symbol, (int *fh, void *buffer, int *count, int *datatype, int *ierr),                                  \
            (fh, buffer, count, datatype, ierr), DATA_SPEC(name, ",operation:u"), kind, OF_FILE, ,                  \
            record_data(&call, flags, -1, *count, *datatype, NULL, NULL))
#define SPLIT_AT(symbol, name, kind, flags)                                                                         \
    WRAPPER(symbol, (int *fh, int64_t *offset, void *buffer, int *count, int *datatype, int *ierr),                 \
            (fh, offset, buffer, count, datatype, ierr), DATA_SPEC(name, ",operation:u"), kind, OF_FILE, ,          \
            record_data(&call, flags, *offset, *count, *datatype, NULL, NULL))
#define END(symbol, name, kind, flags)                                                                              \
    WRAPPER(symbol, (int *fh, void *buffer, void *status, int *ierr), (fh, buffer, status, ierr),                   \
            "MPI_File_" #name "(fh:k,operation:u)", kind, OF_FILE, OWN_STATUS, record_end(&call, status))

#define DIRECTION(verb, kind)                                                              \
    BOTH(MOVE, file_##verb, verb, kind, 0)                                                 \
    BOTH(MOVE, file_##verb##_all, verb##_all, kind, FLAG_COLLECTIVE)                       \
    BOTH(MOVE, file_##verb##_shared, verb##_shared, kind, 0)                               \
    BOTH(MOVE, file_##verb##_ordered, verb##_ordered, kind, FLAG_COLLECTIVE)               \
    BOTH(MOVE_AT, file_##verb##_at, verb##_at, kind, 0)                                    \
    BOTH(MOVE_AT, file_##verb##_at_all, verb##_at_all, kind, FLAG_COLLECTIVE)              \
    BOTH(START, file_i##verb, i##verb, kind, 0)                                            \
    BOTH(START, file_i##verb##_all, i##verb##_all, kind, FLAG_COLLECTIVE)                  \
    BOTH(START, file_i##verb##_shared, i##verb##_shared, kind, 0)                          \
    BOTH(START_AT, file_i##verb##_at, i##verb##_at, kind, 0)                               \
    BOTH(START_AT, file_i##verb##_at_all, i##verb##_at_all, kind, FLAG_COLLECTIVE)         \
    BOTH(SPLIT, file_##verb##_all_begin, verb##_all_begin, kind, FLAG_COLLECTIVE)          \
    BOTH(SPLIT_AT, file_##verb##_at_all_begin, verb##_at_all_begin, kind, FLAG_COLLECTIVE) \
    BOTH(SPLIT, file_##verb##_ordered_begin, verb##_ordered_begin, kind, FLAG_COLLECTIVE)  \
    BOTH(END, file_##verb##_all_end, verb##_all_end, kind, 0)                              \
    BOTH(END, file_##verb##_at_all_end, verb##_at_all_end, kind, 0)                        \
    BOTH(END, file_##verb##_ordered_end, verb##_ordered_end, kind, 0)
DIRECTION(read, KIND_READ)
DIRECTION(write, KIND_WRITE)

/* ---- open and close ---- */

static uint64_t number_of(const char *text) {
    return iotide_define_string(text);
}

static uint64_t info_number(const struct call *call, int info) {
    return number_of(mpiio_info(handle_of(call->mpi->info_f2c, info), *call->ierr != 0, call->caller));
}

static void record_open(const struct call *call, uint32_t handle, int comm, const char *filename, size_t length,
                        int amode,
                        int info, const int *fh) {
    int error = errno;
    bool failed = *call->ierr != 0;
    char room[PATH_MAX];
    const char *name = c_string(filename, length, room, sizeof room);
    mpiio_word communicator = handle_of(call->mpi->comm_f2c, comm);
    struct iotide_target target = {handle, iotide_file_at(AT_FDCWD, mpiio_path(name))};
    mpiio_word opened = failed ? 0 : call->mpi->file_f2c(*fh);
    if (opened) {
        iotide_bind(LAYER_MPIIO, opened, target);
        mpiio_register_open(opened, communicator, name, amode, call->caller);
    }
    const uint64_t words[4] = {opened ? mpiio_group(opened) : 0, number_of(mpiio_comm(communicator, failed, call->caller)),
                               number_of(mpiio_amode(amode)), info_number(call, info)};
    struct iotide_facts facts = {.target = target, .offset = -1, .flags = FLAG_BLOCKING | FLAG_COLLECTIVE};
    facts.flags |= amode & 128 ? FLAG_APPEND : 0; /* MPI_MODE_APPEND */
    record_call(call, facts, words, 4);
    errno = error;
}
#define OPEN(symbol, name)                                                                                              \
    WRAPPER(symbol, (int *comm, char *filename, int *amode, int *info, int *fh, int *ierr, size_t length),              \
            (comm, filename, amode, info, fh, ierr, length), "MPI_File_open(filename:f,fh:k,comm:s,amode:s,info:s)",    \
            KIND_CREATE, 0, handle = iotide_new_handle(),                                                               \
            record_open(&call, handle, *comm, filename, length, *amode, *info, fh))
BOTH(OPEN, file_open, open)

static void record_close(const struct call *call, const struct mpiio_file *closing) {
    if (*call->ierr != 0) {
        mpiio_restore_file(closing);
        if (call->target.handle)
            iotide_bind(LAYER_MPIIO, call->fh, call->target);
    }
    int error = errno;
    const uint64_t words[1] = {closing->group};
    record_call(call, (struct iotide_facts){.offset = -1, .flags = FLAG_BLOCKING | FLAG_COLLECTIVE}, words, 1);
    errno = error;
}
#define CLOSE(symbol, name)                                                                                            \
    WRAPPER(symbol, (int *fh, int *ierr), (fh, ierr), "MPI_File_close(fh:k)", KIND_DESTROY, OF_FILE,                   \
            struct mpiio_file closing = mpiio_remove_file(call.fh); call.target = iotide_unbind(LAYER_MPIIO, call.fh), \
            record_close(&call, &closing))
BOTH(CLOSE, file_close, close)

static void record_delete(const struct call *call, const char *filename, size_t length, int info) {
    int error = errno;
    char room[PATH_MAX];
    const char *name = mpiio_path(c_string(filename, length, room, sizeof room));
    const uint64_t words[1] = {info_number(call, info)};
    struct iotide_facts facts = {
        .target = {0, iotide_file_at(AT_FDCWD, name)}, .offset = -1, .flags = FLAG_BLOCKING};
    record_call(call, facts, words, 1);
    errno = error;
}
#define DELETE(symbol, name)                                                                                     \
    WRAPPER(symbol, (char *filename, int *info, int *ierr, size_t length), (filename, info, ierr, length),       \
            "MPI_File_delete(filename:f,info:s)", KIND_DELETE, 0, , record_delete(&call, filename, length, *info))
BOTH(DELETE, file_delete, delete)

/* ---- the file and its view ---- */

static void record_view(const struct call *call, int64_t displacement, int etype, int filetype,
                        const char *representation,
                        size_t length, int info) {
    int error = errno;
    bool failed = *call->ierr != 0;
    char room[256];
    const char *name = c_string(representation, length, room, sizeof room);
    mpiio_word (*f2c)(int) = call->mpi->type_f2c;
    const mpiio_word types[2] = {handle_of(f2c, etype), handle_of(f2c, filetype)};
    if (!failed)
        mpiio_set_view(call->fh, displacement, types[0], types[1], name, call->caller);
    const uint64_t words[] = {number_of(mpiio_type_name(types[0], failed, call->caller)),
                              number_of(mpiio_type_name(types[1], failed, call->caller)), number_of(name),
                              info_number(call, info)};
    record_other(call, FLAG_COLLECTIVE, displacement, words, 4);
    errno = error;
}
/* As in the signature file: later offsets depend on it, so it must always be recorded. */
#define SET_VIEW(symbol, name)                                                                                          \
    WRAPPER_OF_CLASS(CLASS_HANDLE, symbol,                                                                              \
            (int *fh, int64_t *disp, int *etype, int *filetype, char *datarep, int *info, int *ierr, size_t length),    \
            (fh, disp, etype, filetype, datarep, info, ierr, length),                                                   \
            "MPI_File_set_view(fh:k,disp:o,etype:s,filetype:s,datarep:s,info:s)", KIND_OTHER, OF_FILE, ,                \
            record_view(&call, *disp, *etype, *filetype, datarep, length, *info))
BOTH(SET_VIEW, file_set_view, set_view)
#define GET_VIEW(symbol, name)                                                                                    \
    WRAPPER(symbol, (int *fh, int64_t *disp, int *etype, int *filetype, char *datarep, int *ierr, size_t length), \
            (fh, disp, etype, filetype, datarep, ierr, length), "MPI_File_get_view(fh:k)", KIND_OTHER, OF_FILE, , \
            record_other(&call, 0, -1, NULL, 0))
BOTH(GET_VIEW, file_get_view, get_view)

static void record_seek(const struct call *call, uint16_t flags, int whence) {
    const uint64_t words[1] = {number_of(mpiio_whence(whence))};
    int64_t at = *call->ierr ? -1 : mpiio_position(call->fh, flags & FLAG_COLLECTIVE, call->caller);
    record_other(call, flags, at, words, 1);
}
#define SEEK(symbol, name, flags)                                                                                   \
    WRAPPER(symbol, (int *fh, int64_t *offset, int *whence, int *ierr), (fh, offset, whence, ierr),                 \
            "MPI_File_" #name "(fh:k,whence:s)", KIND_SEEK, OF_FILE, , record_seek(&call, flags, *whence))
BOTH(SEEK, file_seek, seek, 0)
BOTH(SEEK, file_seek_shared, seek_shared, FLAG_COLLECTIVE)

#define SYNC(symbol, name)                                                                                    \
    WRAPPER(symbol, (int *fh, int *ierr), (fh, ierr), "MPI_File_sync(fh:k)", KIND_SYNC, OF_FILE, ,            \
            record_other(&call, FLAG_COLLECTIVE, -1, NULL, 0))
BOTH(SYNC, file_sync, sync)

#define SIZED(symbol, name, spec, offset)                                                                          \
    WRAPPER(symbol, (int *fh, int64_t *size, int *ierr), (fh, size, ierr), spec, KIND_OTHER, OF_FILE, ,            \
            const uint64_t words[1] = {(uint64_t)*size};                                                           \
            record_other(&call, FLAG_COLLECTIVE, offset, words, (offset) < 0))
BOTH(SIZED, file_set_size, set_size, "MPI_File_set_size(fh:k,size:o)", *size)
BOTH(SIZED, file_preallocate, preallocate, "MPI_File_preallocate(fh:k,size:i)", -1)

#define SET_INFO(symbol, name)                                                                                     \
    WRAPPER(symbol, (int *fh, int *info, int *ierr), (fh, info, ierr), "MPI_File_set_info(fh:k,info:s)",           \
            KIND_CHANGE_FLAGS, OF_FILE, , const uint64_t words[1] = {info_number(&call, *info)};                   \
            record_other(&call, FLAG_COLLECTIVE, -1, words, 1))
BOTH(SET_INFO, file_set_info, set_info)
/* Fortran's true may be any number but 0. */
#define SET_ATOMICITY(symbol, name)                                                                                \
    WRAPPER(symbol, (int *fh, int *flag, int *ierr), (fh, flag, ierr), "MPI_File_set_atomicity(fh:k,flag:i)",      \
            KIND_CHANGE_FLAGS, OF_FILE, , const uint64_t words[1] = {*flag != 0};                                  \
            record_other(&call, FLAG_COLLECTIVE, -1, words, 1))
BOTH(SET_ATOMICITY, file_set_atomicity, set_atomicity)

/* Queries, whose answer is not recorded. */
#define QUERY(symbol, name)                                                                                         \
    WRAPPER(symbol, (int *fh, void *answer, int *ierr), (fh, answer, ierr), "MPI_File_" #name "(fh:k)", KIND_OTHER, \
            OF_FILE, , record_other(&call, 0, -1, NULL, 0))
BOTH(QUERY, file_get_size, get_size)
BOTH(QUERY, file_get_group, get_group)
BOTH(QUERY, file_get_amode, get_amode)
BOTH(QUERY, file_get_info, get_info)
BOTH(QUERY, file_get_position, get_position)
BOTH(QUERY, file_get_position_shared, get_position_shared)
BOTH(QUERY, file_get_atomicity, get_atomicity)
BOTH(QUERY, file_get_errhandler, get_errhandler)
BOTH(QUERY, file_set_errhandler, set_errhandler)
#define BYTE_OFFSET(symbol, name)                                                                                \
    WRAPPER(symbol, (int *fh, int64_t *offset, int64_t *disp, int *ierr), (fh, offset, disp, ierr),              \
            "MPI_File_get_byte_offset(fh:k)", KIND_OTHER, OF_FILE, , record_other(&call, 0, -1, NULL, 0))
BOTH(BYTE_OFFSET, file_get_byte_offset, get_byte_offset)
#define TYPE_EXTENT(symbol, name)                                                                                            \
    WRAPPER(symbol, (int *fh, int *datatype, int64_t *extent, int *ierr), (fh, datatype, extent, ierr),                      \
            "MPI_File_get_type_extent(fh:k,datatype:s)", KIND_OTHER, OF_FILE, ,                                              \
            const uint64_t words[1] = {number_of(mpiio_type_name(handle_of(mpi->type_f2c, *datatype), *ierr != 0, caller))}; \
            record_other(&call, 0, -1, words, 1))
BOTH(TYPE_EXTENT, file_get_type_extent, get_type_extent)
#define CALL_ERRHANDLER(symbol, name)                                                                                \
    WRAPPER(symbol, (int *fh, int *code, int *ierr), (fh, code, ierr), "MPI_File_call_errhandler(fh:k,errorcode:i)", \
            KIND_OTHER, OF_FILE, , const uint64_t words[1] = {(uint64_t)*code}; record_other(&call, 0, -1, words, 1))
BOTH(CALL_ERRHANDLER, file_call_errhandler, call_errhandler)

/* ---- completion of operations ---- */

#define COMPLETES(symbol, parameters, arguments, spec, count_, requests_, statuses_, ...)                  \
    SITED(symbol, parameters, spec, KIND_OTHER, CLASS_DATA)                                                \
    EXPORT void symbol parameters {                                                                        \
        const void *caller = __builtin_return_address(0);                                                  \
        struct mpiio_wait wait;                                                                            \
        wait.first = NULL;                                                                                 \
        if (mpiio_has_pending() && bypasses_c(mpiio_mpi(caller), ENDS_IN_F08(symbol)))                     \
            mpiio_collect_pending(&wait, caller, true, count_, requests_);                                 \
        if (likely(!wait.first)) {                                                                         \
            REAL(symbol) arguments;                                                                        \
            return;                                                                                        \
        }                                                                                                  \
        int own_error = 0;                                                                                 \
        ierr = ierr ? ierr : &own_error;                                                                   \
        void *seen = mpiio_wait_statuses(&wait, statuses_, is_ignored(statuses_, caller), count_);         \
        statuses_ = seen ? seen : statuses_;                                                               \
        struct iotide_span span = iotide_push(&SITE(symbol), wait.handle);                                 \
        REAL(symbol) arguments;                                                                            \
        if (span.start_ns)                                                                                 \
            iotide_pop(span);                                                                              \
        mpiio_record_completed(&wait, &SITE(symbol), span, (struct mpiio_outcome){*ierr, .statuses = seen, \
                                                                                  __VA_ARGS__});           \
    }
#define WAIT(symbol, name)                                                                                                \
    COMPLETES(symbol, (int *request, void *status, int *ierr), (request, status, ierr), "MPI_" name "(fh:k,operation:u)", \
              1, request, status, .shape = MPIIO_ONE)
#define TEST(symbol, name)                                                                                           \
    COMPLETES(symbol, (int *request, int *flag, void *status, int *ierr), (request, flag, status, ierr),             \
              "MPI_" name "(fh:k,operation:u)", 1, request, status, .shape = MPIIO_ONE)
#define WAITANY(symbol, name)                                                                                        \
    COMPLETES(symbol, (int *count, int *requests, int *index, void *status, int *ierr),                              \
              (count, requests, index, status, ierr), "MPI_" name "(fh:k,operation:u)", *count, requests, status,    \
              .shape = MPIIO_ONE)
#define TESTANY(symbol, name)                                                                                        \
    COMPLETES(symbol, (int *count, int *requests, int *index, int *flag, void *status, int *ierr),                   \
              (count, requests, index, flag, status, ierr), "MPI_" name "(fh:k,operation:u)", *count, requests,      \
              status, .shape = MPIIO_ONE)
#define WAITALL(symbol, name)                                                                                        \
    COMPLETES(symbol, (int *count, int *requests, void *statuses, int *ierr), (count, requests, statuses, ierr),     \
              "MPI_" name "(fh:k,operation:u)", *count, requests, statuses, .shape = MPIIO_ALL)
#define TESTALL(symbol, name)                                                                                        \
    COMPLETES(symbol, (int *count, int *requests, int *flag, void *statuses, int *ierr),                             \
              (count, requests, flag, statuses, ierr), "MPI_" name "(fh:k,operation:u)", *count, requests, statuses, \
              .shape = MPIIO_ALL)
#define SOME(symbol, name)                                                                                           \
    COMPLETES(symbol, (int *count, int *requests, int *completed, int *indices, void *statuses, int *ierr),          \
              (count, requests, completed, indices, statuses, ierr), "MPI_" name "(fh:k,operation:u)", *count,       \
              requests, statuses, .shape = MPIIO_SOME, .indices = indices, .completed = *completed)
BOTH(WAIT, wait, "Wait")
BOTH(TEST, test, "Test")
BOTH(WAITANY, waitany, "Waitany")
BOTH(TESTANY, testany, "Testany")
BOTH(WAITALL, waitall, "Waitall")
BOTH(TESTALL, testall, "Testall")
BOTH(SOME, waitsome, "Waitsome")
BOTH(SOME, testsome, "Testsome")

#define LETS_GO(symbol, name, frees)                                                                   \
    SITED(symbol, (int *request, int *ierr), "MPI_" name "(fh:k,operation:u)", KIND_OTHER, CLASS_DATA) \
    EXPORT void symbol(int *request, int *ierr) {                                                      \
        const void *caller = __builtin_return_address(0);                                              \
        struct mpiio_wait wait;                                                                        \
        wait.first = NULL;                                                                             \
        if (mpiio_has_pending() && bypasses_c(mpiio_mpi(caller), ENDS_IN_F08(symbol)))                 \
            mpiio_collect_pending(&wait, caller, true, 1, request);                                    \
        int own_error = 0;                                                                             \
        ierr = ierr ? ierr : &own_error;                                                               \
        if (likely(!wait.first)) {                                                                     \
            REAL(symbol)(request, ierr);                                                               \
            return;                                                                                    \
        }                                                                                              \
        struct iotide_span span = iotide_push(&SITE(symbol), wait.handle);                             \
        REAL(symbol)(request, ierr);                                                                   \
        if (span.start_ns)                                                                             \
            iotide_pop(span);                                                                          \
        mpiio_record_freed(&wait, &SITE(symbol), span, *ierr, frees);                                  \
    }
BOTH(LETS_GO, request_free, "Request_free", true)
BOTH(LETS_GO, cancel, "Cancel", false)

/* ---- the program's rank ---- */

#define INIT(symbol, parameters, arguments)                         \
    SITED(symbol, parameters, "MPI_Init()", KIND_OTHER, CLASS_META) \
    EXPORT void symbol parameters {                                 \
        const void *caller = __builtin_return_address(0);           \
        int own_error = 0;                                          \
        ierr = ierr ? ierr : &own_error;                            \
        REAL(symbol) arguments;                                     \
        if (*ierr == 0)                                             \
            mpiio_read_ranks(caller);                               \
    }
BOTH(INIT, init, (int *ierr), (ierr))
BOTH(INIT, init_thread, (int *required, int *provided, int *ierr), (required, provided, ierr))
