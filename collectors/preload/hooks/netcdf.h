/* Functions for the expressions of netcdf.sig: number of elements of an access, and names of groups. The library is
 * queried after the call, so that nothing is read from a file before the program does. */
#ifndef IOTIDE_NETCDF_H
#define IOTIDE_NETCDF_H

#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "variables.h"

#define NETCDF_QUERY(symbol, type) ((type)iotide_helper(&iotide_library_netcdf, symbol, caller))

typedef int (*netcdf_inq_var)(int, int, char *, int *, int *, int *, int *);
typedef int (*netcdf_inq_dimlen)(int, int, size_t *);
typedef int (*netcdf_inq_type)(int, int, char *, size_t *);
typedef int (*netcdf_inq_att)(int, int, const char *, int *, size_t *);

static const char netcdf_symbol_var[] = "nc_inq_var", netcdf_symbol_dimlen[] = "nc_inq_dimlen",
                  netcdf_symbol_type[] = "nc_inq_type", netcdf_symbol_att[] = "nc_inq_att";

/* NC_ERANGE, a value did not fit its type: all values were moved nevertheless. */
static inline bool netcdf_failed(int result) {
    return result != 0 && result != -60;
}

/* Error codes of the library are negative, those of the system positive. */
static inline int netcdf_error(int result) {
    return result < -255 ? 255 : result < 0 ? -result : result;
}

/* A type's name; for user-defined types the number. Valid until the thread's next one. */
static inline const char *netcdf_type_name(int type) {
    static const char *const names[] = {"NC_NAT",   "NC_BYTE",   "NC_CHAR", "NC_SHORT", "NC_INT",    "NC_FLOAT", "NC_DOUBLE",
                                        "NC_UBYTE", "NC_USHORT", "NC_UINT", "NC_INT64", "NC_UINT64", "NC_STRING"};
    static __thread char digits[12];
    char *at = digits + sizeof digits - 1;
    if (type >= 0 && type < (int)(sizeof names / sizeof *names))
        return names[type];
    for (unsigned int left = type < 0 ? -(unsigned int)type : (unsigned int)type; left; left /= 10)
        *--at = (char)('0' + left % 10);
    if (type < 0)
        *--at = '-';
    return at;
}

/* Bytes of an element in memory; for NC_STRING of its pointer. */
static inline int64_t netcdf_width_of(int ncid, int type, const void *caller) {
    int64_t width = external_width(type);
    netcdf_inq_type ask = width ? NULL : NETCDF_QUERY(netcdf_symbol_type, netcdf_inq_type);
    size_t size = 0;
    if (ask) {
        iotide_self.quiet = true;
        width = ask(ncid, type, NULL, &size) == 0 ? (int64_t)size : 0;
        iotide_self.quiet = false;
    }
    return width;
}

static inline const struct variable *netcdf_variable(int ncid, int varid, const void *caller) {
    struct variable *place = variable_entry(ncid, varid, caller);
    if (likely(place->generation != 0))
        return place;
    netcdf_inq_var ask = NETCDF_QUERY(netcdf_symbol_var, netcdf_inq_var);
    int type = 0, dimensions = 0;
    iotide_self.quiet = true;
    bool known = ask && ask(ncid, varid, NULL, &type, &dimensions, NULL, NULL) == 0;
    iotide_self.quiet = false;
    if (known)
        variable_store(place, dimensions, netcdf_width_of(ncid, type, caller));
    return place;
}

/* Length of the start and count arrays of a call that moved data; 0 if it moved none. */
static inline int netcdf_dimensions(bool failed, int ncid, int varid, const void *caller) {
    return !failed ? netcdf_variable(ncid, varid, caller)->dimensions : 0;
}

static inline int64_t netcdf_width(bool failed, int ncid, int varid, const void *caller) {
    return !failed ? netcdf_variable(ncid, varid, caller)->width : 0;
}

/* Elements from start (NULL: the first), with the given stride (NULL: 1), to the variable's current end. */
static inline int64_t netcdf_remaining_elements(int ncid, int varid, const size_t *start, const ptrdiff_t *stride,
                                                const void *caller) {
    netcdf_inq_var ask = NETCDF_QUERY(netcdf_symbol_var, netcdf_inq_var);
    netcdf_inq_dimlen ask_length = NETCDF_QUERY(netcdf_symbol_dimlen, netcdf_inq_dimlen);
    int dimensions = netcdf_variable(ncid, varid, caller)->dimensions, dimension[MAX_DIMENSIONS];
    if (dimensions > MAX_DIMENSIONS)
        iotide_layer_count_overflow(BOUND_DIMENSIONS);
    if (!ask || !ask_length || dimensions > MAX_DIMENSIONS)
        return 0;
    iotide_self.quiet = true;
    int64_t count = ask(ncid, varid, NULL, NULL, NULL, dimension, NULL) == 0;
    for (int i = 0; i < dimensions && count > 0; i++) {
        size_t length = 0, from = start ? start[i] : 0, step = stride && stride[i] > 0 ? (size_t)stride[i] : 1;
        if (ask_length(ncid, dimension[i], &length) != 0 || from >= length)
            count = 0;
        else
            count = times(count, (int64_t)((length - from + step - 1) / step));
    }
    iotide_self.quiet = false;
    return count;
}

/* Elements of a whole variable. */
static inline int64_t netcdf_variable_elements(bool failed, int ncid, int varid, const void *caller) {
    return !failed ? netcdf_remaining_elements(ncid, varid, NULL, NULL, caller) : 0;
}

/* Elements of a part of a variable; its dimensions are those of netcdf_dimensions. */
static inline int64_t netcdf_part_elements(bool failed, int dimensions, int ncid, int varid, const size_t *start,
                                           const size_t *count, const ptrdiff_t *stride, const void *caller) {
    if (failed)
        return 0;
    return likely(count || !dimensions) ? product_of(dimensions, (const int64_t *)count)
                                        : netcdf_remaining_elements(ncid, varid, start, stride, caller);
}

/* Datasets are named by paths or URLs; file:///a/b#mode=... is the file /a/b. */
static inline uint32_t netcdf_file(const char *name) {
    const char *after = name ? strstr(name, "://") : NULL;
    char path[PATH_MAX];
    if (!after)
        return name ? iotide_file_at(AT_FDCWD, name) : 0;
    size_t length = strcspn(after + 3, "#?");
    if (strncmp(name, "file://", 7) != 0 || length >= sizeof path)
        return iotide_define_file(name, strlen(name));
    memcpy(path, after + 3, length);
    path[length] = '\0';
    return iotide_file_at(AT_FDCWD, path);
}

/* Number of processes that opened a file together. */
static inline int netcdf_ranks(bool failed, intptr_t comm, const void *caller) {
    static const char symbol[] = "PMPI_Comm_size";
    int (*ask)(intptr_t, int *) = failed ? NULL : NETCDF_QUERY(symbol, int (*)(intptr_t, int *));
    int ranks = 0;
    return ask && ask(comm, &ranks) == 0 ? ranks : 0;
}

/* Bytes of an attribute that was read, with elements of width bytes; width 0: of its own type's size. */
static inline int64_t netcdf_attribute_bytes(bool failed, int ncid, int varid, const char *name, int64_t width,
                                             const void *caller) {
    netcdf_inq_att ask = !failed ? NETCDF_QUERY(netcdf_symbol_att, netcdf_inq_att) : NULL;
    int type = 0;
    size_t length = 0;
    if (!ask)
        return 0;
    iotide_self.quiet = true;
    bool known = ask(ncid, varid, name, &type, &length) == 0;
    iotide_self.quiet = false;
    return known ? times((int64_t)length, width ? width : netcdf_width_of(ncid, type, caller)) : 0;
}

/* ---- groups ---- */

/* A group's number is its file's number with the group's index in the low 16 bits. The highest known index per file,
 * so that all groups are removed with it. */
static _Atomic uint16_t netcdf_highest_group[UINT16_MAX + 1];

static inline void netcdf_raise_highest_group(int group) {
    _Atomic uint16_t *highest = &netcdf_highest_group[(uint32_t)group >> 16];
    uint16_t place = (uint16_t)group, seen = atomic_load_explicit(highest, memory_order_relaxed);
    while (place > seen && !atomic_compare_exchange_weak(highest, &seen, place)) {
    }
}

/* A group got its own handle. */
static inline void netcdf_track_group(bool failed, const int *group) {
    if (!failed && group)
        netcdf_raise_highest_group(*group);
}

/* The library returned a group's number: until the group has its own handle, it uses that of the queried group. */
static inline void netcdf_bind_group(bool failed, int ncid, const int *group, const void *caller) {
    if (failed || !group || iotide_object(SPACE_netcdf, (uint64_t)(int64_t)*group).handle)
        return;
    struct iotide_target target = iotide_object(SPACE_netcdf, (uint64_t)(int64_t)ncid);
    if (target.handle) {
        iotide_bind(SPACE_netcdf, (uint64_t)(int64_t)*group, target);
        netcdf_raise_highest_group(*group);
    }
}

/* Number of groups if count may be NULL because only their numbers were requested. */
static inline int netcdf_group_count(bool failed, int ncid, const int *count, const int *groups, const void *caller) {
    static const char symbol[] = "nc_inq_grps";
    int found = 0;
    if (failed || !groups || count)
        return failed || !groups ? 0 : *count;
    int (*ask)(int, int *, int *) = NETCDF_QUERY(symbol, int (*)(int, int *, int *));
    return ask && ask(ncid, &found, NULL) == 0 ? found : 0;
}

static inline void netcdf_bind_groups(int count, int ncid, const int *groups, const void *caller) {
    for (int i = 0; i < count; i++)
        netcdf_bind_group(false, ncid, &groups[i], caller);
}

/* The file was closed: the numbers of its groups will be reused. */
static inline void netcdf_unbind_groups(bool failed, int ncid, const void *caller) {
    if (failed)
        return;
    uint32_t file = (uint32_t)ncid >> 16;
    uint16_t highest = atomic_exchange(&netcdf_highest_group[file], 0);
    for (uint32_t place = 1; place <= highest; place++)
        iotide_unbind(SPACE_netcdf, (uint64_t)(int64_t)(int32_t)(file << 16 | place));
}

/* ---- collective access, chosen by variable ---- */

#define NETCDF_GLOBAL (-1) /* as a variable: all of the file's variables */
#define NETCDF_ACCESS iotide_copy_space(&iotide_library_netcdf, LAYER_NETCDF + 64, caller)
static _Atomic bool netcdf_any_collective;

static inline uint64_t netcdf_access_key(int ncid, int varid) {
    return (uint64_t)(uint32_t)ncid << 32 | (uint32_t)varid;
}

/* Stored with the file's handle, because another file may get the same number. */
static inline void netcdf_set_access(bool failed, int ncid, int varid, int access, const void *caller) {
    struct iotide_target file = iotide_object(SPACE_netcdf, (uint64_t)(int64_t)ncid);
    if (failed)
        return;
    if (!access) {
        iotide_unbind(NETCDF_ACCESS, netcdf_access_key(ncid, varid));
        return;
    }
    iotide_bind(NETCDF_ACCESS, netcdf_access_key(ncid, varid), file);
    atomic_store_explicit(&netcdf_any_collective, true, memory_order_relaxed);
}

static inline int netcdf_flags(int ncid, int varid, const void *caller) {
    if (likely(!atomic_load_explicit(&netcdf_any_collective, memory_order_relaxed)))
        return FLAG_BLOCKING;
    uint32_t file = iotide_object(SPACE_netcdf, (uint64_t)(int64_t)ncid).handle;
    bool collective = file && (iotide_object(NETCDF_ACCESS, netcdf_access_key(ncid, varid)).handle == file ||
                               iotide_object(NETCDF_ACCESS, netcdf_access_key(ncid, NETCDF_GLOBAL)).handle == file);
    return collective ? FLAG_BLOCKING | FLAG_COLLECTIVE : FLAG_BLOCKING;
}

/* ---- the interface of version 2, in which -1 means failure ---- */

static inline int netcdf_v2_error(const void *caller) {
    static const char symbol[] = "ncerr";
    const int *error = iotide_helper(&iotide_library_netcdf, symbol, caller);
    return error ? netcdf_error(*error) : 0;
}

_Static_assert(sizeof(long) == sizeof(size_t), "version 2 counts in longs");
static inline int64_t netcdf_part_elements_v2(bool failed, int dimensions, int ncid, int varid, const long *start,
                                              const long *count, const long *stride, const void *caller) {
    return netcdf_part_elements(failed, dimensions, ncid, varid, (const size_t *)start, (const size_t *)count,
                                (const ptrdiff_t *)stride, caller);
}

/* Bytes of a record: those of the variables with a buffer. */
static inline int64_t netcdf_record_bytes(bool failed, int ncid, void *const *buffers, const void *caller) {
    static const char symbol[] = "ncrecinq";
    int (*ask)(int, int *, int *, long *) = failed ? NULL : NETCDF_QUERY(symbol, int (*)(int, int *, int *, long *));
    int count = 0;
    long bytes[MAX_DIMENSIONS];
    int64_t sum = 0;
    if (!ask || !buffers)
        return 0;
    iotide_self.quiet = true;
    bool known = ask(ncid, &count, NULL, NULL) != -1 && count <= MAX_DIMENSIONS && ask(ncid, NULL, NULL, bytes) != -1;
    iotide_self.quiet = false;
    for (int i = 0; known && i < count; i++)
        sum += buffers[i] ? bytes[i] : 0;
    return sum;
}

#endif
