# HDF5: the public functions of libhdf5 and libhdf5_hl, releases 1.10 to 2.0, serial and parallel.
#
# Handles are objects in a file (files, groups, datasets, attributes, committed datatypes, maps, packet tables) and
# the files of drivers. Other identifiers are shown as values. In calls that move data or create objects, datatypes are
# shown by their element type, and dataspaces by their elements or dimensions.
# Left out: H5Epush2 (variadic: its arguments cannot be passed on), the H5FD_*_init functions behind driver macros, and
# functions of H5VL that only connectors call, because their prototypes differ between releases.
library hdf5
layer HDF5
anchor H5open
fails result < 0
datatype failed ? NULL : hdf5_type_name(value, caller)


type H5D_alloc_time_t = int
type H5D_chunk_index_t = unsigned int
type H5D_fill_time_t = int
type H5D_fill_value_t = int
type H5D_layout_t = int
type H5D_mpio_actual_chunk_opt_mode_t = unsigned int
type H5D_mpio_actual_io_mode_t = unsigned int
type H5D_selection_io_mode_t = unsigned int
type H5D_space_status_t = int
type H5D_vds_view_t = int
type H5E_direction_t = unsigned int
type H5E_major_t = int64_t
type H5E_minor_t = int64_t
type H5E_type_t = unsigned int
type H5FD_class_value_t = int
type H5FD_mem_t = int
type H5FD_mpio_chunk_opt_t = unsigned int
type H5FD_mpio_collective_opt_t = unsigned int
type H5FD_mpio_xfer_t = unsigned int
type H5F_close_degree_t = unsigned int
type H5F_file_space_type_t = unsigned int
type H5F_fspace_strategy_t = unsigned int
type H5F_libver_t = int
type H5F_mem_t = int
type H5F_scope_t = unsigned int
type H5G_obj_t = int
type H5I_type_t = int
type H5LT_lang_t = int
type H5L_type_t = int
type H5O_token_t = struct { uint8_t data[16]; }
type H5O_type_t = int
type H5R_type_t = int
type H5S_class_t = int
type H5S_sel_type = int
type H5S_seloper_t = int
type H5T_class_t = int
type H5T_cset_t = int
type H5T_direction_t = unsigned int
type H5T_norm_t = int
type H5T_order_t = int
type H5T_pad_t = int
type H5T_pers_t = int
type H5T_sign_t = int
type H5T_str_t = int
type H5VL_class_value_t = int
type H5VL_subclass_t = unsigned int
type H5Z_EDC_t = int
type H5Z_SO_scale_type_t = unsigned int
type H5Z_filter_t = int
type H5_index_t = int
type H5_iter_order_t = int
type MPI_Comm = uintptr_t
type MPI_Info = uintptr_t
type haddr_t = uint64_t
type hbool_t = bool
type herr_t = int
type hid_t = int64_t
type hsize_t = uint64_t
type hssize_t = int64_t
type htri_t = int

# ---- The library ----

OTHER herr_t H5open(void)
    class = memory
OTHER herr_t H5close(void)
OTHER herr_t H5dont_atexit(void)
    class = memory
OTHER herr_t H5garbage_collect(void)
    class = memory
OTHER herr_t H5set_free_list_limits(int reg_global_lim, int reg_list_lim, int arr_global_lim, int arr_list_lim,
                        int blk_global_lim, int blk_list_lim)
    class = memory
OTHER herr_t H5get_free_list_sizes(size_t *reg_size, size_t *arr_size, size_t *blk_size, size_t *fac_size)
    class = memory
OTHER herr_t H5get_alloc_stats(void *stats)
    class = memory
OTHER herr_t H5get_libversion(unsigned int *majnum, unsigned int *minnum, unsigned int *relnum)
    class = memory
OTHER herr_t H5check_version(unsigned int majnum, unsigned int minnum, unsigned int relnum)
    class = memory
OTHER herr_t H5is_library_threadsafe(hbool_t *is_ts)
    class = memory
OTHER herr_t H5free_memory(void *mem)
    class = memory
OTHER void *H5allocate_memory(size_t size, hbool_t clear)
    class = memory
OTHER void *H5resize_memory(void *mem, size_t size)
    class = memory
OTHER herr_t H5atclose(void *func, void *ctx)
    class = memory
OTHER herr_t H5is_library_terminating(hbool_t *is_terminating)
    class = memory

# ---- Files ----

OTHER htri_t H5Fis_hdf5(const char *filename: path)
    error = errno
CREATE hid_t H5Fcreate(const char *filename: path, unsigned int flags: hex, hid_t fcpl_id: hex,
                       hid_t fapl_id: hex) -> handle
    error = errno
CREATE hid_t H5Fopen(const char *filename: path, unsigned int flags: hex, hid_t fapl_id: hex) -> handle
    error = errno
CREATE hid_t H5Freopen(hid_t file_id: handle) -> handle
SYNC herr_t H5Fflush(hid_t object_id: handle, H5F_scope_t scope: enum{H5F_SCOPE_LOCAL/H5F_SCOPE_GLOBAL})
DESTROY herr_t H5Fclose(hid_t file_id: handle)
    after = hdf5_bind_if_valid(file_id, source_, failed, caller)
OTHER hid_t H5Fget_create_plist(hid_t file_id: handle) -> id
    class = memory
OTHER hid_t H5Fget_access_plist(hid_t file_id: handle) -> id
    class = memory
OTHER herr_t H5Fget_intent(hid_t file_id: handle, unsigned int *intent)
    class = memory
OTHER ssize_t H5Fget_obj_count(hid_t file_id: handle, unsigned int types)
    class = memory
OTHER ssize_t H5Fget_obj_ids(hid_t file_id: handle, unsigned int types, size_t max_objs, hid_t *obj_id_list)
    class = memory
OTHER herr_t H5Fget_vfd_handle(hid_t file_id: handle, hid_t fapl: hex, void **file_handle)
    class = memory
OTHER herr_t H5Fmount(hid_t loc: handle, const char *name, hid_t child: handle, hid_t plist: hex)
OTHER herr_t H5Funmount(hid_t loc: handle, const char *name)
OTHER hssize_t H5Fget_freespace(hid_t file_id: handle)
OTHER herr_t H5Fget_filesize(hid_t file_id: handle, hsize_t *size)
OTHER herr_t H5Fget_eoa(hid_t file_id: handle, haddr_t *eoa)
OTHER herr_t H5Fincrement_filesize(hid_t file_id: handle, hsize_t increment)
OTHER ssize_t H5Fget_file_image(hid_t file_id: handle, void *buf_ptr, size_t buf_len)
OTHER herr_t H5Fget_mdc_config(hid_t file_id: handle, void *config_ptr)
    class = memory
OTHER herr_t H5Fset_mdc_config(hid_t file_id: handle, void *config_ptr)
    class = memory
OTHER herr_t H5Fget_mdc_hit_rate(hid_t file_id: handle, double *hit_rate_ptr)
    class = memory
OTHER herr_t H5Fget_mdc_size(hid_t file_id: handle, size_t *max_size_ptr, size_t *min_clean_size_ptr,
                        size_t *cur_size_ptr, int *cur_num_entries_ptr)
    class = memory
OTHER herr_t H5Freset_mdc_hit_rate_stats(hid_t file_id: handle)
    class = memory
OTHER ssize_t H5Fget_name(hid_t obj_id: handle, char *name, size_t size)
    class = memory
OTHER herr_t H5Fget_info2(hid_t obj_id: handle, void *file_info)
OTHER herr_t H5Fget_metadata_read_retry_info(hid_t file_id: handle, void *info)
    class = memory
OTHER herr_t H5Fstart_swmr_write(hid_t file_id: handle)
OTHER ssize_t H5Fget_free_sections(hid_t file_id: handle,
                        H5F_mem_t type: enum{H5FD_MEM_DEFAULT/H5FD_MEM_SUPER/H5FD_MEM_BTREE/H5FD_MEM_DRAW/H5FD_MEM_GHEAP/H5FD_MEM_LHEAP/H5FD_MEM_OHDR},
                        size_t nsects, void *sect_info)
OTHER herr_t H5Fclear_elink_file_cache(hid_t file_id: handle)
OTHER herr_t H5Fset_libver_bounds(hid_t file_id: handle,
                        H5F_libver_t low: enum{H5F_LIBVER_EARLIEST/H5F_LIBVER_V18/H5F_LIBVER_V110/H5F_LIBVER_V112/H5F_LIBVER_V114/H5F_LIBVER_V200},
                        H5F_libver_t high: enum{H5F_LIBVER_EARLIEST/H5F_LIBVER_V18/H5F_LIBVER_V110/H5F_LIBVER_V112/H5F_LIBVER_V114/H5F_LIBVER_V200})
    class = memory
OTHER herr_t H5Fstart_mdc_logging(hid_t file_id: handle)
OTHER herr_t H5Fstop_mdc_logging(hid_t file_id: handle)
OTHER herr_t H5Fget_mdc_logging_status(hid_t file_id: handle, hbool_t *is_enabled, hbool_t *is_currently_logging)
    class = memory
OTHER herr_t H5Fformat_convert(hid_t fid: handle)
OTHER herr_t H5Freset_page_buffering_stats(hid_t file_id: handle)
    class = memory
OTHER herr_t H5Fget_page_buffering_stats(hid_t file_id: handle, unsigned int *accesses, unsigned int *hits,
                        unsigned int *misses, unsigned int *evictions, unsigned int *bypasses)
    class = memory
OTHER herr_t H5Fget_mdc_image_info(hid_t file_id: handle, haddr_t *image_addr, hsize_t *image_size)
    class = memory
OTHER herr_t H5Fget_dset_no_attrs_hint(hid_t file_id: handle, hbool_t *minimize)
    class = memory
OTHER herr_t H5Fset_dset_no_attrs_hint(hid_t file_id: handle, hbool_t minimize)
    class = memory
OTHER herr_t H5Fget_info1(hid_t obj_id: handle, void *file_info)
OTHER herr_t H5Fset_latest_format(hid_t file_id: handle, hbool_t latest_format)
    class = memory
OTHER herr_t H5Fset_mpi_atomicity(hid_t file_id: handle, hbool_t flag)
    class = memory
OTHER herr_t H5Fget_mpi_atomicity(hid_t file_id: handle, hbool_t *flag)
    class = memory
DESTROY herr_t H5Fclose_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t file_id: handle,
                        hid_t es_id: hex)
    after = hdf5_bind_if_valid(file_id, source_, failed, caller)
    flags = nonblocking
CREATE hid_t H5Fcreate_async(const char *app_file, const char *app_func, unsigned int app_line,
                        const char *filename: path, unsigned int flags: hex, hid_t fcpl_id: hex, hid_t fapl_id: hex,
                        hid_t es_id: hex) -> handle
    flags = nonblocking
    error = errno
DELETE herr_t H5Fdelete(const char *filename: path, hid_t fapl_id: hex)
    error = errno
SYNC herr_t H5Fflush_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t object_id: handle,
                        H5F_scope_t scope: enum{H5F_SCOPE_LOCAL/H5F_SCOPE_GLOBAL}, hid_t es_id: hex)
    flags = nonblocking
OTHER herr_t H5Fget_fileno(hid_t file_id: handle, unsigned long *fileno)
    class = memory
OTHER htri_t H5Fis_accessible(const char *container_name: path, hid_t fapl_id: hex)
    error = errno
CREATE hid_t H5Fopen_async(const char *app_file, const char *app_func, unsigned int app_line,
                        const char *filename: path, unsigned int flags: hex, hid_t access_plist: hex,
                        hid_t es_id: hex) -> handle
    flags = nonblocking
    error = errno
CREATE hid_t H5Freopen_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t file_id: handle,
                        hid_t es_id: hex) -> handle
    flags = nonblocking

# ---- Groups ----

CREATE hid_t H5Gcreate2(hid_t loc_id: handle, const char *name, hid_t lcpl_id: hex, hid_t gcpl_id: hex,
                        hid_t gapl_id: hex) -> handle
CREATE hid_t H5Gcreate_anon(hid_t loc_id: handle, hid_t gcpl_id: hex, hid_t gapl_id: hex) -> handle
CREATE hid_t H5Gopen2(hid_t loc_id: handle, const char *name, hid_t gapl_id: hex) -> handle
OTHER hid_t H5Gget_create_plist(hid_t group_id: handle) -> id
    class = memory
OTHER herr_t H5Gget_info(hid_t loc_id: handle, void *ginfo)
OTHER herr_t H5Gget_info_by_name(hid_t loc_id: handle, const char *name, void *ginfo, hid_t lapl_id: hex)
OTHER herr_t H5Gget_info_by_idx(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n, void *ginfo,
                        hid_t lapl_id: hex)
SYNC herr_t H5Gflush(hid_t group_id: handle)
OTHER herr_t H5Grefresh(hid_t group_id: handle)
DESTROY herr_t H5Gclose(hid_t group_id: handle)
    after = hdf5_bind_if_valid(group_id, source_, failed, caller)
CREATE hid_t H5Gcreate1(hid_t loc_id: handle, const char *name, size_t size_hint) -> handle
CREATE hid_t H5Gopen1(hid_t loc_id: handle, const char *name) -> handle
OTHER herr_t H5Glink(hid_t cur_loc_id: handle, H5L_type_t type: enum{H5L_TYPE_HARD/H5L_TYPE_SOFT},
                     const char *cur_name, const char *new_name)
OTHER herr_t H5Glink2(hid_t cur_loc_id: handle, const char *cur_name,
                      H5L_type_t type: enum{H5L_TYPE_HARD/H5L_TYPE_SOFT}, hid_t new_loc_id: handle,
                      const char *new_name)
OTHER herr_t H5Gmove(hid_t src_loc_id: handle, const char *src_name, const char *dst_name)
OTHER herr_t H5Gmove2(hid_t src_loc_id: handle, const char *src_name, hid_t dst_loc_id: handle, const char *dst_name)
DELETE herr_t H5Gunlink(hid_t loc_id: handle, const char *name)
OTHER herr_t H5Gget_linkval(hid_t loc_id: handle, const char *name, size_t size, char *buf)
OTHER herr_t H5Gset_comment(hid_t loc_id: handle, const char *name, const char *comment)
OTHER int H5Gget_comment(hid_t loc_id: handle, const char *name, size_t bufsize, char *buf)
OTHER herr_t H5Giterate(hid_t loc_id: handle, const char *name, int *idx, void *op, void *op_data)
OTHER herr_t H5Gget_num_objs(hid_t loc_id: handle, hsize_t *num_objs)
OTHER herr_t H5Gget_objinfo(hid_t loc_id: handle, const char *name, hbool_t follow_link, void *statbuf)
OTHER ssize_t H5Gget_objname_by_idx(hid_t loc_id: handle, hsize_t idx, char *name, size_t size)
OTHER H5G_obj_t H5Gget_objtype_by_idx(hid_t loc_id: handle, hsize_t idx)
DESTROY herr_t H5Gclose_async(const char *app_file, const char *app_func, unsigned int app_line,
                        hid_t group_id: handle, hid_t es_id: hex)
    after = hdf5_bind_if_valid(group_id, source_, failed, caller)
    flags = nonblocking
CREATE hid_t H5Gcreate_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t loc_id: handle,
                        const char *name, hid_t lcpl_id: hex, hid_t gcpl_id: hex, hid_t gapl_id: hex,
                        hid_t es_id: hex) -> handle
    flags = nonblocking
OTHER herr_t H5Gget_info_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t loc_id: handle,
                        void *ginfo, hid_t es_id: hex)
    flags = nonblocking
OTHER herr_t H5Gget_info_by_idx_async(const char *app_file, const char *app_func, unsigned int app_line,
                        hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n, void *ginfo,
                        hid_t lapl_id: hex, hid_t es_id: hex)
    flags = nonblocking
OTHER herr_t H5Gget_info_by_name_async(const char *app_file, const char *app_func, unsigned int app_line,
                        hid_t loc_id: handle, const char *name, void *ginfo, hid_t lapl_id: hex, hid_t es_id: hex)
    flags = nonblocking
CREATE hid_t H5Gopen_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t loc_id: handle,
                        const char *name, hid_t gapl_id: hex, hid_t es_id: hex) -> handle
    flags = nonblocking

# ---- Datasets ----

CREATE hid_t H5Dcreate2(hid_t loc_id: handle, const char *name, hid_t type_id: datatype, hid_t space_id: opaque,
                        hid_t lcpl_id: hex, hid_t dcpl_id: hex, hid_t dapl_id: hex) -> handle
    after = const struct hdf5_extent extent = hdf5_extent(space_id, failed, caller)
    extra dims: array(extent.rank) = extent.sizes
CREATE hid_t H5Dcreate_anon(hid_t loc_id: handle, hid_t type_id: datatype, hid_t space_id: opaque, hid_t dcpl_id: hex,
                        hid_t dapl_id: hex) -> handle
    after = const struct hdf5_extent extent = hdf5_extent(space_id, failed, caller)
    extra dims: array(extent.rank) = extent.sizes
CREATE hid_t H5Dopen2(hid_t loc_id: handle, const char *name, hid_t dapl_id: hex) -> handle
OTHER hid_t H5Dget_space(hid_t dset_id: handle) -> id
    class = memory
OTHER herr_t H5Dget_space_status(hid_t dset_id: handle, H5D_space_status_t *allocation)
OTHER hid_t H5Dget_type(hid_t dset_id: handle) -> id
    class = memory
OTHER hid_t H5Dget_create_plist(hid_t dset_id: handle) -> id
    class = memory
OTHER hid_t H5Dget_access_plist(hid_t dset_id: handle) -> id
    class = memory
OTHER hsize_t H5Dget_storage_size(hid_t dset_id: handle)
OTHER herr_t H5Dget_chunk_storage_size(hid_t dset_id: handle,
                        const hsize_t *offset: array(hdf5_rank_of(dset_id, caller)), hsize_t *chunk_bytes)
OTHER herr_t H5Dget_num_chunks(hid_t dset_id: handle, hid_t fspace_id: hex, hsize_t *nchunks)
OTHER herr_t H5Dget_chunk_info_by_coord(hid_t dset_id: handle,
                        const hsize_t *offset: array(hdf5_rank_of(dset_id, caller)), unsigned int *filter_mask,
                        haddr_t *addr, hsize_t *size)
OTHER herr_t H5Dget_chunk_info(hid_t dset_id: handle, hid_t fspace_id: hex, hsize_t chk_idx, hsize_t *offset,
                        unsigned int *filter_mask, haddr_t *addr, hsize_t *size)
OTHER haddr_t H5Dget_offset(hid_t dset_id: handle)
    failed = result == UINT64_MAX
READ herr_t H5Dread(hid_t dset_id: handle, hid_t mem_type_id: datatype, hid_t mem_space_id: opaque,
                    hid_t file_space_id: opaque, hid_t dxpl_id: hex, void *buf)
    after = const struct hdf5_transfer moved = hdf5_transfer(dset_id, mem_type_id, mem_space_id, file_space_id, failed, caller)
    requested = moved.bytes
    offset = moved.offset
    extra elements: uint = moved.elements
    bytes = hdf5_count_read(requested)
    flags = hdf5_flags(dxpl_id, failed, caller)
WRITE herr_t H5Dwrite(hid_t dset_id: handle, hid_t mem_type_id: datatype, hid_t mem_space_id: opaque,
                      hid_t file_space_id: opaque, hid_t dxpl_id: hex, const void *buf)
    after = const struct hdf5_transfer moved = hdf5_transfer(dset_id, mem_type_id, mem_space_id, file_space_id, failed, caller)
    requested = moved.bytes
    offset = moved.offset
    extra elements: uint = moved.elements
    bytes = hdf5_count_written(requested)
    flags = hdf5_flags(dxpl_id, failed, caller)
WRITE herr_t H5Dwrite_chunk(hid_t dset_id: handle, hid_t dxpl_id: hex, uint32_t filters: hex,
                        const hsize_t *offset: array(hdf5_rank_of(dset_id, caller)), size_t data_size: size,
                        const void *buf)
    bytes = hdf5_count_written(requested)
    flags = hdf5_flags(dxpl_id, failed, caller)
READ herr_t H5Dread_chunk(hid_t dset_id: handle, hid_t dxpl_id: hex,
                        const hsize_t *offset: array(hdf5_rank_of(dset_id, caller)), uint32_t *filters, void *buf)
    requested = failed ? 0 : hdf5_chunk(dset_id, offset, caller)
    bytes = hdf5_count_read(requested)
    flags = hdf5_flags(dxpl_id, failed, caller)
OTHER herr_t H5Diterate(void *buf, hid_t type_id: datatype, hid_t space_id: hex, void *op, void *operator_data)
    class = memory
OTHER herr_t H5Dvlen_reclaim(hid_t type_id: datatype, hid_t space_id: hex, hid_t dxpl_id: hex, void *buf)
    class = memory
OTHER herr_t H5Dvlen_get_buf_size(hid_t dset_id: handle, hid_t type_id: datatype, hid_t space_id: hex, hsize_t *size)
OTHER herr_t H5Dfill(const void *fill, hid_t fill_type_id: datatype, void *buf, hid_t buf_type_id: datatype,
                     hid_t space_id: hex)
    class = memory
OTHER herr_t H5Dset_extent(hid_t dset_id: handle, const hsize_t *size: array(hdf5_rank_of(dset_id, caller)))
SYNC herr_t H5Dflush(hid_t dset_id: handle)
OTHER herr_t H5Drefresh(hid_t dset_id: handle)
OTHER herr_t H5Dscatter(void *op, void *op_data, hid_t type_id: datatype, hid_t dst_space_id: hex, void *dst_buf)
    class = memory
OTHER herr_t H5Dgather(hid_t src_space_id: hex, const void *src_buf, hid_t type_id: datatype, size_t dst_buf_size,
                       void *dst_buf, void *op, void *op_data)
    class = memory
DESTROY herr_t H5Dclose(hid_t dset_id: handle)
    after = hdf5_bind_if_valid(dset_id, source_, failed, caller)
OTHER herr_t H5Ddebug(hid_t dset_id: handle)
OTHER herr_t H5Dformat_convert(hid_t dset_id: handle)
OTHER herr_t H5Dget_chunk_index_type(hid_t did: handle, H5D_chunk_index_t *idx_type)
CREATE hid_t H5Dcreate1(hid_t loc_id: handle, const char *name, hid_t type_id: datatype, hid_t space_id: opaque,
                        hid_t dcpl_id: hex) -> handle
    after = const struct hdf5_extent extent = hdf5_extent(space_id, failed, caller)
    extra dims: array(extent.rank) = extent.sizes
CREATE hid_t H5Dopen1(hid_t loc_id: handle, const char *name) -> handle
OTHER herr_t H5Dextend(hid_t dset_id: handle, const hsize_t *size: array(hdf5_rank_of(dset_id, caller)))
OTHER herr_t H5Dchunk_iter(hid_t dset_id: handle, hid_t dxpl_id: hex, void *cb, void *op_data)
DESTROY herr_t H5Dclose_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t dset_id: handle,
                        hid_t es_id: hex)
    after = hdf5_bind_if_valid(dset_id, source_, failed, caller)
    flags = nonblocking
CREATE hid_t H5Dcreate_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t loc_id: handle,
                        const char *name, hid_t type_id: datatype, hid_t space_id: opaque, hid_t lcpl_id: hex,
                        hid_t dcpl_id: hex, hid_t dapl_id: hex, hid_t es_id: hex) -> handle
    flags = nonblocking
    after = const struct hdf5_extent extent = hdf5_extent(space_id, failed, caller)
    extra dims: array(extent.rank) = extent.sizes
OTHER hid_t H5Dget_space_async(const char *app_file, const char *app_func, unsigned int app_line,
                        hid_t dset_id: handle, hid_t es_id: hex) -> id
    flags = nonblocking
    class = memory
CREATE hid_t H5Dopen_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t loc_id: handle,
                        const char *name, hid_t dapl_id: hex, hid_t es_id: hex) -> handle
    flags = nonblocking
READ herr_t H5Dread_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t dset_id: handle,
                        hid_t mem_type_id: datatype, hid_t mem_space_id: opaque, hid_t file_space_id: opaque,
                        hid_t dxpl_id: hex, void *buf, hid_t es_id: hex)
    after = const struct hdf5_transfer moved = hdf5_transfer(dset_id, mem_type_id, mem_space_id, file_space_id, failed, caller)
    requested = moved.bytes
    offset = moved.offset
    extra elements: uint = moved.elements
    bytes = hdf5_count_read(requested)
    flags = hdf5_flags(dxpl_id, failed, caller) & ~FLAG_BLOCKING
READ herr_t H5Dread_chunk1(hid_t dset_id: handle, hid_t dxpl_id: hex,
                        const hsize_t *offset: array(hdf5_rank_of(dset_id, caller)), uint32_t *filters, void *buf)
    requested = failed ? 0 : hdf5_chunk(dset_id, offset, caller)
    bytes = hdf5_count_read(requested)
    flags = hdf5_flags(dxpl_id, failed, caller)
READ herr_t H5Dread_chunk2(hid_t dset_id: handle, hid_t dxpl_id: hex,
                        const hsize_t *offset: array(hdf5_rank_of(dset_id, caller)), uint32_t *filters, void *buf,
                        size_t *buf_size)
    requested = failed || !buf_size ? 0 : (int64_t)*buf_size
    bytes = hdf5_count_read(buf ? requested : 0)
    flags = hdf5_flags(dxpl_id, failed, caller)
READ herr_t H5Dread_multi(size_t count, const hid_t *dset_id: array(count), const hid_t *mem_type_id: array(count),
                        const hid_t *mem_space_id: array(count), const hid_t *file_space_id: array(count),
                        hid_t dxpl_id: hex, void **buf)
    handle = count ? iotide_object(SPACE_hdf5, (uint64_t)dset_id[0]).handle : 0
    file = count ? iotide_object(SPACE_hdf5, (uint64_t)dset_id[0]).file : 0
    requested = failed ? 0 : hdf5_total_bytes(count, dset_id, mem_type_id, mem_space_id, file_space_id, caller)
    bytes = hdf5_count_read(requested)
    flags = hdf5_flags(dxpl_id, failed, caller)
READ herr_t H5Dread_multi_async(const char *app_file, const char *app_func, unsigned int app_line, size_t count,
                        const hid_t *dset_id: array(count), const hid_t *mem_type_id: array(count),
                        const hid_t *mem_space_id: array(count), const hid_t *file_space_id: array(count),
                        hid_t dxpl_id: hex, void **buf, hid_t es_id: hex)
    handle = count ? iotide_object(SPACE_hdf5, (uint64_t)dset_id[0]).handle : 0
    file = count ? iotide_object(SPACE_hdf5, (uint64_t)dset_id[0]).file : 0
    requested = failed ? 0 : hdf5_total_bytes(count, dset_id, mem_type_id, mem_space_id, file_space_id, caller)
    bytes = hdf5_count_read(requested)
    flags = hdf5_flags(dxpl_id, failed, caller) & ~FLAG_BLOCKING
OTHER herr_t H5Dset_extent_async(const char *app_file, const char *app_func, unsigned int app_line,
                        hid_t dset_id: handle, const hsize_t *size: array(hdf5_rank_of(dset_id, caller)),
                        hid_t es_id: hex)
    flags = nonblocking
WRITE herr_t H5Dwrite_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t dset_id: handle,
                        hid_t mem_type_id: datatype, hid_t mem_space_id: opaque, hid_t file_space_id: opaque,
                        hid_t dxpl_id: hex, const void *buf, hid_t es_id: hex)
    after = const struct hdf5_transfer moved = hdf5_transfer(dset_id, mem_type_id, mem_space_id, file_space_id, failed, caller)
    requested = moved.bytes
    offset = moved.offset
    extra elements: uint = moved.elements
    bytes = hdf5_count_written(requested)
    flags = hdf5_flags(dxpl_id, failed, caller) & ~FLAG_BLOCKING
WRITE herr_t H5Dwrite_multi(size_t count, const hid_t *dset_id: array(count), const hid_t *mem_type_id: array(count),
                        const hid_t *mem_space_id: array(count), const hid_t *file_space_id: array(count),
                        hid_t dxpl_id: hex, const void **buf)
    handle = count ? iotide_object(SPACE_hdf5, (uint64_t)dset_id[0]).handle : 0
    file = count ? iotide_object(SPACE_hdf5, (uint64_t)dset_id[0]).file : 0
    requested = failed ? 0 : hdf5_total_bytes(count, dset_id, mem_type_id, mem_space_id, file_space_id, caller)
    bytes = hdf5_count_written(requested)
    flags = hdf5_flags(dxpl_id, failed, caller)
WRITE herr_t H5Dwrite_multi_async(const char *app_file, const char *app_func, unsigned int app_line, size_t count,
                        const hid_t *dset_id: array(count), const hid_t *mem_type_id: array(count),
                        const hid_t *mem_space_id: array(count), const hid_t *file_space_id: array(count),
                        hid_t dxpl_id: hex, const void **buf, hid_t es_id: hex)
    handle = count ? iotide_object(SPACE_hdf5, (uint64_t)dset_id[0]).handle : 0
    file = count ? iotide_object(SPACE_hdf5, (uint64_t)dset_id[0]).file : 0
    requested = failed ? 0 : hdf5_total_bytes(count, dset_id, mem_type_id, mem_space_id, file_space_id, caller)
    bytes = hdf5_count_written(requested)
    flags = hdf5_flags(dxpl_id, failed, caller) & ~FLAG_BLOCKING

# ---- Attributes ----

DESTROY herr_t H5Aclose(hid_t attr_id: handle)
    after = hdf5_bind_if_valid(attr_id, source_, failed, caller)
CREATE hid_t H5Acreate2(hid_t loc_id: handle, const char *attr_name, hid_t type_id: datatype, hid_t space_id: opaque,
                        hid_t acpl_id: hex, hid_t aapl_id: hex) -> handle
    after = const struct hdf5_extent extent = hdf5_extent(space_id, failed, caller)
    extra dims: array(extent.rank) = extent.sizes
CREATE hid_t H5Acreate_by_name(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        hid_t type_id: datatype, hid_t space_id: opaque, hid_t acpl_id: hex, hid_t aapl_id: hex,
                        hid_t lapl_id: hex) -> handle
    after = const struct hdf5_extent extent = hdf5_extent(space_id, failed, caller)
    extra dims: array(extent.rank) = extent.sizes
DELETE herr_t H5Adelete(hid_t loc_id: handle, const char *attr_name)
DELETE herr_t H5Adelete_by_idx(hid_t loc_id: handle, const char *obj_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n,
                        hid_t lapl_id: hex)
DELETE herr_t H5Adelete_by_name(hid_t loc_id: handle, const char *obj_name, const char *attr_name, hid_t lapl_id: hex)
OTHER htri_t H5Aexists(hid_t obj_id: handle, const char *attr_name)
OTHER htri_t H5Aexists_by_name(hid_t obj_id: handle, const char *obj_name, const char *attr_name, hid_t lapl_id: hex)
OTHER hid_t H5Aget_create_plist(hid_t attr_id: handle) -> id
    class = memory
OTHER herr_t H5Aget_info(hid_t attr_id: handle, void *ainfo)
    class = memory
OTHER herr_t H5Aget_info_by_idx(hid_t loc_id: handle, const char *obj_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n, void *ainfo,
                        hid_t lapl_id: hex)
OTHER herr_t H5Aget_info_by_name(hid_t loc_id: handle, const char *obj_name, const char *attr_name, void *ainfo,
                        hid_t lapl_id: hex)
OTHER ssize_t H5Aget_name(hid_t attr_id: handle, size_t buf_size, char *buf)
    class = memory
OTHER ssize_t H5Aget_name_by_idx(hid_t loc_id: handle, const char *obj_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n, char *name,
                        size_t size, hid_t lapl_id: hex)
OTHER hid_t H5Aget_space(hid_t attr_id: handle) -> id
    class = memory
OTHER hsize_t H5Aget_storage_size(hid_t attr_id: handle)
    class = memory
OTHER hid_t H5Aget_type(hid_t attr_id: handle) -> id
    class = memory
OTHER herr_t H5Aiterate2(hid_t loc_id: handle, H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t *idx, void *op,
                        void *op_data)
OTHER herr_t H5Aiterate_by_name(hid_t loc_id: handle, const char *obj_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t *idx, void *op,
                        void *op_data, hid_t lapl_id: hex)
CREATE hid_t H5Aopen(hid_t obj_id: handle, const char *attr_name, hid_t aapl_id: hex) -> handle
CREATE hid_t H5Aopen_by_idx(hid_t loc_id: handle, const char *obj_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n,
                        hid_t aapl_id: hex, hid_t lapl_id: hex) -> handle
CREATE hid_t H5Aopen_by_name(hid_t loc_id: handle, const char *obj_name, const char *attr_name, hid_t aapl_id: hex,
                        hid_t lapl_id: hex) -> handle
READ herr_t H5Aread(hid_t attr_id: handle, hid_t type_id: datatype, void *buf)
    requested = failed ? 0 : hdf5_attribute(attr_id, caller)
    bytes = hdf5_count_read(requested)
OTHER herr_t H5Arename(hid_t loc_id: handle, const char *old_name, const char *new_name)
WRITE herr_t H5Awrite(hid_t attr_id: handle, hid_t type_id: datatype, const void *buf)
    requested = failed ? 0 : hdf5_attribute(attr_id, caller)
    bytes = hdf5_count_written(requested)
OTHER herr_t H5Arename_by_name(hid_t loc_id: handle, const char *obj_name, const char *old_attr_name,
                        const char *new_attr_name, hid_t lapl_id: hex)
CREATE hid_t H5Acreate1(hid_t loc_id: handle, const char *name, hid_t type_id: datatype, hid_t space_id: opaque,
                        hid_t acpl_id: hex) -> handle
    after = const struct hdf5_extent extent = hdf5_extent(space_id, failed, caller)
    extra dims: array(extent.rank) = extent.sizes
OTHER int H5Aget_num_attrs(hid_t loc_id: handle)
OTHER herr_t H5Aiterate1(hid_t loc_id: handle, unsigned int *idx, void *op, void *op_data)
CREATE hid_t H5Aopen_idx(hid_t loc_id: handle, unsigned int idx) -> handle
CREATE hid_t H5Aopen_name(hid_t loc_id: handle, const char *name) -> handle
DESTROY herr_t H5Aclose_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t attr_id: handle,
                        hid_t es_id: hex)
    after = hdf5_bind_if_valid(attr_id, source_, failed, caller)
    flags = nonblocking
CREATE hid_t H5Acreate_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t loc_id: handle,
                        const char *attr_name, hid_t type_id: datatype, hid_t space_id: opaque, hid_t acpl_id: hex,
                        hid_t aapl_id: hex, hid_t es_id: hex) -> handle
    flags = nonblocking
    after = const struct hdf5_extent extent = hdf5_extent(space_id, failed, caller)
    extra dims: array(extent.rank) = extent.sizes
CREATE hid_t H5Acreate_by_name_async(const char *app_file, const char *app_func, unsigned int app_line,
                        hid_t loc_id: handle, const char *obj_name, const char *attr_name, hid_t type_id: datatype,
                        hid_t space_id: opaque, hid_t acpl_id: hex, hid_t aapl_id: hex, hid_t lapl_id: hex,
                        hid_t es_id: hex) -> handle
    flags = nonblocking
    after = const struct hdf5_extent extent = hdf5_extent(space_id, failed, caller)
    extra dims: array(extent.rank) = extent.sizes
OTHER herr_t H5Aexists_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t obj_id: handle,
                        const char *attr_name, hbool_t *exists, hid_t es_id: hex)
    flags = nonblocking
OTHER herr_t H5Aexists_by_name_async(const char *app_file, const char *app_func, unsigned int app_line,
                        hid_t loc_id: handle, const char *obj_name, const char *attr_name, hbool_t *exists,
                        hid_t lapl_id: hex, hid_t es_id: hex)
    flags = nonblocking
CREATE hid_t H5Aopen_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t obj_id: handle,
                        const char *attr_name, hid_t aapl_id: hex, hid_t es_id: hex) -> handle
    flags = nonblocking
CREATE hid_t H5Aopen_by_idx_async(const char *app_file, const char *app_func, unsigned int app_line,
                        hid_t loc_id: handle, const char *obj_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n,
                        hid_t aapl_id: hex, hid_t lapl_id: hex, hid_t es_id: hex) -> handle
    flags = nonblocking
CREATE hid_t H5Aopen_by_name_async(const char *app_file, const char *app_func, unsigned int app_line,
                        hid_t loc_id: handle, const char *obj_name, const char *attr_name, hid_t aapl_id: hex,
                        hid_t lapl_id: hex, hid_t es_id: hex) -> handle
    flags = nonblocking
READ herr_t H5Aread_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t attr_id: handle,
                        hid_t dtype_id: datatype, void *buf, hid_t es_id: hex)
    requested = failed ? 0 : hdf5_attribute(attr_id, caller)
    bytes = hdf5_count_read(requested)
    flags = nonblocking
OTHER herr_t H5Arename_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t loc_id: handle,
                        const char *old_name, const char *new_name, hid_t es_id: hex)
    flags = nonblocking
OTHER herr_t H5Arename_by_name_async(const char *app_file, const char *app_func, unsigned int app_line,
                        hid_t loc_id: handle, const char *obj_name, const char *old_attr_name,
                        const char *new_attr_name, hid_t lapl_id: hex, hid_t es_id: hex)
    flags = nonblocking
WRITE herr_t H5Awrite_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t attr_id: handle,
                        hid_t type_id: datatype, const void *buf, hid_t es_id: hex)
    requested = failed ? 0 : hdf5_attribute(attr_id, caller)
    bytes = hdf5_count_written(requested)
    flags = nonblocking

# ---- Objects ----

CREATE hid_t H5Oopen(hid_t loc_id: handle, const char *name, hid_t lapl_id: hex) -> handle
CREATE hid_t H5Oopen_by_addr(hid_t loc_id: handle, haddr_t addr) -> handle
CREATE hid_t H5Oopen_by_idx(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n,
                        hid_t lapl_id: hex) -> handle
OTHER htri_t H5Oexists_by_name(hid_t loc_id: handle, const char *name, hid_t lapl_id: hex)
OTHER herr_t H5Oget_info2(hid_t loc_id: handle, void *oinfo, unsigned int fields: hex)
OTHER herr_t H5Oget_info_by_name2(hid_t loc_id: handle, const char *name, void *oinfo, unsigned int fields: hex,
                        hid_t lapl_id: hex)
OTHER herr_t H5Oget_info_by_idx2(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n, void *oinfo,
                        unsigned int fields: hex, hid_t lapl_id: hex)
OTHER herr_t H5Olink(hid_t obj_id: handle, hid_t new_loc_id: handle, const char *new_name, hid_t lcpl_id: hex,
                     hid_t lapl_id: hex)
OTHER herr_t H5Oincr_refcount(hid_t object_id: handle)
OTHER herr_t H5Odecr_refcount(hid_t object_id: handle)
OTHER herr_t H5Ocopy(hid_t src_loc_id: handle, const char *src_name, hid_t dst_loc_id: handle, const char *dst_name,
                     hid_t ocpypl_id: hex, hid_t lcpl_id: hex)
OTHER herr_t H5Oset_comment(hid_t obj_id: handle, const char *comment)
OTHER herr_t H5Oset_comment_by_name(hid_t loc_id: handle, const char *name, const char *comment, hid_t lapl_id: hex)
OTHER ssize_t H5Oget_comment(hid_t obj_id: handle, char *comment, size_t bufsize)
OTHER ssize_t H5Oget_comment_by_name(hid_t loc_id: handle, const char *name, char *comment, size_t bufsize,
                        hid_t lapl_id: hex)
OTHER herr_t H5Ovisit2(hid_t obj_id: handle, H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                       H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, void *op, void *op_data,
                       unsigned int fields: hex)
OTHER herr_t H5Ovisit_by_name2(hid_t loc_id: handle, const char *obj_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, void *op, void *op_data,
                        unsigned int fields: hex, hid_t lapl_id: hex)
DESTROY herr_t H5Oclose(hid_t object_id: handle)
    after = hdf5_bind_if_valid(object_id, source_, failed, caller)
SYNC herr_t H5Oflush(hid_t obj_id: handle)
OTHER herr_t H5Orefresh(hid_t oid: handle)
OTHER herr_t H5Odisable_mdc_flushes(hid_t object_id: handle)
OTHER herr_t H5Oenable_mdc_flushes(hid_t object_id: handle)
OTHER herr_t H5Oare_mdc_flushes_disabled(hid_t object_id: handle, hbool_t *are_disabled)
OTHER herr_t H5Oget_info(hid_t loc_id: handle, void *oinfo)
OTHER herr_t H5Oget_info_by_name(hid_t loc_id: handle, const char *name, void *oinfo, hid_t lapl_id: hex)
OTHER herr_t H5Oget_info_by_idx(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n, void *oinfo,
                        hid_t lapl_id: hex)
OTHER herr_t H5Ovisit(hid_t obj_id: handle, H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                      H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, void *op, void *op_data)
OTHER herr_t H5Ovisit_by_name(hid_t loc_id: handle, const char *obj_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, void *op, void *op_data,
                        hid_t lapl_id: hex)
OTHER herr_t H5Oget_info1(hid_t loc_id: handle, void *oinfo)
OTHER herr_t H5Oget_info_by_name1(hid_t loc_id: handle, const char *name, void *oinfo, hid_t lapl_id: hex)
OTHER herr_t H5Oget_info_by_idx1(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n, void *oinfo,
                        hid_t lapl_id: hex)
OTHER herr_t H5Ovisit1(hid_t obj_id: handle, H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                       H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, void *op, void *op_data)
OTHER herr_t H5Ovisit_by_name1(hid_t loc_id: handle, const char *obj_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, void *op, void *op_data,
                        hid_t lapl_id: hex)
DESTROY herr_t H5Oclose_async(const char *app_file, const char *app_func, unsigned int app_line,
                        hid_t object_id: handle, hid_t es_id: hex)
    after = hdf5_bind_if_valid(object_id, source_, failed, caller)
    flags = nonblocking
OTHER herr_t H5Ocopy_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t src_loc_id: handle,
                        const char *src_name, hid_t dst_loc_id: handle, const char *dst_name, hid_t ocpypl_id: hex,
                        hid_t lcpl_id: hex, hid_t es_id: hex)
    flags = nonblocking
SYNC herr_t H5Oflush_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t obj_id: handle,
                        hid_t es_id: hex)
    flags = nonblocking
OTHER herr_t H5Oget_info3(hid_t loc_id: handle, void *oinfo, unsigned int fields: hex)
OTHER herr_t H5Oget_info_by_idx3(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n, void *oinfo,
                        unsigned int fields: hex, hid_t lapl_id: hex)
OTHER herr_t H5Oget_info_by_name3(hid_t loc_id: handle, const char *name, void *oinfo, unsigned int fields: hex,
                        hid_t lapl_id: hex)
OTHER herr_t H5Oget_info_by_name_async(const char *app_file, const char *app_func, unsigned int app_line,
                        hid_t loc_id: handle, const char *name, void *oinfo, unsigned int fields: hex,
                        hid_t lapl_id: hex, hid_t es_id: hex)
    flags = nonblocking
OTHER herr_t H5Oget_native_info(hid_t loc_id: handle, void *oinfo, unsigned int fields: hex)
OTHER herr_t H5Oget_native_info_by_idx(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n, void *oinfo,
                        unsigned int fields: hex, hid_t lapl_id: hex)
OTHER herr_t H5Oget_native_info_by_name(hid_t loc_id: handle, const char *name, void *oinfo, unsigned int fields: hex,
                        hid_t lapl_id: hex)
CREATE hid_t H5Oopen_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t loc_id: handle,
                        const char *name, hid_t lapl_id: hex, hid_t es_id: hex) -> handle
    flags = nonblocking
CREATE hid_t H5Oopen_by_idx_async(const char *app_file, const char *app_func, unsigned int app_line,
                        hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n,
                        hid_t lapl_id: hex, hid_t es_id: hex) -> handle
    flags = nonblocking
CREATE hid_t H5Oopen_by_token(hid_t loc_id: handle, H5O_token_t token) -> handle
OTHER herr_t H5Orefresh_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t oid: handle,
                        hid_t es_id: hex)
    flags = nonblocking
OTHER herr_t H5Otoken_cmp(hid_t loc_id: handle, const void *token1, const void *token2, int *cmp_value)
    class = memory
OTHER herr_t H5Otoken_from_str(hid_t loc_id: handle, const char *token_str, void *token)
    class = memory
OTHER herr_t H5Otoken_to_str(hid_t loc_id: handle, const void *token, char **token_str)
    class = memory
OTHER herr_t H5Ovisit3(hid_t obj_id: handle, H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                       H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, void *op, void *op_data,
                       unsigned int fields: hex)
OTHER herr_t H5Ovisit_by_name3(hid_t loc_id: handle, const char *obj_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, void *op, void *op_data,
                        unsigned int fields: hex, hid_t lapl_id: hex)

# ---- Links ----

OTHER herr_t H5Lmove(hid_t src_loc: handle, const char *src_name, hid_t dst_loc: handle, const char *dst_name,
                     hid_t lcpl_id: hex, hid_t lapl_id: hex)
OTHER herr_t H5Lcopy(hid_t src_loc: handle, const char *src_name, hid_t dst_loc: handle, const char *dst_name,
                     hid_t lcpl_id: hex, hid_t lapl_id: hex)
OTHER herr_t H5Lcreate_hard(hid_t cur_loc: handle, const char *cur_name, hid_t dst_loc: handle, const char *dst_name,
                        hid_t lcpl_id: hex, hid_t lapl_id: hex)
OTHER herr_t H5Lcreate_soft(const char *link_target, hid_t link_loc_id: handle, const char *link_name,
                        hid_t lcpl_id: hex, hid_t lapl_id: hex)
DELETE herr_t H5Ldelete(hid_t loc_id: handle, const char *name, hid_t lapl_id: hex)
DELETE herr_t H5Ldelete_by_idx(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n,
                        hid_t lapl_id: hex)
OTHER herr_t H5Lget_val(hid_t loc_id: handle, const char *name, void *buf, size_t size, hid_t lapl_id: hex)
OTHER herr_t H5Lget_val_by_idx(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n, void *buf,
                        size_t size, hid_t lapl_id: hex)
OTHER htri_t H5Lexists(hid_t loc_id: handle, const char *name, hid_t lapl_id: hex)
OTHER herr_t H5Lget_info(hid_t loc_id: handle, const char *name, void *linfo, hid_t lapl_id: hex)
OTHER herr_t H5Lget_info_by_idx(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n, void *linfo,
                        hid_t lapl_id: hex)
OTHER ssize_t H5Lget_name_by_idx(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n, char *name,
                        size_t size, hid_t lapl_id: hex)
OTHER herr_t H5Literate(hid_t grp_id: handle, H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t *idx, void *op,
                        void *op_data)
OTHER herr_t H5Literate_by_name(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t *idx, void *op,
                        void *op_data, hid_t lapl_id: hex)
OTHER herr_t H5Lvisit(hid_t grp_id: handle, H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                      H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, void *op, void *op_data)
OTHER herr_t H5Lvisit_by_name(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, void *op, void *op_data,
                        hid_t lapl_id: hex)
OTHER herr_t H5Lcreate_ud(hid_t link_loc_id: handle, const char *link_name,
                        H5L_type_t link_type: enum{H5L_TYPE_HARD/H5L_TYPE_SOFT}, const void *udata, size_t udata_size,
                        hid_t lcpl_id: hex, hid_t lapl_id: hex)
OTHER herr_t H5Lregister(const void *cls)
    class = memory
OTHER herr_t H5Lunregister(H5L_type_t id: enum{H5L_TYPE_HARD/H5L_TYPE_SOFT})
    class = memory
OTHER htri_t H5Lis_registered(H5L_type_t id: enum{H5L_TYPE_HARD/H5L_TYPE_SOFT})
    class = memory
OTHER herr_t H5Lunpack_elink_val(const void *ext_linkval, size_t link_size, unsigned int *flags, const char **filename,
                        const char **obj_path)
    class = memory
OTHER herr_t H5Lcreate_external(const char *file_name, const char *obj_name, hid_t link_loc_id: handle,
                        const char *link_name, hid_t lcpl_id: hex, hid_t lapl_id: hex)
OTHER herr_t H5Lcreate_hard_async(const char *app_file, const char *app_func, unsigned int app_line,
                        hid_t cur_loc_id: handle, const char *cur_name, hid_t new_loc_id: handle, const char *new_name,
                        hid_t lcpl_id: hex, hid_t lapl_id: hex, hid_t es_id: hex)
    flags = nonblocking
OTHER herr_t H5Lcreate_soft_async(const char *app_file, const char *app_func, unsigned int app_line,
                        const char *link_target, hid_t link_loc_id: handle, const char *link_name, hid_t lcpl_id: hex,
                        hid_t lapl_id: hex, hid_t es_id: hex)
    flags = nonblocking
DELETE herr_t H5Ldelete_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t loc_id: handle,
                        const char *name, hid_t lapl_id: hex, hid_t es_id: hex)
    flags = nonblocking
DELETE herr_t H5Ldelete_by_idx_async(const char *app_file, const char *app_func, unsigned int app_line,
                        hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n,
                        hid_t lapl_id: hex, hid_t es_id: hex)
    flags = nonblocking
OTHER herr_t H5Lexists_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t loc_id: handle,
                        const char *name, hbool_t *exists, hid_t lapl_id: hex, hid_t es_id: hex)
    flags = nonblocking
OTHER herr_t H5Lget_info1(hid_t loc_id: handle, const char *name, void *linfo, hid_t lapl_id: hex)
OTHER herr_t H5Lget_info2(hid_t loc_id: handle, const char *name, void *linfo, hid_t lapl_id: hex)
OTHER herr_t H5Lget_info_by_idx1(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n, void *linfo,
                        hid_t lapl_id: hex)
OTHER herr_t H5Lget_info_by_idx2(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t n, void *linfo,
                        hid_t lapl_id: hex)
OTHER herr_t H5Literate1(hid_t grp_id: handle, H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t *idx_p, void *op,
                        void *op_data)
OTHER herr_t H5Literate2(hid_t grp_id: handle, H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t *idx_p, void *op,
                        void *op_data)
OTHER herr_t H5Literate_async(const char *app_file, const char *app_func, unsigned int app_line,
                        hid_t group_id: handle, H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t *idx_p, void *op,
                        void *op_data, hid_t es_id: hex)
    flags = nonblocking
OTHER herr_t H5Literate_by_name1(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t *idx_p, void *op,
                        void *op_data, hid_t lapl_id: hex)
OTHER herr_t H5Literate_by_name2(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, hsize_t *idx_p, void *op,
                        void *op_data, hid_t lapl_id: hex)
OTHER herr_t H5Lvisit1(hid_t grp_id: handle, H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                       H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, void *op, void *op_data)
OTHER herr_t H5Lvisit2(hid_t grp_id: handle, H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                       H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, void *op, void *op_data)
OTHER herr_t H5Lvisit_by_name1(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, void *op, void *op_data,
                        hid_t lapl_id: hex)
OTHER herr_t H5Lvisit_by_name2(hid_t loc_id: handle, const char *group_name,
                        H5_index_t idx_type: enum{H5_INDEX_NAME/H5_INDEX_CRT_ORDER},
                        H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE}, void *op, void *op_data,
                        hid_t lapl_id: hex)

# ---- Maps ----

CREATE hid_t H5Mcreate(hid_t loc_id: handle, const char *name, hid_t key_type_id: datatype,
                       hid_t val_type_id: datatype, hid_t lcpl_id: hex, hid_t mcpl_id: hex,
                       hid_t mapl_id: hex) -> handle
CREATE hid_t H5Mcreate_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t loc_id: handle,
                        const char *name, hid_t key_type_id: datatype, hid_t val_type_id: datatype, hid_t lcpl_id: hex,
                        hid_t mcpl_id: hex, hid_t mapl_id: hex, hid_t es_id: hex) -> handle
    flags = nonblocking
CREATE hid_t H5Mcreate_anon(hid_t loc_id: handle, hid_t key_type_id: datatype, hid_t val_type_id: datatype,
                        hid_t mcpl_id: hex, hid_t mapl_id: hex) -> handle
CREATE hid_t H5Mopen(hid_t loc_id: handle, const char *name, hid_t mapl_id: hex) -> handle
CREATE hid_t H5Mopen_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t loc_id: handle,
                        const char *name, hid_t mapl_id: hex, hid_t es_id: hex) -> handle
    flags = nonblocking
DESTROY herr_t H5Mclose(hid_t map_id: handle)
    after = hdf5_bind_if_valid(map_id, source_, failed, caller)
DESTROY herr_t H5Mclose_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t map_id: handle,
                        hid_t es_id: hex)
    after = hdf5_bind_if_valid(map_id, source_, failed, caller)
    flags = nonblocking
OTHER hid_t H5Mget_key_type(hid_t map_id: handle) -> id
    class = memory
OTHER hid_t H5Mget_val_type(hid_t map_id: handle) -> id
    class = memory
OTHER hid_t H5Mget_create_plist(hid_t map_id: handle) -> id
    class = memory
OTHER hid_t H5Mget_access_plist(hid_t map_id: handle) -> id
    class = memory
OTHER herr_t H5Mget_count(hid_t map_id: handle, hsize_t *count, hid_t dxpl_id: hex)
WRITE herr_t H5Mput(hid_t map_id: handle, hid_t key_mem_type_id: datatype, const void *key,
                    hid_t val_mem_type_id: datatype, const void *val, hid_t dxpl_id: hex)
    requested = failed ? 0 : hdf5_size(val_mem_type_id, caller)
    bytes = hdf5_count_written(requested)
WRITE herr_t H5Mput_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t map_id: handle,
                        hid_t key_mem_type_id: datatype, const void *key, hid_t val_mem_type_id: datatype,
                        const void *val, hid_t dxpl_id: hex, hid_t es_id: hex)
    requested = failed ? 0 : hdf5_size(val_mem_type_id, caller)
    bytes = hdf5_count_written(requested)
    flags = nonblocking
READ herr_t H5Mget(hid_t map_id: handle, hid_t key_mem_type_id: datatype, const void *key,
                   hid_t val_mem_type_id: datatype, void *val, hid_t dxpl_id: hex)
    requested = failed ? 0 : hdf5_size(val_mem_type_id, caller)
    bytes = hdf5_count_read(requested)
READ herr_t H5Mget_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t map_id: handle,
                        hid_t key_mem_type_id: datatype, const void *key, hid_t val_mem_type_id: datatype, void *val,
                        hid_t dxpl_id: hex, hid_t es_id: hex)
    requested = failed ? 0 : hdf5_size(val_mem_type_id, caller)
    bytes = hdf5_count_read(requested)
    flags = nonblocking
OTHER herr_t H5Mexists(hid_t map_id: handle, hid_t key_mem_type_id: datatype, const void *key, hbool_t *exists,
                       hid_t dxpl_id: hex)
OTHER herr_t H5Miterate(hid_t map_id: handle, hsize_t *idx, hid_t key_mem_type_id: datatype, void *op, void *op_data,
                        hid_t dxpl_id: hex)
OTHER herr_t H5Miterate_by_name(hid_t loc_id: handle, const char *map_name, hsize_t *idx,
                        hid_t key_mem_type_id: datatype, void *op, void *op_data, hid_t dxpl_id: hex,
                        hid_t lapl_id: hex)
DELETE herr_t H5Mdelete(hid_t map_id: handle, hid_t key_mem_type_id: datatype, const void *key, hid_t dxpl_id: hex)

# ---- References ----

OTHER herr_t H5Rcreate(void *ref, hid_t loc_id: handle, const char *name,
                       H5R_type_t ref_type: enum{H5R_OBJECT/H5R_DATASET_REGION}, hid_t space_id: hex)
CREATE hid_t H5Rdereference2(hid_t obj_id: handle, hid_t oapl_id: hex,
                        H5R_type_t ref_type: enum{H5R_OBJECT/H5R_DATASET_REGION}, const void *ref) -> handle
OTHER hid_t H5Rget_region(hid_t dataset: handle, H5R_type_t ref_type: enum{H5R_OBJECT/H5R_DATASET_REGION},
                        const void *ref) -> id
OTHER herr_t H5Rget_obj_type2(hid_t id: handle, H5R_type_t ref_type: enum{H5R_OBJECT/H5R_DATASET_REGION},
                        const void *_ref, H5O_type_t *obj_type)
OTHER ssize_t H5Rget_name(hid_t loc_id: handle, H5R_type_t ref_type: enum{H5R_OBJECT/H5R_DATASET_REGION},
                        const void *ref, char *name, size_t size)
OTHER H5G_obj_t H5Rget_obj_type1(hid_t id: handle, H5R_type_t ref_type: enum{H5R_OBJECT/H5R_DATASET_REGION},
                        const void *ref)
CREATE hid_t H5Rdereference1(hid_t obj_id: handle, H5R_type_t ref_type: enum{H5R_OBJECT/H5R_DATASET_REGION},
                        const void *ref) -> handle
OTHER herr_t H5Rcopy(const void *src_ref_ptr, void *dst_ref_ptr)
    class = memory
OTHER herr_t H5Rcreate_attr(hid_t loc_id: handle, const char *name, const char *attr_name, hid_t oapl_id: hex,
                        void *ref_ptr)
OTHER herr_t H5Rcreate_object(hid_t loc_id: handle, const char *name, hid_t oapl_id: hex, void *ref_ptr)
OTHER herr_t H5Rcreate_region(hid_t loc_id: handle, const char *name, hid_t space_id: hex, hid_t oapl_id: hex,
                        void *ref_ptr)
OTHER herr_t H5Rdestroy(void *ref_ptr)
    class = memory
OTHER htri_t H5Requal(const void *ref1_ptr, const void *ref2_ptr)
    class = memory
OTHER ssize_t H5Rget_attr_name(const void *ref_ptr, char *name, size_t size)
    class = memory
OTHER ssize_t H5Rget_file_name(const void *ref_ptr, char *name, size_t size)
    class = memory
OTHER ssize_t H5Rget_obj_name(void *ref_ptr, hid_t rapl_id: hex, char *name, size_t size)
OTHER herr_t H5Rget_obj_type3(void *ref_ptr, hid_t rapl_id: hex, int *obj_type)
OTHER H5R_type_t H5Rget_type(const void *ref_ptr)
    class = memory
CREATE hid_t H5Ropen_attr(void *ref_ptr, hid_t rapl_id: hex, hid_t aapl_id: hex) -> handle
CREATE hid_t H5Ropen_attr_async(const char *app_file, const char *app_func, unsigned int app_line, void *ref_ptr,
                        hid_t rapl_id: hex, hid_t aapl_id: hex, hid_t es_id: hex) -> handle
    flags = nonblocking
CREATE hid_t H5Ropen_object(void *ref_ptr, hid_t rapl_id: hex, hid_t oapl_id: hex) -> handle
CREATE hid_t H5Ropen_object_async(const char *app_file, const char *app_func, unsigned int app_line, void *ref_ptr,
                        hid_t rapl_id: hex, hid_t oapl_id: hex, hid_t es_id: hex) -> handle
    flags = nonblocking
OTHER hid_t H5Ropen_region(void *ref_ptr, hid_t rapl_id: hex, hid_t oapl_id: hex) -> id
OTHER hid_t H5Ropen_region_async(const char *app_file, const char *app_func, unsigned int app_line, void *ref_ptr,
                        hid_t rapl_id: hex, hid_t oapl_id: hex, hid_t es_id: hex) -> id
    flags = nonblocking

# ---- Dataspaces ----

OTHER herr_t H5Sclose(hid_t space_id: hex)
    class = memory
OTHER hid_t H5Scopy(hid_t space_id: hex) -> id
    class = memory
OTHER hid_t H5Screate(H5S_class_t type: enum{H5S_SCALAR/H5S_SIMPLE/H5S_NULL}) -> id
    class = memory
OTHER hid_t H5Screate_simple(int rank, const hsize_t *dims: array(rank), const hsize_t *maxdims: array(rank)) -> id
    class = memory
OTHER hid_t H5Sdecode(const void *buf) -> id
    class = memory
OTHER herr_t H5Sencode(hid_t obj_id: hex, void *buf, size_t *nalloc)
    class = memory
OTHER herr_t H5Sextent_copy(hid_t dst_id: hex, hid_t src_id: hex)
    class = memory
OTHER htri_t H5Sextent_equal(hid_t space1_id: hex, hid_t space2_id: hex)
    class = memory
OTHER int H5Sget_simple_extent_dims(hid_t space_id: hex, hsize_t *dims: array(result), hsize_t *maxdims: array(result))
    class = memory
OTHER int H5Sget_simple_extent_ndims(hid_t space_id: hex)
    class = memory
OTHER hssize_t H5Sget_simple_extent_npoints(hid_t space_id: hex)
    class = memory
OTHER H5S_class_t H5Sget_simple_extent_type(hid_t space_id: hex)
    class = memory
OTHER htri_t H5Sis_simple(hid_t space_id: hex)
    class = memory
OTHER herr_t H5Sset_extent_none(hid_t space_id: hex)
    class = memory
OTHER herr_t H5Sset_extent_simple(hid_t space_id: hex, int rank, const hsize_t *dims: array(rank),
                        const hsize_t *max: array(rank))
    class = memory
OTHER hid_t H5Scombine_hyperslab(hid_t space_id: hex,
                        H5S_seloper_t op: enum{H5S_SELECT_SET/H5S_SELECT_OR/H5S_SELECT_AND/H5S_SELECT_XOR/H5S_SELECT_NOTB/H5S_SELECT_NOTA/H5S_SELECT_APPEND/H5S_SELECT_PREPEND},
                        const hsize_t *start: array(hdf5_rank(space_id, caller)),
                        const hsize_t *stride: array(hdf5_rank(space_id, caller)),
                        const hsize_t *count: array(hdf5_rank(space_id, caller)),
                        const hsize_t *block: array(hdf5_rank(space_id, caller))) -> id
    class = memory
OTHER hid_t H5Scombine_select(hid_t space1_id: hex,
                        H5S_seloper_t op: enum{H5S_SELECT_SET/H5S_SELECT_OR/H5S_SELECT_AND/H5S_SELECT_XOR/H5S_SELECT_NOTB/H5S_SELECT_NOTA/H5S_SELECT_APPEND/H5S_SELECT_PREPEND},
                        hid_t space2_id: hex) -> id
    class = memory
OTHER htri_t H5Sget_regular_hyperslab(hid_t spaceid: hex, hsize_t *start, hsize_t *stride, hsize_t *count,
                        hsize_t *block)
    class = memory
OTHER herr_t H5Sget_select_bounds(hid_t spaceid: hex, hsize_t *start, hsize_t *end)
    class = memory
OTHER hssize_t H5Sget_select_elem_npoints(hid_t spaceid: hex)
    class = memory
OTHER herr_t H5Sget_select_elem_pointlist(hid_t spaceid: hex, hsize_t startpoint, hsize_t numpoints, hsize_t *buf)
    class = memory
OTHER herr_t H5Sget_select_hyper_blocklist(hid_t spaceid: hex, hsize_t startblock, hsize_t numblocks, hsize_t *buf)
    class = memory
OTHER hssize_t H5Sget_select_hyper_nblocks(hid_t spaceid: hex)
    class = memory
OTHER hssize_t H5Sget_select_npoints(hid_t spaceid: hex)
    class = memory
OTHER H5S_sel_type H5Sget_select_type(hid_t spaceid: hex)
    class = memory
OTHER htri_t H5Sis_regular_hyperslab(hid_t spaceid: hex)
    class = memory
OTHER herr_t H5Smodify_select(hid_t space1_id: hex,
                        H5S_seloper_t op: enum{H5S_SELECT_SET/H5S_SELECT_OR/H5S_SELECT_AND/H5S_SELECT_XOR/H5S_SELECT_NOTB/H5S_SELECT_NOTA/H5S_SELECT_APPEND/H5S_SELECT_PREPEND},
                        hid_t space2_id: hex)
    class = memory
OTHER herr_t H5Soffset_simple(hid_t space_id: hex, const hssize_t *offset: array(hdf5_rank(space_id, caller)))
    class = memory
OTHER herr_t H5Sselect_adjust(hid_t spaceid: hex, const hssize_t *offset)
    class = memory
OTHER herr_t H5Sselect_all(hid_t spaceid: hex)
    class = memory
OTHER herr_t H5Sselect_copy(hid_t dst_id: hex, hid_t src_id: hex)
    class = memory
OTHER herr_t H5Sselect_elements(hid_t space_id: hex,
                        H5S_seloper_t op: enum{H5S_SELECT_SET/H5S_SELECT_OR/H5S_SELECT_AND/H5S_SELECT_XOR/H5S_SELECT_NOTB/H5S_SELECT_NOTA/H5S_SELECT_APPEND/H5S_SELECT_PREPEND},
                        size_t num_elem, const hsize_t *coord: array(num_elem * hdf5_rank(space_id, caller)))
    class = memory
OTHER herr_t H5Sselect_hyperslab(hid_t space_id: hex,
                        H5S_seloper_t op: enum{H5S_SELECT_SET/H5S_SELECT_OR/H5S_SELECT_AND/H5S_SELECT_XOR/H5S_SELECT_NOTB/H5S_SELECT_NOTA/H5S_SELECT_APPEND/H5S_SELECT_PREPEND},
                        const hsize_t *start: array(hdf5_rank(space_id, caller)),
                        const hsize_t *stride: array(hdf5_rank(space_id, caller)),
                        const hsize_t *count: array(hdf5_rank(space_id, caller)),
                        const hsize_t *block: array(hdf5_rank(space_id, caller)))
    class = memory
OTHER htri_t H5Sselect_intersect_block(hid_t space_id: hex, const hsize_t *start, const hsize_t *end)
    class = memory
OTHER herr_t H5Sselect_none(hid_t spaceid: hex)
    class = memory
OTHER hid_t H5Sselect_project_intersection(hid_t src_space_id: hex, hid_t dst_space_id: hex,
                        hid_t src_intersect_space_id: hex) -> id
    class = memory
OTHER htri_t H5Sselect_shape_same(hid_t space1_id: hex, hid_t space2_id: hex)
    class = memory
OTHER htri_t H5Sselect_valid(hid_t spaceid: hex)
    class = memory
OTHER herr_t H5Sencode1(hid_t obj_id: hex, void *buf, size_t *nalloc)
    class = memory
OTHER herr_t H5Sencode2(hid_t obj_id: hex, void *buf, size_t *nalloc, hid_t fapl_id: hex)
    class = memory
OTHER hid_t H5Ssel_iter_create(hid_t space_id: hex, size_t elmt_size, unsigned int flags: hex) -> id
    class = memory
OTHER herr_t H5Ssel_iter_get_seq_list(hid_t sel_iter_id: hex, size_t maxseq, size_t maxelmts, size_t *nseq,
                        size_t *nelmts, hsize_t *off, size_t *len)
    class = memory
OTHER herr_t H5Ssel_iter_reset(hid_t sel_iter_id: hex, hid_t space_id: hex)
    class = memory
OTHER herr_t H5Ssel_iter_close(hid_t sel_iter_id: hex)
    class = memory

# ---- Datatypes ----

OTHER hid_t H5Tcreate(
                      H5T_class_t type: enum{H5T_INTEGER/H5T_FLOAT/H5T_TIME/H5T_STRING/H5T_BITFIELD/H5T_OPAQUE/H5T_COMPOUND/H5T_REFERENCE/H5T_ENUM/H5T_VLEN/H5T_ARRAY/H5T_COMPLEX},
                      size_t size) -> id
    class = memory
OTHER hid_t H5Tcopy(hid_t type_id: hex) -> id
    class = memory
DESTROY herr_t H5Tclose(hid_t type_id: hex)
    custom
OTHER htri_t H5Tequal(hid_t type1_id: hex, hid_t type2_id: hex)
    class = memory
OTHER herr_t H5Tlock(hid_t type_id: hex)
    class = memory
CREATE herr_t H5Tcommit2(hid_t loc_id: handle, const char *name, hid_t type_id: hex, hid_t lcpl_id: hex,
                        hid_t tcpl_id: hex, hid_t tapl_id: hex)
    after = const uint32_t made = hdf5_bind_committed(type_id, source_, failed, caller)
    handle = made
CREATE hid_t H5Topen2(hid_t loc_id: handle, const char *name, hid_t tapl_id: hex) -> handle
CREATE herr_t H5Tcommit_anon(hid_t loc_id: handle, hid_t type_id: hex, hid_t tcpl_id: hex, hid_t tapl_id: hex)
    after = const uint32_t made = hdf5_bind_committed(type_id, source_, failed, caller)
    handle = made
OTHER hid_t H5Tget_create_plist(hid_t type_id: hex) -> id
    class = memory
OTHER htri_t H5Tcommitted(hid_t type_id: handle)
    class = memory
OTHER herr_t H5Tencode(hid_t obj_id: hex, void *buf, size_t *nalloc)
    class = memory
OTHER hid_t H5Tdecode(const void *buf) -> id
    class = memory
SYNC herr_t H5Tflush(hid_t type_id: handle)
OTHER herr_t H5Trefresh(hid_t type_id: handle)
OTHER herr_t H5Tinsert(hid_t parent_id: hex, const char *name, size_t offset, hid_t member_id: hex)
    class = memory
OTHER herr_t H5Tpack(hid_t type_id: hex)
    class = memory
OTHER hid_t H5Tenum_create(hid_t base_id: hex) -> id
    class = memory
OTHER herr_t H5Tenum_insert(hid_t type: hex, const char *name, const void *val)
    class = memory
OTHER herr_t H5Tenum_nameof(hid_t type: hex, const void *val, char *name, size_t size)
    class = memory
OTHER herr_t H5Tenum_valueof(hid_t type: hex, const char *name, void *val)
    class = memory
OTHER hid_t H5Tvlen_create(hid_t base_id: hex) -> id
    class = memory
OTHER hid_t H5Tarray_create2(hid_t base_id: hex, unsigned int ndims, const hsize_t *dim: array(ndims)) -> id
    class = memory
OTHER int H5Tget_array_ndims(hid_t type_id: hex)
    class = memory
OTHER int H5Tget_array_dims2(hid_t type_id: hex, hsize_t *dims)
    class = memory
OTHER herr_t H5Tset_tag(hid_t type: hex, const char *tag)
    class = memory
OTHER char *H5Tget_tag(hid_t type: hex)
    class = memory
OTHER hid_t H5Tget_super(hid_t type: hex) -> id
    class = memory
OTHER H5T_class_t H5Tget_class(hid_t type_id: hex)
    class = memory
OTHER htri_t H5Tdetect_class(hid_t type_id: hex,
                        H5T_class_t cls: enum{H5T_INTEGER/H5T_FLOAT/H5T_TIME/H5T_STRING/H5T_BITFIELD/H5T_OPAQUE/H5T_COMPOUND/H5T_REFERENCE/H5T_ENUM/H5T_VLEN/H5T_ARRAY/H5T_COMPLEX})
    class = memory
OTHER size_t H5Tget_size(hid_t type_id: hex)
    failed = result == 0
    class = memory
OTHER H5T_order_t H5Tget_order(hid_t type_id: hex)
    class = memory
OTHER size_t H5Tget_precision(hid_t type_id: hex)
    failed = result == 0
    class = memory
OTHER int H5Tget_offset(hid_t type_id: hex)
    class = memory
OTHER herr_t H5Tget_pad(hid_t type_id: hex, H5T_pad_t *lsb, H5T_pad_t *msb)
    class = memory
OTHER H5T_sign_t H5Tget_sign(hid_t type_id: hex)
    class = memory
OTHER herr_t H5Tget_fields(hid_t type_id: hex, size_t *spos, size_t *epos, size_t *esize, size_t *mpos, size_t *msize)
    class = memory
OTHER size_t H5Tget_ebias(hid_t type_id: hex)
    failed = result == 0
    class = memory
OTHER H5T_norm_t H5Tget_norm(hid_t type_id: hex)
    class = memory
OTHER H5T_pad_t H5Tget_inpad(hid_t type_id: hex)
    class = memory
OTHER H5T_str_t H5Tget_strpad(hid_t type_id: hex)
    class = memory
OTHER int H5Tget_nmembers(hid_t type_id: hex)
    class = memory
OTHER char *H5Tget_member_name(hid_t type_id: hex, unsigned int membno)
    class = memory
OTHER int H5Tget_member_index(hid_t type_id: hex, const char *name)
    class = memory
OTHER size_t H5Tget_member_offset(hid_t type_id: hex, unsigned int membno)
    class = memory
OTHER H5T_class_t H5Tget_member_class(hid_t type_id: hex, unsigned int membno)
    class = memory
OTHER hid_t H5Tget_member_type(hid_t type_id: hex, unsigned int membno) -> id
    class = memory
OTHER herr_t H5Tget_member_value(hid_t type_id: hex, unsigned int membno, void *val)
    class = memory
OTHER H5T_cset_t H5Tget_cset(hid_t type_id: hex)
    class = memory
OTHER htri_t H5Tis_variable_str(hid_t type_id: hex)
    class = memory
OTHER hid_t H5Tget_native_type(hid_t type_id: hex,
                        H5T_direction_t direction: enum{H5T_DIR_DEFAULT/H5T_DIR_ASCEND/H5T_DIR_DESCEND}) -> id
    class = memory
OTHER herr_t H5Tset_size(hid_t type_id: hex, size_t size)
    class = memory
OTHER herr_t H5Tset_order(hid_t type_id: hex,
                        H5T_order_t order: enum{H5T_ORDER_LE/H5T_ORDER_BE/H5T_ORDER_VAX/H5T_ORDER_MIXED/H5T_ORDER_NONE})
    class = memory
OTHER herr_t H5Tset_precision(hid_t type_id: hex, size_t prec)
    class = memory
OTHER herr_t H5Tset_offset(hid_t type_id: hex, size_t offset)
    class = memory
OTHER herr_t H5Tset_pad(hid_t type_id: hex, H5T_pad_t lsb: enum{H5T_PAD_ZERO/H5T_PAD_ONE/H5T_PAD_BACKGROUND},
                        H5T_pad_t msb: enum{H5T_PAD_ZERO/H5T_PAD_ONE/H5T_PAD_BACKGROUND})
    class = memory
OTHER herr_t H5Tset_sign(hid_t type_id: hex, H5T_sign_t sign: enum{H5T_SGN_NONE/H5T_SGN_2})
    class = memory
OTHER herr_t H5Tset_fields(hid_t type_id: hex, size_t spos, size_t epos, size_t esize, size_t mpos, size_t msize)
    class = memory
OTHER herr_t H5Tset_ebias(hid_t type_id: hex, size_t ebias)
    class = memory
OTHER herr_t H5Tset_norm(hid_t type_id: hex, H5T_norm_t norm: enum{H5T_NORM_IMPLIED/H5T_NORM_MSBSET/H5T_NORM_NONE})
    class = memory
OTHER herr_t H5Tset_inpad(hid_t type_id: hex, H5T_pad_t pad: enum{H5T_PAD_ZERO/H5T_PAD_ONE/H5T_PAD_BACKGROUND})
    class = memory
OTHER herr_t H5Tset_cset(hid_t type_id: hex, H5T_cset_t cset: enum{H5T_CSET_ASCII/H5T_CSET_UTF8})
    class = memory
OTHER herr_t H5Tset_strpad(hid_t type_id: hex,
                        H5T_str_t strpad: enum{H5T_STR_NULLTERM/H5T_STR_NULLPAD/H5T_STR_SPACEPAD})
    class = memory
OTHER herr_t H5Tregister(H5T_pers_t pers: enum{H5T_PERS_HARD/H5T_PERS_SOFT}, const char *name, hid_t src_id: hex,
                        hid_t dst_id: hex, void *func)
    class = memory
OTHER herr_t H5Tunregister(H5T_pers_t pers: enum{H5T_PERS_HARD/H5T_PERS_SOFT}, const char *name, hid_t src_id: hex,
                        hid_t dst_id: hex, void *func)
    class = memory
OTHER void *H5Tfind(hid_t src_id: hex, hid_t dst_id: hex, void **pcdata)
    class = memory
OTHER htri_t H5Tcompiler_conv(hid_t src_id: hex, hid_t dst_id: hex)
    class = memory
OTHER herr_t H5Tconvert(hid_t src_id: hex, hid_t dst_id: hex, size_t nelmts, void *buf, void *background,
                        hid_t plist_id: hex)
    class = memory
OTHER herr_t H5Treclaim(hid_t type_id: hex, hid_t space_id: hex, hid_t plist_id: hex, void *buf)
    class = memory
CREATE herr_t H5Tcommit1(hid_t loc_id: handle, const char *name, hid_t type_id: hex)
    after = const uint32_t made = hdf5_bind_committed(type_id, source_, failed, caller)
    handle = made
CREATE hid_t H5Topen1(hid_t loc_id: handle, const char *name) -> handle
OTHER hid_t H5Tarray_create1(hid_t base_id: hex, int ndims, const hsize_t *dim: array(ndims), const int *perm) -> id
    class = memory
OTHER int H5Tget_array_dims1(hid_t type_id: hex, hsize_t *dims, int *perm)
    class = memory
DESTROY herr_t H5Tclose_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t type_id: handle,
                        hid_t es_id: hex)
    after = hdf5_bind_if_valid(type_id, source_, failed, caller)
    flags = nonblocking
CREATE herr_t H5Tcommit_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t loc_id: handle,
                        const char *name, hid_t type_id: hex, hid_t lcpl_id: hex, hid_t tcpl_id: hex,
                        hid_t tapl_id: hex, hid_t es_id: hex)
    after = const uint32_t made = hdf5_bind_committed(type_id, source_, failed, caller)
    handle = made
    flags = nonblocking
CREATE hid_t H5Topen_async(const char *app_file, const char *app_func, unsigned int app_line, hid_t loc_id: handle,
                        const char *name, hid_t tapl_id: hex, hid_t es_id: hex) -> handle
    flags = nonblocking
OTHER hid_t H5Tcomplex_create(hid_t base_type_id: hex) -> id
    class = memory
OTHER hid_t H5Tdecode1(const void *buf) -> id
    class = memory
OTHER hid_t H5Tdecode2(const void *buf, size_t buf_size) -> id
    class = memory

# ---- Property lists ----

OTHER herr_t H5Pclose(hid_t plist_id: hex)
    class = memory
OTHER herr_t H5Pclose_class(hid_t plist_id: hex)
    class = memory
OTHER hid_t H5Pcopy(hid_t plist_id: hex) -> id
    class = memory
OTHER herr_t H5Pcopy_prop(hid_t dst_id: hex, hid_t src_id: hex, const char *name)
    class = memory
OTHER hid_t H5Pcreate(hid_t cls_id: hex) -> id
    class = memory
OTHER hid_t H5Pcreate_class(hid_t parent: hex, const char *name, void *create, void *create_data, void *copy,
                        void *copy_data, void *close, void *close_data) -> id
    class = memory
OTHER hid_t H5Pdecode(const void *buf) -> id
    class = memory
OTHER herr_t H5Pencode(hid_t plist_id: hex, void *buf, size_t *nalloc)
    class = memory
OTHER htri_t H5Pequal(hid_t id1: hex, hid_t id2: hex)
    class = memory
OTHER htri_t H5Pexist(hid_t plist_id: hex, const char *name)
    class = memory
OTHER herr_t H5Pget(hid_t plist_id: hex, const char *name, void *val)
    class = memory
OTHER hid_t H5Pget_class(hid_t plist_id: hex) -> id
    class = memory
OTHER char *H5Pget_class_name(hid_t pclass_id: hex)
    class = memory
OTHER hid_t H5Pget_class_parent(hid_t pclass_id: hex) -> id
    class = memory
OTHER herr_t H5Pget_nprops(hid_t id: hex, size_t *nprops)
    class = memory
OTHER herr_t H5Pget_size(hid_t id: hex, const char *name, size_t *size)
    class = memory
OTHER herr_t H5Pinsert2(hid_t plist_id: hex, const char *name, size_t size, void *val, void *set, void *get,
                        void *prp_del, void *copy, void *compare, void *close)
    class = memory
OTHER htri_t H5Pisa_class(hid_t plist_id: hex, hid_t pclass_id: hex)
    class = memory
OTHER int H5Piterate(hid_t id: hex, int *idx, void *iter_func, void *iter_data)
    class = memory
OTHER herr_t H5Pregister2(hid_t cls_id: hex, const char *name, size_t size, void *def_value, void *create, void *set,
                        void *get, void *prp_del, void *copy, void *compare, void *close)
    class = memory
OTHER herr_t H5Premove(hid_t plist_id: hex, const char *name)
    class = memory
OTHER herr_t H5Pset(hid_t plist_id: hex, const char *name, const void *val)
    class = memory
OTHER herr_t H5Punregister(hid_t pclass_id: hex, const char *name)
    class = memory
OTHER htri_t H5Pall_filters_avail(hid_t plist_id: hex)
    class = memory
OTHER herr_t H5Pget_attr_creation_order(hid_t plist_id: hex, unsigned int *crt_order_flags)
    class = memory
OTHER herr_t H5Pget_attr_phase_change(hid_t plist_id: hex, unsigned int *max_compact, unsigned int *min_dense)
    class = memory
OTHER H5Z_filter_t H5Pget_filter2(hid_t plist_id: hex, unsigned int idx, unsigned int *flags, size_t *cd_nelmts,
                        unsigned int *cd_values, size_t namelen, char *name, unsigned int *filter_config)
    class = memory
OTHER herr_t H5Pget_filter_by_id2(hid_t plist_id: hex, H5Z_filter_t filter_id, unsigned int *flags, size_t *cd_nelmts,
                        unsigned int *cd_values, size_t namelen, char *name, unsigned int *filter_config)
    class = memory
OTHER int H5Pget_nfilters(hid_t plist_id: hex)
    class = memory
OTHER herr_t H5Pget_obj_track_times(hid_t plist_id: hex, hbool_t *track_times)
    class = memory
OTHER herr_t H5Pmodify_filter(hid_t plist_id: hex, H5Z_filter_t filter, unsigned int flags: hex, size_t cd_nelmts,
                        const unsigned int *cd_values)
    class = memory
OTHER herr_t H5Premove_filter(hid_t plist_id: hex, H5Z_filter_t filter)
    class = memory
OTHER herr_t H5Pset_attr_creation_order(hid_t plist_id: hex, unsigned int crt_order_flags)
    class = memory
OTHER herr_t H5Pset_attr_phase_change(hid_t plist_id: hex, unsigned int max_compact, unsigned int min_dense)
    class = memory
OTHER herr_t H5Pset_deflate(hid_t plist_id: hex, unsigned int level)
    class = memory
OTHER herr_t H5Pset_filter(hid_t plist_id: hex, H5Z_filter_t filter, unsigned int flags: hex, size_t cd_nelmts,
                        const unsigned int *c_values)
    class = memory
OTHER herr_t H5Pset_fletcher32(hid_t plist_id: hex)
    class = memory
OTHER herr_t H5Pset_obj_track_times(hid_t plist_id: hex, hbool_t track_times)
    class = memory
OTHER herr_t H5Pget_file_space_page_size(hid_t plist_id: hex, hsize_t *fsp_size)
    class = memory
OTHER herr_t H5Pget_file_space_strategy(hid_t plist_id: hex, H5F_fspace_strategy_t *strategy, hbool_t *persist,
                        hsize_t *threshold)
    class = memory
OTHER herr_t H5Pget_istore_k(hid_t plist_id: hex, unsigned int *ik)
    class = memory
OTHER herr_t H5Pget_shared_mesg_index(hid_t plist_id: hex, unsigned int index_num, unsigned int *mesg_type_flags,
                        unsigned int *min_mesg_size)
    class = memory
OTHER herr_t H5Pget_shared_mesg_nindexes(hid_t plist_id: hex, unsigned int *nindexes)
    class = memory
OTHER herr_t H5Pget_shared_mesg_phase_change(hid_t plist_id: hex, unsigned int *max_list, unsigned int *min_btree)
    class = memory
OTHER herr_t H5Pget_sizes(hid_t plist_id: hex, size_t *sizeof_addr, size_t *sizeof_size)
    class = memory
OTHER herr_t H5Pget_sym_k(hid_t plist_id: hex, unsigned int *ik, unsigned int *lk)
    class = memory
OTHER herr_t H5Pget_userblock(hid_t plist_id: hex, hsize_t *size)
    class = memory
OTHER herr_t H5Pset_file_space_page_size(hid_t plist_id: hex, hsize_t fsp_size)
    class = memory
OTHER herr_t H5Pset_file_space_strategy(hid_t plist_id: hex,
                        H5F_fspace_strategy_t strategy: enum{H5F_FSPACE_STRATEGY_FSM_AGGR/H5F_FSPACE_STRATEGY_PAGE/H5F_FSPACE_STRATEGY_AGGR/H5F_FSPACE_STRATEGY_NONE},
                        hbool_t persist, hsize_t threshold)
    class = memory
OTHER herr_t H5Pset_istore_k(hid_t plist_id: hex, unsigned int ik)
    class = memory
OTHER herr_t H5Pset_shared_mesg_index(hid_t plist_id: hex, unsigned int index_num, unsigned int mesg_type_flags,
                        unsigned int min_mesg_size)
    class = memory
OTHER herr_t H5Pset_shared_mesg_nindexes(hid_t plist_id: hex, unsigned int nindexes)
    class = memory
OTHER herr_t H5Pset_shared_mesg_phase_change(hid_t plist_id: hex, unsigned int max_list, unsigned int min_btree)
    class = memory
OTHER herr_t H5Pset_sizes(hid_t plist_id: hex, size_t sizeof_addr, size_t sizeof_size)
    class = memory
OTHER herr_t H5Pset_sym_k(hid_t plist_id: hex, unsigned int ik, unsigned int lk)
    class = memory
OTHER herr_t H5Pset_userblock(hid_t plist_id: hex, hsize_t size)
    class = memory
OTHER herr_t H5Pget_alignment(hid_t fapl_id: hex, hsize_t *threshold, hsize_t *alignment)
    class = memory
OTHER herr_t H5Pget_cache(hid_t plist_id: hex, int *mdc_nelmts, size_t *rdcc_nslots, size_t *rdcc_nbytes,
                        double *rdcc_w0)
    class = memory
OTHER herr_t H5Pget_core_write_tracking(hid_t fapl_id: hex, hbool_t *is_enabled, size_t *page_size)
    class = memory
OTHER hid_t H5Pget_driver(hid_t plist_id: hex) -> id
    class = memory
OTHER const void *H5Pget_driver_info(hid_t plist_id: hex)
    class = memory
OTHER herr_t H5Pget_elink_file_cache_size(hid_t plist_id: hex, unsigned int *efc_size)
    class = memory
OTHER herr_t H5Pget_evict_on_close(hid_t fapl_id: hex, hbool_t *evict_on_close)
    class = memory
OTHER herr_t H5Pget_family_offset(hid_t fapl_id: hex, hsize_t *offset)
    class = memory
OTHER herr_t H5Pget_fclose_degree(hid_t fapl_id: hex, H5F_close_degree_t *degree)
    class = memory
OTHER herr_t H5Pget_file_image(hid_t fapl_id: hex, void **buf_ptr_ptr, size_t *buf_len_ptr)
    class = memory
OTHER herr_t H5Pget_file_image_callbacks(hid_t fapl_id: hex, void *callbacks_ptr)
    class = memory
OTHER herr_t H5Pget_file_locking(hid_t fapl_id: hex, hbool_t *use_file_locking, hbool_t *ignore_when_disabled)
    class = memory
OTHER herr_t H5Pget_gc_references(hid_t fapl_id: hex, unsigned int *gc_ref)
    class = memory
OTHER herr_t H5Pget_libver_bounds(hid_t plist_id: hex, H5F_libver_t *low, H5F_libver_t *high)
    class = memory
OTHER herr_t H5Pget_mdc_config(hid_t plist_id: hex, void *config_ptr)
    class = memory
OTHER herr_t H5Pget_mdc_image_config(hid_t plist_id: hex, void *config_ptr)
    class = memory
OTHER herr_t H5Pget_mdc_log_options(hid_t plist_id: hex, hbool_t *is_enabled, char *location, size_t *location_size,
                        hbool_t *start_on_access)
    class = memory
OTHER herr_t H5Pget_meta_block_size(hid_t fapl_id: hex, hsize_t *size)
    class = memory
OTHER herr_t H5Pget_metadata_read_attempts(hid_t plist_id: hex, unsigned int *attempts)
    class = memory
OTHER herr_t H5Pget_multi_type(hid_t fapl_id: hex, H5FD_mem_t *type)
    class = memory
OTHER herr_t H5Pget_object_flush_cb(hid_t plist_id: hex, void **func, void **udata)
    class = memory
OTHER herr_t H5Pget_page_buffer_size(hid_t plist_id: hex, size_t *buf_size, unsigned int *min_meta_perc,
                        unsigned int *min_raw_perc)
    class = memory
OTHER herr_t H5Pget_sieve_buf_size(hid_t fapl_id: hex, size_t *size)
    class = memory
OTHER herr_t H5Pget_small_data_block_size(hid_t fapl_id: hex, hsize_t *size)
    class = memory
OTHER herr_t H5Pset_alignment(hid_t fapl_id: hex, hsize_t threshold, hsize_t alignment)
    class = memory
OTHER herr_t H5Pset_cache(hid_t plist_id: hex, int mdc_nelmts, size_t rdcc_nslots, size_t rdcc_nbytes, double rdcc_w0)
    class = memory
OTHER herr_t H5Pset_core_write_tracking(hid_t fapl_id: hex, hbool_t is_enabled, size_t page_size)
    class = memory
OTHER herr_t H5Pset_driver(hid_t plist_id: hex, hid_t driver_id: hex, const void *driver_info)
    class = memory
OTHER herr_t H5Pset_elink_file_cache_size(hid_t plist_id: hex, unsigned int efc_size)
    class = memory
OTHER herr_t H5Pset_evict_on_close(hid_t fapl_id: hex, hbool_t evict_on_close)
    class = memory
OTHER herr_t H5Pset_family_offset(hid_t fapl_id: hex, hsize_t offset)
    class = memory
OTHER herr_t H5Pset_fclose_degree(hid_t fapl_id: hex,
                        H5F_close_degree_t degree: enum{H5F_CLOSE_DEFAULT/H5F_CLOSE_WEAK/H5F_CLOSE_SEMI/H5F_CLOSE_STRONG})
    class = memory
OTHER herr_t H5Pset_file_image(hid_t fapl_id: hex, void *buf_ptr, size_t buf_len)
    class = memory
OTHER herr_t H5Pset_file_image_callbacks(hid_t fapl_id: hex, void *callbacks_ptr)
    class = memory
OTHER herr_t H5Pset_file_locking(hid_t fapl_id: hex, hbool_t use_file_locking, hbool_t ignore_when_disabled)
    class = memory
OTHER herr_t H5Pset_gc_references(hid_t fapl_id: hex, unsigned int gc_ref)
    class = memory
OTHER herr_t H5Pset_libver_bounds(hid_t plist_id: hex,
                        H5F_libver_t low: enum{H5F_LIBVER_EARLIEST/H5F_LIBVER_V18/H5F_LIBVER_V110/H5F_LIBVER_V112/H5F_LIBVER_V114/H5F_LIBVER_V200},
                        H5F_libver_t high: enum{H5F_LIBVER_EARLIEST/H5F_LIBVER_V18/H5F_LIBVER_V110/H5F_LIBVER_V112/H5F_LIBVER_V114/H5F_LIBVER_V200})
    class = memory
OTHER herr_t H5Pset_mdc_config(hid_t plist_id: hex, void *config_ptr)
    class = memory
OTHER herr_t H5Pset_mdc_log_options(hid_t plist_id: hex, hbool_t is_enabled, const char *location,
                        hbool_t start_on_access)
    class = memory
OTHER herr_t H5Pset_meta_block_size(hid_t fapl_id: hex, hsize_t size)
    class = memory
OTHER herr_t H5Pset_metadata_read_attempts(hid_t plist_id: hex, unsigned int attempts)
    class = memory
OTHER herr_t H5Pset_multi_type(hid_t fapl_id: hex,
                        H5FD_mem_t type: enum{H5FD_MEM_DEFAULT/H5FD_MEM_SUPER/H5FD_MEM_BTREE/H5FD_MEM_DRAW/H5FD_MEM_GHEAP/H5FD_MEM_LHEAP/H5FD_MEM_OHDR})
    class = memory
OTHER herr_t H5Pset_object_flush_cb(hid_t plist_id: hex, void *func, void *udata)
    class = memory
OTHER herr_t H5Pset_sieve_buf_size(hid_t fapl_id: hex, size_t size)
    class = memory
OTHER herr_t H5Pset_small_data_block_size(hid_t fapl_id: hex, hsize_t size)
    class = memory
OTHER herr_t H5Pset_mdc_image_config(hid_t plist_id: hex, void *config_ptr)
    class = memory
OTHER herr_t H5Pset_page_buffer_size(hid_t plist_id: hex, size_t buf_size, unsigned int min_meta_per,
                        unsigned int min_raw_per)
    class = memory
OTHER herr_t H5Pfill_value_defined(hid_t plist: hex, H5D_fill_value_t *status)
    class = memory
OTHER herr_t H5Pget_alloc_time(hid_t plist_id: hex, H5D_alloc_time_t *alloc_time)
    class = memory
OTHER int H5Pget_chunk(hid_t plist_id: hex, int max_ndims, hsize_t *dim: array(result < max_ndims ? result : max_ndims))
    class = memory
OTHER herr_t H5Pget_chunk_opts(hid_t plist_id: hex, unsigned int *opts)
    class = memory
OTHER herr_t H5Pget_dset_no_attrs_hint(hid_t dcpl_id: hex, hbool_t *minimize)
    class = memory
OTHER herr_t H5Pget_external(hid_t plist_id: hex, unsigned int idx, size_t name_size, char *name, off_t *offset,
                        hsize_t *size)
    class = memory
OTHER int H5Pget_external_count(hid_t plist_id: hex)
    class = memory
OTHER herr_t H5Pget_fill_time(hid_t plist_id: hex, H5D_fill_time_t *fill_time)
    class = memory
OTHER herr_t H5Pget_fill_value(hid_t plist_id: hex, hid_t type_id: hex, void *val)
    class = memory
OTHER H5D_layout_t H5Pget_layout(hid_t plist_id: hex)
    class = memory
OTHER herr_t H5Pget_virtual_count(hid_t dcpl_id: hex, size_t *count)
    class = memory
OTHER ssize_t H5Pget_virtual_dsetname(hid_t dcpl_id: hex, size_t index, char *name, size_t size)
    class = memory
OTHER ssize_t H5Pget_virtual_filename(hid_t dcpl_id: hex, size_t index, char *name, size_t size)
    class = memory
OTHER hid_t H5Pget_virtual_srcspace(hid_t dcpl_id: hex, size_t index) -> id
    class = memory
OTHER hid_t H5Pget_virtual_vspace(hid_t dcpl_id: hex, size_t index) -> id
    class = memory
OTHER herr_t H5Pset_alloc_time(hid_t plist_id: hex,
                        H5D_alloc_time_t alloc_time: enum{H5D_ALLOC_TIME_DEFAULT/H5D_ALLOC_TIME_EARLY/H5D_ALLOC_TIME_LATE/H5D_ALLOC_TIME_INCR})
    class = memory
OTHER herr_t H5Pset_chunk(hid_t plist_id: hex, int ndims, const hsize_t *dim: array(ndims))
    class = memory
OTHER herr_t H5Pset_chunk_opts(hid_t plist_id: hex, unsigned int opts)
    class = memory
OTHER herr_t H5Pset_dset_no_attrs_hint(hid_t dcpl_id: hex, hbool_t minimize)
    class = memory
OTHER herr_t H5Pset_external(hid_t plist_id: hex, const char *name, off_t offset, hsize_t size)
    class = memory
OTHER herr_t H5Pset_fill_time(hid_t plist_id: hex,
                        H5D_fill_time_t fill_time: enum{H5D_FILL_TIME_ALLOC/H5D_FILL_TIME_NEVER/H5D_FILL_TIME_IFSET})
    class = memory
OTHER herr_t H5Pset_fill_value(hid_t plist_id: hex, hid_t type_id: hex, const void *val)
    class = memory
OTHER herr_t H5Pset_shuffle(hid_t plist_id: hex)
    class = memory
OTHER herr_t H5Pset_layout(hid_t plist_id: hex,
                        H5D_layout_t layout: enum{H5D_COMPACT/H5D_CONTIGUOUS/H5D_CHUNKED/H5D_VIRTUAL})
    class = memory
OTHER herr_t H5Pset_nbit(hid_t plist_id: hex)
    class = memory
OTHER herr_t H5Pset_scaleoffset(hid_t plist_id: hex,
                        H5Z_SO_scale_type_t scale_type: enum{H5Z_SO_FLOAT_DSCALE/H5Z_SO_FLOAT_ESCALE/H5Z_SO_INT},
                        int scale_factor)
    class = memory
OTHER herr_t H5Pset_szip(hid_t plist_id: hex, unsigned int options_mask, unsigned int pixels_per_block)
    class = memory
OTHER herr_t H5Pset_virtual(hid_t dcpl_id: hex, hid_t vspace_id: hex, const char *src_file_name,
                        const char *src_dset_name, hid_t src_space_id: hex)
    class = memory
OTHER herr_t H5Pget_append_flush(hid_t dapl_id: hex, unsigned int dims, hsize_t *boundary, void **func, void **udata)
    class = memory
OTHER herr_t H5Pget_chunk_cache(hid_t dapl_id: hex, size_t *rdcc_nslots, size_t *rdcc_nbytes, double *rdcc_w0)
    class = memory
OTHER ssize_t H5Pget_efile_prefix(hid_t dapl_id: hex, char *prefix, size_t size)
    class = memory
OTHER ssize_t H5Pget_virtual_prefix(hid_t dapl_id: hex, char *prefix, size_t size)
    class = memory
OTHER herr_t H5Pget_virtual_printf_gap(hid_t dapl_id: hex, hsize_t *gap_size)
    class = memory
OTHER herr_t H5Pget_virtual_view(hid_t dapl_id: hex, H5D_vds_view_t *view)
    class = memory
OTHER herr_t H5Pset_append_flush(hid_t dapl_id: hex, unsigned int ndims, const hsize_t *boundary, void *func,
                        void *udata)
    class = memory
OTHER herr_t H5Pset_chunk_cache(hid_t dapl_id: hex, size_t rdcc_nslots, size_t rdcc_nbytes, double rdcc_w0)
    class = memory
OTHER herr_t H5Pset_efile_prefix(hid_t dapl_id: hex, const char *prefix)
    class = memory
OTHER herr_t H5Pset_virtual_prefix(hid_t dapl_id: hex, const char *prefix)
    class = memory
OTHER herr_t H5Pset_virtual_printf_gap(hid_t dapl_id: hex, hsize_t gap_size)
    class = memory
OTHER herr_t H5Pset_virtual_view(hid_t dapl_id: hex,
                        H5D_vds_view_t view: enum{H5D_VDS_FIRST_MISSING/H5D_VDS_LAST_AVAILABLE})
    class = memory
OTHER herr_t H5Pget_btree_ratios(hid_t plist_id: hex, double *left, double *middle, double *right)
    class = memory
OTHER size_t H5Pget_buffer(hid_t plist_id: hex, void **tconv, void **bkg)
    class = memory
OTHER ssize_t H5Pget_data_transform(hid_t plist_id: hex, char *expression, size_t size)
    class = memory
OTHER H5Z_EDC_t H5Pget_edc_check(hid_t plist_id: hex)
    class = memory
OTHER herr_t H5Pget_hyper_vector_size(hid_t fapl_id: hex, size_t *size)
    class = memory
OTHER int H5Pget_preserve(hid_t plist_id: hex)
    class = memory
OTHER herr_t H5Pget_type_conv_cb(hid_t dxpl_id: hex, void **op, void **operate_data)
    class = memory
OTHER herr_t H5Pget_vlen_mem_manager(hid_t plist_id: hex, void **alloc_func, void **alloc_info, void **free_func,
                        void **free_info)
    class = memory
OTHER herr_t H5Pset_btree_ratios(hid_t plist_id: hex, double left, double middle, double right)
    class = memory
OTHER herr_t H5Pset_buffer(hid_t plist_id: hex, size_t size, void *tconv, void *bkg)
    class = memory
OTHER herr_t H5Pset_data_transform(hid_t plist_id: hex, const char *expression)
    class = memory
OTHER herr_t H5Pset_edc_check(hid_t plist_id: hex, H5Z_EDC_t check: enum{H5Z_DISABLE_EDC/H5Z_ENABLE_EDC/H5Z_NO_EDC})
    class = memory
OTHER herr_t H5Pset_filter_callback(hid_t plist_id: hex, void *func, void *op_data)
    class = memory
OTHER herr_t H5Pset_hyper_vector_size(hid_t plist_id: hex, size_t size)
    class = memory
OTHER herr_t H5Pset_preserve(hid_t plist_id: hex, hbool_t status)
    class = memory
OTHER herr_t H5Pset_type_conv_cb(hid_t dxpl_id: hex, void *op, void *operate_data)
    class = memory
OTHER herr_t H5Pset_vlen_mem_manager(hid_t plist_id: hex, void *alloc_func, void *alloc_info, void *free_func,
                        void *free_info)
    class = memory
OTHER herr_t H5Pget_create_intermediate_group(hid_t plist_id: hex, unsigned int *crt_intmd)
    class = memory
OTHER herr_t H5Pset_create_intermediate_group(hid_t plist_id: hex, unsigned int crt_intmd)
    class = memory
OTHER herr_t H5Pget_est_link_info(hid_t plist_id: hex, unsigned int *est_num_entries, unsigned int *est_name_len)
    class = memory
OTHER herr_t H5Pget_link_creation_order(hid_t plist_id: hex, unsigned int *crt_order_flags)
    class = memory
OTHER herr_t H5Pget_link_phase_change(hid_t plist_id: hex, unsigned int *max_compact, unsigned int *min_dense)
    class = memory
OTHER herr_t H5Pget_local_heap_size_hint(hid_t plist_id: hex, size_t *size_hint)
    class = memory
OTHER herr_t H5Pset_est_link_info(hid_t plist_id: hex, unsigned int est_num_entries, unsigned int est_name_len)
    class = memory
OTHER herr_t H5Pset_link_creation_order(hid_t plist_id: hex, unsigned int crt_order_flags)
    class = memory
OTHER herr_t H5Pset_link_phase_change(hid_t plist_id: hex, unsigned int max_compact, unsigned int min_dense)
    class = memory
OTHER herr_t H5Pset_local_heap_size_hint(hid_t plist_id: hex, size_t size_hint)
    class = memory
OTHER herr_t H5Pget_char_encoding(hid_t plist_id: hex, H5T_cset_t *encoding)
    class = memory
OTHER herr_t H5Pset_char_encoding(hid_t plist_id: hex, H5T_cset_t encoding: enum{H5T_CSET_ASCII/H5T_CSET_UTF8})
    class = memory
OTHER herr_t H5Pget_elink_acc_flags(hid_t lapl_id: hex, unsigned int *flags)
    class = memory
OTHER herr_t H5Pget_elink_cb(hid_t lapl_id: hex, void **func, void **op_data)
    class = memory
OTHER hid_t H5Pget_elink_fapl(hid_t lapl_id: hex) -> id
    class = memory
OTHER ssize_t H5Pget_elink_prefix(hid_t plist_id: hex, char *prefix, size_t size)
    class = memory
OTHER herr_t H5Pget_nlinks(hid_t plist_id: hex, size_t *nlinks)
    class = memory
OTHER herr_t H5Pset_elink_acc_flags(hid_t lapl_id: hex, unsigned int flags: hex)
    class = memory
OTHER herr_t H5Pset_elink_cb(hid_t lapl_id: hex, void *func, void *op_data)
    class = memory
OTHER herr_t H5Pset_elink_fapl(hid_t lapl_id: hex, hid_t fapl_id: hex)
    class = memory
OTHER herr_t H5Pset_elink_prefix(hid_t plist_id: hex, const char *prefix)
    class = memory
OTHER herr_t H5Pset_nlinks(hid_t plist_id: hex, size_t nlinks)
    class = memory
OTHER herr_t H5Padd_merge_committed_dtype_path(hid_t plist_id: hex, const char *path)
    class = memory
OTHER herr_t H5Pfree_merge_committed_dtype_paths(hid_t plist_id: hex)
    class = memory
OTHER herr_t H5Pget_copy_object(hid_t plist_id: hex, unsigned int *copy_options)
    class = memory
OTHER herr_t H5Pget_mcdt_search_cb(hid_t plist_id: hex, void **func, void **op_data)
    class = memory
OTHER herr_t H5Pset_copy_object(hid_t plist_id: hex, unsigned int copy_options)
    class = memory
OTHER herr_t H5Pset_mcdt_search_cb(hid_t plist_id: hex, void *func, void *op_data)
    class = memory
OTHER herr_t H5Pregister1(hid_t cls_id: hex, const char *name, size_t size, void *def_value, void *prp_create,
                        void *prp_set, void *prp_get, void *prp_del, void *prp_copy, void *prp_close)
    class = memory
OTHER herr_t H5Pinsert1(hid_t plist_id: hex, const char *name, size_t size, void *val, void *prp_set, void *prp_get,
                        void *prp_delete, void *prp_copy, void *prp_close)
    class = memory
OTHER H5Z_filter_t H5Pget_filter1(hid_t plist_id: hex, unsigned int filter, unsigned int *flags, size_t *cd_nelmts,
                        unsigned int *cd_values, size_t namelen, char *name)
    class = memory
OTHER herr_t H5Pget_filter_by_id1(hid_t plist_id: hex, H5Z_filter_t id, unsigned int *flags, size_t *cd_nelmts,
                        unsigned int *cd_values, size_t namelen, char *name)
    class = memory
OTHER herr_t H5Pget_version(hid_t plist_id: hex, unsigned int *boot, unsigned int *freelist, unsigned int *stab,
                        unsigned int *shhdr)
    class = memory
OTHER herr_t H5Pset_file_space(hid_t plist_id: hex,
                        H5F_file_space_type_t strategy: enum{H5F_FILE_SPACE_DEFAULT/H5F_FILE_SPACE_ALL_PERSIST/H5F_FILE_SPACE_ALL/H5F_FILE_SPACE_AGGR_VFD/H5F_FILE_SPACE_VFD},
                        hsize_t threshold)
    class = memory
OTHER herr_t H5Pget_file_space(hid_t plist_id: hex, H5F_file_space_type_t *strategy, hsize_t *threshold)
    class = memory
OTHER herr_t H5Pset_fapl_core(hid_t fapl_id: hex, size_t increment, hbool_t backing_store)
    class = memory
OTHER herr_t H5Pget_fapl_core(hid_t fapl_id: hex, size_t *increment, hbool_t *backing_store)
    class = memory
OTHER herr_t H5Pset_fapl_family(hid_t fapl_id: hex, hsize_t memb_size, hid_t memb_fapl_id: hex)
    class = memory
OTHER herr_t H5Pget_fapl_family(hid_t fapl_id: hex, hsize_t *memb_size, hid_t *memb_fapl_id)
    class = memory
OTHER herr_t H5Pget_fapl_hdfs(hid_t fapl_id: hex, void *fa_out)
    class = memory
OTHER herr_t H5Pset_fapl_hdfs(hid_t fapl_id: hex, void *fa)
    class = memory
OTHER herr_t H5Pset_fapl_log(hid_t fapl_id: hex, const char *logfile, unsigned long long flags, size_t buf_size)
    class = memory
OTHER herr_t H5Pset_fapl_multi(hid_t fapl_id: hex, const H5FD_mem_t *memb_map, const hid_t *memb_fapl,
                        const char *const *memb_name, const haddr_t *memb_addr, hbool_t relax)
    class = memory
OTHER herr_t H5Pget_fapl_multi(hid_t fapl_id: hex, H5FD_mem_t *memb_map, hid_t *memb_fapl, char **memb_name,
                        haddr_t *memb_addr, hbool_t *relax)
    class = memory
OTHER herr_t H5Pset_fapl_split(hid_t fapl: hex, const char *meta_ext, hid_t meta_plist_id: hex, const char *raw_ext,
                        hid_t raw_plist_id: hex)
    class = memory
OTHER herr_t H5Pget_fapl_ros3(hid_t fapl_id: hex, void *fa_out)
    class = memory
OTHER herr_t H5Pset_fapl_ros3(hid_t fapl_id: hex, void *fa)
    class = memory
OTHER herr_t H5Pset_fapl_sec2(hid_t fapl_id: hex)
    class = memory
OTHER herr_t H5Pset_fapl_splitter(hid_t fapl_id: hex, void *config_ptr)
    class = memory
OTHER herr_t H5Pget_fapl_splitter(hid_t fapl_id: hex, void *config_ptr)
    class = memory
OTHER herr_t H5Pset_fapl_stdio(hid_t fapl_id: hex)
    class = memory
OTHER herr_t H5Pset_all_coll_metadata_ops(hid_t plist_id: hex, hbool_t is_collective)
    class = memory
OTHER herr_t H5Pget_all_coll_metadata_ops(hid_t plist_id: hex, hbool_t *is_collective)
    class = memory
OTHER herr_t H5Pset_coll_metadata_write(hid_t plist_id: hex, hbool_t is_collective)
    class = memory
OTHER herr_t H5Pget_coll_metadata_write(hid_t plist_id: hex, hbool_t *is_collective)
    class = memory
OTHER herr_t H5Pget_mpio_actual_chunk_opt_mode(hid_t plist_id: hex,
                        H5D_mpio_actual_chunk_opt_mode_t *actual_chunk_opt_mode)
    class = memory
OTHER herr_t H5Pget_mpio_actual_io_mode(hid_t plist_id: hex, H5D_mpio_actual_io_mode_t *actual_io_mode)
    class = memory
OTHER herr_t H5Pget_mpio_no_collective_cause(hid_t plist_id: hex, uint32_t *local_no_collective_cause,
                        uint32_t *global_no_collective_cause)
    class = memory
OTHER herr_t H5Pset_fapl_mpio(hid_t fapl_id: hex, MPI_Comm comm: opaque, MPI_Info info: opaque)
    class = memory
OTHER herr_t H5Pget_fapl_mpio(hid_t fapl_id: hex, void *comm, void *info)
    class = memory
OTHER herr_t H5Pset_dxpl_mpio(hid_t dxpl_id: hex,
                        H5FD_mpio_xfer_t xfer_mode: enum{H5FD_MPIO_INDEPENDENT/H5FD_MPIO_COLLECTIVE})
    class = memory
OTHER herr_t H5Pget_dxpl_mpio(hid_t dxpl_id: hex, H5FD_mpio_xfer_t *xfer_mode)
    class = memory
OTHER herr_t H5Pset_dxpl_mpio_collective_opt(hid_t dxpl_id: hex,
                        H5FD_mpio_collective_opt_t opt_mode: enum{H5FD_MPIO_COLLECTIVE_IO/H5FD_MPIO_INDIVIDUAL_IO})
    class = memory
OTHER herr_t H5Pset_dxpl_mpio_chunk_opt(hid_t dxpl_id: hex,
                        H5FD_mpio_chunk_opt_t opt_mode: enum{H5FD_MPIO_CHUNK_DEFAULT/H5FD_MPIO_CHUNK_ONE_IO/H5FD_MPIO_CHUNK_MULTI_IO})
    class = memory
OTHER herr_t H5Pset_dxpl_mpio_chunk_opt_num(hid_t dxpl_id: hex, unsigned int num_chunk_per_proc)
    class = memory
OTHER herr_t H5Pset_dxpl_mpio_chunk_opt_ratio(hid_t dxpl_id: hex, unsigned int percent_num_proc_per_chunk)
    class = memory
OTHER herr_t H5Pencode1(hid_t plist_id: hex, void *buf, size_t *nalloc)
    class = memory
OTHER herr_t H5Pencode2(hid_t plist_id: hex, void *buf, size_t *nalloc, hid_t fapl_id: hex)
    class = memory
OTHER herr_t H5Pget_actual_selection_io_mode(hid_t plist_id: hex, uint32_t *actual_selection_io_mode)
    class = memory
OTHER ssize_t H5Pget_driver_config_str(hid_t fapl_id: hex, char *config_buf, size_t buf_size)
    class = memory
OTHER herr_t H5Pget_fapl_direct(hid_t fapl_id: hex, size_t *boundary, size_t *block_size, size_t *cbuf_size)
    class = memory
OTHER herr_t H5Pset_fapl_direct(hid_t fapl_id: hex, size_t alignment, size_t block_size, size_t cbuf_size)
    class = memory
OTHER herr_t H5Pget_fapl_ioc(hid_t fapl_id: hex, void *config_out)
    class = memory
OTHER herr_t H5Pset_fapl_ioc(hid_t fapl_id: hex, void *vfd_config)
    class = memory
OTHER herr_t H5Pget_fapl_mirror(hid_t fapl_id: hex, void *fa_out)
    class = memory
OTHER herr_t H5Pset_fapl_mirror(hid_t fapl_id: hex, void *fa)
    class = memory
OTHER herr_t H5Pget_fapl_onion(hid_t fapl_id: hex, void *fa_out)
    class = memory
OTHER herr_t H5Pset_fapl_onion(hid_t fapl_id: hex, const void *fa)
    class = memory
OTHER herr_t H5Pget_fapl_ros3_endpoint(hid_t fapl_id: hex, size_t size, char *endpoint)
    class = memory
OTHER herr_t H5Pset_fapl_ros3_endpoint(hid_t fapl_id: hex, const char *endpoint)
    class = memory
OTHER herr_t H5Pget_fapl_ros3_token(hid_t fapl_id: hex, size_t size, char *token)
    class = memory
OTHER herr_t H5Pset_fapl_ros3_token(hid_t fapl_id: hex, const char *token)
    class = memory
OTHER herr_t H5Pget_fapl_subfiling(hid_t fapl_id: hex, void *config_out)
    class = memory
OTHER herr_t H5Pset_fapl_subfiling(hid_t fapl_id: hex, const void *vfd_config)
    class = memory
OTHER herr_t H5Pget_map_iterate_hints(hid_t mapl_id: hex, size_t *key_prefetch_size, size_t *key_alloc_size)
    class = memory
OTHER herr_t H5Pset_map_iterate_hints(hid_t mapl_id: hex, size_t key_prefetch_size, size_t key_alloc_size)
    class = memory
OTHER herr_t H5Pget_modify_write_buf(hid_t plist_id: hex, hbool_t *modify_write_buf)
    class = memory
OTHER herr_t H5Pset_modify_write_buf(hid_t plist_id: hex, hbool_t modify_write_buf)
    class = memory
OTHER herr_t H5Pget_mpi_params(hid_t fapl_id: hex, void *comm, void *info)
    class = memory
OTHER herr_t H5Pset_mpi_params(hid_t fapl_id: hex, MPI_Comm comm: opaque, MPI_Info info: opaque)
    class = memory
OTHER herr_t H5Pget_no_selection_io_cause(hid_t plist_id: hex, uint32_t *no_selection_io_cause)
    class = memory
OTHER herr_t H5Pget_relax_file_integrity_checks(hid_t plist_id: hex, uint64_t *flags)
    class = memory
OTHER herr_t H5Pset_relax_file_integrity_checks(hid_t plist_id: hex, uint64_t flags)
    class = memory
OTHER herr_t H5Pget_selection_io(hid_t plist_id: hex, int *selection_io_mode)
    class = memory
OTHER herr_t H5Pset_selection_io(hid_t plist_id: hex,
                        H5D_selection_io_mode_t selection_io_mode: enum{H5D_SELECTION_IO_MODE_DEFAULT/H5D_SELECTION_IO_MODE_OFF/H5D_SELECTION_IO_MODE_ON})
    class = memory
OTHER herr_t H5Pget_virtual_spatial_tree(hid_t dapl_id: hex, hbool_t *use_tree)
    class = memory
OTHER herr_t H5Pset_virtual_spatial_tree(hid_t dapl_id: hex, hbool_t use_tree)
    class = memory
OTHER herr_t H5Pget_vol_cap_flags(hid_t plist_id: hex, uint64_t *cap_flags)
    class = memory
OTHER herr_t H5Pget_vol_id(hid_t plist_id: hex, hid_t *vol_id)
    class = memory
OTHER herr_t H5Pget_vol_info(hid_t plist_id: hex, void **vol_info)
    class = memory
OTHER herr_t H5Pset_vol(hid_t plist_id: hex, hid_t new_vol_id: hex, const void *new_vol_info)
    class = memory
OTHER herr_t H5Pset_dataset_io_hyperslab_selection(hid_t plist_id: hex, unsigned int rank,
                        H5S_seloper_t op: enum{H5S_SELECT_SET/H5S_SELECT_OR/H5S_SELECT_AND/H5S_SELECT_XOR/H5S_SELECT_NOTB/H5S_SELECT_NOTA/H5S_SELECT_APPEND/H5S_SELECT_PREPEND},
                        const hsize_t *start: array(rank), const hsize_t *stride: array(rank),
                        const hsize_t *count: array(rank), const hsize_t *block: array(rank))
    class = memory
OTHER herr_t H5Pset_driver_by_name(hid_t plist_id: hex, const char *driver_name, const char *driver_config)
    class = memory
OTHER herr_t H5Pset_driver_by_value(hid_t plist_id: hex, H5FD_class_value_t driver_value, const char *driver_config)
    class = memory

# ---- Identifiers ----

OTHER hid_t H5Iregister(H5I_type_t type, const void *object) -> id
    class = memory
OTHER void *H5Iobject_verify(hid_t id: hex, H5I_type_t type)
    class = memory
OTHER void *H5Iremove_verify(hid_t id: hex, H5I_type_t type)
    class = memory
OTHER H5I_type_t H5Iget_type(hid_t id: hex)
    class = memory
OTHER hid_t H5Iget_file_id(hid_t id: handle) -> id
    after = hdf5_bind_if_unknown(result, source_, failed, caller)
OTHER ssize_t H5Iget_name(hid_t id: handle, char *name, size_t size)
    class = memory
OTHER int H5Iinc_ref(hid_t id: hex)
    class = memory
    custom
OTHER int H5Idec_ref(hid_t id: hex)
    class = handle
    custom
OTHER int H5Iget_ref(hid_t id: hex)
    class = memory
OTHER H5I_type_t H5Iregister_type(size_t hash_size, unsigned int reserved, void *free_func)
    class = memory
OTHER herr_t H5Iclear_type(H5I_type_t type, hbool_t force)
OTHER herr_t H5Idestroy_type(H5I_type_t type)
OTHER int H5Iinc_type_ref(H5I_type_t type)
    class = memory
OTHER int H5Idec_type_ref(H5I_type_t type)
    class = memory
OTHER int H5Iget_type_ref(H5I_type_t type)
    class = memory
OTHER void *H5Isearch(H5I_type_t type, void *func, void *key)
    class = memory
OTHER herr_t H5Inmembers(H5I_type_t type, hsize_t *num_members)
    class = memory
OTHER htri_t H5Itype_exists(H5I_type_t type)
    class = memory
OTHER htri_t H5Iis_valid(hid_t id: hex)
    class = memory
OTHER herr_t H5Iiterate(H5I_type_t type, void *op, void *op_data)
    class = memory
OTHER hid_t H5Iregister_future(H5I_type_t type, const void *object, void *realize_cb, void *discard_cb) -> id
    class = memory
OTHER H5I_type_t H5Iregister_type1(size_t hash_size, unsigned int reserved, void *free_func)
    class = memory
OTHER H5I_type_t H5Iregister_type2(unsigned int reserved, void *free_func)
    class = memory

# ---- Errors ----

OTHER hid_t H5Eregister_class(const char *cls_name, const char *lib_name, const char *version) -> id
    class = memory
OTHER herr_t H5Eunregister_class(hid_t class_id: hex)
    class = memory
OTHER herr_t H5Eclose_msg(hid_t err_id: hex)
    class = memory
OTHER hid_t H5Ecreate_msg(hid_t cls: hex, H5E_type_t msg_type: enum{H5E_MAJOR/H5E_MINOR}, const char *msg) -> id
    class = memory
OTHER hid_t H5Ecreate_stack(void) -> id
    class = memory
OTHER hid_t H5Eget_current_stack(void) -> id
    class = memory
OTHER herr_t H5Eclose_stack(hid_t stack_id: hex)
    class = memory
OTHER ssize_t H5Eget_class_name(hid_t class_id: hex, char *name, size_t size)
    class = memory
OTHER herr_t H5Eset_current_stack(hid_t err_stack_id: hex)
    class = memory
OTHER herr_t H5Epop(hid_t err_stack: hex, size_t count)
    class = memory
OTHER herr_t H5Eprint2(hid_t err_stack: hex, FILE *stream)
    class = memory
OTHER herr_t H5Ewalk2(hid_t err_stack: hex, H5E_direction_t direction: enum{H5E_WALK_UPWARD/H5E_WALK_DOWNWARD},
                      void *func, void *client_data)
    class = memory
OTHER herr_t H5Eget_auto2(hid_t estack_id: hex, void **func, void **client_data)
    class = memory
OTHER herr_t H5Eset_auto2(hid_t estack_id: hex, void *func, void *client_data)
    class = memory
OTHER herr_t H5Eclear2(hid_t err_stack: hex)
    class = memory
OTHER herr_t H5Eauto_is_v2(hid_t err_stack: hex, unsigned int *is_stack)
    class = memory
OTHER ssize_t H5Eget_msg(hid_t msg_id: hex, H5E_type_t *type, char *msg, size_t size)
    class = memory
OTHER ssize_t H5Eget_num(hid_t error_stack_id: hex)
    class = memory
OTHER herr_t H5Eclear1(void)
    class = memory
OTHER herr_t H5Eget_auto1(void **func, void **client_data)
    class = memory
OTHER herr_t H5Epush1(const char *file, const char *func, unsigned int line, H5E_major_t maj, H5E_minor_t min,
                      const char *str)
    class = memory
OTHER herr_t H5Eprint1(FILE *stream)
    class = memory
OTHER herr_t H5Eset_auto1(void *func, void *client_data)
    class = memory
OTHER herr_t H5Ewalk1(H5E_direction_t direction: enum{H5E_WALK_UPWARD/H5E_WALK_DOWNWARD}, void *func, void *client_data)
    class = memory
OTHER char *H5Eget_major(H5E_major_t maj)
    class = memory
OTHER char *H5Eget_minor(H5E_minor_t min)
    class = memory
OTHER herr_t H5Eappend_stack(hid_t dst_stack_id: hex, hid_t src_stack_id: hex, hbool_t close_source_stack)
    class = memory
OTHER herr_t H5Eis_paused(hid_t stack_id: hex, hbool_t *is_paused)
    class = memory
OTHER herr_t H5Epause_stack(hid_t stack_id: hex)
    class = memory
OTHER herr_t H5Eresume_stack(hid_t stack_id: hex)
    class = memory

# ---- Event sets ----

OTHER herr_t H5EScancel(hid_t es_id: hex, size_t *num_not_canceled, hbool_t *err_occurred)
OTHER herr_t H5ESclose(hid_t es_id: hex)
    class = memory
OTHER hid_t H5EScreate(void) -> id
    class = memory
OTHER herr_t H5ESfree_err_info(size_t num_err_info, void *err_info)
    class = memory
OTHER herr_t H5ESget_count(hid_t es_id: hex, size_t *count)
    class = memory
OTHER herr_t H5ESget_err_count(hid_t es_id: hex, size_t *num_errs)
    class = memory
OTHER herr_t H5ESget_err_info(hid_t es_id: hex, size_t num_err_info, void *err_info, size_t *err_cleared)
    class = memory
OTHER herr_t H5ESget_err_status(hid_t es_id: hex, hbool_t *err_occurred)
    class = memory
OTHER herr_t H5ESget_op_counter(hid_t es_id: hex, uint64_t *counter)
    class = memory
OTHER herr_t H5ESget_requests(hid_t es_id: hex, H5_iter_order_t order: enum{H5_ITER_INC/H5_ITER_DEC/H5_ITER_NATIVE},
                        hid_t *connector_ids, void **requests, size_t array_len, size_t *count)
    class = memory
OTHER herr_t H5ESinsert_request(hid_t es_id: hex, hid_t connector_id: hex, void *request)
    class = memory
OTHER herr_t H5ESregister_complete_func(hid_t es_id: hex, void *func, void *ctx)
    class = memory
OTHER herr_t H5ESregister_insert_func(hid_t es_id: hex, void *func, void *ctx)
    class = memory
OTHER herr_t H5ESwait(hid_t es_id: hex, uint64_t timeout, size_t *num_in_progress, hbool_t *err_occurred)

# ---- Filters ----

OTHER herr_t H5Zregister(const void *cls)
    class = memory
OTHER herr_t H5Zunregister(H5Z_filter_t id)
    class = memory
OTHER htri_t H5Zfilter_avail(H5Z_filter_t id)
    class = memory
OTHER herr_t H5Zget_filter_info(H5Z_filter_t filter, unsigned int *filter_config_flags)
    class = memory

# ---- Plug-ins ----

OTHER herr_t H5PLset_loading_state(unsigned int plugin_control_mask)
    class = memory
OTHER herr_t H5PLget_loading_state(unsigned int *plugin_control_mask)
    class = memory
OTHER herr_t H5PLappend(const char *search_path)
    class = memory
OTHER herr_t H5PLprepend(const char *search_path)
    class = memory
OTHER herr_t H5PLreplace(const char *search_path, unsigned int index)
    class = memory
OTHER herr_t H5PLinsert(const char *search_path, unsigned int index)
    class = memory
OTHER herr_t H5PLremove(unsigned int index)
    class = memory
OTHER ssize_t H5PLget(unsigned int index, char *path_buf, size_t buf_size)
    class = memory
OTHER herr_t H5PLsize(unsigned int *num_paths)
    class = memory

# ---- Connectors of the virtual object layer ----

OTHER herr_t H5VLclose(hid_t connector_id: hex)
    class = memory
OTHER hid_t H5VLget_connector_id(hid_t obj_id: hex) -> id
    class = memory
OTHER hid_t H5VLget_connector_id_by_name(const char *name) -> id
    class = memory
OTHER hid_t H5VLget_connector_id_by_value(H5VL_class_value_t connector_value) -> id
    class = memory
OTHER ssize_t H5VLget_connector_name(hid_t id: hex, char *name, size_t size)
    class = memory
OTHER htri_t H5VLis_connector_registered_by_name(const char *name)
    class = memory
OTHER htri_t H5VLis_connector_registered_by_value(H5VL_class_value_t connector_value)
    class = memory
OTHER herr_t H5VLobject_is_native(hid_t obj_id: hex, hbool_t *is_native)
    class = memory
OTHER hid_t H5VLregister_connector(const void *cls, hid_t vipl_id: hex) -> id
OTHER hid_t H5VLregister_connector_by_name(const char *connector_name, hid_t vipl_id: hex) -> id
OTHER hid_t H5VLregister_connector_by_value(H5VL_class_value_t connector_value, hid_t vipl_id: hex) -> id
OTHER herr_t H5VLunregister_connector(hid_t connector_id: hex)
OTHER herr_t H5VLquery_optional(hid_t obj_id: hex,
                        H5VL_subclass_t subcls: enum{H5VL_SUBCLS_NONE/H5VL_SUBCLS_INFO/H5VL_SUBCLS_WRAP/H5VL_SUBCLS_ATTR/H5VL_SUBCLS_DATASET/H5VL_SUBCLS_DATATYPE/H5VL_SUBCLS_FILE/H5VL_SUBCLS_GROUP/H5VL_SUBCLS_LINK/H5VL_SUBCLS_OBJECT/H5VL_SUBCLS_REQUEST/H5VL_SUBCLS_BLOB/H5VL_SUBCLS_TOKEN},
                        int opt_type, uint64_t *flags)
    class = memory
OTHER herr_t H5VLregister_opt_operation(
                        H5VL_subclass_t subcls: enum{H5VL_SUBCLS_NONE/H5VL_SUBCLS_INFO/H5VL_SUBCLS_WRAP/H5VL_SUBCLS_ATTR/H5VL_SUBCLS_DATASET/H5VL_SUBCLS_DATATYPE/H5VL_SUBCLS_FILE/H5VL_SUBCLS_GROUP/H5VL_SUBCLS_LINK/H5VL_SUBCLS_OBJECT/H5VL_SUBCLS_REQUEST/H5VL_SUBCLS_BLOB/H5VL_SUBCLS_TOKEN},
                        const char *op_name, int *op_val)
    class = memory
OTHER herr_t H5VLfind_opt_operation(
                        H5VL_subclass_t subcls: enum{H5VL_SUBCLS_NONE/H5VL_SUBCLS_INFO/H5VL_SUBCLS_WRAP/H5VL_SUBCLS_ATTR/H5VL_SUBCLS_DATASET/H5VL_SUBCLS_DATATYPE/H5VL_SUBCLS_FILE/H5VL_SUBCLS_GROUP/H5VL_SUBCLS_LINK/H5VL_SUBCLS_OBJECT/H5VL_SUBCLS_REQUEST/H5VL_SUBCLS_BLOB/H5VL_SUBCLS_TOKEN},
                        const char *op_name, int *op_val)
    class = memory
OTHER herr_t H5VLunregister_opt_operation(
                        H5VL_subclass_t subcls: enum{H5VL_SUBCLS_NONE/H5VL_SUBCLS_INFO/H5VL_SUBCLS_WRAP/H5VL_SUBCLS_ATTR/H5VL_SUBCLS_DATASET/H5VL_SUBCLS_DATATYPE/H5VL_SUBCLS_FILE/H5VL_SUBCLS_GROUP/H5VL_SUBCLS_LINK/H5VL_SUBCLS_OBJECT/H5VL_SUBCLS_REQUEST/H5VL_SUBCLS_BLOB/H5VL_SUBCLS_TOKEN},
                        const char *op_name)
    class = memory
OTHER herr_t H5VLcmp_connector_cls(int *cmp, hid_t connector_id1: hex, hid_t connector_id2: hex)
    class = memory
OTHER hid_t H5VLwrap_register(void *obj, H5I_type_t type) -> id
    class = memory

# ---- File drivers ----

OTHER hid_t H5FDregister(const void *cls) -> id
    class = memory
OTHER herr_t H5FDunregister(hid_t driver_id: hex)
    class = memory
CREATE void *H5FDopen(const char *name: path, unsigned int flags: hex, hid_t fapl_id: hex, haddr_t maxaddr) -> handle
    error = errno
DESTROY herr_t H5FDclose(void *file: handle)
OTHER int H5FDcmp(const void *f1: handle, const void *f2: handle)
    class = memory
OTHER int H5FDquery(const void *f: handle, unsigned long *flags)
    class = memory
OTHER haddr_t H5FDalloc(void *file: handle,
                        H5FD_mem_t type: enum{H5FD_MEM_DEFAULT/H5FD_MEM_SUPER/H5FD_MEM_BTREE/H5FD_MEM_DRAW/H5FD_MEM_GHEAP/H5FD_MEM_LHEAP/H5FD_MEM_OHDR},
                        hid_t dxpl_id: hex, hsize_t size)
    failed = result == UINT64_MAX
OTHER herr_t H5FDfree(void *file: handle,
                      H5FD_mem_t type: enum{H5FD_MEM_DEFAULT/H5FD_MEM_SUPER/H5FD_MEM_BTREE/H5FD_MEM_DRAW/H5FD_MEM_GHEAP/H5FD_MEM_LHEAP/H5FD_MEM_OHDR},
                      hid_t dxpl_id: hex, haddr_t addr, hsize_t size)
OTHER haddr_t H5FDget_eoa(void *file: handle,
                        H5FD_mem_t type: enum{H5FD_MEM_DEFAULT/H5FD_MEM_SUPER/H5FD_MEM_BTREE/H5FD_MEM_DRAW/H5FD_MEM_GHEAP/H5FD_MEM_LHEAP/H5FD_MEM_OHDR})
    failed = result == UINT64_MAX
    class = memory
OTHER herr_t H5FDset_eoa(void *file: handle,
                        H5FD_mem_t type: enum{H5FD_MEM_DEFAULT/H5FD_MEM_SUPER/H5FD_MEM_BTREE/H5FD_MEM_DRAW/H5FD_MEM_GHEAP/H5FD_MEM_LHEAP/H5FD_MEM_OHDR},
                        haddr_t eoa)
OTHER haddr_t H5FDget_eof(void *file: handle,
                        H5FD_mem_t type: enum{H5FD_MEM_DEFAULT/H5FD_MEM_SUPER/H5FD_MEM_BTREE/H5FD_MEM_DRAW/H5FD_MEM_GHEAP/H5FD_MEM_LHEAP/H5FD_MEM_OHDR})
    failed = result == UINT64_MAX
OTHER herr_t H5FDget_vfd_handle(void *file: handle, hid_t fapl: hex, void **file_handle)
    class = memory
READ herr_t H5FDread(void *file: handle,
                     H5FD_mem_t type: enum{H5FD_MEM_DEFAULT/H5FD_MEM_SUPER/H5FD_MEM_BTREE/H5FD_MEM_DRAW/H5FD_MEM_GHEAP/H5FD_MEM_LHEAP/H5FD_MEM_OHDR},
                     hid_t dxpl_id: hex, haddr_t addr: offset, size_t size: size, void *buf)
    bytes = requested
    error = errno
WRITE herr_t H5FDwrite(void *file: handle,
                       H5FD_mem_t type: enum{H5FD_MEM_DEFAULT/H5FD_MEM_SUPER/H5FD_MEM_BTREE/H5FD_MEM_DRAW/H5FD_MEM_GHEAP/H5FD_MEM_LHEAP/H5FD_MEM_OHDR},
                       hid_t dxpl_id: hex, haddr_t addr: offset, size_t size: size, const void *buf)
    bytes = requested
    error = errno
SYNC herr_t H5FDflush(void *file: handle, hid_t dxpl_id: hex, hbool_t closing)
OTHER herr_t H5FDtruncate(void *file: handle, hid_t dxpl_id: hex, hbool_t closing)
OTHER herr_t H5FDlock(void *file: handle, hbool_t rw)
OTHER herr_t H5FDunlock(void *file: handle)
OTHER herr_t H5FDdriver_query(hid_t driver_id: hex, unsigned long *flags)
    class = memory
OTHER herr_t H5FDctl(void *file: handle, uint64_t op_code, uint64_t flags, const void *input, void **output)
DELETE herr_t H5FDdelete(const char *filename: path, hid_t fapl_id: hex)
OTHER htri_t H5FDis_driver_registered_by_name(const char *driver_name)
    class = memory
OTHER htri_t H5FDis_driver_registered_by_value(H5FD_class_value_t driver_value)
    class = memory
OTHER herr_t H5FDonion_get_revision_count(const char *filename: path, hid_t fapl_id: hex, uint64_t *revision_count)
OTHER hid_t H5FDperform_init(void *op) -> id
    class = memory
READ herr_t H5FDread_vector(void *file: handle, hid_t dxpl_id: hex, uint32_t count, const int *types,
                        const haddr_t *addrs, const size_t *sizes, void **bufs)
    requested = failed ? 0 : hdf5_sum(count, sizes)
    bytes = requested
WRITE herr_t H5FDwrite_vector(void *file: handle, hid_t dxpl_id: hex, uint32_t count, const int *types,
                        const haddr_t *addrs, const size_t *sizes, const void **bufs)
    requested = failed ? 0 : hdf5_sum(count, sizes)
    bytes = requested
READ herr_t H5FDread_selection(void *file: handle,
                        H5FD_mem_t type: enum{H5FD_MEM_DEFAULT/H5FD_MEM_SUPER/H5FD_MEM_BTREE/H5FD_MEM_DRAW/H5FD_MEM_GHEAP/H5FD_MEM_LHEAP/H5FD_MEM_OHDR},
                        hid_t dxpl_id: hex, uint32_t count, const hid_t *mem_spaces, const hid_t *file_spaces,
                        const haddr_t *offsets, const size_t *element_sizes, void **bufs)
WRITE herr_t H5FDwrite_selection(void *file: handle,
                        H5FD_mem_t type: enum{H5FD_MEM_DEFAULT/H5FD_MEM_SUPER/H5FD_MEM_BTREE/H5FD_MEM_DRAW/H5FD_MEM_GHEAP/H5FD_MEM_LHEAP/H5FD_MEM_OHDR},
                        hid_t dxpl_id: hex, uint32_t count, const hid_t *mem_spaces, const hid_t *file_spaces,
                        const haddr_t *offsets, const size_t *element_sizes, const void **bufs)
READ herr_t H5FDread_vector_from_selection(void *file: handle,
                        H5FD_mem_t type: enum{H5FD_MEM_DEFAULT/H5FD_MEM_SUPER/H5FD_MEM_BTREE/H5FD_MEM_DRAW/H5FD_MEM_GHEAP/H5FD_MEM_LHEAP/H5FD_MEM_OHDR},
                        hid_t dxpl_id: hex, uint32_t count, const hid_t *mem_spaces, const hid_t *file_spaces,
                        const haddr_t *offsets, const size_t *element_sizes, void **bufs)
WRITE herr_t H5FDwrite_vector_from_selection(void *file: handle,
                        H5FD_mem_t type: enum{H5FD_MEM_DEFAULT/H5FD_MEM_SUPER/H5FD_MEM_BTREE/H5FD_MEM_DRAW/H5FD_MEM_GHEAP/H5FD_MEM_LHEAP/H5FD_MEM_OHDR},
                        hid_t dxpl_id: hex, uint32_t count, const hid_t *mem_spaces, const hid_t *file_spaces,
                        const haddr_t *offsets, const size_t *element_sizes, const void **bufs)
READ herr_t H5FDread_from_selection(void *file: handle,
                        H5FD_mem_t type: enum{H5FD_MEM_DEFAULT/H5FD_MEM_SUPER/H5FD_MEM_BTREE/H5FD_MEM_DRAW/H5FD_MEM_GHEAP/H5FD_MEM_LHEAP/H5FD_MEM_OHDR},
                        hid_t dxpl_id: hex, uint32_t count, const hid_t *mem_spaces, const hid_t *file_spaces,
                        const haddr_t *offsets, const size_t *element_sizes, void **bufs)
WRITE herr_t H5FDwrite_from_selection(void *file: handle,
                        H5FD_mem_t type: enum{H5FD_MEM_DEFAULT/H5FD_MEM_SUPER/H5FD_MEM_BTREE/H5FD_MEM_DRAW/H5FD_MEM_GHEAP/H5FD_MEM_LHEAP/H5FD_MEM_OHDR},
                        hid_t dxpl_id: hex, uint32_t count, const hid_t *mem_spaces, const hid_t *file_spaces,
                        const haddr_t *offsets, const size_t *element_sizes, const void **bufs)

# ---- High level: lite ----

WRITE herr_t H5LTmake_dataset(hid_t loc_id: handle, const char *dset_name, int rank, const hsize_t *dims: array(rank),
                        hid_t type_id: datatype, const void *buffer)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTmake_dataset_char(hid_t loc_id: handle, const char *dset_name, int rank,
                        const hsize_t *dims: array(rank), const char *buffer: buffer)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTmake_dataset_short(hid_t loc_id: handle, const char *dset_name, int rank,
                        const hsize_t *dims: array(rank), const short *buffer)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTmake_dataset_int(hid_t loc_id: handle, const char *dset_name, int rank,
                        const hsize_t *dims: array(rank), const int *buffer)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTmake_dataset_long(hid_t loc_id: handle, const char *dset_name, int rank,
                        const hsize_t *dims: array(rank), const long *buffer)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTmake_dataset_float(hid_t loc_id: handle, const char *dset_name, int rank,
                        const hsize_t *dims: array(rank), const float *buffer)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTmake_dataset_double(hid_t loc_id: handle, const char *dset_name, int rank,
                        const hsize_t *dims: array(rank), const double *buffer)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTmake_dataset_string(hid_t loc_id: handle, const char *dset_name, const char *buf: buffer)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
READ herr_t H5LTread_dataset(hid_t loc_id: handle, const char *dset_name, hid_t type_id: datatype, void *buffer)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTread_dataset_char(hid_t loc_id: handle, const char *dset_name, char *buffer)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTread_dataset_short(hid_t loc_id: handle, const char *dset_name, short *buffer)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTread_dataset_int(hid_t loc_id: handle, const char *dset_name, int *buffer)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTread_dataset_long(hid_t loc_id: handle, const char *dset_name, long *buffer)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTread_dataset_float(hid_t loc_id: handle, const char *dset_name, float *buffer)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTread_dataset_double(hid_t loc_id: handle, const char *dset_name, double *buffer)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTread_dataset_string(hid_t loc_id: handle, const char *dset_name, char *buf)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
OTHER herr_t H5LTget_dataset_ndims(hid_t loc_id: handle, const char *dset_name, int *rank)
OTHER herr_t H5LTget_dataset_info(hid_t loc_id: handle, const char *dset_name, hsize_t *dims, H5T_class_t *type_class,
                        size_t *type_size)
OTHER herr_t H5LTfind_dataset(hid_t loc_id: handle, const char *name)
WRITE herr_t H5LTset_attribute_string(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        const char *attr_data: buffer)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTset_attribute_char(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        const char *buffer: buffer, size_t size)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTset_attribute_uchar(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        const unsigned char *buffer, size_t size)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTset_attribute_short(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        const short *buffer, size_t size)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTset_attribute_ushort(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        const unsigned short *buffer, size_t size)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTset_attribute_int(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        const int *buffer, size_t size)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTset_attribute_uint(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        const unsigned int *buffer, size_t size)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTset_attribute_long(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        const long *buffer, size_t size)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTset_attribute_long_long(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        const long long *buffer, size_t size)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTset_attribute_ulong(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        const unsigned long *buffer, size_t size)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTset_attribute_float(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        const float *buffer, size_t size)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5LTset_attribute_double(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        const double *buffer, size_t size)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
READ herr_t H5LTget_attribute(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        hid_t mem_type_id: datatype, void *data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTget_attribute_string(hid_t loc_id: handle, const char *obj_name, const char *attr_name, char *data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTget_attribute_char(hid_t loc_id: handle, const char *obj_name, const char *attr_name, char *data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTget_attribute_uchar(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        unsigned char *data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTget_attribute_short(hid_t loc_id: handle, const char *obj_name, const char *attr_name, short *data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTget_attribute_ushort(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        unsigned short *data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTget_attribute_int(hid_t loc_id: handle, const char *obj_name, const char *attr_name, int *data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTget_attribute_uint(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        unsigned int *data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTget_attribute_long(hid_t loc_id: handle, const char *obj_name, const char *attr_name, long *data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTget_attribute_long_long(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        long long *data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTget_attribute_ulong(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        unsigned long *data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTget_attribute_float(hid_t loc_id: handle, const char *obj_name, const char *attr_name, float *data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5LTget_attribute_double(hid_t loc_id: handle, const char *obj_name, const char *attr_name, double *data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
OTHER herr_t H5LTget_attribute_ndims(hid_t loc_id: handle, const char *obj_name, const char *attr_name, int *rank)
OTHER herr_t H5LTget_attribute_info(hid_t loc_id: handle, const char *obj_name, const char *attr_name, hsize_t *dims,
                        H5T_class_t *type_class, size_t *type_size)
OTHER hid_t H5LTtext_to_dtype(const char *text, H5LT_lang_t lang_type: enum{H5LT_DDL/H5LT_C/H5LT_FORTRAN}) -> id
    class = memory
OTHER herr_t H5LTdtype_to_text(hid_t dtype: hex, char *str, H5LT_lang_t lang_type: enum{H5LT_DDL/H5LT_C/H5LT_FORTRAN},
                        size_t *len)
    class = memory
OTHER herr_t H5LTfind_attribute(hid_t loc_id: handle, const char *name)
OTHER htri_t H5LTpath_valid(hid_t loc_id: handle, const char *path, hbool_t check_object_valid)
CREATE hid_t H5LTopen_file_image(void *buf_ptr, size_t buf_size, unsigned int flags: hex) -> handle
WRITE herr_t H5LTset_attribute_ullong(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        const unsigned long long *buffer, size_t size)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
READ herr_t H5LTget_attribute_ullong(hid_t loc_id: handle, const char *obj_name, const char *attr_name,
                        unsigned long long *data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested

# ---- High level: images ----

WRITE herr_t H5IMmake_image_8bit(hid_t loc_id: handle, const char *dset_name, hsize_t width, hsize_t height,
                        const unsigned char *buffer)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5IMmake_image_24bit(hid_t loc_id: handle, const char *dset_name, hsize_t width, hsize_t height,
                        const char *interlace, const unsigned char *buffer)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
OTHER herr_t H5IMget_image_info(hid_t loc_id: handle, const char *dset_name, hsize_t *width, hsize_t *height,
                        hsize_t *planes, char *interlace, hssize_t *npals)
READ herr_t H5IMread_image(hid_t loc_id: handle, const char *dset_name, unsigned char *buffer)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
WRITE herr_t H5IMmake_palette(hid_t loc_id: handle, const char *pal_name, const hsize_t *pal_dims: array(2),
                        const unsigned char *pal_data)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
OTHER herr_t H5IMlink_palette(hid_t loc_id: handle, const char *image_name, const char *pal_name)
OTHER herr_t H5IMunlink_palette(hid_t loc_id: handle, const char *image_name, const char *pal_name)
OTHER herr_t H5IMget_npalettes(hid_t loc_id: handle, const char *image_name, hssize_t *npals)
OTHER herr_t H5IMget_palette_info(hid_t loc_id: handle, const char *image_name, int pal_number, hsize_t *pal_dims)
READ herr_t H5IMget_palette(hid_t loc_id: handle, const char *image_name, int pal_number, unsigned char *pal_data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
OTHER herr_t H5IMis_image(hid_t loc_id: handle, const char *dset_name)
OTHER herr_t H5IMis_palette(hid_t loc_id: handle, const char *dset_name)

# ---- High level: tables ----

WRITE herr_t H5TBmake_table(const char *table_title, hid_t loc_id: handle, const char *dset_name, hsize_t nfields,
                        hsize_t nrecords, size_t type_size, const char **field_names, const size_t *field_offset,
                        const hid_t *field_types, hsize_t chunk_size, void *fill_data, int compress, const void *buf)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5TBappend_records(hid_t loc_id: handle, const char *dset_name, hsize_t nrecords, size_t type_size,
                        const size_t *field_offset, const size_t *dst_sizes, const void *buf)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5TBwrite_records(hid_t loc_id: handle, const char *dset_name, hsize_t start, hsize_t nrecords,
                        size_t type_size, const size_t *field_offset, const size_t *dst_sizes, const void *buf)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5TBwrite_fields_name(hid_t loc_id: handle, const char *dset_name, const char *field_names, hsize_t start,
                        hsize_t nrecords, size_t type_size, const size_t *field_offset, const size_t *dst_sizes,
                        const void *buf)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5TBwrite_fields_index(hid_t loc_id: handle, const char *dset_name, hsize_t nfields,
                        const int *field_index, hsize_t start, hsize_t nrecords, size_t type_size,
                        const size_t *field_offset, const size_t *dst_sizes, const void *buf)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
READ herr_t H5TBread_table(hid_t loc_id: handle, const char *dset_name, size_t dst_size, const size_t *dst_offset,
                        const size_t *dst_sizes, void *dst_buf)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5TBread_fields_name(hid_t loc_id: handle, const char *dset_name, const char *field_names, hsize_t start,
                        hsize_t nrecords, size_t type_size, const size_t *field_offset, const size_t *dst_sizes,
                        void *buf)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5TBread_fields_index(hid_t loc_id: handle, const char *dset_name, hsize_t nfields, const int *field_index,
                        hsize_t start, hsize_t nrecords, size_t type_size, const size_t *field_offset,
                        const size_t *dst_sizes, void *buf)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5TBread_records(hid_t loc_id: handle, const char *dset_name, hsize_t start, hsize_t nrecords,
                        size_t type_size, const size_t *dst_offset, const size_t *dst_sizes, void *buf)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
OTHER herr_t H5TBget_table_info(hid_t loc_id: handle, const char *dset_name, hsize_t *nfields, hsize_t *nrecords)
OTHER herr_t H5TBget_field_info(hid_t loc_id: handle, const char *dset_name, char **field_names, size_t *field_sizes,
                        size_t *field_offsets, size_t *type_size)
WRITE herr_t H5TBdelete_record(hid_t loc_id: handle, const char *dset_name, hsize_t start, hsize_t nrecords)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5TBinsert_record(hid_t loc_id: handle, const char *dset_name, hsize_t start, hsize_t nrecords,
                        size_t dst_size, const size_t *dst_offset, const size_t *dst_sizes, void *buf)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5TBadd_records_from(hid_t loc_id: handle, const char *dset_name1, hsize_t start1, hsize_t nrecords,
                        const char *dset_name2, hsize_t start2)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5TBcombine_tables(hid_t loc_id1: handle, const char *dset_name1, hid_t loc_id2: handle,
                        const char *dset_name2, const char *dset_name3)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5TBinsert_field(hid_t loc_id: handle, const char *dset_name, const char *field_name,
                        hid_t field_type: datatype, hsize_t position, const void *fill_data, const void *buf)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5TBdelete_field(hid_t loc_id: handle, const char *dset_name, const char *field_name)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
OTHER herr_t H5TBAget_title(hid_t loc_id: handle, char *table_title)
OTHER htri_t H5TBAget_fill(hid_t loc_id: handle, const char *dset_name, hid_t dset_id: handle, unsigned char *dst_buf)

# ---- High level: packet tables ----

CREATE hid_t H5PTcreate(hid_t loc_id: handle, const char *dset_name, hid_t dtype_id: datatype, hsize_t chunk_size,
                        hid_t plist_id: hex) -> handle
CREATE hid_t H5PTopen(hid_t loc_id: handle, const char *dset_name) -> handle
DESTROY herr_t H5PTclose(hid_t table_id: handle)
CREATE hid_t H5PTcreate_fl(hid_t loc_id: handle, const char *dset_name, hid_t dtype_id: datatype, hsize_t chunk_size,
                        int compression) -> handle
WRITE herr_t H5PTappend(hid_t table_id: handle, size_t nrecords, const void *data)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
READ herr_t H5PTget_next(hid_t table_id: handle, size_t nrecords, void *data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
READ herr_t H5PTread_packets(hid_t table_id: handle, hsize_t start, size_t nrecords, void *data)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
OTHER herr_t H5PTget_num_packets(hid_t table_id: handle, hsize_t *nrecords)
OTHER herr_t H5PTis_valid(hid_t table_id: handle)
    class = memory
OTHER herr_t H5PTis_varlen(hid_t table_id: handle)
    class = memory
OTHER hid_t H5PTget_dataset(hid_t table_id: handle) -> id
    after = hdf5_bind_if_unknown(result, source_, failed, caller)
OTHER hid_t H5PTget_type(hid_t table_id: handle) -> id
    class = memory
OTHER herr_t H5PTcreate_index(hid_t table_id: handle)
SEEK herr_t H5PTset_index(hid_t table_id: handle, hsize_t pt_index)
OTHER herr_t H5PTget_index(hid_t table_id: handle, hsize_t *pt_index)
    class = memory
OTHER herr_t H5PTfree_vlen_buff(hid_t table_id: handle, size_t bufflen, void *buff)
    class = memory

# ---- High level: dimension scales ----

OTHER herr_t H5DSattach_scale(hid_t did: handle, hid_t dsid: handle, unsigned int idx)
OTHER herr_t H5DSdetach_scale(hid_t did: handle, hid_t dsid: handle, unsigned int idx)
OTHER herr_t H5DSset_scale(hid_t dsid: handle, const char *dimname)
OTHER int H5DSget_num_scales(hid_t did: handle, unsigned int dim)
OTHER herr_t H5DSset_label(hid_t did: handle, unsigned int idx, const char *label)
OTHER ssize_t H5DSget_label(hid_t did: handle, unsigned int idx, char *label, size_t size)
OTHER ssize_t H5DSget_scale_name(hid_t did: handle, char *name, size_t size)
OTHER htri_t H5DSis_scale(hid_t did: handle)
OTHER herr_t H5DSiterate_scales(hid_t did: handle, unsigned int dim, int *idx, void *visitor, void *visitor_data)
OTHER htri_t H5DSis_attached(hid_t did: handle, hid_t dsid: handle, unsigned int idx)
OTHER herr_t H5DSwith_new_ref(hid_t obj_id: handle, hbool_t *with_new_ref)

# ---- High level: optimised ----

WRITE herr_t H5DOappend(hid_t dset_id: handle, hid_t dxpl_id: hex, unsigned int axis, size_t extension,
                        hid_t memtype: datatype, const void *buf)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
WRITE herr_t H5DOwrite_chunk(hid_t dset_id: handle, hid_t dxpl_id: hex, uint32_t filters: hex,
                        const hsize_t *offset: array(hdf5_rank_of(dset_id, caller)), size_t data_size, const void *buf)
    before = const int64_t written = hdf5_thread_bytes.written
    requested = hdf5_thread_bytes.written - written
    bytes = requested
READ herr_t H5DOread_chunk(hid_t dset_id: handle, hid_t dxpl_id: hex,
                        const hsize_t *offset: array(hdf5_rank_of(dset_id, caller)), uint32_t *filters, void *buf)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested

# ---- High level: library of dimensions ----

OTHER herr_t H5LDget_dset_dims(hid_t did: handle, hsize_t *cur_dims)
OTHER size_t H5LDget_dset_type_size(hid_t did: handle, const char *fields)
READ herr_t H5LDget_dset_elmts(hid_t did: handle, const hsize_t *prev_dims, const hsize_t *cur_dims,
                        const char *fields, void *buf)
    before = const int64_t read = hdf5_thread_bytes.read
    requested = hdf5_thread_bytes.read - read
    bytes = requested
