# NetCDF's C interface, of version 4.9.0.
# Left out: nc_advise, which prints a message and takes any number of arguments.
# Elements of NC_STRING count with the size of their pointers.
# If a value does not fit its type (NC_ERANGE), the others are moved: such a call counts as successful.

library netcdf
layer NETCDF
anchor nc_open
fails netcdf_failed(result)
error netcdf_error(result)
datatype netcdf_type_name(value)
skip iotide_is_inner(&iotide_library_netcdf, caller)

# Handles of MPI, which are addresses or ints depending on the MPI library, are passed as words.
type MPI_Comm = intptr_t
type MPI_Info = intptr_t
type nc_type = int

# ---- netcdf.h ----

OTHER const char *nc_inq_libvers(void)
    class = memory
    error = 0
OTHER const char *nc_strerror(int ncerr)
    class = memory
    error = 0
OTHER int nc_def_user_format(int mode_flag: hex, void *dispatch_table: opaque, char *magic_number: opaque)
    class = memory
OTHER int nc_inq_user_format(int mode_flag: hex, void **dispatch_table: opaque, char *magic_number: opaque)
    class = memory
OTHER int nc_set_alignment(int threshold, int alignment)
    class = memory
OTHER int nc_get_alignment(int *thresholdp: int, int *alignmentp: int)
    class = memory
CREATE int nc__create(const char *path: path, int cmode: hex, size_t initialsz, size_t *chunksizehintp: uint,
                      int *ncidp: new_handle)
    file = netcdf_file(path)
    after = variables_invalidate()
CREATE int nc_create(const char *path: path, int cmode: hex, int *ncidp: new_handle)
    file = netcdf_file(path)
    after = variables_invalidate()
CREATE int nc__open(const char *path: path, int mode: hex, size_t *chunksizehintp: uint, int *ncidp: new_handle)
    file = netcdf_file(path)
    after = variables_invalidate()
CREATE int nc_open(const char *path: path, int mode: hex, int *ncidp: new_handle)
    file = netcdf_file(path)
    after = variables_invalidate()
OTHER int nc_inq_path(int ncid: handle, size_t *pathlen: uint, char *path: text)
    class = memory
OTHER int nc_inq_ncid(int ncid: handle, const char *name, int *grp_ncid: int)
    after = netcdf_bind_group(failed, ncid, grp_ncid, caller)
OTHER int nc_inq_grps(int ncid: handle, int *numgrps: int, int *ncids: array(groups))
    after = int groups = netcdf_group_count(failed, ncid, numgrps, ncids, caller)
    after = netcdf_bind_groups(groups, ncid, ncids, caller)
OTHER int nc_inq_grpname(int ncid: handle, char *name: text)
    class = memory
OTHER int nc_inq_grpname_full(int ncid: handle, size_t *lenp: uint, char *full_name: text)
    class = memory
OTHER int nc_inq_grpname_len(int ncid: handle, size_t *lenp: uint)
    class = memory
OTHER int nc_inq_grp_parent(int ncid: handle, int *parent_ncid: int)
    after = netcdf_bind_group(failed, ncid, parent_ncid, caller)
CREATE int nc_inq_grp_ncid(int ncid: handle, const char *grp_name, int *grp_ncid: new_handle)
    after = netcdf_track_group(failed, grp_ncid)
OTHER int nc_inq_grp_full_ncid(int ncid: handle, const char *full_name, int *grp_ncid: int)
    after = netcdf_bind_group(failed, ncid, grp_ncid, caller)
OTHER int nc_inq_varids(int ncid: handle, int *nvars: int, int *varids: array(nvars ? *nvars : 0))
    class = memory
OTHER int nc_inq_dimids(int ncid: handle, int *ndims: int, int *dimids: array(ndims ? *ndims : 0),
                        int include_parents)
    class = memory
OTHER int nc_inq_typeids(int ncid: handle, int *ntypes: int, int *typeids: array(ntypes ? *ntypes : 0))
    class = memory
OTHER int nc_inq_type_equal(int ncid1: handle, nc_type typeid1: datatype, int ncid2, nc_type typeid2: datatype,
                            int *equal: int)
    class = memory
CREATE int nc_def_grp(int parent_ncid: handle, const char *name, int *new_ncid: new_handle)
    after = netcdf_track_group(failed, new_ncid)
OTHER int nc_rename_grp(int grpid: handle, const char *name)
OTHER int nc_def_compound(int ncid: handle, size_t size, const char *name, nc_type *typeidp: int)
OTHER int nc_insert_compound(int ncid: handle, nc_type xtype: datatype, const char *name, size_t offset,
                             nc_type field_typeid: datatype)
OTHER int nc_insert_array_compound(int ncid: handle, nc_type xtype: datatype, const char *name, size_t offset,
                                   nc_type field_typeid: datatype, int ndims, const int *dim_sizes: array(ndims))
OTHER int nc_inq_type(int ncid: handle, nc_type xtype: datatype, char *name: text, size_t *size: uint)
    class = memory
OTHER int nc_inq_typeid(int ncid: handle, const char *name, nc_type *typeidp: int)
    class = memory
OTHER int nc_inq_compound(int ncid: handle, nc_type xtype: datatype, char *name: text, size_t *sizep: uint,
                          size_t *nfieldsp: uint)
    class = memory
OTHER int nc_inq_compound_name(int ncid: handle, nc_type xtype: datatype, char *name: text)
    class = memory
OTHER int nc_inq_compound_size(int ncid: handle, nc_type xtype: datatype, size_t *sizep: uint)
    class = memory
OTHER int nc_inq_compound_nfields(int ncid: handle, nc_type xtype: datatype, size_t *nfieldsp: uint)
    class = memory
OTHER int nc_inq_compound_field(int ncid: handle, nc_type xtype: datatype, int fieldid, char *name: text,
                                size_t *offsetp: uint, nc_type *field_typeidp: int, int *ndimsp: int, int *dim_sizesp)
    class = memory
OTHER int nc_inq_compound_fieldname(int ncid: handle, nc_type xtype: datatype, int fieldid, char *name: text)
    class = memory
OTHER int nc_inq_compound_fieldindex(int ncid: handle, nc_type xtype: datatype, const char *name, int *fieldidp: int)
    class = memory
OTHER int nc_inq_compound_fieldoffset(int ncid: handle, nc_type xtype: datatype, int fieldid, size_t *offsetp: uint)
    class = memory
OTHER int nc_inq_compound_fieldtype(int ncid: handle, nc_type xtype: datatype, int fieldid,
                                    nc_type *field_typeidp: int)
    class = memory
OTHER int nc_inq_compound_fieldndims(int ncid: handle, nc_type xtype: datatype, int fieldid, int *ndimsp: int)
    class = memory
OTHER int nc_inq_compound_fielddim_sizes(int ncid: handle, nc_type xtype: datatype, int fieldid, int *dim_sizes)
    class = memory
OTHER int nc_def_vlen(int ncid: handle, const char *name, nc_type base_typeid: datatype, nc_type *xtypep: int)
OTHER int nc_inq_vlen(int ncid: handle, nc_type xtype: datatype, char *name: text, size_t *datum_sizep: uint,
                      nc_type *base_nc_typep: int)
    class = memory
OTHER int nc_free_vlen(void *vl)
    class = memory
OTHER int nc_free_vlens(size_t len, void *vlens)
    class = memory
OTHER int nc_put_vlen_element(int ncid: handle, int typeid1, void *vlen_element, size_t len, const void *data: buffer)
    class = memory
OTHER int nc_get_vlen_element(int ncid: handle, int typeid1, const void *vlen_element, size_t *len: uint,
                              void *data: buffer)
    class = memory
OTHER int nc_free_string(size_t len, char **data: buffer)
    class = memory
OTHER int nc_inq_user_type(int ncid: handle, nc_type xtype: datatype, char *name: text, size_t *size: uint,
                           nc_type *base_nc_typep: int, size_t *nfieldsp: uint, int *classp: int)
    class = memory
WRITE int nc_put_att(int ncid: handle, int varid, const char *name, nc_type xtype: datatype, size_t len: count,
                     const void *op: buffer)
    requested = failed ? 0 : times((int64_t)len, netcdf_width_of(ncid, xtype, caller))
    bytes = requested
READ int nc_get_att(int ncid: handle, int varid, const char *name, void *ip: buffer)
    requested = netcdf_attribute_bytes(failed, ncid, varid, name, 0, caller)
    bytes = requested
OTHER int nc_def_enum(int ncid: handle, nc_type base_typeid: datatype, const char *name, nc_type *typeidp: int)
OTHER int nc_insert_enum(int ncid: handle, nc_type xtype: datatype, const char *name, const void *data: buffer)
OTHER int nc_inq_enum(int ncid: handle, nc_type xtype: datatype, char *name: text, nc_type *base_nc_typep: int,
                      size_t *base_sizep: uint, size_t *num_membersp: uint)
    class = memory
OTHER int nc_inq_enum_member(int ncid: handle, nc_type xtype: datatype, int idx, char *name: text, void *data: buffer)
    class = memory
OTHER int nc_inq_enum_ident(int ncid: handle, nc_type xtype: datatype, long long data, char *identifier: text)
    class = memory
OTHER int nc_def_opaque(int ncid: handle, size_t size, const char *name, nc_type *xtypep: int)
OTHER int nc_inq_opaque(int ncid: handle, nc_type xtype: datatype, char *name: text, size_t *sizep: uint)
    class = memory
WRITE int nc_put_var(int ncid: handle, int varid, const void *op: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), netcdf_width(failed, ncid, varid, caller))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var(int ncid: handle, int varid, void *ip: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), netcdf_width(failed, ncid, varid, caller))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var1(int ncid: handle, int varid, const size_t *indexp: array(dimensions), const void *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = netcdf_width(failed, ncid, varid, caller)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var1(int ncid: handle, int varid, const size_t *indexp: array(dimensions), void *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = netcdf_width(failed, ncid, varid, caller)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vara(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                      const size_t *countp: array(dimensions), const void *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, netcdf_width(failed, ncid, varid, caller))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vara(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                     const size_t *countp: array(dimensions), void *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, netcdf_width(failed, ncid, varid, caller))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vars(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                      const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                      const void *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, netcdf_width(failed, ncid, varid, caller))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vars(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                     const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                     void *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, netcdf_width(failed, ncid, varid, caller))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_varm(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                      const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                      const ptrdiff_t *imapp: array(dimensions), const void *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, netcdf_width(failed, ncid, varid, caller))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_varm(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                     const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                     const ptrdiff_t *imapp: array(dimensions), void *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, netcdf_width(failed, ncid, varid, caller))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
OTHER int nc_def_var_quantize(int ncid: handle, int varid, int quantize_mode, int nsd)
OTHER int nc_inq_var_quantize(int ncid: handle, int varid, int *quantize_modep: int, int *nsdp: int)
OTHER int nc_def_var_deflate(int ncid: handle, int varid, int shuffle, int deflate, int deflate_level)
OTHER int nc_inq_var_deflate(int ncid: handle, int varid, int *shufflep: int, int *deflatep: int,
                             int *deflate_levelp: int)
OTHER int nc_def_var_szip(int ncid: handle, int varid, int options_mask, int pixels_per_block)
OTHER int nc_inq_var_szip(int ncid: handle, int varid, int *options_maskp: int, int *pixels_per_blockp: int)
OTHER int nc_def_var_fletcher32(int ncid: handle, int varid, int fletcher32)
OTHER int nc_inq_var_fletcher32(int ncid: handle, int varid, int *fletcher32p: int)
OTHER int nc_def_var_chunking(int ncid: handle, int varid, int storage: enum{NC_CHUNKED/NC_CONTIGUOUS/NC_COMPACT},
                              const size_t *chunksizesp: array(dimensions))
    after = int dimensions = netcdf_dimensions(failed || storage != 0, ncid, varid, caller)
OTHER int nc_inq_var_chunking(int ncid: handle, int varid, int *storagep: int, size_t *chunksizesp)
OTHER int nc_def_var_fill(int ncid: handle, int varid, int no_fill, const void *fill_value)
OTHER int nc_inq_var_fill(int ncid: handle, int varid, int *no_fill: int, void *fill_valuep)
OTHER int nc_def_var_endian(int ncid: handle, int varid, int endian)
OTHER int nc_inq_var_endian(int ncid: handle, int varid, int *endianp: int)
OTHER int nc_def_var_filter(int ncid: handle, int varid, unsigned int id, size_t nparams,
                            const unsigned int *parms: array((int64_t)nparams))
OTHER int nc_inq_var_filter(int ncid: handle, int varid, unsigned int *idp: uint, size_t *nparams: uint,
                            unsigned int *params)
OTHER int nc_set_fill(int ncid: handle, int fillmode: hex, int *old_modep: int)
OTHER int nc_set_default_format(int format, int *old_formatp: int)
    class = memory
OTHER int nc_set_chunk_cache(size_t size, size_t nelems, float preemption)
    class = memory
OTHER int nc_get_chunk_cache(size_t *sizep: uint, size_t *nelemsp: uint, float *preemptionp)
    class = memory
OTHER int nc_set_var_chunk_cache(int ncid: handle, int varid, size_t size, size_t nelems, float preemption)
    class = memory
OTHER int nc_get_var_chunk_cache(int ncid: handle, int varid, size_t *sizep: uint, size_t *nelemsp: uint,
                                 float *preemptionp)
    class = memory
OTHER int nc_redef(int ncid: handle)
OTHER int nc__enddef(int ncid: handle, size_t h_minfree, size_t v_align, size_t v_minfree, size_t r_align)
OTHER int nc_enddef(int ncid: handle)
SYNC int nc_sync(int ncid: handle)
DESTROY int nc_abort(int ncid: handle)
    after = netcdf_unbind_groups(failed, ncid, caller)
DESTROY int nc_close(int ncid: handle)
    after = netcdf_unbind_groups(failed, ncid, caller)
OTHER int nc_inq(int ncid: handle, int *ndimsp: int, int *nvarsp: int, int *nattsp: int, int *unlimdimidp: int)
OTHER int nc_inq_ndims(int ncid: handle, int *ndimsp: int)
    class = memory
OTHER int nc_inq_nvars(int ncid: handle, int *nvarsp: int)
    class = memory
OTHER int nc_inq_natts(int ncid: handle, int *nattsp: int)
OTHER int nc_inq_unlimdim(int ncid: handle, int *unlimdimidp: int)
    class = memory
OTHER int nc_inq_unlimdims(int ncid: handle, int *nunlimdimsp: int,
                           int *unlimdimidsp: array(nunlimdimsp ? *nunlimdimsp : 0))
    class = memory
OTHER int nc_inq_format(int ncid: handle, int *formatp: int)
    class = memory
OTHER int nc_inq_format_extended(int ncid: handle, int *formatp: int, int *modep: int)
    class = memory
OTHER int nc_def_dim(int ncid: handle, const char *name, size_t len, int *idp: int)
OTHER int nc_inq_dimid(int ncid: handle, const char *name, int *idp: int)
    class = memory
OTHER int nc_inq_dim(int ncid: handle, int dimid, char *name: text, size_t *lenp: uint)
OTHER int nc_inq_dimname(int ncid: handle, int dimid, char *name: text)
    class = memory
OTHER int nc_inq_dimlen(int ncid: handle, int dimid, size_t *lenp: uint)
OTHER int nc_rename_dim(int ncid: handle, int dimid, const char *name)
OTHER int nc_inq_att(int ncid: handle, int varid, const char *name, nc_type *xtypep: int, size_t *lenp: uint)
OTHER int nc_inq_attid(int ncid: handle, int varid, const char *name, int *idp: int)
OTHER int nc_inq_atttype(int ncid: handle, int varid, const char *name, nc_type *xtypep: int)
OTHER int nc_inq_attlen(int ncid: handle, int varid, const char *name, size_t *lenp: uint)
OTHER int nc_inq_attname(int ncid: handle, int varid, int attnum, char *name: text)
OTHER int nc_copy_att(int ncid_in: handle, int varid_in, const char *name, int ncid_out, int varid_out)
OTHER int nc_rename_att(int ncid: handle, int varid, const char *name, const char *newname)
OTHER int nc_del_att(int ncid: handle, int varid, const char *name)
WRITE int nc_put_att_text(int ncid: handle, int varid, const char *name, size_t len: count, const char *op: buffer)
    requested = failed ? 0 : times((int64_t)len, sizeof(char))
    bytes = requested
READ int nc_get_att_text(int ncid: handle, int varid, const char *name, char *ip: buffer)
    requested = netcdf_attribute_bytes(failed, ncid, varid, name, sizeof(char), caller)
    bytes = requested
WRITE int nc_put_att_string(int ncid: handle, int varid, const char *name, size_t len: count, const char **op: buffer)
    requested = failed ? 0 : times((int64_t)len, sizeof(char *))
    bytes = requested
READ int nc_get_att_string(int ncid: handle, int varid, const char *name, char **ip: buffer)
    requested = netcdf_attribute_bytes(failed, ncid, varid, name, sizeof(char *), caller)
    bytes = requested
WRITE int nc_put_att_uchar(int ncid: handle, int varid, const char *name, nc_type xtype: datatype, size_t len: count,
                           const unsigned char *op: buffer)
    requested = failed ? 0 : times((int64_t)len, sizeof(unsigned char))
    bytes = requested
READ int nc_get_att_uchar(int ncid: handle, int varid, const char *name, unsigned char *ip: buffer)
    requested = netcdf_attribute_bytes(failed, ncid, varid, name, sizeof(unsigned char), caller)
    bytes = requested
WRITE int nc_put_att_schar(int ncid: handle, int varid, const char *name, nc_type xtype: datatype, size_t len: count,
                           const signed char *op: buffer)
    requested = failed ? 0 : times((int64_t)len, sizeof(signed char))
    bytes = requested
READ int nc_get_att_schar(int ncid: handle, int varid, const char *name, signed char *ip: buffer)
    requested = netcdf_attribute_bytes(failed, ncid, varid, name, sizeof(signed char), caller)
    bytes = requested
WRITE int nc_put_att_short(int ncid: handle, int varid, const char *name, nc_type xtype: datatype, size_t len: count,
                           const short *op: buffer)
    requested = failed ? 0 : times((int64_t)len, sizeof(short))
    bytes = requested
READ int nc_get_att_short(int ncid: handle, int varid, const char *name, short *ip: buffer)
    requested = netcdf_attribute_bytes(failed, ncid, varid, name, sizeof(short), caller)
    bytes = requested
WRITE int nc_put_att_int(int ncid: handle, int varid, const char *name, nc_type xtype: datatype, size_t len: count,
                         const int *op: buffer)
    requested = failed ? 0 : times((int64_t)len, sizeof(int))
    bytes = requested
READ int nc_get_att_int(int ncid: handle, int varid, const char *name, int *ip: buffer)
    requested = netcdf_attribute_bytes(failed, ncid, varid, name, sizeof(int), caller)
    bytes = requested
WRITE int nc_put_att_long(int ncid: handle, int varid, const char *name, nc_type xtype: datatype, size_t len: count,
                          const long *op: buffer)
    requested = failed ? 0 : times((int64_t)len, sizeof(long))
    bytes = requested
READ int nc_get_att_long(int ncid: handle, int varid, const char *name, long *ip: buffer)
    requested = netcdf_attribute_bytes(failed, ncid, varid, name, sizeof(long), caller)
    bytes = requested
WRITE int nc_put_att_float(int ncid: handle, int varid, const char *name, nc_type xtype: datatype, size_t len: count,
                           const float *op: buffer)
    requested = failed ? 0 : times((int64_t)len, sizeof(float))
    bytes = requested
READ int nc_get_att_float(int ncid: handle, int varid, const char *name, float *ip: buffer)
    requested = netcdf_attribute_bytes(failed, ncid, varid, name, sizeof(float), caller)
    bytes = requested
WRITE int nc_put_att_double(int ncid: handle, int varid, const char *name, nc_type xtype: datatype, size_t len: count,
                            const double *op: buffer)
    requested = failed ? 0 : times((int64_t)len, sizeof(double))
    bytes = requested
READ int nc_get_att_double(int ncid: handle, int varid, const char *name, double *ip: buffer)
    requested = netcdf_attribute_bytes(failed, ncid, varid, name, sizeof(double), caller)
    bytes = requested
WRITE int nc_put_att_ushort(int ncid: handle, int varid, const char *name, nc_type xtype: datatype, size_t len: count,
                            const unsigned short *op: buffer)
    requested = failed ? 0 : times((int64_t)len, sizeof(unsigned short))
    bytes = requested
READ int nc_get_att_ushort(int ncid: handle, int varid, const char *name, unsigned short *ip: buffer)
    requested = netcdf_attribute_bytes(failed, ncid, varid, name, sizeof(unsigned short), caller)
    bytes = requested
WRITE int nc_put_att_uint(int ncid: handle, int varid, const char *name, nc_type xtype: datatype, size_t len: count,
                          const unsigned int *op: buffer)
    requested = failed ? 0 : times((int64_t)len, sizeof(unsigned int))
    bytes = requested
READ int nc_get_att_uint(int ncid: handle, int varid, const char *name, unsigned int *ip: buffer)
    requested = netcdf_attribute_bytes(failed, ncid, varid, name, sizeof(unsigned int), caller)
    bytes = requested
WRITE int nc_put_att_longlong(int ncid: handle, int varid, const char *name, nc_type xtype: datatype,
                              size_t len: count, const long long *op: buffer)
    requested = failed ? 0 : times((int64_t)len, sizeof(long long))
    bytes = requested
READ int nc_get_att_longlong(int ncid: handle, int varid, const char *name, long long *ip: buffer)
    requested = netcdf_attribute_bytes(failed, ncid, varid, name, sizeof(long long), caller)
    bytes = requested
WRITE int nc_put_att_ulonglong(int ncid: handle, int varid, const char *name, nc_type xtype: datatype,
                               size_t len: count, const unsigned long long *op: buffer)
    requested = failed ? 0 : times((int64_t)len, sizeof(unsigned long long))
    bytes = requested
READ int nc_get_att_ulonglong(int ncid: handle, int varid, const char *name, unsigned long long *ip: buffer)
    requested = netcdf_attribute_bytes(failed, ncid, varid, name, sizeof(unsigned long long), caller)
    bytes = requested
OTHER int nc_def_var(int ncid: handle, const char *name, nc_type xtype: datatype, int ndims,
                     const int *dimidsp: array(ndims), int *varidp: int)
OTHER int nc_inq_var(int ncid: handle, int varid, char *name: text, nc_type *xtypep: int, int *ndimsp: int,
                     int *dimidsp, int *nattsp: int)
OTHER int nc_inq_varid(int ncid: handle, const char *name, int *varidp: int)
    class = memory
OTHER int nc_inq_varname(int ncid: handle, int varid, char *name: text)
OTHER int nc_inq_vartype(int ncid: handle, int varid, nc_type *xtypep: int)
OTHER int nc_inq_varndims(int ncid: handle, int varid, int *ndimsp: int)
OTHER int nc_inq_vardimid(int ncid: handle, int varid,
                          int *dimidsp: array(netcdf_dimensions(failed, ncid, varid, caller)))
OTHER int nc_inq_varnatts(int ncid: handle, int varid, int *nattsp: int)
OTHER int nc_rename_var(int ncid: handle, int varid, const char *name)
WRITE int nc_copy_var(int ncid_in, int varid, int ncid_out: handle)
    requested = times(netcdf_variable_elements(failed, ncid_in, varid, caller), netcdf_width(failed, ncid_in, varid, caller))
    bytes = requested
WRITE int nc_put_var1_text(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                           const char *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(char)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var1_text(int ncid: handle, int varid, const size_t *indexp: array(dimensions), char *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(char)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var1_uchar(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                            const unsigned char *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned char)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var1_uchar(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                           unsigned char *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned char)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var1_schar(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                            const signed char *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(signed char)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var1_schar(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                           signed char *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(signed char)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var1_short(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                            const short *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(short)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var1_short(int ncid: handle, int varid, const size_t *indexp: array(dimensions), short *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(short)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var1_int(int ncid: handle, int varid, const size_t *indexp: array(dimensions), const int *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(int)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var1_int(int ncid: handle, int varid, const size_t *indexp: array(dimensions), int *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(int)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var1_long(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                           const long *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(long)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var1_long(int ncid: handle, int varid, const size_t *indexp: array(dimensions), long *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(long)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var1_float(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                            const float *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(float)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var1_float(int ncid: handle, int varid, const size_t *indexp: array(dimensions), float *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(float)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var1_double(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                             const double *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(double)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var1_double(int ncid: handle, int varid, const size_t *indexp: array(dimensions), double *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(double)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var1_ushort(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                             const unsigned short *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned short)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var1_ushort(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                            unsigned short *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned short)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var1_uint(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                           const unsigned int *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned int)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var1_uint(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                          unsigned int *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned int)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var1_longlong(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                               const long long *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(long long)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var1_longlong(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                              long long *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(long long)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var1_ulonglong(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                                const unsigned long long *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned long long)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var1_ulonglong(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                               unsigned long long *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned long long)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var1_string(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                             const char **op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(char *)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var1_string(int ncid: handle, int varid, const size_t *indexp: array(dimensions), char **ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(char *)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vara_text(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const char *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vara_text(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                          const size_t *countp: array(dimensions), char *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vara_uchar(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const unsigned char *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(unsigned char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vara_uchar(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), unsigned char *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(unsigned char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vara_schar(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const signed char *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(signed char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vara_schar(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), signed char *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(signed char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vara_short(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const short *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(short))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vara_short(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), short *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(short))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vara_int(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                          const size_t *countp: array(dimensions), const int *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(int))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vara_int(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                         const size_t *countp: array(dimensions), int *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(int))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vara_long(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const long *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vara_long(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                          const size_t *countp: array(dimensions), long *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vara_float(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const float *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(float))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vara_float(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), float *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(float))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vara_double(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                             const size_t *countp: array(dimensions), const double *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(double))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vara_double(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), double *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(double))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vara_ushort(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                             const size_t *countp: array(dimensions), const unsigned short *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(unsigned short))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vara_ushort(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), unsigned short *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(unsigned short))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vara_uint(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const unsigned int *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(unsigned int))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vara_uint(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                          const size_t *countp: array(dimensions), unsigned int *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(unsigned int))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vara_longlong(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                               const size_t *countp: array(dimensions), const long long *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(long long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vara_longlong(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                              const size_t *countp: array(dimensions), long long *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(long long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vara_ulonglong(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                                const size_t *countp: array(dimensions), const unsigned long long *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(unsigned long long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vara_ulonglong(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                               const size_t *countp: array(dimensions), unsigned long long *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(unsigned long long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vara_string(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                             const size_t *countp: array(dimensions), const char **op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(char *))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vara_string(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), char **ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(char *))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vars_text(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                           const char *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vars_text(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                          const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                          char *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vars_uchar(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                            const unsigned char *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vars_uchar(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                           unsigned char *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vars_schar(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                            const signed char *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(signed char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vars_schar(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                           signed char *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(signed char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vars_short(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                            const short *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(short))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vars_short(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                           short *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(short))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vars_int(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                          const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                          const int *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(int))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vars_int(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                         const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                         int *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(int))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vars_long(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                           const long *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vars_long(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                          const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                          long *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vars_float(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                            const float *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(float))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vars_float(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                           float *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(float))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vars_double(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                             const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                             const double *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(double))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vars_double(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                            double *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(double))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vars_ushort(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                             const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                             const unsigned short *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned short))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vars_ushort(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                            unsigned short *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned short))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vars_uint(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                           const unsigned int *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned int))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vars_uint(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                          const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                          unsigned int *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned int))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vars_longlong(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                               const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                               const long long *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(long long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vars_longlong(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                              const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                              long long *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(long long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vars_ulonglong(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                                const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                                const unsigned long long *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned long long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vars_ulonglong(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                               const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                               unsigned long long *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned long long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vars_string(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                             const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                             const char **op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(char *))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vars_string(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                            char **ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(char *))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_varm_text(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                           const ptrdiff_t *imapp: array(dimensions), const char *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_varm_text(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                          const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                          const ptrdiff_t *imapp: array(dimensions), char *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_varm_uchar(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                            const ptrdiff_t *imapp: array(dimensions), const unsigned char *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_varm_uchar(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                           const ptrdiff_t *imapp: array(dimensions), unsigned char *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_varm_schar(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                            const ptrdiff_t *imapp: array(dimensions), const signed char *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(signed char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_varm_schar(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                           const ptrdiff_t *imapp: array(dimensions), signed char *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(signed char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_varm_short(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                            const ptrdiff_t *imapp: array(dimensions), const short *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(short))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_varm_short(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                           const ptrdiff_t *imapp: array(dimensions), short *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(short))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_varm_int(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                          const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                          const ptrdiff_t *imapp: array(dimensions), const int *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(int))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_varm_int(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                         const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                         const ptrdiff_t *imapp: array(dimensions), int *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(int))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_varm_long(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                           const ptrdiff_t *imapp: array(dimensions), const long *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_varm_long(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                          const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                          const ptrdiff_t *imapp: array(dimensions), long *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_varm_float(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                            const ptrdiff_t *imapp: array(dimensions), const float *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(float))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_varm_float(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                           const ptrdiff_t *imapp: array(dimensions), float *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(float))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_varm_double(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                             const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                             const ptrdiff_t *imapp: array(dimensions), const double *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(double))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_varm_double(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                            const ptrdiff_t *imapp: array(dimensions), double *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(double))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_varm_ushort(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                             const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                             const ptrdiff_t *imapp: array(dimensions), const unsigned short *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned short))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_varm_ushort(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                            const ptrdiff_t *imapp: array(dimensions), unsigned short *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned short))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_varm_uint(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                           const ptrdiff_t *imapp: array(dimensions), const unsigned int *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned int))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_varm_uint(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                          const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                          const ptrdiff_t *imapp: array(dimensions), unsigned int *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned int))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_varm_longlong(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                               const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                               const ptrdiff_t *imapp: array(dimensions), const long long *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(long long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_varm_longlong(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                              const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                              const ptrdiff_t *imapp: array(dimensions), long long *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(long long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_varm_ulonglong(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                                const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                                const ptrdiff_t *imapp: array(dimensions), const unsigned long long *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned long long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_varm_ulonglong(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                               const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                               const ptrdiff_t *imapp: array(dimensions), unsigned long long *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned long long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_varm_string(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                             const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                             const ptrdiff_t *imapp: array(dimensions), const char **op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(char *))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_varm_string(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                            const ptrdiff_t *imapp: array(dimensions), char **ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(char *))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var_text(int ncid: handle, int varid, const char *op: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var_text(int ncid: handle, int varid, char *ip: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var_uchar(int ncid: handle, int varid, const unsigned char *op: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var_uchar(int ncid: handle, int varid, unsigned char *ip: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var_schar(int ncid: handle, int varid, const signed char *op: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(signed char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var_schar(int ncid: handle, int varid, signed char *ip: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(signed char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var_short(int ncid: handle, int varid, const short *op: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(short))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var_short(int ncid: handle, int varid, short *ip: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(short))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var_int(int ncid: handle, int varid, const int *op: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(int))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var_int(int ncid: handle, int varid, int *ip: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(int))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var_long(int ncid: handle, int varid, const long *op: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var_long(int ncid: handle, int varid, long *ip: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var_float(int ncid: handle, int varid, const float *op: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(float))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var_float(int ncid: handle, int varid, float *ip: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(float))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var_double(int ncid: handle, int varid, const double *op: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(double))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var_double(int ncid: handle, int varid, double *ip: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(double))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var_ushort(int ncid: handle, int varid, const unsigned short *op: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned short))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var_ushort(int ncid: handle, int varid, unsigned short *ip: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned short))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var_uint(int ncid: handle, int varid, const unsigned int *op: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned int))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var_uint(int ncid: handle, int varid, unsigned int *ip: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned int))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var_longlong(int ncid: handle, int varid, const long long *op: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(long long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var_longlong(int ncid: handle, int varid, long long *ip: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(long long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var_ulonglong(int ncid: handle, int varid, const unsigned long long *op: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned long long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var_ulonglong(int ncid: handle, int varid, unsigned long long *ip: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned long long))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var_string(int ncid: handle, int varid, const char **op: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(char *))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var_string(int ncid: handle, int varid, char **ip: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(char *))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
OTHER int nc_reclaim_data(int ncid: handle, nc_type xtypeid: datatype, void *memory, size_t count)
    class = memory
OTHER int nc_reclaim_data_all(int ncid: handle, nc_type xtypeid: datatype, void *memory, size_t count)
    class = memory
OTHER int nc_copy_data(int ncid: handle, nc_type xtypeid: datatype, const void *memory, size_t count, void *copy)
    class = memory
OTHER int nc_copy_data_all(int ncid: handle, nc_type xtypeid: datatype, const void *memory, size_t count,
                           void **copyp)
    class = memory
OTHER int nc_dump_data(int ncid: handle, nc_type xtypeid: datatype, void *memory, size_t count, char **buf: buffer)
    class = memory
WRITE int nc_put_att_ubyte(int ncid: handle, int varid, const char *name, nc_type xtype: datatype, size_t len: count,
                           const unsigned char *op: buffer)
    requested = failed ? 0 : times((int64_t)len, sizeof(unsigned char))
    bytes = requested
READ int nc_get_att_ubyte(int ncid: handle, int varid, const char *name, unsigned char *ip: buffer)
    requested = netcdf_attribute_bytes(failed, ncid, varid, name, sizeof(unsigned char), caller)
    bytes = requested
WRITE int nc_put_var1_ubyte(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                            const unsigned char *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned char)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var1_ubyte(int ncid: handle, int varid, const size_t *indexp: array(dimensions),
                           unsigned char *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = failed ? 0 : sizeof(unsigned char)
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vara_ubyte(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const unsigned char *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(unsigned char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vara_ubyte(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), unsigned char *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, sizeof(unsigned char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_vars_ubyte(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                            const unsigned char *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_vars_ubyte(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                           unsigned char *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_varm_ubyte(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                            const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                            const ptrdiff_t *imapp: array(dimensions), const unsigned char *op: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_varm_ubyte(int ncid: handle, int varid, const size_t *startp: array(dimensions),
                           const size_t *countp: array(dimensions), const ptrdiff_t *stridep: array(dimensions),
                           const ptrdiff_t *imapp: array(dimensions), unsigned char *ip: buffer)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, sizeof(unsigned char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
WRITE int nc_put_var_ubyte(int ncid: handle, int varid, const unsigned char *op: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
READ int nc_get_var_ubyte(int ncid: handle, int varid, unsigned char *ip: buffer)
    requested = times(netcdf_variable_elements(failed, ncid, varid, caller), sizeof(unsigned char))
    bytes = requested
    flags = netcdf_flags(ncid, varid, caller)
OTHER int nc_set_log_level(int new_level)
    class = memory
OTHER int nc_show_metadata(int ncid: handle)
    class = memory
DELETE int nc_delete(const char *path: path)
    file = netcdf_file(path)
CREATE int nc__create_mp(const char *path: path, int cmode: hex, size_t initialsz, int basepe,
                         size_t *chunksizehintp: uint, int *ncidp: new_handle)
    file = netcdf_file(path)
    after = variables_invalidate()
CREATE int nc__open_mp(const char *path: path, int mode: hex, int basepe, size_t *chunksizehintp: uint,
                       int *ncidp: new_handle)
    file = netcdf_file(path)
    after = variables_invalidate()
DELETE int nc_delete_mp(const char *path: path, int basepe)
    file = netcdf_file(path)
OTHER int nc_set_base_pe(int ncid: handle, int pe)
    class = memory
OTHER int nc_inq_base_pe(int ncid: handle, int *pe: int)
    class = memory
OTHER int nctypelen(nc_type datatype: datatype) -> id
    failed = result == -1
    class = memory
CREATE int nccreate(const char *path: path, int cmode: hex) -> handle
    failed = result == -1
    error = netcdf_v2_error(caller)
    file = netcdf_file(path)
    after = variables_invalidate()
CREATE int ncopen(const char *path: path, int mode: hex) -> handle
    failed = result == -1
    error = netcdf_v2_error(caller)
    file = netcdf_file(path)
    after = variables_invalidate()
OTHER int ncsetfill(int ncid: handle, int fillmode: hex)
    failed = result == -1
    error = netcdf_v2_error(caller)
OTHER int ncredef(int ncid: handle)
    failed = result == -1
    error = netcdf_v2_error(caller)
OTHER int ncendef(int ncid: handle)
    failed = result == -1
    error = netcdf_v2_error(caller)
SYNC int ncsync(int ncid: handle)
    failed = result == -1
    error = netcdf_v2_error(caller)
DESTROY int ncabort(int ncid: handle)
    failed = result == -1
    error = netcdf_v2_error(caller)
    after = netcdf_unbind_groups(failed, ncid, caller)
DESTROY int ncclose(int ncid: handle)
    failed = result == -1
    error = netcdf_v2_error(caller)
    after = netcdf_unbind_groups(failed, ncid, caller)
OTHER int ncinquire(int ncid: handle, int *ndimsp: int, int *nvarsp: int, int *nattsp: int, int *unlimdimp: int)
    failed = result == -1
    error = netcdf_v2_error(caller)
OTHER int ncdimdef(int ncid: handle, const char *name, long len) -> id
    failed = result == -1
    error = netcdf_v2_error(caller)
OTHER int ncdimid(int ncid: handle, const char *name) -> id
    failed = result == -1
    error = netcdf_v2_error(caller)
    class = memory
OTHER int ncdiminq(int ncid: handle, int dimid, char *name: text, long *lenp: int)
    failed = result == -1
    error = netcdf_v2_error(caller)
OTHER int ncdimrename(int ncid: handle, int dimid, const char *name)
    failed = result == -1
    error = netcdf_v2_error(caller)
WRITE int ncattput(int ncid: handle, int varid, const char *name, nc_type xtype: datatype, int len: count,
                   const void *op: buffer)
    failed = result == -1
    error = netcdf_v2_error(caller)
    requested = failed ? 0 : times(len, netcdf_width_of(ncid, xtype, caller))
    bytes = requested
OTHER int ncattinq(int ncid: handle, int varid, const char *name, nc_type *xtypep: int, int *lenp: int)
    failed = result == -1
    error = netcdf_v2_error(caller)
READ int ncattget(int ncid: handle, int varid, const char *name, void *ip: buffer)
    failed = result == -1
    error = netcdf_v2_error(caller)
    requested = netcdf_attribute_bytes(failed, ncid, varid, name, 0, caller)
    bytes = requested
OTHER int ncattcopy(int ncid_in: handle, int varid_in, const char *name, int ncid_out, int varid_out)
    failed = result == -1
    error = netcdf_v2_error(caller)
OTHER int ncattname(int ncid: handle, int varid, int attnum, char *name: text)
    failed = result == -1
    error = netcdf_v2_error(caller)
OTHER int ncattrename(int ncid: handle, int varid, const char *name, const char *newname)
    failed = result == -1
    error = netcdf_v2_error(caller)
OTHER int ncattdel(int ncid: handle, int varid, const char *name)
    failed = result == -1
    error = netcdf_v2_error(caller)
OTHER int ncvardef(int ncid: handle, const char *name, nc_type xtype: datatype, int ndims,
                   const int *dimidsp: array(ndims)) -> id
    failed = result == -1
    error = netcdf_v2_error(caller)
OTHER int ncvarid(int ncid: handle, const char *name) -> id
    failed = result == -1
    error = netcdf_v2_error(caller)
    class = memory
OTHER int ncvarinq(int ncid: handle, int varid, char *name: text, nc_type *xtypep: int, int *ndimsp: int,
                   int *dimidsp, int *nattsp: int)
    failed = result == -1
    error = netcdf_v2_error(caller)
WRITE int ncvarput1(int ncid: handle, int varid, const long *indexp: array(dimensions), const void *op: buffer)
    failed = result == -1
    error = netcdf_v2_error(caller)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = times(1, netcdf_width(failed, ncid, varid, caller))
    bytes = requested
READ int ncvarget1(int ncid: handle, int varid, const long *indexp: array(dimensions), void *ip: buffer)
    failed = result == -1
    error = netcdf_v2_error(caller)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    requested = times(1, netcdf_width(failed, ncid, varid, caller))
    bytes = requested
WRITE int ncvarput(int ncid: handle, int varid, const long *startp: array(dimensions),
                   const long *countp: array(dimensions), const void *op: buffer)
    failed = result == -1
    error = netcdf_v2_error(caller)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements_v2(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, netcdf_width(failed, ncid, varid, caller))
    bytes = requested
READ int ncvarget(int ncid: handle, int varid, const long *startp: array(dimensions),
                  const long *countp: array(dimensions), void *ip: buffer)
    failed = result == -1
    error = netcdf_v2_error(caller)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements_v2(failed, dimensions, ncid, varid, startp, countp, NULL, caller)
    requested = times(elements, netcdf_width(failed, ncid, varid, caller))
    bytes = requested
WRITE int ncvarputs(int ncid: handle, int varid, const long *startp: array(dimensions),
                    const long *countp: array(dimensions), const long *stridep: array(dimensions),
                    const void *op: buffer)
    failed = result == -1
    error = netcdf_v2_error(caller)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements_v2(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, netcdf_width(failed, ncid, varid, caller))
    bytes = requested
READ int ncvargets(int ncid: handle, int varid, const long *startp: array(dimensions),
                   const long *countp: array(dimensions), const long *stridep: array(dimensions), void *ip: buffer)
    failed = result == -1
    error = netcdf_v2_error(caller)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements_v2(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, netcdf_width(failed, ncid, varid, caller))
    bytes = requested
WRITE int ncvarputg(int ncid: handle, int varid, const long *startp: array(dimensions),
                    const long *countp: array(dimensions), const long *stridep: array(dimensions),
                    const long *imapp: array(dimensions), const void *op: buffer)
    failed = result == -1
    error = netcdf_v2_error(caller)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements_v2(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, netcdf_width(failed, ncid, varid, caller))
    bytes = requested
READ int ncvargetg(int ncid: handle, int varid, const long *startp: array(dimensions),
                   const long *countp: array(dimensions), const long *stridep: array(dimensions),
                   const long *imapp: array(dimensions), void *ip: buffer)
    failed = result == -1
    error = netcdf_v2_error(caller)
    after = int dimensions = netcdf_dimensions(failed, ncid, varid, caller)
    after = int64_t elements = netcdf_part_elements_v2(failed, dimensions, ncid, varid, startp, countp, stridep, caller)
    requested = times(elements, netcdf_width(failed, ncid, varid, caller))
    bytes = requested
OTHER int ncvarrename(int ncid: handle, int varid, const char *name)
    failed = result == -1
    error = netcdf_v2_error(caller)
OTHER int ncrecinq(int ncid: handle, int *nrecvarsp: int, int *recvaridsp, long *recsizesp)
    failed = result == -1
    error = netcdf_v2_error(caller)
READ int ncrecget(int ncid: handle, long recnum, void **datap)
    failed = result == -1
    error = netcdf_v2_error(caller)
    requested = netcdf_record_bytes(failed, ncid, (void *const *)datap, caller)
    bytes = requested
WRITE int ncrecput(int ncid: handle, long recnum, void *const *datap)
    failed = result == -1
    error = netcdf_v2_error(caller)
    requested = netcdf_record_bytes(failed, ncid, (void *const *)datap, caller)
    bytes = requested
OTHER int nc_initialize(void)
OTHER int nc_finalize(void)

# ---- netcdf_mem.h ----

CREATE int nc_open_mem(const char *path: path, int mode: hex, size_t size, void *memory, int *ncidp: new_handle)
    file = netcdf_file(path)
    after = variables_invalidate()
CREATE int nc_create_mem(const char *path: path, int mode: hex, size_t initialsize, int *ncidp: new_handle)
    file = netcdf_file(path)
    after = variables_invalidate()
CREATE int nc_open_memio(const char *path: path, int mode: hex, void *info: opaque, int *ncidp: new_handle)
    file = netcdf_file(path)
    after = variables_invalidate()
DESTROY int nc_close_memio(int ncid: handle, void *info)
    after = netcdf_unbind_groups(failed, ncid, caller)

# ---- netcdf_filter.h ----

OTHER int nc_inq_var_filter_ids(int ncid: handle, int varid, size_t *nfilters: uint, unsigned int *filterids)
OTHER int nc_inq_var_filter_info(int ncid: handle, int varid, unsigned int id, size_t *nparams: uint,
                                 unsigned int *params)
OTHER int nc_inq_filter_avail(int ncid: handle, unsigned id)
    class = memory
OTHER int nc_def_var_bzip2(int ncid: handle, int varid, int level)
OTHER int nc_inq_var_bzip2(int ncid: handle, int varid, int *hasfilterp: int, int *levelp: int)
OTHER int nc_def_var_zstandard(int ncid: handle, int varid, int level)
OTHER int nc_inq_var_zstandard(int ncid: handle, int varid, int *hasfilterp: int, int *levelp: int)
OTHER int nc_def_var_blosc(int ncid: handle, int varid, unsigned subcompressor, unsigned level, unsigned blocksize,
                           unsigned addshuffle)
OTHER int nc_inq_var_blosc(int ncid: handle, int varid, int *hasfilterp: int, unsigned *subcompressorp: uint,
                           unsigned *levelp: uint, unsigned *blocksizep: uint, unsigned *addshufflep: uint)

# ---- netcdf_par.h ----

CREATE int nc_create_par(const char *path: path, int cmode: hex, MPI_Comm comm: opaque, MPI_Info info: opaque,
                         int *ncidp: new_handle)
    file = netcdf_file(path)
    after = variables_invalidate()
    flags = collective
    extra ranks: int = netcdf_ranks(failed, comm, caller)
CREATE int nc_open_par(const char *path: path, int mode: hex, MPI_Comm comm: opaque, MPI_Info info: opaque,
                       int *ncidp: new_handle)
    file = netcdf_file(path)
    after = variables_invalidate()
    flags = collective
    extra ranks: int = netcdf_ranks(failed, comm, caller)
OTHER int nc_var_par_access(int ncid: handle, int varid, int par_access: enum{NC_INDEPENDENT/NC_COLLECTIVE})
    after = netcdf_set_access(failed, ncid, varid, par_access, caller)
    flags = collective
CREATE int nc_create_par_fortran(const char *path: path, int cmode: hex, int comm, int info, int *ncidp: new_handle)
    file = netcdf_file(path)
    after = variables_invalidate()
    flags = collective
CREATE int nc_open_par_fortran(const char *path: path, int mode: hex, int comm, int info, int *ncidp: new_handle)
    file = netcdf_file(path)
    after = variables_invalidate()
    flags = collective

# ---- netcdf_aux.h ----

OTHER int ncaux_reclaim_data(int ncid: handle, int xtype, void *memory, size_t count)
    class = memory
OTHER int ncaux_reclaim_data_all(int ncid: handle, int xtype, void *memory, size_t count)
    class = memory
OTHER int ncaux_h5filterspec_parse(const char *txt, unsigned int *idp: uint, size_t *nparamsp: uint,
                                   unsigned int **paramsp)
    class = memory
OTHER int ncaux_h5filterspec_parselist(const char *txt0, int *formatp: int, size_t *nspecsp: uint, void ***vectorp)
    class = memory
OTHER int ncaux_h5filterspec_parse_parameter(const char *txt, size_t *nuiparamsp: uint, unsigned int *uiparams)
    class = memory
OTHER void ncaux_h5filterspec_free(void *f)
    class = memory
    error = 0
OTHER void ncaux_h5filterspec_fix8(unsigned char *mem, int decode)
    class = memory
    error = 0
OTHER int ncaux_readfile(const char *filename, size_t *sizep: uint, void **content)
    class = memory
OTHER int ncaux_writefile(const char *filename, size_t size, void *content)
    class = memory
OTHER int ncaux_type_alignment(int xtype, int ncid: handle, size_t *alignp: uint)
    class = memory
OTHER int ncaux_class_alignment(int ncclass, size_t *alignp: uint)
    class = memory
OTHER int ncaux_begin_compound(int ncid: handle, const char *name, int alignmode, void **tag)
    class = memory
OTHER int ncaux_end_compound(void *tag, nc_type *xtypeid)
    class = memory
OTHER int ncaux_abort_compound(void *tag)
    class = memory
OTHER int ncaux_add_field(void *tag, const char *name, nc_type field_type: datatype, int ndims, const int *dimsizes)
    class = memory
