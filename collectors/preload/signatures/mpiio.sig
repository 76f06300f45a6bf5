# MPI-IO: MPI_File_* of MPI 4.0, and the calls that complete their operations. One binary supports Open MPI and MPICH,
# without their headers: see hooks/mpiio.h. The Fortran bindings are in hooks/mpiio_fortran.c.
# Open MPI 4 and 5 lack the functions with large counts (..._c). A program with a weak reference to one finds the wrapper
# and calls it, so it has to do what the program would do without it.
library mpiio
layer MPIIO
anchor PMPI_Init
fails result != 0
error mpiio_error(result, caller)
datatype mpiio_type_name(value, failed, caller)
group mpiio_group(value)
# An address in both; the others are addresses in Open MPI and ints in MPICH.
type MPI_File = uintptr_t
type MPI_Comm = uintptr_t
type MPI_Datatype = uintptr_t
type MPI_Info = uintptr_t
type MPI_Group = uintptr_t
type MPI_Errhandler = uintptr_t
type MPI_Aint = intptr_t
type MPI_Offset = int64_t
type MPI_Count = int64_t
type MPI_Request = opaque
type MPI_Status = opaque

# ---- open and close ----

CREATE int MPI_File_open(MPI_Comm comm: opaque, const char *filename: path, int amode: opaque, MPI_Info info: opaque,
                         MPI_File *fh: new_handle)
    after = if (!failed) mpiio_register_open(*fh, comm, filename, amode, caller);
    file = iotide_file_at(AT_FDCWD, mpiio_path(filename))
    flags = FLAG_BLOCKING | FLAG_COLLECTIVE | (amode & 128 ? FLAG_APPEND : 0)
    extra comm: text = mpiio_comm(comm, failed, caller)
    extra amode: text = mpiio_amode(amode)
    extra info: text = mpiio_info(info, failed, caller)
DESTROY int MPI_File_close(MPI_File *fh: handle)
    before = struct mpiio_file closing = mpiio_remove_file(*fh);
    after = if (failed) mpiio_restore_file(&closing);
    flags = collective
DELETE int MPI_File_delete(const char *filename: path, MPI_Info info: opaque)
    file = iotide_file_at(AT_FDCWD, mpiio_path(filename))
    extra info: text = mpiio_info(info, failed, caller)

# ---- the file ----

OTHER int MPI_File_set_size(MPI_File fh: handle, MPI_Offset size: offset)
    flags = collective
OTHER int MPI_File_preallocate(MPI_File fh: handle, MPI_Offset size)
    flags = collective
OTHER int MPI_File_get_size(MPI_File fh: handle, MPI_Offset *size)
OTHER int MPI_File_get_group(MPI_File fh: handle, MPI_Group *group)
OTHER int MPI_File_get_amode(MPI_File fh: handle, int *amode)
CHANGE_FLAGS int MPI_File_set_info(MPI_File fh: handle, MPI_Info info: opaque)
    flags = collective
    extra info: text = mpiio_info(info, failed, caller)
OTHER int MPI_File_get_info(MPI_File fh: handle, MPI_Info *info_used)
OTHER int MPI_File_set_view(MPI_File fh: handle, MPI_Offset disp: offset, MPI_Datatype etype: datatype, MPI_Datatype
                            filetype: datatype, const char *datarep, MPI_Info info: opaque)
    after = if (!failed) mpiio_set_view(fh, disp, etype, filetype, datarep, caller);
    class = handle
    flags = collective
    extra info: text = mpiio_info(info, failed, caller)
OTHER int MPI_File_get_view(MPI_File fh: handle, MPI_Offset *disp, MPI_Datatype *etype, MPI_Datatype *filetype, char
                            *datarep: opaque)
SEEK int MPI_File_seek(MPI_File fh: handle, MPI_Offset offset: opaque, int whence: opaque)
    offset = failed ? -1 : mpiio_position(fh, false, caller)
    extra whence: text = mpiio_whence(whence)
SEEK int MPI_File_seek_shared(MPI_File fh: handle, MPI_Offset offset: opaque, int whence: opaque)
    flags = collective
    offset = failed ? -1 : mpiio_position(fh, true, caller)
    extra whence: text = mpiio_whence(whence)
OTHER int MPI_File_get_position(MPI_File fh: handle, MPI_Offset *offset)
OTHER int MPI_File_get_position_shared(MPI_File fh: handle, MPI_Offset *offset)
OTHER int MPI_File_get_byte_offset(MPI_File fh: handle, MPI_Offset offset: opaque, MPI_Offset *disp)
OTHER int MPI_File_get_type_extent(MPI_File fh: handle, MPI_Datatype datatype: datatype, MPI_Aint *extent)
OTHER int MPI_File_get_type_extent_c(MPI_File fh: handle, MPI_Datatype datatype: datatype, MPI_Count *extent)
    name = MPI_File_get_type_extent
    instead = REAL(MPI_File_get_type_extent)(fh, datatype, (MPI_Aint *)extent)
CHANGE_FLAGS int MPI_File_set_atomicity(MPI_File fh: handle, int flag)
    flags = collective
OTHER int MPI_File_get_atomicity(MPI_File fh: handle, int *flag)
SYNC int MPI_File_sync(MPI_File fh: handle)
    flags = collective
OTHER int MPI_File_set_errhandler(MPI_File fh: handle, MPI_Errhandler errhandler: opaque)
OTHER int MPI_File_get_errhandler(MPI_File fh: handle, MPI_Errhandler *errhandler)
OTHER int MPI_File_call_errhandler(MPI_File fh: handle, int errorcode)
OTHER int MPI_File_create_errhandler(void *function, MPI_Errhandler *errhandler)
OTHER int MPI_Register_datarep(const char *datarep, void *read_function, void *write_function, void *extent_function,
                               void *state)
OTHER int MPI_Register_datarep_c(const char *datarep, void *read_function, void *write_function, void *extent_function,
                                 void *state)
    name = MPI_Register_datarep
    instead = read_function || write_function ? MPIIO_ERR_COUNT : REAL(MPI_Register_datarep)(datarep, read_function, write_function, extent_function, state)

# ---- blocking ----

READ int MPI_File_read(MPI_File fh: handle, void *buf, int count: count, MPI_Datatype datatype: datatype, MPI_Status
                       *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, 0, fh, -1, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
READ int MPI_File_read_c(MPI_File fh: handle, void *buf, MPI_Count count: count, MPI_Datatype datatype: datatype,
                         MPI_Status *status)
    name = MPI_File_read
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_read)(fh, buf, (int)count, datatype, status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, 0, fh, -1, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
READ int MPI_File_read_all(MPI_File fh: handle, void *buf, int count: count, MPI_Datatype datatype: datatype, MPI_Status
                           *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
READ int MPI_File_read_all_c(MPI_File fh: handle, void *buf, MPI_Count count: count, MPI_Datatype datatype: datatype,
                             MPI_Status *status)
    name = MPI_File_read_all
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_read_all)(fh, buf, (int)count, datatype, status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
READ int MPI_File_read_at(MPI_File fh: handle, MPI_Offset offset: opaque, void *buf, int count: count, MPI_Datatype
                          datatype: datatype, MPI_Status *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, 0, fh, offset, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
    offset = operation.offset
READ int MPI_File_read_at_c(MPI_File fh: handle, MPI_Offset offset: opaque, void *buf, MPI_Count count: count,
                            MPI_Datatype datatype: datatype, MPI_Status *status)
    name = MPI_File_read_at
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_read_at)(fh, offset, buf, (int)count, datatype, status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, 0, fh, offset, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
    offset = operation.offset
READ int MPI_File_read_at_all(MPI_File fh: handle, MPI_Offset offset: opaque, void *buf, int count: count, MPI_Datatype
                              datatype: datatype, MPI_Status *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, FLAG_COLLECTIVE, fh, offset, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
    offset = operation.offset
READ int MPI_File_read_at_all_c(MPI_File fh: handle, MPI_Offset offset: opaque, void *buf, MPI_Count count: count,
                                MPI_Datatype datatype: datatype, MPI_Status *status)
    name = MPI_File_read_at_all
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_read_at_all)(fh, offset, buf, (int)count, datatype, status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, FLAG_COLLECTIVE, fh, offset, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
    offset = operation.offset
READ int MPI_File_read_shared(MPI_File fh: handle, void *buf, int count: count, MPI_Datatype datatype: datatype,
                              MPI_Status *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, 0, fh, -1, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
READ int MPI_File_read_shared_c(MPI_File fh: handle, void *buf, MPI_Count count: count, MPI_Datatype datatype: datatype,
                                MPI_Status *status)
    name = MPI_File_read_shared
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_read_shared)(fh, buf, (int)count, datatype, status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, 0, fh, -1, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
READ int MPI_File_read_ordered(MPI_File fh: handle, void *buf, int count: count, MPI_Datatype datatype: datatype,
                               MPI_Status *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
READ int MPI_File_read_ordered_c(MPI_File fh: handle, void *buf, MPI_Count count: count, MPI_Datatype datatype:
                                 datatype, MPI_Status *status)
    name = MPI_File_read_ordered
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_read_ordered)(fh, buf, (int)count, datatype, status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
WRITE int MPI_File_write(MPI_File fh: handle, const void *buf, int count: count, MPI_Datatype datatype: datatype,
                         MPI_Status *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, 0, fh, -1, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
WRITE int MPI_File_write_c(MPI_File fh: handle, const void *buf, MPI_Count count: count, MPI_Datatype datatype:
                           datatype, MPI_Status *status)
    name = MPI_File_write
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_write)(fh, buf, (int)count, datatype, status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, 0, fh, -1, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
WRITE int MPI_File_write_all(MPI_File fh: handle, const void *buf, int count: count, MPI_Datatype datatype: datatype,
                             MPI_Status *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
WRITE int MPI_File_write_all_c(MPI_File fh: handle, const void *buf, MPI_Count count: count, MPI_Datatype datatype:
                               datatype, MPI_Status *status)
    name = MPI_File_write_all
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_write_all)(fh, buf, (int)count, datatype, status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
WRITE int MPI_File_write_at(MPI_File fh: handle, MPI_Offset offset: opaque, const void *buf, int count: count,
                            MPI_Datatype datatype: datatype, MPI_Status *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, 0, fh, offset, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
    offset = operation.offset
WRITE int MPI_File_write_at_c(MPI_File fh: handle, MPI_Offset offset: opaque, const void *buf, MPI_Count count: count,
                              MPI_Datatype datatype: datatype, MPI_Status *status)
    name = MPI_File_write_at
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_write_at)(fh, offset, buf, (int)count, datatype, status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, 0, fh, offset, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
    offset = operation.offset
WRITE int MPI_File_write_at_all(MPI_File fh: handle, MPI_Offset offset: opaque, const void *buf, int count: count,
                                MPI_Datatype datatype: datatype, MPI_Status *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, FLAG_COLLECTIVE, fh, offset, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
    offset = operation.offset
WRITE int MPI_File_write_at_all_c(MPI_File fh: handle, MPI_Offset offset: opaque, const void *buf, MPI_Count count:
                                  count, MPI_Datatype datatype: datatype, MPI_Status *status)
    name = MPI_File_write_at_all
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_write_at_all)(fh, offset, buf, (int)count, datatype, status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, FLAG_COLLECTIVE, fh, offset, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
    offset = operation.offset
WRITE int MPI_File_write_shared(MPI_File fh: handle, const void *buf, int count: count, MPI_Datatype datatype: datatype,
                                MPI_Status *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, 0, fh, -1, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
WRITE int MPI_File_write_shared_c(MPI_File fh: handle, const void *buf, MPI_Count count: count, MPI_Datatype datatype:
                                  datatype, MPI_Status *status)
    name = MPI_File_write_shared
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_write_shared)(fh, buf, (int)count, datatype, status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, 0, fh, -1, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
WRITE int MPI_File_write_ordered(MPI_File fh: handle, const void *buf, int count: count, MPI_Datatype datatype:
                                 datatype, MPI_Status *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested
WRITE int MPI_File_write_ordered_c(MPI_File fh: handle, const void *buf, MPI_Count count: count, MPI_Datatype datatype:
                                   datatype, MPI_Status *status)
    name = MPI_File_write_ordered
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_write_ordered)(fh, buf, (int)count, datatype, status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    bytes = mpiio_status_bytes(status, caller)
    flags = FLAG_BLOCKING | operation.flags
    requested = operation.requested

# ---- non-blocking: both events contain the number of the operation ----

READ int MPI_File_iread(MPI_File fh: handle, void *buf, int count: count, MPI_Datatype datatype: datatype, MPI_Request
                        *request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, 0, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
READ int MPI_File_iread_c(MPI_File fh: handle, void *buf, MPI_Count count: count, MPI_Datatype datatype: datatype,
                          MPI_Request *request)
    name = MPI_File_iread
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_iread)(fh, buf, (int)count, datatype, request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, 0, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
READ int MPI_File_iread_all(MPI_File fh: handle, void *buf, int count: count, MPI_Datatype datatype: datatype,
                            MPI_Request *request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
READ int MPI_File_iread_all_c(MPI_File fh: handle, void *buf, MPI_Count count: count, MPI_Datatype datatype: datatype,
                              MPI_Request *request)
    name = MPI_File_iread_all
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_iread_all)(fh, buf, (int)count, datatype, request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
READ int MPI_File_iread_at(MPI_File fh: handle, MPI_Offset offset: opaque, void *buf, int count: count, MPI_Datatype
                           datatype: datatype, MPI_Request *request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, 0, fh, offset, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
    offset = operation.offset
READ int MPI_File_iread_at_c(MPI_File fh: handle, MPI_Offset offset: opaque, void *buf, MPI_Count count: count,
                             MPI_Datatype datatype: datatype, MPI_Request *request)
    name = MPI_File_iread_at
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_iread_at)(fh, offset, buf, (int)count, datatype, request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, 0, fh, offset, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
    offset = operation.offset
READ int MPI_File_iread_at_all(MPI_File fh: handle, MPI_Offset offset: opaque, void *buf, int count: count, MPI_Datatype
                               datatype: datatype, MPI_Request *request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, FLAG_COLLECTIVE, fh, offset, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
    offset = operation.offset
READ int MPI_File_iread_at_all_c(MPI_File fh: handle, MPI_Offset offset: opaque, void *buf, MPI_Count count: count,
                                 MPI_Datatype datatype: datatype, MPI_Request *request)
    name = MPI_File_iread_at_all
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_iread_at_all)(fh, offset, buf, (int)count, datatype, request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, FLAG_COLLECTIVE, fh, offset, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
    offset = operation.offset
READ int MPI_File_iread_shared(MPI_File fh: handle, void *buf, int count: count, MPI_Datatype datatype: datatype,
                               MPI_Request *request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, 0, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
READ int MPI_File_iread_shared_c(MPI_File fh: handle, void *buf, MPI_Count count: count, MPI_Datatype datatype:
                                 datatype, MPI_Request *request)
    name = MPI_File_iread_shared
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_iread_shared)(fh, buf, (int)count, datatype, request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, 0, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
WRITE int MPI_File_iwrite(MPI_File fh: handle, const void *buf, int count: count, MPI_Datatype datatype: datatype,
                          MPI_Request *request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, 0, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
WRITE int MPI_File_iwrite_c(MPI_File fh: handle, const void *buf, MPI_Count count: count, MPI_Datatype datatype:
                            datatype, MPI_Request *request)
    name = MPI_File_iwrite
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_iwrite)(fh, buf, (int)count, datatype, request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, 0, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
WRITE int MPI_File_iwrite_all(MPI_File fh: handle, const void *buf, int count: count, MPI_Datatype datatype: datatype,
                              MPI_Request *request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
WRITE int MPI_File_iwrite_all_c(MPI_File fh: handle, const void *buf, MPI_Count count: count, MPI_Datatype datatype:
                                datatype, MPI_Request *request)
    name = MPI_File_iwrite_all
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_iwrite_all)(fh, buf, (int)count, datatype, request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
WRITE int MPI_File_iwrite_at(MPI_File fh: handle, MPI_Offset offset: opaque, const void *buf, int count: count,
                             MPI_Datatype datatype: datatype, MPI_Request *request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, 0, fh, offset, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
    offset = operation.offset
WRITE int MPI_File_iwrite_at_c(MPI_File fh: handle, MPI_Offset offset: opaque, const void *buf, MPI_Count count: count,
                               MPI_Datatype datatype: datatype, MPI_Request *request)
    name = MPI_File_iwrite_at
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_iwrite_at)(fh, offset, buf, (int)count, datatype, request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, 0, fh, offset, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
    offset = operation.offset
WRITE int MPI_File_iwrite_at_all(MPI_File fh: handle, MPI_Offset offset: opaque, const void *buf, int count: count,
                                 MPI_Datatype datatype: datatype, MPI_Request *request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, FLAG_COLLECTIVE, fh, offset, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
    offset = operation.offset
WRITE int MPI_File_iwrite_at_all_c(MPI_File fh: handle, MPI_Offset offset: opaque, const void *buf, MPI_Count count:
                                   count, MPI_Datatype datatype: datatype, MPI_Request *request)
    name = MPI_File_iwrite_at_all
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_iwrite_at_all)(fh, offset, buf, (int)count, datatype, request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, FLAG_COLLECTIVE, fh, offset, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
    offset = operation.offset
WRITE int MPI_File_iwrite_shared(MPI_File fh: handle, const void *buf, int count: count, MPI_Datatype datatype:
                                 datatype, MPI_Request *request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, 0, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested
WRITE int MPI_File_iwrite_shared_c(MPI_File fh: handle, const void *buf, MPI_Count count: count, MPI_Datatype datatype:
                                   datatype, MPI_Request *request)
    name = MPI_File_iwrite_shared
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_iwrite_shared)(fh, buf, (int)count, datatype, request)
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, 0, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_add_pending(mpiio_request_at(mpiio_mpi(caller), request), operation)
    requested = operation.requested

# ---- split collectives ----

READ int MPI_File_read_all_begin(MPI_File fh: handle, void *buf, int count: count, MPI_Datatype datatype: datatype)
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_begin_split(operation)
    requested = operation.requested
READ int MPI_File_read_all_begin_c(MPI_File fh: handle, void *buf, MPI_Count count: count, MPI_Datatype datatype:
                                   datatype)
    name = MPI_File_read_all_begin
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_read_all_begin)(fh, buf, (int)count, datatype)
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_begin_split(operation)
    requested = operation.requested
READ int MPI_File_read_all_end(MPI_File fh: handle, void *buf, MPI_Status *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = {.offset = -1}; uint32_t number = mpiio_end_split(fh, &operation);
    bytes = mpiio_status_bytes(status, caller)
    offset = operation.offset
    flags = FLAG_COLLECTIVE | operation.flags
    extra operation: uint = number
READ int MPI_File_read_at_all_begin(MPI_File fh: handle, MPI_Offset offset: opaque, void *buf, int count: count,
                                    MPI_Datatype datatype: datatype)
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, FLAG_COLLECTIVE, fh, offset, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_begin_split(operation)
    requested = operation.requested
    offset = operation.offset
READ int MPI_File_read_at_all_begin_c(MPI_File fh: handle, MPI_Offset offset: opaque, void *buf, MPI_Count count: count,
                                      MPI_Datatype datatype: datatype)
    name = MPI_File_read_at_all_begin
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_read_at_all_begin)(fh, offset, buf, (int)count, datatype)
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, FLAG_COLLECTIVE, fh, offset, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_begin_split(operation)
    requested = operation.requested
    offset = operation.offset
READ int MPI_File_read_at_all_end(MPI_File fh: handle, void *buf, MPI_Status *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = {.offset = -1}; uint32_t number = mpiio_end_split(fh, &operation);
    bytes = mpiio_status_bytes(status, caller)
    offset = operation.offset
    flags = FLAG_COLLECTIVE | operation.flags
    extra operation: uint = number
READ int MPI_File_read_ordered_begin(MPI_File fh: handle, void *buf, int count: count, MPI_Datatype datatype: datatype)
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_begin_split(operation)
    requested = operation.requested
READ int MPI_File_read_ordered_begin_c(MPI_File fh: handle, void *buf, MPI_Count count: count, MPI_Datatype datatype:
                                       datatype)
    name = MPI_File_read_ordered_begin
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_read_ordered_begin)(fh, buf, (int)count, datatype)
    after = struct mpiio_operation operation = mpiio_operation(KIND_READ, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_begin_split(operation)
    requested = operation.requested
READ int MPI_File_read_ordered_end(MPI_File fh: handle, void *buf, MPI_Status *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = {.offset = -1}; uint32_t number = mpiio_end_split(fh, &operation);
    bytes = mpiio_status_bytes(status, caller)
    offset = operation.offset
    flags = FLAG_COLLECTIVE | operation.flags
    extra operation: uint = number
WRITE int MPI_File_write_all_begin(MPI_File fh: handle, const void *buf, int count: count, MPI_Datatype datatype:
                                   datatype)
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_begin_split(operation)
    requested = operation.requested
WRITE int MPI_File_write_all_begin_c(MPI_File fh: handle, const void *buf, MPI_Count count: count, MPI_Datatype
                                     datatype: datatype)
    name = MPI_File_write_all_begin
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_write_all_begin)(fh, buf, (int)count, datatype)
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_begin_split(operation)
    requested = operation.requested
WRITE int MPI_File_write_all_end(MPI_File fh: handle, const void *buf, MPI_Status *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = {.offset = -1}; uint32_t number = mpiio_end_split(fh, &operation);
    bytes = mpiio_status_bytes(status, caller)
    offset = operation.offset
    flags = FLAG_COLLECTIVE | operation.flags
    extra operation: uint = number
WRITE int MPI_File_write_at_all_begin(MPI_File fh: handle, MPI_Offset offset: opaque, const void *buf, int count: count,
                                      MPI_Datatype datatype: datatype)
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, FLAG_COLLECTIVE, fh, offset, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_begin_split(operation)
    requested = operation.requested
    offset = operation.offset
WRITE int MPI_File_write_at_all_begin_c(MPI_File fh: handle, MPI_Offset offset: opaque, const void *buf, MPI_Count
                                        count: count, MPI_Datatype datatype: datatype)
    name = MPI_File_write_at_all_begin
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_write_at_all_begin)(fh, offset, buf, (int)count, datatype)
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, FLAG_COLLECTIVE, fh, offset, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_begin_split(operation)
    requested = operation.requested
    offset = operation.offset
WRITE int MPI_File_write_at_all_end(MPI_File fh: handle, const void *buf, MPI_Status *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = {.offset = -1}; uint32_t number = mpiio_end_split(fh, &operation);
    bytes = mpiio_status_bytes(status, caller)
    offset = operation.offset
    flags = FLAG_COLLECTIVE | operation.flags
    extra operation: uint = number
WRITE int MPI_File_write_ordered_begin(MPI_File fh: handle, const void *buf, int count: count, MPI_Datatype datatype:
                                       datatype)
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_begin_split(operation)
    requested = operation.requested
WRITE int MPI_File_write_ordered_begin_c(MPI_File fh: handle, const void *buf, MPI_Count count: count, MPI_Datatype
                                         datatype: datatype)
    name = MPI_File_write_ordered_begin
    instead = count != (int)count ? MPIIO_ERR_COUNT : REAL(MPI_File_write_ordered_begin)(fh, buf, (int)count, datatype)
    after = struct mpiio_operation operation = mpiio_operation(KIND_WRITE, FLAG_COLLECTIVE, fh, -1, count, datatype, failed, caller)
    flags = operation.flags
    extra operation: uint = failed ? 0 : mpiio_begin_split(operation)
    requested = operation.requested
WRITE int MPI_File_write_ordered_end(MPI_File fh: handle, const void *buf, MPI_Status *status)
    before = struct mpiio_status own; status = mpiio_status(status, &own);
    after = struct mpiio_operation operation = {.offset = -1}; uint32_t number = mpiio_end_split(fh, &operation);
    bytes = mpiio_status_bytes(status, caller)
    offset = operation.offset
    flags = FLAG_COLLECTIVE | operation.flags
    extra operation: uint = number

# ---- completion: one event for each operation on a file, with its kind and handle ----

OTHER int MPI_Wait(MPI_Request *request, MPI_Status *status)
    class = data
    extra fh: handle = 0
    extra operation: uint = 0
    custom
OTHER int MPI_Waitany(int count: opaque, MPI_Request *requests, int *index, MPI_Status *status)
    class = data
    extra fh: handle = 0
    extra operation: uint = 0
    custom
OTHER int MPI_Waitall(int count: opaque, MPI_Request *requests, MPI_Status *statuses)
    class = data
    extra fh: handle = 0
    extra operation: uint = 0
    custom
OTHER int MPI_Waitsome(int count: opaque, MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses)
    class = data
    extra fh: handle = 0
    extra operation: uint = 0
    custom
OTHER int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
    class = data
    extra fh: handle = 0
    extra operation: uint = 0
    custom
OTHER int MPI_Testany(int count: opaque, MPI_Request *requests, int *index, int *flag, MPI_Status *status)
    class = data
    extra fh: handle = 0
    extra operation: uint = 0
    custom
OTHER int MPI_Testall(int count: opaque, MPI_Request *requests, int *flag, MPI_Status *statuses)
    class = data
    extra fh: handle = 0
    extra operation: uint = 0
    custom
OTHER int MPI_Testsome(int count: opaque, MPI_Request *requests, int *completed, int *indices, MPI_Status *statuses)
    class = data
    extra fh: handle = 0
    extra operation: uint = 0
    custom
OTHER int MPI_Request_free(MPI_Request *request)
    class = data
    extra fh: handle = 0
    extra operation: uint = 0
    custom
OTHER int MPI_Cancel(MPI_Request *request)
    class = data
    extra fh: handle = 0
    extra operation: uint = 0
    custom

# ---- not recorded: used to read the rank ----

OTHER int MPI_Init(int *count, char ***arguments)
    custom
OTHER int MPI_Init_thread(int *count, char ***arguments, int required, int *provided)
    custom
