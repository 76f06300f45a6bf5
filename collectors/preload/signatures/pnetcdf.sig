# PnetCDF's C interface, of version 1.12.3. Its Fortran and C++ interfaces call it.
#
# Operations begun by iput, iget and bput move their data in ncmpi_wait and ncmpi_wait_all. There the bytes are
# recorded, with the numbers that the beginning calls show in place of their requests.
# If a value does not fit its type (NC_ERANGE), the others are moved: such a call counts as successful.

library pnetcdf
layer PNETCDF
anchor ncmpi_open
fails pnetcdf_failed(result)
error pnetcdf_error(result)
datatype pnetcdf_type_name(value, failed, caller)
skip iotide_is_inner(&iotide_library_pnetcdf, caller)

# Handles of MPI, which are addresses or ints depending on the MPI library, are passed as words.
type MPI_Comm = intptr_t
type MPI_Info = intptr_t
type MPI_Datatype = intptr_t
type MPI_Offset = int64_t
type nc_type = int

# ---- pnetcdf.h ----

OTHER const char *ncmpi_strerror(int err)
    class = memory
    error = 0
OTHER const char *ncmpi_strerrno(int err)
    class = memory
    error = 0
CREATE int ncmpi_create(MPI_Comm comm: opaque, const char *path: path, int cmode: hex, MPI_Info info: opaque,
                        int *ncidp: new_handle)
    extra ranks: int = pnetcdf_ranks(failed, comm, caller)
    after = variables_invalidate()
    flags = collective
CREATE int ncmpi_open(MPI_Comm comm: opaque, const char *path: path, int omode: hex, MPI_Info info: opaque,
                      int *ncidp: new_handle)
    extra ranks: int = pnetcdf_ranks(failed, comm, caller)
    after = variables_invalidate()
    flags = collective
OTHER int ncmpi_inq_file_info(int ncid: handle, MPI_Info *info_used)
    class = memory
OTHER int ncmpi_get_file_info(int ncid: handle, MPI_Info *info_used)
    class = memory
DELETE int ncmpi_delete(const char *filename: path, MPI_Info info: opaque)
OTHER int ncmpi_enddef(int ncid: handle)
    flags = collective
OTHER int ncmpi__enddef(int ncid: handle, MPI_Offset h_minfree, MPI_Offset v_align, MPI_Offset v_minfree,
                        MPI_Offset r_align)
    flags = collective
OTHER int ncmpi_redef(int ncid: handle)
    flags = collective
OTHER int ncmpi_set_default_format(int format, int *old_formatp: int)
    class = memory
OTHER int ncmpi_inq_default_format(int *formatp: int)
    class = memory
SYNC int ncmpi_sync(int ncid: handle)
    flags = collective
SYNC int ncmpi_flush(int ncid: handle)
    flags = collective
SYNC int ncmpi_sync_numrecs(int ncid: handle)
    flags = collective
DESTROY int ncmpi_abort(int ncid: handle)
    after = pnetcdf_release_all(failed, ncid, caller)
    flags = collective
OTHER int ncmpi_begin_indep_data(int ncid: handle)
    flags = collective
OTHER int ncmpi_end_indep_data(int ncid: handle)
    flags = collective
DESTROY int ncmpi_close(int ncid: handle)
    after = pnetcdf_release_all(failed, ncid, caller)
    flags = collective
OTHER int ncmpi_set_fill(int ncid: handle, int fillmode: hex, int *old_modep: int)
    flags = collective
OTHER int ncmpi_def_var_fill(int ncid: handle, int varid, int no_fill, const void *fill_value)
    flags = collective
WRITE int ncmpi_fill_var_rec(int ncid: handle, int varid, MPI_Offset recno)
    flags = collective
OTHER int ncmpi_def_dim(int ncid: handle, const char *name, MPI_Offset len, int *idp: int)
    flags = collective
OTHER int ncmpi_def_var(int ncid: handle, const char *name,
                        nc_type xtype: enum{NC_NAT/NC_BYTE/NC_CHAR/NC_SHORT/NC_INT/NC_FLOAT/NC_DOUBLE/NC_UBYTE/NC_USHORT/NC_UINT/NC_INT64/NC_UINT64},
                        int ndims, const int *dimidsp: array(ndims), int *varidp: int)
    flags = collective
OTHER int ncmpi_rename_dim(int ncid: handle, int dimid, const char *name)
    flags = collective
OTHER int ncmpi_rename_var(int ncid: handle, int varid, const char *name)
    flags = collective
OTHER const char *ncmpi_inq_libvers(void)
    class = memory
    error = 0
OTHER int ncmpi_inq(int ncid: handle, int *ndimsp: int, int *nvarsp: int, int *ngattsp: int, int *unlimdimidp: int)
    class = memory
OTHER int ncmpi_inq_format(int ncid: handle, int *formatp: int)
    class = memory
OTHER int ncmpi_inq_file_format(const char *filename: path, int *formatp: int)
OTHER int ncmpi_inq_version(int ncid: handle, int *NC_mode: int)
    class = memory
OTHER int ncmpi_inq_striping(int ncid: handle, int *striping_size: int, int *striping_count: int)
    class = memory
OTHER int ncmpi_inq_ndims(int ncid: handle, int *ndimsp: int)
    class = memory
OTHER int ncmpi_inq_nvars(int ncid: handle, int *nvarsp: int)
    class = memory
OTHER int ncmpi_inq_num_rec_vars(int ncid: handle, int *nvarsp: int)
    class = memory
OTHER int ncmpi_inq_num_fix_vars(int ncid: handle, int *nvarsp: int)
    class = memory
OTHER int ncmpi_inq_natts(int ncid: handle, int *ngattsp: int)
    class = memory
OTHER int ncmpi_inq_unlimdim(int ncid: handle, int *unlimdimidp: int)
    class = memory
OTHER int ncmpi_inq_dimid(int ncid: handle, const char *name, int *idp: int)
    class = memory
OTHER int ncmpi_inq_dim(int ncid: handle, int dimid, char *name: text, MPI_Offset *lenp: int)
    class = memory
OTHER int ncmpi_inq_dimname(int ncid: handle, int dimid, char *name: text)
    class = memory
OTHER int ncmpi_inq_dimlen(int ncid: handle, int dimid, MPI_Offset *lenp: int)
    class = memory
OTHER int ncmpi_inq_var(int ncid: handle, int varid, char *name: text, nc_type *xtypep: int, int *ndimsp: int,
                        int *dimidsp, int *nattsp: int)
    class = memory
OTHER int ncmpi_inq_varid(int ncid: handle, const char *name, int *varidp: int)
    class = memory
OTHER int ncmpi_inq_varname(int ncid: handle, int varid, char *name: text)
    class = memory
OTHER int ncmpi_inq_vartype(int ncid: handle, int varid, nc_type *xtypep: int)
    class = memory
OTHER int ncmpi_inq_varndims(int ncid: handle, int varid, int *ndimsp: int)
    class = memory
OTHER int ncmpi_inq_vardimid(int ncid: handle, int varid,
                             int *dimidsp: array(pnetcdf_dimensions(failed, ncid, varid, caller)))
    class = memory
OTHER int ncmpi_inq_varnatts(int ncid: handle, int varid, int *nattsp: int)
    class = memory
OTHER int ncmpi_inq_varoffset(int ncid: handle, int varid, MPI_Offset *offset: int)
    class = memory
OTHER int ncmpi_inq_put_size(int ncid: handle, MPI_Offset *size: int)
    class = memory
OTHER int ncmpi_inq_get_size(int ncid: handle, MPI_Offset *size: int)
    class = memory
OTHER int ncmpi_inq_header_size(int ncid: handle, MPI_Offset *size: int)
    class = memory
OTHER int ncmpi_inq_header_extent(int ncid: handle, MPI_Offset *extent: int)
    class = memory
OTHER int ncmpi_inq_malloc_size(MPI_Offset *size: int)
    class = memory
OTHER int ncmpi_inq_malloc_max_size(MPI_Offset *size: int)
    class = memory
OTHER int ncmpi_inq_malloc_list(void)
    class = memory
OTHER int ncmpi_inq_files_opened(int *num: int, int *ncids: array(num ? *num : 0))
    class = memory
OTHER int ncmpi_inq_recsize(int ncid: handle, MPI_Offset *recsize: int)
    class = memory
OTHER int ncmpi_inq_var_fill(int ncid: handle, int varid, int *no_fill: int, void *fill_value)
    class = memory
OTHER int ncmpi_inq_path(int ncid: handle, int *pathlen: int, char *path: text)
    class = memory
OTHER int ncmpi_inq_att(int ncid: handle, int varid, const char *name, nc_type *xtypep: int, MPI_Offset *lenp: int)
    class = memory
OTHER int ncmpi_inq_attid(int ncid: handle, int varid, const char *name, int *idp: int)
    class = memory
OTHER int ncmpi_inq_atttype(int ncid: handle, int varid, const char *name, nc_type *xtypep: int)
    class = memory
OTHER int ncmpi_inq_attlen(int ncid: handle, int varid, const char *name, MPI_Offset *lenp: int)
    class = memory
OTHER int ncmpi_inq_attname(int ncid: handle, int varid, int attnum, char *name: text)
    class = memory
OTHER int ncmpi_copy_att(int ncid_in: handle, int varid_in, const char *name, int ncid_out, int varid_out)
    flags = collective
OTHER int ncmpi_rename_att(int ncid: handle, int varid, const char *name, const char *newname)
    flags = collective
OTHER int ncmpi_del_att(int ncid: handle, int varid, const char *name)
    flags = collective
WRITE int ncmpi_put_att(int ncid: handle, int varid, const char *name,
                        nc_type xtype: enum{NC_NAT/NC_BYTE/NC_CHAR/NC_SHORT/NC_INT/NC_FLOAT/NC_DOUBLE/NC_UBYTE/NC_USHORT/NC_UINT/NC_INT64/NC_UINT64},
                        MPI_Offset nelems: count, const void *data: buffer)
    requested = failed ? 0 : times(nelems, external_width(xtype))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_att_text(int ncid: handle, int varid, const char *name, MPI_Offset len: count,
                             const char *op: buffer)
    requested = failed ? 0 : times(len, sizeof(char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_att_schar(int ncid: handle, int varid, const char *name,
                              nc_type xtype: enum{NC_NAT/NC_BYTE/NC_CHAR/NC_SHORT/NC_INT/NC_FLOAT/NC_DOUBLE/NC_UBYTE/NC_USHORT/NC_UINT/NC_INT64/NC_UINT64},
                              MPI_Offset len: count, const signed char *op: buffer)
    requested = failed ? 0 : times(len, sizeof(signed char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_att_short(int ncid: handle, int varid, const char *name,
                              nc_type xtype: enum{NC_NAT/NC_BYTE/NC_CHAR/NC_SHORT/NC_INT/NC_FLOAT/NC_DOUBLE/NC_UBYTE/NC_USHORT/NC_UINT/NC_INT64/NC_UINT64},
                              MPI_Offset len: count, const short *op: buffer)
    requested = failed ? 0 : times(len, sizeof(short))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_att_int(int ncid: handle, int varid, const char *name,
                            nc_type xtype: enum{NC_NAT/NC_BYTE/NC_CHAR/NC_SHORT/NC_INT/NC_FLOAT/NC_DOUBLE/NC_UBYTE/NC_USHORT/NC_UINT/NC_INT64/NC_UINT64},
                            MPI_Offset len: count, const int *op: buffer)
    requested = failed ? 0 : times(len, sizeof(int))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_att_float(int ncid: handle, int varid, const char *name,
                              nc_type xtype: enum{NC_NAT/NC_BYTE/NC_CHAR/NC_SHORT/NC_INT/NC_FLOAT/NC_DOUBLE/NC_UBYTE/NC_USHORT/NC_UINT/NC_INT64/NC_UINT64},
                              MPI_Offset len: count, const float *op: buffer)
    requested = failed ? 0 : times(len, sizeof(float))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_att_double(int ncid: handle, int varid, const char *name,
                               nc_type xtype: enum{NC_NAT/NC_BYTE/NC_CHAR/NC_SHORT/NC_INT/NC_FLOAT/NC_DOUBLE/NC_UBYTE/NC_USHORT/NC_UINT/NC_INT64/NC_UINT64},
                               MPI_Offset len: count, const double *op: buffer)
    requested = failed ? 0 : times(len, sizeof(double))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_att_longlong(int ncid: handle, int varid, const char *name,
                                 nc_type xtype: enum{NC_NAT/NC_BYTE/NC_CHAR/NC_SHORT/NC_INT/NC_FLOAT/NC_DOUBLE/NC_UBYTE/NC_USHORT/NC_UINT/NC_INT64/NC_UINT64},
                                 MPI_Offset len: count, const long long *op: buffer)
    requested = failed ? 0 : times(len, sizeof(long long))
    bytes = requested
    flags = collective
READ int ncmpi_get_att(int ncid: handle, int varid, const char *name, void *data: buffer)
    requested = pnetcdf_attribute_bytes(failed, ncid, varid, name, 0, caller)
    bytes = requested
READ int ncmpi_get_att_text(int ncid: handle, int varid, const char *name, char *ip: buffer)
    requested = pnetcdf_attribute_bytes(failed, ncid, varid, name, sizeof(char), caller)
    bytes = requested
READ int ncmpi_get_att_schar(int ncid: handle, int varid, const char *name, signed char *ip: buffer)
    requested = pnetcdf_attribute_bytes(failed, ncid, varid, name, sizeof(signed char), caller)
    bytes = requested
READ int ncmpi_get_att_short(int ncid: handle, int varid, const char *name, short *ip: buffer)
    requested = pnetcdf_attribute_bytes(failed, ncid, varid, name, sizeof(short), caller)
    bytes = requested
READ int ncmpi_get_att_int(int ncid: handle, int varid, const char *name, int *ip: buffer)
    requested = pnetcdf_attribute_bytes(failed, ncid, varid, name, sizeof(int), caller)
    bytes = requested
READ int ncmpi_get_att_float(int ncid: handle, int varid, const char *name, float *ip: buffer)
    requested = pnetcdf_attribute_bytes(failed, ncid, varid, name, sizeof(float), caller)
    bytes = requested
READ int ncmpi_get_att_double(int ncid: handle, int varid, const char *name, double *ip: buffer)
    requested = pnetcdf_attribute_bytes(failed, ncid, varid, name, sizeof(double), caller)
    bytes = requested
READ int ncmpi_get_att_longlong(int ncid: handle, int varid, const char *name, long long *ip: buffer)
    requested = pnetcdf_attribute_bytes(failed, ncid, varid, name, sizeof(long long), caller)
    bytes = requested
WRITE int ncmpi_put_att_uchar(int ncid: handle, int varid, const char *name,
                              nc_type xtype: enum{NC_NAT/NC_BYTE/NC_CHAR/NC_SHORT/NC_INT/NC_FLOAT/NC_DOUBLE/NC_UBYTE/NC_USHORT/NC_UINT/NC_INT64/NC_UINT64},
                              MPI_Offset len: count, const unsigned char *op: buffer)
    requested = failed ? 0 : times(len, sizeof(unsigned char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_att_ubyte(int ncid: handle, int varid, const char *name,
                              nc_type xtype: enum{NC_NAT/NC_BYTE/NC_CHAR/NC_SHORT/NC_INT/NC_FLOAT/NC_DOUBLE/NC_UBYTE/NC_USHORT/NC_UINT/NC_INT64/NC_UINT64},
                              MPI_Offset len: count, const unsigned char *op: buffer)
    requested = failed ? 0 : times(len, sizeof(unsigned char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_att_ushort(int ncid: handle, int varid, const char *name,
                               nc_type xtype: enum{NC_NAT/NC_BYTE/NC_CHAR/NC_SHORT/NC_INT/NC_FLOAT/NC_DOUBLE/NC_UBYTE/NC_USHORT/NC_UINT/NC_INT64/NC_UINT64},
                               MPI_Offset len: count, const unsigned short *op: buffer)
    requested = failed ? 0 : times(len, sizeof(unsigned short))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_att_uint(int ncid: handle, int varid, const char *name,
                             nc_type xtype: enum{NC_NAT/NC_BYTE/NC_CHAR/NC_SHORT/NC_INT/NC_FLOAT/NC_DOUBLE/NC_UBYTE/NC_USHORT/NC_UINT/NC_INT64/NC_UINT64},
                             MPI_Offset len: count, const unsigned int *op: buffer)
    requested = failed ? 0 : times(len, sizeof(unsigned int))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_att_long(int ncid: handle, int varid, const char *name,
                             nc_type xtype: enum{NC_NAT/NC_BYTE/NC_CHAR/NC_SHORT/NC_INT/NC_FLOAT/NC_DOUBLE/NC_UBYTE/NC_USHORT/NC_UINT/NC_INT64/NC_UINT64},
                             MPI_Offset len: count, const long *op: buffer)
    requested = failed ? 0 : times(len, sizeof(long))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_att_ulonglong(int ncid: handle, int varid, const char *name,
                                  nc_type xtype: enum{NC_NAT/NC_BYTE/NC_CHAR/NC_SHORT/NC_INT/NC_FLOAT/NC_DOUBLE/NC_UBYTE/NC_USHORT/NC_UINT/NC_INT64/NC_UINT64},
                                  MPI_Offset len: count, const unsigned long long *op: buffer)
    requested = failed ? 0 : times(len, sizeof(unsigned long long))
    bytes = requested
    flags = collective
READ int ncmpi_get_att_uchar(int ncid: handle, int varid, const char *name, unsigned char *ip: buffer)
    requested = pnetcdf_attribute_bytes(failed, ncid, varid, name, sizeof(unsigned char), caller)
    bytes = requested
READ int ncmpi_get_att_ubyte(int ncid: handle, int varid, const char *name, unsigned char *ip: buffer)
    requested = pnetcdf_attribute_bytes(failed, ncid, varid, name, sizeof(unsigned char), caller)
    bytes = requested
READ int ncmpi_get_att_ushort(int ncid: handle, int varid, const char *name, unsigned short *ip: buffer)
    requested = pnetcdf_attribute_bytes(failed, ncid, varid, name, sizeof(unsigned short), caller)
    bytes = requested
READ int ncmpi_get_att_uint(int ncid: handle, int varid, const char *name, unsigned int *ip: buffer)
    requested = pnetcdf_attribute_bytes(failed, ncid, varid, name, sizeof(unsigned int), caller)
    bytes = requested
READ int ncmpi_get_att_long(int ncid: handle, int varid, const char *name, long *ip: buffer)
    requested = pnetcdf_attribute_bytes(failed, ncid, varid, name, sizeof(long), caller)
    bytes = requested
READ int ncmpi_get_att_ulonglong(int ncid: handle, int varid, const char *name, unsigned long long *ip: buffer)
    requested = pnetcdf_attribute_bytes(failed, ncid, varid, name, sizeof(unsigned long long), caller)
    bytes = requested
WRITE int ncmpi_put_var1(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                         const void *op: buffer, MPI_Offset bufcount: count, MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, 1, bufcount, buftype, caller)
    bytes = requested
WRITE int ncmpi_put_var1_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const void *op: buffer, MPI_Offset bufcount: count, MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, 1, bufcount, buftype, caller)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var1_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(char)
    bytes = requested
WRITE int ncmpi_put_var1_text_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(char)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var1_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const signed char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(signed char)
    bytes = requested
WRITE int ncmpi_put_var1_schar_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const signed char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(signed char)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var1_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(short)
    bytes = requested
WRITE int ncmpi_put_var1_short_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(short)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var1_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(int)
    bytes = requested
WRITE int ncmpi_put_var1_int_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(int)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var1_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const float *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(float)
    bytes = requested
WRITE int ncmpi_put_var1_float_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const float *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(float)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var1_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const double *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(double)
    bytes = requested
WRITE int ncmpi_put_var1_double_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                    const double *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(double)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var1_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(long long)
    bytes = requested
WRITE int ncmpi_put_var1_longlong_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                      const long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(long long)
    bytes = requested
    flags = collective
READ int ncmpi_get_var1(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions), void *ip: buffer,
                        MPI_Offset bufcount: count, MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, 1, bufcount, buftype, caller)
    bytes = requested
READ int ncmpi_get_var1_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions), void *ip: buffer,
                            MPI_Offset bufcount: count, MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, 1, bufcount, buftype, caller)
    bytes = requested
    flags = collective
READ int ncmpi_get_var1_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(char)
    bytes = requested
READ int ncmpi_get_var1_text_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(char)
    bytes = requested
    flags = collective
READ int ncmpi_get_var1_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              signed char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(signed char)
    bytes = requested
READ int ncmpi_get_var1_schar_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  signed char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(signed char)
    bytes = requested
    flags = collective
READ int ncmpi_get_var1_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(short)
    bytes = requested
READ int ncmpi_get_var1_short_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(short)
    bytes = requested
    flags = collective
READ int ncmpi_get_var1_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions), int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(int)
    bytes = requested
READ int ncmpi_get_var1_int_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(int)
    bytes = requested
    flags = collective
READ int ncmpi_get_var1_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              float *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(float)
    bytes = requested
READ int ncmpi_get_var1_float_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  float *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(float)
    bytes = requested
    flags = collective
READ int ncmpi_get_var1_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               double *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(double)
    bytes = requested
READ int ncmpi_get_var1_double_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   double *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(double)
    bytes = requested
    flags = collective
READ int ncmpi_get_var1_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(long long)
    bytes = requested
READ int ncmpi_get_var1_longlong_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                     long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(long long)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var1_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const unsigned char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned char)
    bytes = requested
WRITE int ncmpi_put_var1_uchar_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const unsigned char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned char)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var1_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const unsigned short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned short)
    bytes = requested
WRITE int ncmpi_put_var1_ushort_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                    const unsigned short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned short)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var1_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const unsigned int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned int)
    bytes = requested
WRITE int ncmpi_put_var1_uint_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const unsigned int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned int)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var1_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(long)
    bytes = requested
WRITE int ncmpi_put_var1_long_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(long)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var1_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const unsigned long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned long long)
    bytes = requested
WRITE int ncmpi_put_var1_ulonglong_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                       const unsigned long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned long long)
    bytes = requested
    flags = collective
READ int ncmpi_get_var1_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              unsigned char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned char)
    bytes = requested
READ int ncmpi_get_var1_uchar_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  unsigned char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned char)
    bytes = requested
    flags = collective
READ int ncmpi_get_var1_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               unsigned short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned short)
    bytes = requested
READ int ncmpi_get_var1_ushort_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   unsigned short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned short)
    bytes = requested
    flags = collective
READ int ncmpi_get_var1_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             unsigned int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned int)
    bytes = requested
READ int ncmpi_get_var1_uint_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 unsigned int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned int)
    bytes = requested
    flags = collective
READ int ncmpi_get_var1_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(long)
    bytes = requested
READ int ncmpi_get_var1_long_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(long)
    bytes = requested
    flags = collective
READ int ncmpi_get_var1_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  unsigned long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned long long)
    bytes = requested
READ int ncmpi_get_var1_ulonglong_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                      unsigned long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned long long)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var(int ncid: handle, int varid, const void *op: buffer, MPI_Offset bufcount: count,
                        MPI_Datatype buftype: datatype)
    after = int64_t elements = pnetcdf_variable_elements(failed, ncid, varid, caller)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
WRITE int ncmpi_put_var_all(int ncid: handle, int varid, const void *op: buffer, MPI_Offset bufcount: count,
                            MPI_Datatype buftype: datatype)
    after = int64_t elements = pnetcdf_variable_elements(failed, ncid, varid, caller)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var_text(int ncid: handle, int varid, const char *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(char))
    bytes = requested
WRITE int ncmpi_put_var_text_all(int ncid: handle, int varid, const char *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var_schar(int ncid: handle, int varid, const signed char *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(signed char))
    bytes = requested
WRITE int ncmpi_put_var_schar_all(int ncid: handle, int varid, const signed char *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(signed char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var_short(int ncid: handle, int varid, const short *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(short))
    bytes = requested
WRITE int ncmpi_put_var_short_all(int ncid: handle, int varid, const short *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(short))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var_int(int ncid: handle, int varid, const int *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(int))
    bytes = requested
WRITE int ncmpi_put_var_int_all(int ncid: handle, int varid, const int *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(int))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var_float(int ncid: handle, int varid, const float *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(float))
    bytes = requested
WRITE int ncmpi_put_var_float_all(int ncid: handle, int varid, const float *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(float))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var_double(int ncid: handle, int varid, const double *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(double))
    bytes = requested
WRITE int ncmpi_put_var_double_all(int ncid: handle, int varid, const double *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(double))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var_longlong(int ncid: handle, int varid, const long long *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(long long))
    bytes = requested
WRITE int ncmpi_put_var_longlong_all(int ncid: handle, int varid, const long long *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(long long))
    bytes = requested
    flags = collective
READ int ncmpi_get_var(int ncid: handle, int varid, void *ip: buffer, MPI_Offset bufcount: count,
                       MPI_Datatype buftype: datatype)
    after = int64_t elements = pnetcdf_variable_elements(failed, ncid, varid, caller)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
READ int ncmpi_get_var_all(int ncid: handle, int varid, void *ip: buffer, MPI_Offset bufcount: count,
                           MPI_Datatype buftype: datatype)
    after = int64_t elements = pnetcdf_variable_elements(failed, ncid, varid, caller)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
    flags = collective
READ int ncmpi_get_var_text(int ncid: handle, int varid, char *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(char))
    bytes = requested
READ int ncmpi_get_var_text_all(int ncid: handle, int varid, char *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(char))
    bytes = requested
    flags = collective
READ int ncmpi_get_var_schar(int ncid: handle, int varid, signed char *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(signed char))
    bytes = requested
READ int ncmpi_get_var_schar_all(int ncid: handle, int varid, signed char *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(signed char))
    bytes = requested
    flags = collective
READ int ncmpi_get_var_short(int ncid: handle, int varid, short *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(short))
    bytes = requested
READ int ncmpi_get_var_short_all(int ncid: handle, int varid, short *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(short))
    bytes = requested
    flags = collective
READ int ncmpi_get_var_int(int ncid: handle, int varid, int *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(int))
    bytes = requested
READ int ncmpi_get_var_int_all(int ncid: handle, int varid, int *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(int))
    bytes = requested
    flags = collective
READ int ncmpi_get_var_float(int ncid: handle, int varid, float *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(float))
    bytes = requested
READ int ncmpi_get_var_float_all(int ncid: handle, int varid, float *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(float))
    bytes = requested
    flags = collective
READ int ncmpi_get_var_double(int ncid: handle, int varid, double *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(double))
    bytes = requested
READ int ncmpi_get_var_double_all(int ncid: handle, int varid, double *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(double))
    bytes = requested
    flags = collective
READ int ncmpi_get_var_longlong(int ncid: handle, int varid, long long *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(long long))
    bytes = requested
READ int ncmpi_get_var_longlong_all(int ncid: handle, int varid, long long *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var_uchar(int ncid: handle, int varid, const unsigned char *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned char))
    bytes = requested
WRITE int ncmpi_put_var_uchar_all(int ncid: handle, int varid, const unsigned char *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var_ushort(int ncid: handle, int varid, const unsigned short *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned short))
    bytes = requested
WRITE int ncmpi_put_var_ushort_all(int ncid: handle, int varid, const unsigned short *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned short))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var_uint(int ncid: handle, int varid, const unsigned int *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned int))
    bytes = requested
WRITE int ncmpi_put_var_uint_all(int ncid: handle, int varid, const unsigned int *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned int))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var_long(int ncid: handle, int varid, const long *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(long))
    bytes = requested
WRITE int ncmpi_put_var_long_all(int ncid: handle, int varid, const long *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(long))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_var_ulonglong(int ncid: handle, int varid, const unsigned long long *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned long long))
    bytes = requested
WRITE int ncmpi_put_var_ulonglong_all(int ncid: handle, int varid, const unsigned long long *op: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned long long))
    bytes = requested
    flags = collective
READ int ncmpi_get_var_uchar(int ncid: handle, int varid, unsigned char *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned char))
    bytes = requested
READ int ncmpi_get_var_uchar_all(int ncid: handle, int varid, unsigned char *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned char))
    bytes = requested
    flags = collective
READ int ncmpi_get_var_ushort(int ncid: handle, int varid, unsigned short *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned short))
    bytes = requested
READ int ncmpi_get_var_ushort_all(int ncid: handle, int varid, unsigned short *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned short))
    bytes = requested
    flags = collective
READ int ncmpi_get_var_uint(int ncid: handle, int varid, unsigned int *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned int))
    bytes = requested
READ int ncmpi_get_var_uint_all(int ncid: handle, int varid, unsigned int *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned int))
    bytes = requested
    flags = collective
READ int ncmpi_get_var_long(int ncid: handle, int varid, long *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(long))
    bytes = requested
READ int ncmpi_get_var_long_all(int ncid: handle, int varid, long *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(long))
    bytes = requested
    flags = collective
READ int ncmpi_get_var_ulonglong(int ncid: handle, int varid, unsigned long long *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned long long))
    bytes = requested
READ int ncmpi_get_var_ulonglong_all(int ncid: handle, int varid, unsigned long long *ip: buffer)
    requested = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vara(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                         const MPI_Offset *count: array(dimensions), const void *op: buffer,
                         MPI_Offset bufcount: count, MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
WRITE int ncmpi_put_vara_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), const void *op: buffer,
                             MPI_Offset bufcount: count, MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vara_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    bytes = requested
WRITE int ncmpi_put_vara_text_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions), const char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vara_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions), const signed char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    bytes = requested
WRITE int ncmpi_put_vara_schar_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions), const signed char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vara_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions), const short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    bytes = requested
WRITE int ncmpi_put_vara_short_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions), const short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vara_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), const int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    bytes = requested
WRITE int ncmpi_put_vara_int_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions), const int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vara_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions), const float *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    bytes = requested
WRITE int ncmpi_put_vara_float_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions), const float *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vara_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions), const double *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    bytes = requested
WRITE int ncmpi_put_vara_double_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                    const MPI_Offset *count: array(dimensions), const double *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vara_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions), const long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    bytes = requested
WRITE int ncmpi_put_vara_longlong_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                      const MPI_Offset *count: array(dimensions), const long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    bytes = requested
    flags = collective
READ int ncmpi_get_vara(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                        const MPI_Offset *count: array(dimensions), void *ip: buffer, MPI_Offset bufcount: count,
                        MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
READ int ncmpi_get_vara_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                            const MPI_Offset *count: array(dimensions), void *ip: buffer, MPI_Offset bufcount: count,
                            MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
    flags = collective
READ int ncmpi_get_vara_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    bytes = requested
READ int ncmpi_get_vara_text_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions), char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    bytes = requested
    flags = collective
READ int ncmpi_get_vara_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), signed char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    bytes = requested
READ int ncmpi_get_vara_schar_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions), signed char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    bytes = requested
    flags = collective
READ int ncmpi_get_vara_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    bytes = requested
READ int ncmpi_get_vara_short_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions), short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    bytes = requested
    flags = collective
READ int ncmpi_get_vara_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                            const MPI_Offset *count: array(dimensions), int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    bytes = requested
READ int ncmpi_get_vara_int_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions), int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    bytes = requested
    flags = collective
READ int ncmpi_get_vara_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), float *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    bytes = requested
READ int ncmpi_get_vara_float_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions), float *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    bytes = requested
    flags = collective
READ int ncmpi_get_vara_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions), double *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    bytes = requested
READ int ncmpi_get_vara_double_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions), double *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    bytes = requested
    flags = collective
READ int ncmpi_get_vara_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions), long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    bytes = requested
READ int ncmpi_get_vara_longlong_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                     const MPI_Offset *count: array(dimensions), long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vara_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions), const unsigned char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    bytes = requested
WRITE int ncmpi_put_vara_uchar_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions), const unsigned char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vara_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions), const unsigned short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    bytes = requested
WRITE int ncmpi_put_vara_ushort_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                    const MPI_Offset *count: array(dimensions), const unsigned short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vara_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const unsigned int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    bytes = requested
WRITE int ncmpi_put_vara_uint_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions), const unsigned int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vara_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    bytes = requested
WRITE int ncmpi_put_vara_long_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions), const long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vara_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions), const unsigned long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    bytes = requested
WRITE int ncmpi_put_vara_ulonglong_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                       const MPI_Offset *count: array(dimensions),
                                       const unsigned long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    bytes = requested
    flags = collective
READ int ncmpi_get_vara_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), unsigned char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    bytes = requested
READ int ncmpi_get_vara_uchar_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions), unsigned char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    bytes = requested
    flags = collective
READ int ncmpi_get_vara_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions), unsigned short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    bytes = requested
READ int ncmpi_get_vara_ushort_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions), unsigned short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    bytes = requested
    flags = collective
READ int ncmpi_get_vara_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), unsigned int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    bytes = requested
READ int ncmpi_get_vara_uint_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions), unsigned int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    bytes = requested
    flags = collective
READ int ncmpi_get_vara_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    bytes = requested
READ int ncmpi_get_vara_long_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions), long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    bytes = requested
    flags = collective
READ int ncmpi_get_vara_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions), unsigned long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    bytes = requested
READ int ncmpi_get_vara_ulonglong_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                      const MPI_Offset *count: array(dimensions), unsigned long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vars(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                         const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                         const void *op: buffer, MPI_Offset bufcount: count, MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
WRITE int ncmpi_put_vars_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                             const void *op: buffer, MPI_Offset bufcount: count, MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vars_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    bytes = requested
WRITE int ncmpi_put_vars_text_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions), const char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vars_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const signed char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    bytes = requested
WRITE int ncmpi_put_vars_schar_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions), const signed char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vars_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    bytes = requested
WRITE int ncmpi_put_vars_short_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions), const short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vars_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                             const int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    bytes = requested
WRITE int ncmpi_put_vars_int_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions), const int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vars_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const float *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    bytes = requested
WRITE int ncmpi_put_vars_float_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions), const float *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vars_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions), const double *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    bytes = requested
WRITE int ncmpi_put_vars_double_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                    const MPI_Offset *count: array(dimensions),
                                    const MPI_Offset *stride: array(dimensions), const double *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vars_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions), const long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    bytes = requested
WRITE int ncmpi_put_vars_longlong_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                      const MPI_Offset *count: array(dimensions),
                                      const MPI_Offset *stride: array(dimensions), const long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    bytes = requested
    flags = collective
READ int ncmpi_get_vars(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                        const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                        void *ip: buffer, MPI_Offset bufcount: count, MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
READ int ncmpi_get_vars_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                            const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                            void *ip: buffer, MPI_Offset bufcount: count, MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
    flags = collective
READ int ncmpi_get_vars_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              signed char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    bytes = requested
READ int ncmpi_get_vars_schar_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions), signed char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    bytes = requested
    flags = collective
READ int ncmpi_get_vars_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                             char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    bytes = requested
READ int ncmpi_get_vars_text_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions), char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    bytes = requested
    flags = collective
READ int ncmpi_get_vars_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    bytes = requested
READ int ncmpi_get_vars_short_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions), short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    bytes = requested
    flags = collective
READ int ncmpi_get_vars_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                            const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                            int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    bytes = requested
READ int ncmpi_get_vars_int_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions), int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    bytes = requested
    flags = collective
READ int ncmpi_get_vars_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              float *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    bytes = requested
READ int ncmpi_get_vars_float_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions), float *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    bytes = requested
    flags = collective
READ int ncmpi_get_vars_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), double *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    bytes = requested
READ int ncmpi_get_vars_double_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions), double *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    bytes = requested
    flags = collective
READ int ncmpi_get_vars_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions), long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    bytes = requested
READ int ncmpi_get_vars_longlong_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                     const MPI_Offset *count: array(dimensions),
                                     const MPI_Offset *stride: array(dimensions), long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vars_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const unsigned char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    bytes = requested
WRITE int ncmpi_put_vars_uchar_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions), const unsigned char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vars_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions), const unsigned short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    bytes = requested
WRITE int ncmpi_put_vars_ushort_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                    const MPI_Offset *count: array(dimensions),
                                    const MPI_Offset *stride: array(dimensions), const unsigned short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vars_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const unsigned int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    bytes = requested
WRITE int ncmpi_put_vars_uint_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions), const unsigned int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vars_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    bytes = requested
WRITE int ncmpi_put_vars_long_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions), const long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vars_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions), const unsigned long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    bytes = requested
WRITE int ncmpi_put_vars_ulonglong_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                       const MPI_Offset *count: array(dimensions),
                                       const MPI_Offset *stride: array(dimensions),
                                       const unsigned long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    bytes = requested
    flags = collective
READ int ncmpi_get_vars_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              unsigned char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    bytes = requested
READ int ncmpi_get_vars_uchar_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions), unsigned char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    bytes = requested
    flags = collective
READ int ncmpi_get_vars_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), unsigned short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    bytes = requested
READ int ncmpi_get_vars_ushort_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions), unsigned short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    bytes = requested
    flags = collective
READ int ncmpi_get_vars_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                             unsigned int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    bytes = requested
READ int ncmpi_get_vars_uint_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions), unsigned int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    bytes = requested
    flags = collective
READ int ncmpi_get_vars_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                             long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    bytes = requested
READ int ncmpi_get_vars_long_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions), long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    bytes = requested
    flags = collective
READ int ncmpi_get_vars_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions), unsigned long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    bytes = requested
READ int ncmpi_get_vars_ulonglong_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                      const MPI_Offset *count: array(dimensions),
                                      const MPI_Offset *stride: array(dimensions), unsigned long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varm(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                         const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                         const MPI_Offset *imap: array(dimensions), const void *op: buffer,
                         MPI_Offset bufcount: count, MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
WRITE int ncmpi_put_varm_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                             const MPI_Offset *imap: array(dimensions), const void *op: buffer,
                             MPI_Offset bufcount: count, MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varm_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const MPI_Offset *imap: array(dimensions), const char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    bytes = requested
WRITE int ncmpi_put_varm_text_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions),
                                  const MPI_Offset *imap: array(dimensions), const char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varm_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const MPI_Offset *imap: array(dimensions),
                               const signed char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    bytes = requested
WRITE int ncmpi_put_varm_schar_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions),
                                   const MPI_Offset *imap: array(dimensions), const signed char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varm_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const MPI_Offset *imap: array(dimensions),
                               const short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    bytes = requested
WRITE int ncmpi_put_varm_short_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions),
                                   const MPI_Offset *imap: array(dimensions), const short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varm_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                             const MPI_Offset *imap: array(dimensions), const int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    bytes = requested
WRITE int ncmpi_put_varm_int_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions),
                                 const MPI_Offset *imap: array(dimensions), const int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varm_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const MPI_Offset *imap: array(dimensions),
                               const float *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    bytes = requested
WRITE int ncmpi_put_varm_float_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions),
                                   const MPI_Offset *imap: array(dimensions), const float *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varm_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions),
                                const MPI_Offset *imap: array(dimensions), const double *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    bytes = requested
WRITE int ncmpi_put_varm_double_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                    const MPI_Offset *count: array(dimensions),
                                    const MPI_Offset *stride: array(dimensions),
                                    const MPI_Offset *imap: array(dimensions), const double *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varm_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions),
                                  const MPI_Offset *imap: array(dimensions), const long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    bytes = requested
WRITE int ncmpi_put_varm_longlong_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                      const MPI_Offset *count: array(dimensions),
                                      const MPI_Offset *stride: array(dimensions),
                                      const MPI_Offset *imap: array(dimensions), const long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    bytes = requested
    flags = collective
READ int ncmpi_get_varm(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                        const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                        const MPI_Offset *imap: array(dimensions), void *ip: buffer, MPI_Offset bufcount: count,
                        MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
READ int ncmpi_get_varm_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                            const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                            const MPI_Offset *imap: array(dimensions), void *ip: buffer, MPI_Offset bufcount: count,
                            MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
    flags = collective
READ int ncmpi_get_varm_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const MPI_Offset *imap: array(dimensions), signed char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    bytes = requested
READ int ncmpi_get_varm_schar_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions),
                                  const MPI_Offset *imap: array(dimensions), signed char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    bytes = requested
    flags = collective
READ int ncmpi_get_varm_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                             const MPI_Offset *imap: array(dimensions), char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    bytes = requested
READ int ncmpi_get_varm_text_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions),
                                 const MPI_Offset *imap: array(dimensions), char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    bytes = requested
    flags = collective
READ int ncmpi_get_varm_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const MPI_Offset *imap: array(dimensions), short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    bytes = requested
READ int ncmpi_get_varm_short_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions),
                                  const MPI_Offset *imap: array(dimensions), short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    bytes = requested
    flags = collective
READ int ncmpi_get_varm_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                            const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                            const MPI_Offset *imap: array(dimensions), int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    bytes = requested
READ int ncmpi_get_varm_int_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions),
                                const MPI_Offset *imap: array(dimensions), int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    bytes = requested
    flags = collective
READ int ncmpi_get_varm_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const MPI_Offset *imap: array(dimensions), float *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    bytes = requested
READ int ncmpi_get_varm_float_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions),
                                  const MPI_Offset *imap: array(dimensions), float *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    bytes = requested
    flags = collective
READ int ncmpi_get_varm_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const MPI_Offset *imap: array(dimensions),
                               double *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    bytes = requested
READ int ncmpi_get_varm_double_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions),
                                   const MPI_Offset *imap: array(dimensions), double *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    bytes = requested
    flags = collective
READ int ncmpi_get_varm_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions),
                                 const MPI_Offset *imap: array(dimensions), long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    bytes = requested
READ int ncmpi_get_varm_longlong_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                     const MPI_Offset *count: array(dimensions),
                                     const MPI_Offset *stride: array(dimensions),
                                     const MPI_Offset *imap: array(dimensions), long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varm_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const MPI_Offset *imap: array(dimensions),
                               const unsigned char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    bytes = requested
WRITE int ncmpi_put_varm_uchar_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions),
                                   const MPI_Offset *imap: array(dimensions), const unsigned char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varm_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions),
                                const MPI_Offset *imap: array(dimensions), const unsigned short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    bytes = requested
WRITE int ncmpi_put_varm_ushort_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                    const MPI_Offset *count: array(dimensions),
                                    const MPI_Offset *stride: array(dimensions),
                                    const MPI_Offset *imap: array(dimensions), const unsigned short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varm_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const MPI_Offset *imap: array(dimensions), const unsigned int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    bytes = requested
WRITE int ncmpi_put_varm_uint_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions),
                                  const MPI_Offset *imap: array(dimensions), const unsigned int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varm_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const MPI_Offset *imap: array(dimensions), const long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    bytes = requested
WRITE int ncmpi_put_varm_long_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions),
                                  const MPI_Offset *imap: array(dimensions), const long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varm_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions),
                                   const MPI_Offset *imap: array(dimensions), const unsigned long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    bytes = requested
WRITE int ncmpi_put_varm_ulonglong_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                       const MPI_Offset *count: array(dimensions),
                                       const MPI_Offset *stride: array(dimensions),
                                       const MPI_Offset *imap: array(dimensions),
                                       const unsigned long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    bytes = requested
    flags = collective
READ int ncmpi_get_varm_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const MPI_Offset *imap: array(dimensions), unsigned char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    bytes = requested
READ int ncmpi_get_varm_uchar_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions),
                                  const MPI_Offset *imap: array(dimensions), unsigned char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    bytes = requested
    flags = collective
READ int ncmpi_get_varm_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const MPI_Offset *imap: array(dimensions),
                               unsigned short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    bytes = requested
READ int ncmpi_get_varm_ushort_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions),
                                   const MPI_Offset *imap: array(dimensions), unsigned short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    bytes = requested
    flags = collective
READ int ncmpi_get_varm_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                             const MPI_Offset *imap: array(dimensions), unsigned int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    bytes = requested
READ int ncmpi_get_varm_uint_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions),
                                 const MPI_Offset *imap: array(dimensions), unsigned int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    bytes = requested
    flags = collective
READ int ncmpi_get_varm_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                             const MPI_Offset *imap: array(dimensions), long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    bytes = requested
READ int ncmpi_get_varm_long_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions),
                                 const MPI_Offset *imap: array(dimensions), long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    bytes = requested
    flags = collective
READ int ncmpi_get_varm_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions),
                                  const MPI_Offset *imap: array(dimensions), unsigned long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    bytes = requested
READ int ncmpi_get_varm_ulonglong_all(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                      const MPI_Offset *count: array(dimensions),
                                      const MPI_Offset *stride: array(dimensions),
                                      const MPI_Offset *imap: array(dimensions), unsigned long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varn(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                         MPI_Offset *const *counts, const void *op: buffer, MPI_Offset bufcount: count,
                         MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_parts_elements(failed, dimensions, num, counts)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
WRITE int ncmpi_put_varn_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                             MPI_Offset *const *counts, const void *op: buffer, MPI_Offset bufcount: count,
                             MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_parts_elements(failed, dimensions, num, counts)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
    flags = collective
READ int ncmpi_get_varn(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                        MPI_Offset *const *counts, void *ip: buffer, MPI_Offset bufcount: count,
                        MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_parts_elements(failed, dimensions, num, counts)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
READ int ncmpi_get_varn_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                            MPI_Offset *const *counts, void *ip: buffer, MPI_Offset bufcount: count,
                            MPI_Datatype buftype: datatype)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_parts_elements(failed, dimensions, num, counts)
    requested = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varn_text(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                              MPI_Offset *const *counts, const char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(char))
    bytes = requested
WRITE int ncmpi_put_varn_text_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                  MPI_Offset *const *counts, const char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varn_schar(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                               MPI_Offset *const *counts, const signed char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(signed char))
    bytes = requested
WRITE int ncmpi_put_varn_schar_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                   MPI_Offset *const *counts, const signed char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(signed char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varn_short(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                               MPI_Offset *const *counts, const short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(short))
    bytes = requested
WRITE int ncmpi_put_varn_short_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                   MPI_Offset *const *counts, const short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(short))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varn_int(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                             MPI_Offset *const *counts, const int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(int))
    bytes = requested
WRITE int ncmpi_put_varn_int_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, const int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(int))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varn_float(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                               MPI_Offset *const *counts, const float *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(float))
    bytes = requested
WRITE int ncmpi_put_varn_float_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                   MPI_Offset *const *counts, const float *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(float))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varn_double(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                MPI_Offset *const *counts, const double *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(double))
    bytes = requested
WRITE int ncmpi_put_varn_double_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                    MPI_Offset *const *counts, const double *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(double))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varn_longlong(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                  MPI_Offset *const *counts, const long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(long long))
    bytes = requested
WRITE int ncmpi_put_varn_longlong_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                      MPI_Offset *const *counts, const long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varn_uchar(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                               MPI_Offset *const *counts, const unsigned char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned char))
    bytes = requested
WRITE int ncmpi_put_varn_uchar_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                   MPI_Offset *const *counts, const unsigned char *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned char))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varn_ushort(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                MPI_Offset *const *counts, const unsigned short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned short))
    bytes = requested
WRITE int ncmpi_put_varn_ushort_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                    MPI_Offset *const *counts, const unsigned short *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned short))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varn_uint(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                              MPI_Offset *const *counts, const unsigned int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned int))
    bytes = requested
WRITE int ncmpi_put_varn_uint_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                  MPI_Offset *const *counts, const unsigned int *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned int))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varn_long(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                              MPI_Offset *const *counts, const long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(long))
    bytes = requested
WRITE int ncmpi_put_varn_long_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                  MPI_Offset *const *counts, const long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(long))
    bytes = requested
    flags = collective
WRITE int ncmpi_put_varn_ulonglong(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                   MPI_Offset *const *counts, const unsigned long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned long long))
    bytes = requested
WRITE int ncmpi_put_varn_ulonglong_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                       MPI_Offset *const *counts, const unsigned long long *op: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned long long))
    bytes = requested
    flags = collective
READ int ncmpi_get_varn_text(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                             MPI_Offset *const *counts, char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(char))
    bytes = requested
READ int ncmpi_get_varn_text_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(char))
    bytes = requested
    flags = collective
READ int ncmpi_get_varn_schar(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                              MPI_Offset *const *counts, signed char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(signed char))
    bytes = requested
READ int ncmpi_get_varn_schar_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                  MPI_Offset *const *counts, signed char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(signed char))
    bytes = requested
    flags = collective
READ int ncmpi_get_varn_short(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                              MPI_Offset *const *counts, short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(short))
    bytes = requested
READ int ncmpi_get_varn_short_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                  MPI_Offset *const *counts, short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(short))
    bytes = requested
    flags = collective
READ int ncmpi_get_varn_int(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                            MPI_Offset *const *counts, int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(int))
    bytes = requested
READ int ncmpi_get_varn_int_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                MPI_Offset *const *counts, int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(int))
    bytes = requested
    flags = collective
READ int ncmpi_get_varn_float(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                              MPI_Offset *const *counts, float *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(float))
    bytes = requested
READ int ncmpi_get_varn_float_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                  MPI_Offset *const *counts, float *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(float))
    bytes = requested
    flags = collective
READ int ncmpi_get_varn_double(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                               MPI_Offset *const *counts, double *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(double))
    bytes = requested
READ int ncmpi_get_varn_double_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                   MPI_Offset *const *counts, double *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(double))
    bytes = requested
    flags = collective
READ int ncmpi_get_varn_longlong(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(long long))
    bytes = requested
READ int ncmpi_get_varn_longlong_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                     MPI_Offset *const *counts, long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(long long))
    bytes = requested
    flags = collective
READ int ncmpi_get_varn_uchar(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                              MPI_Offset *const *counts, unsigned char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned char))
    bytes = requested
READ int ncmpi_get_varn_uchar_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                  MPI_Offset *const *counts, unsigned char *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned char))
    bytes = requested
    flags = collective
READ int ncmpi_get_varn_ushort(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                               MPI_Offset *const *counts, unsigned short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned short))
    bytes = requested
READ int ncmpi_get_varn_ushort_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                   MPI_Offset *const *counts, unsigned short *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned short))
    bytes = requested
    flags = collective
READ int ncmpi_get_varn_uint(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                             MPI_Offset *const *counts, unsigned int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned int))
    bytes = requested
READ int ncmpi_get_varn_uint_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, unsigned int *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned int))
    bytes = requested
    flags = collective
READ int ncmpi_get_varn_long(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                             MPI_Offset *const *counts, long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(long))
    bytes = requested
READ int ncmpi_get_varn_long_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(long))
    bytes = requested
    flags = collective
READ int ncmpi_get_varn_ulonglong(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                  MPI_Offset *const *counts, unsigned long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned long long))
    bytes = requested
READ int ncmpi_get_varn_ulonglong_all(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                      MPI_Offset *const *counts, unsigned long long *ip: buffer)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    requested = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned long long))
    bytes = requested
    flags = collective
READ int ncmpi_get_vard(int ncid: handle, int varid, MPI_Datatype filetype: datatype, void *ip: buffer,
                        MPI_Offset bufcount: count, MPI_Datatype buftype: datatype)
    requested = pnetcdf_filetype_bytes(failed, filetype, bufcount, buftype, caller)
    bytes = requested
READ int ncmpi_get_vard_all(int ncid: handle, int varid, MPI_Datatype filetype: datatype, void *ip: buffer,
                            MPI_Offset bufcount: count, MPI_Datatype buftype: datatype)
    requested = pnetcdf_filetype_bytes(failed, filetype, bufcount, buftype, caller)
    bytes = requested
    flags = collective
WRITE int ncmpi_put_vard(int ncid: handle, int varid, MPI_Datatype filetype: datatype, const void *ip: buffer,
                         MPI_Offset bufcount: count, MPI_Datatype buftype: datatype)
    requested = pnetcdf_filetype_bytes(failed, filetype, bufcount, buftype, caller)
    bytes = requested
WRITE int ncmpi_put_vard_all(int ncid: handle, int varid, MPI_Datatype filetype: datatype, const void *ip: buffer,
                             MPI_Offset bufcount: count, MPI_Datatype buftype: datatype)
    requested = pnetcdf_filetype_bytes(failed, filetype, bufcount, buftype, caller)
    bytes = requested
    flags = collective
OTHER int ncmpi_wait(int ncid: handle, int count: int, int *completed: array(0), int *statuses)
    class = data
    custom
OTHER int ncmpi_wait_all(int ncid: handle, int count: int, int *completed: array(0), int *statuses)
    class = data
    flags = collective
    custom
OTHER int ncmpi_cancel(int ncid: handle, int num, int *reqs, int *statuses)
    before = pnetcdf_mark_requests(ncid, num, reqs, &ncid, caller)
    after = pnetcdf_release_cancelled(failed, reqs, &ncid)
OTHER int ncmpi_buffer_attach(int ncid: handle, MPI_Offset bufsize)
OTHER int ncmpi_buffer_detach(int ncid: handle)
OTHER int ncmpi_inq_buffer_usage(int ncid: handle, MPI_Offset *usage: int)
    class = memory
OTHER int ncmpi_inq_buffer_size(int ncid: handle, MPI_Offset *buf_size: int)
    class = memory
OTHER int ncmpi_inq_nreqs(int ncid: handle, int *nreqs: int)
    class = memory
WRITE int ncmpi_iput_var1(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                          const void *op: buffer, MPI_Offset bufcount: count, MPI_Datatype buftype: datatype,
                          int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, 1, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var1_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(char)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var1_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const signed char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(signed char)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var1_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const short *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(short)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var1_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const int *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(int)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var1_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const float *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(float)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var1_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const double *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(double)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var1_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const long long *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(long long)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var1(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions), void *ip: buffer,
                         MPI_Offset bufcount: count, MPI_Datatype buftype: datatype, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, 1, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var1_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               signed char *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(signed char)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var1_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              char *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(char)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var1_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               short *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(short)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var1_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions), int *ip: buffer,
                             int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(int)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var1_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               float *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(float)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var1_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                double *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(double)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var1_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  long long *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(long long)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var1(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                          const void *op: buffer, MPI_Offset bufcount: count, MPI_Datatype buftype: datatype,
                          int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, 1, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var1_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(char)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var1_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const signed char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(signed char)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var1_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const short *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(short)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var1_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const int *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(int)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var1_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const float *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(float)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var1_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const double *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(double)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var1_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const long long *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(long long)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var1_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const unsigned char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(unsigned char)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var1_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const unsigned short *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(unsigned short)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var1_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const unsigned int *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(unsigned int)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var1_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const long *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(long)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var1_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                    const unsigned long long *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(unsigned long long)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var1_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               unsigned char *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(unsigned char)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var1_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                unsigned short *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(unsigned short)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var1_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              unsigned int *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(unsigned int)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var1_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              long *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(long)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var1_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   unsigned long long *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(unsigned long long)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var1_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const unsigned char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(unsigned char)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var1_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const unsigned short *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(unsigned short)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var1_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const unsigned int *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(unsigned int)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var1_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const long *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(long)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var1_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                    const unsigned long long *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = failed ? 0 : sizeof(unsigned long long)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var(int ncid: handle, int varid, const void *op: buffer, MPI_Offset bufcount: count,
                         MPI_Datatype buftype: datatype, int *req: int)
    after = int64_t elements = pnetcdf_variable_elements(failed, ncid, varid, caller)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var_schar(int ncid: handle, int varid, const signed char *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(signed char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var_text(int ncid: handle, int varid, const char *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var_short(int ncid: handle, int varid, const short *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var_int(int ncid: handle, int varid, const int *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var_float(int ncid: handle, int varid, const float *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(float))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var_double(int ncid: handle, int varid, const double *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(double))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var_longlong(int ncid: handle, int varid, const long long *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var(int ncid: handle, int varid, void *ip: buffer, MPI_Offset bufcount: count,
                        MPI_Datatype buftype: datatype, int *req: int)
    after = int64_t elements = pnetcdf_variable_elements(failed, ncid, varid, caller)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var_schar(int ncid: handle, int varid, signed char *ip: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(signed char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var_text(int ncid: handle, int varid, char *ip: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var_short(int ncid: handle, int varid, short *ip: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var_int(int ncid: handle, int varid, int *ip: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var_float(int ncid: handle, int varid, float *ip: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(float))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var_double(int ncid: handle, int varid, double *ip: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(double))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var_longlong(int ncid: handle, int varid, long long *ip: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var(int ncid: handle, int varid, const void *op: buffer, MPI_Offset bufcount: count,
                         MPI_Datatype buftype: datatype, int *req: int)
    after = int64_t elements = pnetcdf_variable_elements(failed, ncid, varid, caller)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var_schar(int ncid: handle, int varid, const signed char *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(signed char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var_text(int ncid: handle, int varid, const char *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var_short(int ncid: handle, int varid, const short *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var_int(int ncid: handle, int varid, const int *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var_float(int ncid: handle, int varid, const float *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(float))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var_double(int ncid: handle, int varid, const double *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(double))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var_longlong(int ncid: handle, int varid, const long long *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var_uchar(int ncid: handle, int varid, const unsigned char *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var_ushort(int ncid: handle, int varid, const unsigned short *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var_uint(int ncid: handle, int varid, const unsigned int *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var_long(int ncid: handle, int varid, const long *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_var_ulonglong(int ncid: handle, int varid, const unsigned long long *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var_uchar(int ncid: handle, int varid, unsigned char *ip: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var_ushort(int ncid: handle, int varid, unsigned short *ip: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var_uint(int ncid: handle, int varid, unsigned int *ip: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var_long(int ncid: handle, int varid, long *ip: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_var_ulonglong(int ncid: handle, int varid, unsigned long long *ip: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var_uchar(int ncid: handle, int varid, const unsigned char *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var_ushort(int ncid: handle, int varid, const unsigned short *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var_uint(int ncid: handle, int varid, const unsigned int *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var_long(int ncid: handle, int varid, const long *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_var_ulonglong(int ncid: handle, int varid, const unsigned long long *op: buffer, int *req: int)
    after = int64_t moving = times(pnetcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vara(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                          const MPI_Offset *count: array(dimensions), const void *op: buffer,
                          MPI_Offset bufcount: count, MPI_Datatype buftype: datatype, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vara_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions), const signed char *op: buffer,
                                int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vara_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions), const char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vara_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions), const short *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vara_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const int *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vara_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions), const float *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vara_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions), const double *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vara_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions), const long long *op: buffer,
                                   int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vara(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                         const MPI_Offset *count: array(dimensions), void *ip: buffer, MPI_Offset bufcount: count,
                         MPI_Datatype buftype: datatype, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vara_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions), signed char *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vara_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), char *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vara_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions), short *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vara_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), int *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vara_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions), float *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vara_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions), double *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vara_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions), long long *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vara(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                          const MPI_Offset *count: array(dimensions), const void *op: buffer,
                          MPI_Offset bufcount: count, MPI_Datatype buftype: datatype, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vara_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions), const signed char *op: buffer,
                                int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vara_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions), const char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vara_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions), const short *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vara_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const int *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vara_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions), const float *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vara_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions), const double *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vara_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions), const long long *op: buffer,
                                   int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vara_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions), const unsigned char *op: buffer,
                                int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vara_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions), const unsigned short *op: buffer,
                                 int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vara_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions), const unsigned int *op: buffer,
                               int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vara_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions), const long *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vara_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                    const MPI_Offset *count: array(dimensions), const unsigned long long *op: buffer,
                                    int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vara_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions), unsigned char *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vara_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions), unsigned short *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vara_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), unsigned int *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vara_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), long *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vara_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions), unsigned long long *ip: buffer,
                                   int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vara_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions), const unsigned char *op: buffer,
                                int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vara_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions), const unsigned short *op: buffer,
                                 int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vara_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions), const unsigned int *op: buffer,
                               int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vara_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions), const long *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vara_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                    const MPI_Offset *count: array(dimensions), const unsigned long long *op: buffer,
                                    int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vars(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                          const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                          const void *op: buffer, MPI_Offset bufcount: count, MPI_Datatype buftype: datatype,
                          int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vars_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions), const signed char *op: buffer,
                                int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vars_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vars_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions), const short *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vars_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const int *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vars_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions), const float *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vars_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions), const double *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vars_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions), const long long *op: buffer,
                                   int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vars(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                         const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                         void *ip: buffer, MPI_Offset bufcount: count, MPI_Datatype buftype: datatype, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vars_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), signed char *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vars_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              char *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vars_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), short *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vars_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                             int *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vars_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), float *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vars_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions), double *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vars_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions), long long *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vars(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                          const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                          const void *op: buffer, MPI_Offset bufcount: count, MPI_Datatype buftype: datatype,
                          int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vars_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions), const signed char *op: buffer,
                                int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vars_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vars_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions), const short *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vars_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const int *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vars_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions), const float *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vars_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions), const double *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vars_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions), const long long *op: buffer,
                                   int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vars_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions), const unsigned char *op: buffer,
                                int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vars_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions), const unsigned short *op: buffer,
                                 int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vars_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const unsigned int *op: buffer,
                               int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vars_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const long *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_vars_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                    const MPI_Offset *count: array(dimensions),
                                    const MPI_Offset *stride: array(dimensions), const unsigned long long *op: buffer,
                                    int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vars_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), unsigned char *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vars_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions), unsigned short *ip: buffer,
                                int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vars_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              unsigned int *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vars_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              long *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_vars_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions), unsigned long long *ip: buffer,
                                   int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vars_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions), const unsigned char *op: buffer,
                                int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vars_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions), const unsigned short *op: buffer,
                                 int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vars_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const unsigned int *op: buffer,
                               int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vars_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const long *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_vars_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                    const MPI_Offset *count: array(dimensions),
                                    const MPI_Offset *stride: array(dimensions), const unsigned long long *op: buffer,
                                    int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varm(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                          const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                          const MPI_Offset *imap: array(dimensions), const void *op: buffer,
                          MPI_Offset bufcount: count, MPI_Datatype buftype: datatype, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varm_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions),
                                const MPI_Offset *imap: array(dimensions), const signed char *op: buffer,
                                int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varm_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const MPI_Offset *imap: array(dimensions),
                               const char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varm_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions),
                                const MPI_Offset *imap: array(dimensions), const short *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varm_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const MPI_Offset *imap: array(dimensions), const int *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varm_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions),
                                const MPI_Offset *imap: array(dimensions), const float *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varm_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions),
                                 const MPI_Offset *imap: array(dimensions), const double *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varm_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions),
                                   const MPI_Offset *imap: array(dimensions), const long long *op: buffer,
                                   int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varm(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                         const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                         const MPI_Offset *imap: array(dimensions), void *ip: buffer, MPI_Offset bufcount: count,
                         MPI_Datatype buftype: datatype, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varm_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const MPI_Offset *imap: array(dimensions),
                               signed char *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varm_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const MPI_Offset *imap: array(dimensions), char *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varm_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const MPI_Offset *imap: array(dimensions),
                               short *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varm_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                             const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                             const MPI_Offset *imap: array(dimensions), int *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varm_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const MPI_Offset *imap: array(dimensions),
                               float *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varm_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions),
                                const MPI_Offset *imap: array(dimensions), double *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varm_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                  const MPI_Offset *count: array(dimensions),
                                  const MPI_Offset *stride: array(dimensions),
                                  const MPI_Offset *imap: array(dimensions), long long *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varm(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                          const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                          const MPI_Offset *imap: array(dimensions), const void *op: buffer,
                          MPI_Offset bufcount: count, MPI_Datatype buftype: datatype, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_part_elements(failed, dimensions, count)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varm_schar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions),
                                const MPI_Offset *imap: array(dimensions), const signed char *op: buffer,
                                int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(signed char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varm_text(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const MPI_Offset *imap: array(dimensions),
                               const char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varm_short(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions),
                                const MPI_Offset *imap: array(dimensions), const short *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varm_int(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const MPI_Offset *imap: array(dimensions), const int *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varm_float(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions),
                                const MPI_Offset *imap: array(dimensions), const float *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(float))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varm_double(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions),
                                 const MPI_Offset *imap: array(dimensions), const double *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(double))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varm_longlong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions),
                                   const MPI_Offset *imap: array(dimensions), const long long *op: buffer,
                                   int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varm_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions),
                                const MPI_Offset *imap: array(dimensions), const unsigned char *op: buffer,
                                int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varm_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions),
                                 const MPI_Offset *imap: array(dimensions), const unsigned short *op: buffer,
                                 int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varm_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const MPI_Offset *imap: array(dimensions),
                               const unsigned int *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varm_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const MPI_Offset *imap: array(dimensions),
                               const long *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varm_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                    const MPI_Offset *count: array(dimensions),
                                    const MPI_Offset *stride: array(dimensions),
                                    const MPI_Offset *imap: array(dimensions), const unsigned long long *op: buffer,
                                    int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varm_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const MPI_Offset *imap: array(dimensions),
                               unsigned char *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varm_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions),
                                const MPI_Offset *imap: array(dimensions), unsigned short *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varm_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const MPI_Offset *imap: array(dimensions), unsigned int *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varm_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                              const MPI_Offset *count: array(dimensions), const MPI_Offset *stride: array(dimensions),
                              const MPI_Offset *imap: array(dimensions), long *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varm_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                   const MPI_Offset *count: array(dimensions),
                                   const MPI_Offset *stride: array(dimensions),
                                   const MPI_Offset *imap: array(dimensions), unsigned long long *ip: buffer,
                                   int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varm_uchar(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                const MPI_Offset *count: array(dimensions),
                                const MPI_Offset *stride: array(dimensions),
                                const MPI_Offset *imap: array(dimensions), const unsigned char *op: buffer,
                                int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varm_ushort(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                 const MPI_Offset *count: array(dimensions),
                                 const MPI_Offset *stride: array(dimensions),
                                 const MPI_Offset *imap: array(dimensions), const unsigned short *op: buffer,
                                 int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varm_uint(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const MPI_Offset *imap: array(dimensions),
                               const unsigned int *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varm_long(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                               const MPI_Offset *count: array(dimensions),
                               const MPI_Offset *stride: array(dimensions), const MPI_Offset *imap: array(dimensions),
                               const long *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varm_ulonglong(int ncid: handle, int varid, const MPI_Offset *start: array(dimensions),
                                    const MPI_Offset *count: array(dimensions),
                                    const MPI_Offset *stride: array(dimensions),
                                    const MPI_Offset *imap: array(dimensions), const unsigned long long *op: buffer,
                                    int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_part_elements(failed, dimensions, count), sizeof(unsigned long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varn(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                          MPI_Offset *const *counts, const void *op: buffer, MPI_Offset bufcount: count,
                          MPI_Datatype buftype: datatype, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_parts_elements(failed, dimensions, num, counts)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varn(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                         MPI_Offset *const *counts, void *op: buffer, MPI_Offset bufcount: count,
                         MPI_Datatype buftype: datatype, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_parts_elements(failed, dimensions, num, counts)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varn_text(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                               MPI_Offset *const *counts, const char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varn_schar(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                MPI_Offset *const *counts, const signed char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(signed char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varn_short(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                MPI_Offset *const *counts, const short *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varn_int(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                              MPI_Offset *const *counts, const int *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varn_float(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                MPI_Offset *const *counts, const float *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(float))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varn_double(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, const double *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(double))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varn_longlong(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                   MPI_Offset *const *counts, const long long *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varn_uchar(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                MPI_Offset *const *counts, const unsigned char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varn_ushort(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, const unsigned short *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varn_uint(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                               MPI_Offset *const *counts, const unsigned int *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varn_long(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                               MPI_Offset *const *counts, const long *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_iput_varn_ulonglong(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                    MPI_Offset *const *counts, const unsigned long long *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varn_text(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                              MPI_Offset *const *counts, char *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varn_schar(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                               MPI_Offset *const *counts, signed char *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(signed char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varn_short(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                               MPI_Offset *const *counts, short *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varn_int(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                             MPI_Offset *const *counts, int *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varn_float(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                               MPI_Offset *const *counts, float *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(float))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varn_double(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                MPI_Offset *const *counts, double *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(double))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varn_longlong(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                  MPI_Offset *const *counts, long long *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varn_uchar(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                               MPI_Offset *const *counts, unsigned char *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varn_ushort(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                MPI_Offset *const *counts, unsigned short *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varn_uint(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                              MPI_Offset *const *counts, unsigned int *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varn_long(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                              MPI_Offset *const *counts, long *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
READ int ncmpi_iget_varn_ulonglong(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                   MPI_Offset *const *counts, unsigned long long *ip: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_READ, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varn(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                          MPI_Offset *const *counts, const void *op: buffer, MPI_Offset bufcount: count,
                          MPI_Datatype buftype: datatype, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = pnetcdf_parts_elements(failed, dimensions, num, counts)
    after = int64_t moving = pnetcdf_buffer_bytes(failed, ncid, varid, elements, bufcount, buftype, caller)
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varn_text(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                               MPI_Offset *const *counts, const char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varn_schar(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                MPI_Offset *const *counts, const signed char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(signed char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varn_short(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                MPI_Offset *const *counts, const short *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varn_int(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                              MPI_Offset *const *counts, const int *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varn_float(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                MPI_Offset *const *counts, const float *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(float))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varn_double(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, const double *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(double))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varn_longlong(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                   MPI_Offset *const *counts, const long long *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varn_uchar(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                MPI_Offset *const *counts, const unsigned char *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned char))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varn_ushort(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, const unsigned short *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned short))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varn_uint(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                               MPI_Offset *const *counts, const unsigned int *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned int))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varn_long(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                               MPI_Offset *const *counts, const long *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_bput_varn_ulonglong(int ncid: handle, int varid, int num: count, MPI_Offset *const *starts,
                                    MPI_Offset *const *counts, const unsigned long long *op: buffer, int *req: int)
    after = int dimensions = pnetcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t moving = times(pnetcdf_parts_elements(failed, dimensions, num, counts), sizeof(unsigned long long))
    after = uint32_t begun = pnetcdf_add_pending(failed, ncid, req, KIND_WRITE, moving, caller)
    requested = moving
    bytes = begun ? 0 : moving
    value req = begun
    flags = nonblocking
WRITE int ncmpi_mput_var(int ncid: handle, int num: count, int *varids: array(num), void *const *buf: buffer,
                         const MPI_Offset *bufcounts: array(num), const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
WRITE int ncmpi_mput_var_all(int ncid: handle, int num: count, int *varids: array(num), void *const *buf: buffer,
                             const MPI_Offset *bufcounts: array(num), const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var_text(int ncid: handle, int num: count, int *varids: array(num), char *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(char))
    bytes = requested
WRITE int ncmpi_mput_var_text_all(int ncid: handle, int num: count, int *varids: array(num), char *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(char))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var_schar(int ncid: handle, int num: count, int *varids: array(num),
                               signed char *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(signed char))
    bytes = requested
WRITE int ncmpi_mput_var_schar_all(int ncid: handle, int num: count, int *varids: array(num),
                                   signed char *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(signed char))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var_uchar(int ncid: handle, int num: count, int *varids: array(num),
                               unsigned char *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(unsigned char))
    bytes = requested
WRITE int ncmpi_mput_var_uchar_all(int ncid: handle, int num: count, int *varids: array(num),
                                   unsigned char *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(unsigned char))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var_short(int ncid: handle, int num: count, int *varids: array(num), short *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(short))
    bytes = requested
WRITE int ncmpi_mput_var_short_all(int ncid: handle, int num: count, int *varids: array(num),
                                   short *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(short))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var_ushort(int ncid: handle, int num: count, int *varids: array(num),
                                unsigned short *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(unsigned short))
    bytes = requested
WRITE int ncmpi_mput_var_ushort_all(int ncid: handle, int num: count, int *varids: array(num),
                                    unsigned short *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(unsigned short))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var_int(int ncid: handle, int num: count, int *varids: array(num), int *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(int))
    bytes = requested
WRITE int ncmpi_mput_var_int_all(int ncid: handle, int num: count, int *varids: array(num), int *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(int))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var_uint(int ncid: handle, int num: count, int *varids: array(num),
                              unsigned int *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(unsigned int))
    bytes = requested
WRITE int ncmpi_mput_var_uint_all(int ncid: handle, int num: count, int *varids: array(num),
                                  unsigned int *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(unsigned int))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var_long(int ncid: handle, int num: count, int *varids: array(num), long *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(long))
    bytes = requested
WRITE int ncmpi_mput_var_long_all(int ncid: handle, int num: count, int *varids: array(num), long *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(long))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var_float(int ncid: handle, int num: count, int *varids: array(num), float *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(float))
    bytes = requested
WRITE int ncmpi_mput_var_float_all(int ncid: handle, int num: count, int *varids: array(num),
                                   float *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(float))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var_double(int ncid: handle, int num: count, int *varids: array(num), double *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(double))
    bytes = requested
WRITE int ncmpi_mput_var_double_all(int ncid: handle, int num: count, int *varids: array(num),
                                    double *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(double))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var_longlong(int ncid: handle, int num: count, int *varids: array(num),
                                  long long *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(long long))
    bytes = requested
WRITE int ncmpi_mput_var_longlong_all(int ncid: handle, int num: count, int *varids: array(num),
                                      long long *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var_ulonglong(int ncid: handle, int num: count, int *varids: array(num),
                                   unsigned long long *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(unsigned long long))
    bytes = requested
WRITE int ncmpi_mput_var_ulonglong_all(int ncid: handle, int num: count, int *varids: array(num),
                                       unsigned long long *const *buf: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(unsigned long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var1(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                          void *const *buf: buffer, const MPI_Offset *bufcounts: array(num),
                          const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
WRITE int ncmpi_mput_var1_all(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              void *const *buf: buffer, const MPI_Offset *bufcounts: array(num),
                              const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var1_text(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               char *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(char))
    bytes = requested
WRITE int ncmpi_mput_var1_text_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, char *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(char))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var1_schar(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                signed char *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(signed char))
    bytes = requested
WRITE int ncmpi_mput_var1_schar_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, signed char *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(signed char))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var1_uchar(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                unsigned char *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(unsigned char))
    bytes = requested
WRITE int ncmpi_mput_var1_uchar_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, unsigned char *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(unsigned char))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var1_short(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                short *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(short))
    bytes = requested
WRITE int ncmpi_mput_var1_short_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, short *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(short))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var1_ushort(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                 unsigned short *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(unsigned short))
    bytes = requested
WRITE int ncmpi_mput_var1_ushort_all(int ncid: handle, int num: count, int *varids: array(num),
                                     MPI_Offset *const *starts, unsigned short *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(unsigned short))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var1_int(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              int *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(int))
    bytes = requested
WRITE int ncmpi_mput_var1_int_all(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, int *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(int))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var1_uint(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               unsigned int *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(unsigned int))
    bytes = requested
WRITE int ncmpi_mput_var1_uint_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, unsigned int *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(unsigned int))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var1_long(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               long *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(long))
    bytes = requested
WRITE int ncmpi_mput_var1_long_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, long *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(long))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var1_float(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                float *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(float))
    bytes = requested
WRITE int ncmpi_mput_var1_float_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, float *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(float))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var1_double(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                 double *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(double))
    bytes = requested
WRITE int ncmpi_mput_var1_double_all(int ncid: handle, int num: count, int *varids: array(num),
                                     MPI_Offset *const *starts, double *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(double))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var1_longlong(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, long long *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(long long))
    bytes = requested
WRITE int ncmpi_mput_var1_longlong_all(int ncid: handle, int num: count, int *varids: array(num),
                                       MPI_Offset *const *starts, long long *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_var1_ulonglong(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, unsigned long long *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(unsigned long long))
    bytes = requested
WRITE int ncmpi_mput_var1_ulonglong_all(int ncid: handle, int num: count, int *varids: array(num),
                                        MPI_Offset *const *starts, unsigned long long *const *buf: buffer)
    requested = times(failed ? 0 : num, sizeof(unsigned long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vara(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                          MPI_Offset *const *counts, void *const *buf: buffer,
                          const MPI_Offset *bufcounts: array(num), const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
WRITE int ncmpi_mput_vara_all(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              MPI_Offset *const *counts, void *const *buf: buffer,
                              const MPI_Offset *bufcounts: array(num), const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vara_text(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(char))
    bytes = requested
WRITE int ncmpi_mput_vara_text_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(char))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vara_schar(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, signed char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(signed char))
    bytes = requested
WRITE int ncmpi_mput_vara_schar_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts,
                                    signed char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(signed char))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vara_uchar(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, unsigned char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned char))
    bytes = requested
WRITE int ncmpi_mput_vara_uchar_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts,
                                    unsigned char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned char))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vara_short(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, short *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(short))
    bytes = requested
WRITE int ncmpi_mput_vara_short_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, short *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(short))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vara_ushort(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, unsigned short *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned short))
    bytes = requested
WRITE int ncmpi_mput_vara_ushort_all(int ncid: handle, int num: count, int *varids: array(num),
                                     MPI_Offset *const *starts, MPI_Offset *const *counts,
                                     unsigned short *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned short))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vara_int(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              MPI_Offset *const *counts, int *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(int))
    bytes = requested
WRITE int ncmpi_mput_vara_int_all(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, MPI_Offset *const *counts, int *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(int))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vara_uint(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, unsigned int *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned int))
    bytes = requested
WRITE int ncmpi_mput_vara_uint_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts,
                                   unsigned int *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned int))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vara_long(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long))
    bytes = requested
WRITE int ncmpi_mput_vara_long_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vara_float(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, float *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(float))
    bytes = requested
WRITE int ncmpi_mput_vara_float_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, float *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(float))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vara_double(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, double *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(double))
    bytes = requested
WRITE int ncmpi_mput_vara_double_all(int ncid: handle, int num: count, int *varids: array(num),
                                     MPI_Offset *const *starts, MPI_Offset *const *counts, double *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(double))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vara_longlong(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts,
                                   long long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long long))
    bytes = requested
WRITE int ncmpi_mput_vara_longlong_all(int ncid: handle, int num: count, int *varids: array(num),
                                       MPI_Offset *const *starts, MPI_Offset *const *counts,
                                       long long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vara_ulonglong(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts,
                                    unsigned long long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned long long))
    bytes = requested
WRITE int ncmpi_mput_vara_ulonglong_all(int ncid: handle, int num: count, int *varids: array(num),
                                        MPI_Offset *const *starts, MPI_Offset *const *counts,
                                        unsigned long long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vars(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                          MPI_Offset *const *counts, MPI_Offset *const *strides, void *const *buf: buffer,
                          const MPI_Offset *bufcounts: array(num), const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
WRITE int ncmpi_mput_vars_all(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              MPI_Offset *const *counts, MPI_Offset *const *strides, void *const *buf: buffer,
                              const MPI_Offset *bufcounts: array(num), const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vars_text(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, MPI_Offset *const *strides, char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(char))
    bytes = requested
WRITE int ncmpi_mput_vars_text_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(char))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vars_schar(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, MPI_Offset *const *strides,
                                signed char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(signed char))
    bytes = requested
WRITE int ncmpi_mput_vars_schar_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                    signed char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(signed char))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vars_uchar(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, MPI_Offset *const *strides,
                                unsigned char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned char))
    bytes = requested
WRITE int ncmpi_mput_vars_uchar_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                    unsigned char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned char))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vars_short(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, MPI_Offset *const *strides, short *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(short))
    bytes = requested
WRITE int ncmpi_mput_vars_short_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                    short *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(short))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vars_ushort(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, MPI_Offset *const *strides,
                                 unsigned short *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned short))
    bytes = requested
WRITE int ncmpi_mput_vars_ushort_all(int ncid: handle, int num: count, int *varids: array(num),
                                     MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                     unsigned short *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned short))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vars_int(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              MPI_Offset *const *counts, MPI_Offset *const *strides, int *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(int))
    bytes = requested
WRITE int ncmpi_mput_vars_int_all(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                  int *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(int))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vars_uint(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, MPI_Offset *const *strides,
                               unsigned int *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned int))
    bytes = requested
WRITE int ncmpi_mput_vars_uint_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   unsigned int *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned int))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vars_long(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, MPI_Offset *const *strides, long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long))
    bytes = requested
WRITE int ncmpi_mput_vars_long_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vars_float(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, MPI_Offset *const *strides, float *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(float))
    bytes = requested
WRITE int ncmpi_mput_vars_float_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                    float *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(float))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vars_double(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, MPI_Offset *const *strides, double *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(double))
    bytes = requested
WRITE int ncmpi_mput_vars_double_all(int ncid: handle, int num: count, int *varids: array(num),
                                     MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                     double *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(double))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vars_longlong(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   long long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long long))
    bytes = requested
WRITE int ncmpi_mput_vars_longlong_all(int ncid: handle, int num: count, int *varids: array(num),
                                       MPI_Offset *const *starts, MPI_Offset *const *counts,
                                       MPI_Offset *const *strides, long long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_vars_ulonglong(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                    unsigned long long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned long long))
    bytes = requested
WRITE int ncmpi_mput_vars_ulonglong_all(int ncid: handle, int num: count, int *varids: array(num),
                                        MPI_Offset *const *starts, MPI_Offset *const *counts,
                                        MPI_Offset *const *strides, unsigned long long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_varm(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                          MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                          void *const *buf: buffer, const MPI_Offset *bufcounts: array(num),
                          const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
WRITE int ncmpi_mput_varm_all(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                              void *const *buf: buffer, const MPI_Offset *bufcounts: array(num),
                              const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_varm_text(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                               char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(char))
    bytes = requested
WRITE int ncmpi_mput_varm_text_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   MPI_Offset *const *imaps, char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(char))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_varm_schar(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                                signed char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(signed char))
    bytes = requested
WRITE int ncmpi_mput_varm_schar_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                    MPI_Offset *const *imaps, signed char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(signed char))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_varm_uchar(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                                unsigned char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned char))
    bytes = requested
WRITE int ncmpi_mput_varm_uchar_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                    MPI_Offset *const *imaps, unsigned char *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned char))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_varm_short(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                                short *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(short))
    bytes = requested
WRITE int ncmpi_mput_varm_short_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                    MPI_Offset *const *imaps, short *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(short))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_varm_ushort(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                                 unsigned short *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned short))
    bytes = requested
WRITE int ncmpi_mput_varm_ushort_all(int ncid: handle, int num: count, int *varids: array(num),
                                     MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                     MPI_Offset *const *imaps, unsigned short *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned short))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_varm_int(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                              int *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(int))
    bytes = requested
WRITE int ncmpi_mput_varm_int_all(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                  MPI_Offset *const *imaps, int *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(int))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_varm_uint(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                               unsigned int *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned int))
    bytes = requested
WRITE int ncmpi_mput_varm_uint_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   MPI_Offset *const *imaps, unsigned int *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned int))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_varm_long(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                               long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long))
    bytes = requested
WRITE int ncmpi_mput_varm_long_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   MPI_Offset *const *imaps, long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_varm_float(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                                float *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(float))
    bytes = requested
WRITE int ncmpi_mput_varm_float_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                    MPI_Offset *const *imaps, float *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(float))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_varm_double(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                                 double *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(double))
    bytes = requested
WRITE int ncmpi_mput_varm_double_all(int ncid: handle, int num: count, int *varids: array(num),
                                     MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                     MPI_Offset *const *imaps, double *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(double))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_varm_longlong(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   MPI_Offset *const *imaps, long long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long long))
    bytes = requested
WRITE int ncmpi_mput_varm_longlong_all(int ncid: handle, int num: count, int *varids: array(num),
                                       MPI_Offset *const *starts, MPI_Offset *const *counts,
                                       MPI_Offset *const *strides, MPI_Offset *const *imaps,
                                       long long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long long))
    bytes = requested
    flags = collective
WRITE int ncmpi_mput_varm_ulonglong(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                    MPI_Offset *const *imaps, unsigned long long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned long long))
    bytes = requested
WRITE int ncmpi_mput_varm_ulonglong_all(int ncid: handle, int num: count, int *varids: array(num),
                                        MPI_Offset *const *starts, MPI_Offset *const *counts,
                                        MPI_Offset *const *strides, MPI_Offset *const *imaps,
                                        unsigned long long *const *buf: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned long long))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var(int ncid: handle, int num: count, int *varids: array(num), void **bufs: buffer,
                        const MPI_Offset *bufcounts: array(num), const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
READ int ncmpi_mget_var_all(int ncid: handle, int num: count, int *varids: array(num), void **bufs: buffer,
                            const MPI_Offset *bufcounts: array(num), const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
    flags = collective
READ int ncmpi_mget_var_text(int ncid: handle, int num: count, int *varids: array(num), char **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(char))
    bytes = requested
READ int ncmpi_mget_var_text_all(int ncid: handle, int num: count, int *varids: array(num), char **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(char))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var_schar(int ncid: handle, int num: count, int *varids: array(num), signed char **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(signed char))
    bytes = requested
READ int ncmpi_mget_var_schar_all(int ncid: handle, int num: count, int *varids: array(num),
                                  signed char **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(signed char))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var_uchar(int ncid: handle, int num: count, int *varids: array(num), unsigned char **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(unsigned char))
    bytes = requested
READ int ncmpi_mget_var_uchar_all(int ncid: handle, int num: count, int *varids: array(num),
                                  unsigned char **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(unsigned char))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var_short(int ncid: handle, int num: count, int *varids: array(num), short **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(short))
    bytes = requested
READ int ncmpi_mget_var_short_all(int ncid: handle, int num: count, int *varids: array(num), short **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(short))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var_ushort(int ncid: handle, int num: count, int *varids: array(num),
                               unsigned short **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(unsigned short))
    bytes = requested
READ int ncmpi_mget_var_ushort_all(int ncid: handle, int num: count, int *varids: array(num),
                                   unsigned short **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(unsigned short))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var_int(int ncid: handle, int num: count, int *varids: array(num), int **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(int))
    bytes = requested
READ int ncmpi_mget_var_int_all(int ncid: handle, int num: count, int *varids: array(num), int **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(int))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var_uint(int ncid: handle, int num: count, int *varids: array(num), unsigned int **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(unsigned int))
    bytes = requested
READ int ncmpi_mget_var_uint_all(int ncid: handle, int num: count, int *varids: array(num),
                                 unsigned int **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(unsigned int))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var_long(int ncid: handle, int num: count, int *varids: array(num), long **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(long))
    bytes = requested
READ int ncmpi_mget_var_long_all(int ncid: handle, int num: count, int *varids: array(num), long **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(long))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var_float(int ncid: handle, int num: count, int *varids: array(num), float **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(float))
    bytes = requested
READ int ncmpi_mget_var_float_all(int ncid: handle, int num: count, int *varids: array(num), float **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(float))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var_double(int ncid: handle, int num: count, int *varids: array(num), double **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(double))
    bytes = requested
READ int ncmpi_mget_var_double_all(int ncid: handle, int num: count, int *varids: array(num), double **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(double))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var_longlong(int ncid: handle, int num: count, int *varids: array(num), long long **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(long long))
    bytes = requested
READ int ncmpi_mget_var_longlong_all(int ncid: handle, int num: count, int *varids: array(num),
                                     long long **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(long long))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var_ulonglong(int ncid: handle, int num: count, int *varids: array(num),
                                  unsigned long long **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(unsigned long long))
    bytes = requested
READ int ncmpi_mget_var_ulonglong_all(int ncid: handle, int num: count, int *varids: array(num),
                                      unsigned long long **bufs: buffer)
    requested = times(pnetcdf_whole_variables_elements(failed, ncid, num, varids, caller), sizeof(unsigned long long))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var1(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                         void **bufs: buffer, const MPI_Offset *bufcounts: array(num), const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
READ int ncmpi_mget_var1_all(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                             void **bufs: buffer, const MPI_Offset *bufcounts: array(num),
                             const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
    flags = collective
READ int ncmpi_mget_var1_text(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              char **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(char))
    bytes = requested
READ int ncmpi_mget_var1_text_all(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, char **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(char))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var1_schar(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               signed char **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(signed char))
    bytes = requested
READ int ncmpi_mget_var1_schar_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, signed char **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(signed char))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var1_uchar(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               unsigned char **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(unsigned char))
    bytes = requested
READ int ncmpi_mget_var1_uchar_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, unsigned char **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(unsigned char))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var1_short(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               short **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(short))
    bytes = requested
READ int ncmpi_mget_var1_short_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, short **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(short))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var1_ushort(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                unsigned short **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(unsigned short))
    bytes = requested
READ int ncmpi_mget_var1_ushort_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, unsigned short **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(unsigned short))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var1_int(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                             int **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(int))
    bytes = requested
READ int ncmpi_mget_var1_int_all(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                 int **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(int))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var1_uint(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              unsigned int **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(unsigned int))
    bytes = requested
READ int ncmpi_mget_var1_uint_all(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, unsigned int **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(unsigned int))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var1_long(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              long **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(long))
    bytes = requested
READ int ncmpi_mget_var1_long_all(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, long **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(long))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var1_float(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               float **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(float))
    bytes = requested
READ int ncmpi_mget_var1_float_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, float **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(float))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var1_double(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                double **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(double))
    bytes = requested
READ int ncmpi_mget_var1_double_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, double **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(double))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var1_longlong(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, long long **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(long long))
    bytes = requested
READ int ncmpi_mget_var1_longlong_all(int ncid: handle, int num: count, int *varids: array(num),
                                      MPI_Offset *const *starts, long long **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(long long))
    bytes = requested
    flags = collective
READ int ncmpi_mget_var1_ulonglong(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, unsigned long long **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(unsigned long long))
    bytes = requested
READ int ncmpi_mget_var1_ulonglong_all(int ncid: handle, int num: count, int *varids: array(num),
                                       MPI_Offset *const *starts, unsigned long long **bufs: buffer)
    requested = times(failed ? 0 : num, sizeof(unsigned long long))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vara(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                         MPI_Offset *const *counts, void **bufs: buffer, const MPI_Offset *bufcounts: array(num),
                         const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
READ int ncmpi_mget_vara_all(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                             MPI_Offset *const *counts, void **bufs: buffer, const MPI_Offset *bufcounts: array(num),
                             const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
    flags = collective
READ int ncmpi_mget_vara_text(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              MPI_Offset *const *counts, char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(char))
    bytes = requested
READ int ncmpi_mget_vara_text_all(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, MPI_Offset *const *counts, char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(char))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vara_schar(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, signed char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(signed char))
    bytes = requested
READ int ncmpi_mget_vara_schar_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, signed char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(signed char))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vara_uchar(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, unsigned char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned char))
    bytes = requested
READ int ncmpi_mget_vara_uchar_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, unsigned char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned char))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vara_short(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, short **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(short))
    bytes = requested
READ int ncmpi_mget_vara_short_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, short **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(short))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vara_ushort(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, unsigned short **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned short))
    bytes = requested
READ int ncmpi_mget_vara_ushort_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts,
                                    unsigned short **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned short))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vara_int(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                             MPI_Offset *const *counts, int **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(int))
    bytes = requested
READ int ncmpi_mget_vara_int_all(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, int **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(int))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vara_uint(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              MPI_Offset *const *counts, unsigned int **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned int))
    bytes = requested
READ int ncmpi_mget_vara_uint_all(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, MPI_Offset *const *counts, unsigned int **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned int))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vara_long(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              MPI_Offset *const *counts, long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long))
    bytes = requested
READ int ncmpi_mget_vara_long_all(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, MPI_Offset *const *counts, long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vara_float(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, float **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(float))
    bytes = requested
READ int ncmpi_mget_vara_float_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, float **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(float))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vara_double(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, double **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(double))
    bytes = requested
READ int ncmpi_mget_vara_double_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, double **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(double))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vara_longlong(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, MPI_Offset *const *counts, long long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long long))
    bytes = requested
READ int ncmpi_mget_vara_longlong_all(int ncid: handle, int num: count, int *varids: array(num),
                                      MPI_Offset *const *starts, MPI_Offset *const *counts, long long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long long))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vara_ulonglong(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts,
                                   unsigned long long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned long long))
    bytes = requested
READ int ncmpi_mget_vara_ulonglong_all(int ncid: handle, int num: count, int *varids: array(num),
                                       MPI_Offset *const *starts, MPI_Offset *const *counts,
                                       unsigned long long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned long long))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vars(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                         MPI_Offset *const *counts, MPI_Offset *const *strides, void **bufs: buffer,
                         const MPI_Offset *bufcounts: array(num), const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
READ int ncmpi_mget_vars_all(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                             MPI_Offset *const *counts, MPI_Offset *const *strides, void **bufs: buffer,
                             const MPI_Offset *bufcounts: array(num), const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
    flags = collective
READ int ncmpi_mget_vars_text(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              MPI_Offset *const *counts, MPI_Offset *const *strides, char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(char))
    bytes = requested
READ int ncmpi_mget_vars_text_all(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                  char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(char))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vars_schar(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, MPI_Offset *const *strides, signed char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(signed char))
    bytes = requested
READ int ncmpi_mget_vars_schar_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   signed char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(signed char))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vars_uchar(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, MPI_Offset *const *strides, unsigned char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned char))
    bytes = requested
READ int ncmpi_mget_vars_uchar_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   unsigned char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned char))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vars_short(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, MPI_Offset *const *strides, short **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(short))
    bytes = requested
READ int ncmpi_mget_vars_short_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   short **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(short))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vars_ushort(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, MPI_Offset *const *strides, unsigned short **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned short))
    bytes = requested
READ int ncmpi_mget_vars_ushort_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                    unsigned short **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned short))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vars_int(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                             MPI_Offset *const *counts, MPI_Offset *const *strides, int **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(int))
    bytes = requested
READ int ncmpi_mget_vars_int_all(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, MPI_Offset *const *strides, int **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(int))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vars_uint(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              MPI_Offset *const *counts, MPI_Offset *const *strides, unsigned int **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned int))
    bytes = requested
READ int ncmpi_mget_vars_uint_all(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                  unsigned int **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned int))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vars_long(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              MPI_Offset *const *counts, MPI_Offset *const *strides, long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long))
    bytes = requested
READ int ncmpi_mget_vars_long_all(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                  long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vars_float(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, MPI_Offset *const *strides, float **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(float))
    bytes = requested
READ int ncmpi_mget_vars_float_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   float **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(float))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vars_double(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, MPI_Offset *const *strides, double **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(double))
    bytes = requested
READ int ncmpi_mget_vars_double_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                    double **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(double))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vars_longlong(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                  long long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long long))
    bytes = requested
READ int ncmpi_mget_vars_longlong_all(int ncid: handle, int num: count, int *varids: array(num),
                                      MPI_Offset *const *starts, MPI_Offset *const *counts,
                                      MPI_Offset *const *strides, long long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long long))
    bytes = requested
    flags = collective
READ int ncmpi_mget_vars_ulonglong(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   unsigned long long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned long long))
    bytes = requested
READ int ncmpi_mget_vars_ulonglong_all(int ncid: handle, int num: count, int *varids: array(num),
                                       MPI_Offset *const *starts, MPI_Offset *const *counts,
                                       MPI_Offset *const *strides, unsigned long long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned long long))
    bytes = requested
    flags = collective
READ int ncmpi_mget_varm(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                         MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                         void **bufs: buffer, const MPI_Offset *bufcounts: array(num), const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
READ int ncmpi_mget_varm_all(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                             MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                             void **bufs: buffer, const MPI_Offset *bufcounts: array(num),
                             const MPI_Datatype *datatypes)
    requested = pnetcdf_buffers_bytes(failed, num, bufcounts, datatypes, caller)
    bytes = requested
    flags = collective
READ int ncmpi_mget_varm_text(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                              char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(char))
    bytes = requested
READ int ncmpi_mget_varm_text_all(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                  MPI_Offset *const *imaps, char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(char))
    bytes = requested
    flags = collective
READ int ncmpi_mget_varm_schar(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                               signed char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(signed char))
    bytes = requested
READ int ncmpi_mget_varm_schar_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   MPI_Offset *const *imaps, signed char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(signed char))
    bytes = requested
    flags = collective
READ int ncmpi_mget_varm_uchar(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                               unsigned char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned char))
    bytes = requested
READ int ncmpi_mget_varm_uchar_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   MPI_Offset *const *imaps, unsigned char **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned char))
    bytes = requested
    flags = collective
READ int ncmpi_mget_varm_short(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                               short **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(short))
    bytes = requested
READ int ncmpi_mget_varm_short_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   MPI_Offset *const *imaps, short **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(short))
    bytes = requested
    flags = collective
READ int ncmpi_mget_varm_ushort(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                                unsigned short **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned short))
    bytes = requested
READ int ncmpi_mget_varm_ushort_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                    MPI_Offset *const *imaps, unsigned short **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned short))
    bytes = requested
    flags = collective
READ int ncmpi_mget_varm_int(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                             MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                             int **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(int))
    bytes = requested
READ int ncmpi_mget_varm_int_all(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                 MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                                 int **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(int))
    bytes = requested
    flags = collective
READ int ncmpi_mget_varm_uint(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                              unsigned int **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned int))
    bytes = requested
READ int ncmpi_mget_varm_uint_all(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                  MPI_Offset *const *imaps, unsigned int **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned int))
    bytes = requested
    flags = collective
READ int ncmpi_mget_varm_long(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                              MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                              long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long))
    bytes = requested
READ int ncmpi_mget_varm_long_all(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                  MPI_Offset *const *imaps, long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long))
    bytes = requested
    flags = collective
READ int ncmpi_mget_varm_float(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                               MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                               float **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(float))
    bytes = requested
READ int ncmpi_mget_varm_float_all(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   MPI_Offset *const *imaps, float **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(float))
    bytes = requested
    flags = collective
READ int ncmpi_mget_varm_double(int ncid: handle, int num: count, int *varids: array(num), MPI_Offset *const *starts,
                                MPI_Offset *const *counts, MPI_Offset *const *strides, MPI_Offset *const *imaps,
                                double **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(double))
    bytes = requested
READ int ncmpi_mget_varm_double_all(int ncid: handle, int num: count, int *varids: array(num),
                                    MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                    MPI_Offset *const *imaps, double **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(double))
    bytes = requested
    flags = collective
READ int ncmpi_mget_varm_longlong(int ncid: handle, int num: count, int *varids: array(num),
                                  MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                  MPI_Offset *const *imaps, long long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long long))
    bytes = requested
READ int ncmpi_mget_varm_longlong_all(int ncid: handle, int num: count, int *varids: array(num),
                                      MPI_Offset *const *starts, MPI_Offset *const *counts,
                                      MPI_Offset *const *strides, MPI_Offset *const *imaps, long long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(long long))
    bytes = requested
    flags = collective
READ int ncmpi_mget_varm_ulonglong(int ncid: handle, int num: count, int *varids: array(num),
                                   MPI_Offset *const *starts, MPI_Offset *const *counts, MPI_Offset *const *strides,
                                   MPI_Offset *const *imaps, unsigned long long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned long long))
    bytes = requested
READ int ncmpi_mget_varm_ulonglong_all(int ncid: handle, int num: count, int *varids: array(num),
                                       MPI_Offset *const *starts, MPI_Offset *const *counts,
                                       MPI_Offset *const *strides, MPI_Offset *const *imaps,
                                       unsigned long long **bufs: buffer)
    requested = times(pnetcdf_variables_elements(failed, ncid, num, varids, counts, caller), sizeof(unsigned long long))
    bytes = requested
    flags = collective
