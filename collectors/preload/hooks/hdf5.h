/* Queries that the HDF5 wrappers make after successful calls. Like every call of the library, a query clears the
 * thread's error stack, so none is made after a failed call. Only queries are used that cannot fail for valid
 * arguments, because the library would print the failure. */
#ifndef IOTIDE_HOOKS_HDF5_H
#define IOTIDE_HOOKS_HDF5_H

#include "state/thread_memory.h"

/* H5I_type_t; only values that no release has renumbered */
enum { HDF5_IS_DATATYPE = 3, HDF5_IS_DATASPACE = 4 };
#define HDF5_MAX_DIMENSIONS 32
/* placeholders for a dataspace: 0 H5S_ALL, 1 H5S_BLOCK, 2 H5S_PLIST */
enum { HDF5_ALL = 0, HDF5_LAST_PLACEHOLDER = 2 };

/* Bytes of the thread's data calls, to determine the bytes of calls of the high-level library. */
static __thread struct {
    int64_t read;
    int64_t written;
} hdf5_thread_bytes __attribute__((tls_model("initial-exec")));

static inline int64_t hdf5_count_read(int64_t bytes) {
    hdf5_thread_bytes.read += bytes;
    return bytes;
}

static inline int64_t hdf5_count_written(int64_t bytes) {
    hdf5_thread_bytes.written += bytes;
    return bytes;
}

/* Calls that the library makes to answer a query are not calls of the program. */
static inline bool hdf5_ignore_nested(void) {
    bool quiet = iotide_self.quiet;
    iotide_self.quiet = true;
    return quiet;
}
#define HDF5_QUERY(symbol, otherwise, ...)                   \
    ({                                                       \
        bool quiet_ = hdf5_ignore_nested();                  \
        __typeof__(&symbol) function_ = HELPER(symbol);      \
        __typeof__(symbol(__VA_ARGS__)) result_ = otherwise; \
        if (likely(function_ != NULL))                       \
            result_ = function_(__VA_ARGS__);                \
        iotide_self.quiet = quiet_;                          \
        result_;                                             \
    })

static inline bool hdf5_is(hid_t id, H5I_type_t type, const void *caller) {
    return id > HDF5_LAST_PLACEHOLDER && HDF5_QUERY(H5Iget_type, -1, id) == type;
}

static inline int64_t hdf5_size(hid_t type, const void *caller) {
    return hdf5_is(type, HDF5_IS_DATATYPE, caller) ? (int64_t)HDF5_QUERY(H5Tget_size, 0, type) : 0;
}

/* names: for sizes of 1, 2, 4, 8 and 16 bytes, NULL for a missing size */
static inline const char *hdf5_name_by_size(size_t size, const char *const *names, const char *other) {
    for (int i = 0; i < 5; i++)
        if (size == (size_t)1 << i && names[i])
            return names[i];
    return other;
}

/* Description of a datatype, because its number differs between runs. */
struct hdf5_type {
    hid_t id; /* 0: none */
    size_t size;
    const char *name;
};
static __thread struct hdf5_type hdf5_last_type __attribute__((tls_model("initial-exec"))); /* looked up during this call */

static inline struct hdf5_type hdf5_type(hid_t id, const void *caller) {
    static const char *const ints[] = {"int8", "int16", "int32", "int64", "int128"};
    static const char *const uints[] = {"uint8", "uint16", "uint32", "uint64", "uint128"};
    static const char *const floats[] = {"float8", "float16", "float32", "float64", NULL};
    static const char *const others[] = {"integer", "float", "time", "string", "bitfield", "opaque", "compound",
                                         "reference", "enum", "vlen", "array", "complex"};
    enum { INTEGER = 0, FLOAT = 1, STRING = 3 };
    int class = HDF5_QUERY(H5Tget_class, -1, id);
    struct hdf5_type type = {id, HDF5_QUERY(H5Tget_size, 0, id), NULL};
    if (class >= 0 && class < (int)(sizeof others / sizeof *others))
        type.name = others[class];
    if (class == INTEGER)
        type.name = hdf5_name_by_size(type.size, HDF5_QUERY(H5Tget_sign, 0, id) ? ints : uints, type.name);
    else if (class == FLOAT)
        type.name = hdf5_name_by_size(type.size, floats, type.name);
    else if (class == STRING && HDF5_QUERY(H5Tis_variable_str, 0, id) > 0)
        type.name = "variable string";
    return type;
}

static inline const char *hdf5_type_name(hid_t id, const void *caller) {
    struct hdf5_type known = hdf5_last_type;
    hdf5_last_type.id = 0; /* another call may have changed it */
    if (known.id == id && id)
        return known.name;
    return hdf5_is(id, HDF5_IS_DATATYPE, caller) ? hdf5_type(id, caller).name : NULL;
}

/* Number of elements that a call moved; 0 if it depends on the transfer's properties. */
static inline int64_t hdf5_elements(hid_t dataset, hid_t memory, hid_t file, const void *caller) {
    int64_t elements = 0;
    if (memory > HDF5_LAST_PLACEHOLDER) {
        elements = HDF5_QUERY(H5Sget_select_npoints, 0, memory);
    } else if (file > HDF5_LAST_PLACEHOLDER) {
        elements = HDF5_QUERY(H5Sget_select_npoints, 0, file);
    } else if (file == HDF5_ALL) {
        hid_t whole = HDF5_QUERY(H5Dget_space, -1, dataset);
        if (whole >= 0) {
            elements = HDF5_QUERY(H5Sget_simple_extent_npoints, 0, whole);
            HDF5_QUERY(H5Sclose, -1, whole);
        }
    }
    return elements < 0 ? 0 : elements;
}

/* Dimensions of a dataspace, in thread-local memory that the next query reuses. */
struct hdf5_extent {
    int rank;
    const hsize_t *sizes;
};
static inline hsize_t *hdf5_sizes(void) {
    static struct iotide_thread_memory room = {.size = HDF5_MAX_DIMENSIONS * sizeof(hsize_t)};
    return iotide_get_thread_memory(&room);
}

static inline struct hdf5_extent hdf5_extent(hid_t space, bool failed, const void *caller) {
    int rank = 0;
    hsize_t *sizes = hdf5_sizes();
    if (!failed && sizes && hdf5_is(space, HDF5_IS_DATASPACE, caller))
        rank = HDF5_QUERY(H5Sget_simple_extent_dims, 0, space, sizes, NULL);
    return (struct hdf5_extent){rank < 0 ? 0 : rank, sizes};
}

/* Beginning of a selection in its dataset, in elements in row-major order; -1: unknown. */
static inline int64_t hdf5_first(hid_t file, const void *caller) {
    if (file == HDF5_ALL)
        return 0;
    if (file <= HDF5_LAST_PLACEHOLDER)
        return -1;
    hsize_t start[HDF5_MAX_DIMENSIONS], end[HDF5_MAX_DIMENSIONS];
    hsize_t *sizes = hdf5_sizes();
    int rank = sizes ? HDF5_QUERY(H5Sget_simple_extent_dims, 0, file, sizes, NULL) : 0;
    if (!sizes || HDF5_QUERY(H5Sget_select_bounds, -1, file, start, end) < 0)
        return -1;
    uint64_t first = 0;
    for (int i = 0; i < rank; i++)
        first = first * sizes[i] + start[i];
    return first > INT64_MAX ? -1 : (int64_t)first;
}

/* A transfer in bytes of the program's memory: its size, and its offset in the dataset if elements were stored as in
 * memory. For variable-length elements, the pointers count, not the data. */
struct hdf5_transfer {
    int64_t elements;
    int64_t bytes;
    int64_t offset;
};

static inline struct hdf5_transfer hdf5_transfer(hid_t dataset, hid_t type, hid_t memory, hid_t file, bool failed,
                                                 const void *caller) {
    struct hdf5_transfer moved = {0, 0, -1};
    if (failed)
        return moved;
    hdf5_last_type = hdf5_type(type, caller);
    int64_t size = (int64_t)hdf5_last_type.size;
    moved.elements = hdf5_elements(dataset, memory, file, caller);
    if (__builtin_mul_overflow(moved.elements, size, &moved.bytes))
        moved.bytes = INT64_MAX;
    int64_t first = moved.elements ? hdf5_first(file, caller) : -1;
    if (first >= 0 && __builtin_mul_overflow(first, size, &moved.offset))
        moved.offset = -1;
    return moved;
}

static inline int64_t hdf5_total_bytes(size_t count, const hid_t *dataset, const hid_t *type, const hid_t *memory,
                                       const hid_t *file, const void *caller) {
    int64_t bytes = 0;
    for (size_t i = 0; i < count; i++)
        bytes += hdf5_elements(dataset[i], memory[i], file[i], caller) * hdf5_size(type[i], caller);
    return bytes;
}

/* Stored size, after compression. */
static inline int64_t hdf5_chunk(hid_t dataset, const hsize_t *offset, const void *caller) {
    hsize_t bytes = 0;
    return HDF5_QUERY(H5Dget_chunk_storage_size, -1, dataset, offset, &bytes) < 0 ? 0 : (int64_t)bytes;
}

static inline int64_t hdf5_attribute(hid_t attribute, const void *caller) {
    return (int64_t)HDF5_QUERY(H5Aget_storage_size, 0, attribute);
}

/* A length of 0 after the first means that the previous length applies to the rest. */
static inline int64_t hdf5_sum(uint32_t count, const size_t *sizes) {
    int64_t bytes = 0;
    size_t last = 0;
    for (uint32_t i = 0, ended = 0; sizes && i < count; i++) {
        ended = ended || (i && !sizes[i]);
        last = ended ? last : sizes[i];
        bytes += (int64_t)last;
    }
    return bytes;
}

static inline int hdf5_rank(hid_t space, const void *caller) {
    return hdf5_is(space, HDF5_IS_DATASPACE, caller) ? HDF5_QUERY(H5Sget_simple_extent_ndims, 0, space) : 0;
}

static inline int hdf5_rank_of(hid_t dataset, const void *caller) {
    hid_t space = HDF5_QUERY(H5Dget_space, -1, dataset);
    if (space < 0)
        return 0;
    int rank = HDF5_QUERY(H5Sget_simple_extent_ndims, 0, space);
    HDF5_QUERY(H5Sclose, -1, space);
    return rank;
}

/* Whether the transfer is collective: a property of the transfer in parallel builds of the library. */
static inline uint16_t hdf5_flags(hid_t transfer, bool failed, const void *caller) {
    H5FD_mpio_xfer_t mode = 0;
    if (!failed && transfer > 0)
        HDF5_QUERY(H5Pget_dxpl_mpio, -1, transfer, &mode);
    return mode == 1 ? FLAG_BLOCKING | FLAG_COLLECTIVE : FLAG_BLOCKING;
}

/* A closed identifier remains valid while it has other references. */
static inline void hdf5_bind_if_valid(hid_t id, struct iotide_target target, bool failed, const void *caller) {
    if (!failed && target.handle && HDF5_QUERY(H5Iis_valid, 0, id) > 0)
        iotide_bind(SPACE_hdf5, (uint64_t)id, target);
}

/* A datatype that becomes an object in the file. */
static inline uint32_t hdf5_bind_committed(hid_t type, struct iotide_target location, bool failed, const void *caller) {
    (void)caller;
    if (failed)
        return 0;
    uint32_t handle = iotide_new_handle();
    iotide_bind(SPACE_hdf5, (uint64_t)type, (struct iotide_target){handle, location.file});
    return handle;
}

/* Registers an identifier whose opening may not have been traced. */
static inline void hdf5_bind_if_unknown(hid_t id, struct iotide_target from, bool failed, const void *caller) {
    (void)caller;
    if (!failed && from.file && !iotide_object(SPACE_hdf5, (uint64_t)id).handle)
        iotide_bind(SPACE_hdf5, (uint64_t)id, (struct iotide_target){iotide_new_handle(), from.file});
}

#endif
