/* Functions for the expressions of pnetcdf.sig: number of bytes of an access, and requests that are waited for
 * later. One binary supports Open MPI, where datatypes are addresses, and MPICH, where they are ints: they are
 * passed as words. */
#ifndef IOTIDE_PNETCDF_H
#define IOTIDE_PNETCDF_H

#include "variables.h"

#define PNETCDF_QUERY(symbol, type) ((type)iotide_helper(&iotide_library_pnetcdf, symbol, caller))

typedef int (*pnetcdf_inq_var)(int, int, char *, int *, int *, int *, int *);
typedef int (*pnetcdf_inq_dim)(int, int, char *, int64_t *);
typedef int (*pnetcdf_inq_att)(int, int, const char *, int *, int64_t *);
typedef int (*pnetcdf_type_size_x)(intptr_t, int64_t *);
typedef int (*pnetcdf_type_get_name)(intptr_t, char *, int *);

static const char pnetcdf_symbol_var[] = "ncmpi_inq_var", pnetcdf_symbol_dim[] = "ncmpi_inq_dim",
                  pnetcdf_symbol_att[] = "ncmpi_inq_att", pnetcdf_symbol_size[] = "PMPI_Type_size_x",
                  pnetcdf_symbol_name[] = "PMPI_Type_get_name", pnetcdf_symbol_null[] = "ompi_mpi_datatype_null";

/* NC_ERANGE, a value did not fit its type: all values were moved nevertheless. */
static inline bool pnetcdf_failed(int result) {
    return result != 0 && result != -60;
}

static inline int pnetcdf_error(int result) {
    return result < -255 ? 255 : result < 0 ? -result : result;
}

/* ---- variables ---- */

static inline const struct variable *pnetcdf_variable(int ncid, int varid, const void *caller) {
    struct variable *place = variable_entry(ncid, varid, caller);
    if (likely(place->generation != 0))
        return place;
    pnetcdf_inq_var ask = PNETCDF_QUERY(pnetcdf_symbol_var, pnetcdf_inq_var);
    int type = 0, dimensions = 0;
    iotide_self.quiet = true;
    if (ask && ask(ncid, varid, NULL, &type, &dimensions, NULL, NULL) == 0)
        variable_store(place, dimensions, external_width(type));
    iotide_self.quiet = false;
    return place;
}

/* Length of the start and count arrays of a call that moved data; 0 if it moved none. */
static inline int pnetcdf_dimensions(bool failed, int ncid, int varid, const void *caller) {
    return !failed ? pnetcdf_variable(ncid, varid, caller)->dimensions : 0;
}

/* Elements of a part of a variable. */
static inline int64_t pnetcdf_part_elements(bool failed, int dimensions, const int64_t *count) {
    return failed || (dimensions && !count) ? 0 : product_of(dimensions, count);
}

/* Elements of a whole variable, by its current length. */
static inline int64_t pnetcdf_variable_elements(bool failed, int ncid, int varid, const void *caller) {
    pnetcdf_inq_var ask = !failed ? PNETCDF_QUERY(pnetcdf_symbol_var, pnetcdf_inq_var) : NULL;
    pnetcdf_inq_dim ask_length = PNETCDF_QUERY(pnetcdf_symbol_dim, pnetcdf_inq_dim);
    if (!ask || !ask_length)
        return 0;
    int dimensions = pnetcdf_variable(ncid, varid, caller)->dimensions, dimension[MAX_DIMENSIONS];
    if (dimensions > MAX_DIMENSIONS) {
        iotide_layer_count_overflow(BOUND_DIMENSIONS);
        return 0;
    }
    iotide_self.quiet = true;
    int64_t count = ask(ncid, varid, NULL, NULL, NULL, dimension, NULL) == 0;
    for (int i = 0; i < dimensions && count > 0; i++) {
        int64_t length = 0;
        count = ask_length(ncid, dimension[i], NULL, &length) == 0 ? times(count, length) : 0;
    }
    iotide_self.quiet = false;
    return count;
}

/* Elements of several parts of one variable; one element for a part without counts. */
static inline int64_t pnetcdf_parts_elements(bool failed, int dimensions, int parts, int64_t *const *counts) {
    int64_t sum = 0;
    for (int i = 0; !failed && i < parts; i++)
        sum += counts && counts[i] ? product_of(dimensions, counts[i]) : 1;
    return sum;
}

/* Elements of parts of several variables: mput, mget. counts NULL: one element of each. */
static inline int64_t pnetcdf_variables_elements(bool failed, int ncid, int variables, const int *varids,
                                                 int64_t *const *counts,
                                                 const void *caller) {
    int64_t sum = 0;
    for (int i = 0; !failed && i < variables; i++)
        sum += counts && counts[i]
                   ? product_of(pnetcdf_variable(ncid, varids[i], caller)->dimensions, counts[i])
                   : 1;
    return sum;
}

static inline int64_t pnetcdf_whole_variables_elements(bool failed, int ncid, int variables, const int *varids,
                                                       const void *caller) {
    int64_t sum = 0;
    for (int i = 0; !failed && i < variables; i++)
        sum += pnetcdf_variable_elements(false, ncid, varids[i], caller);
    return sum;
}

/* Bytes of an attribute that was read, with elements of width bytes; width 0: of its own type's size. */
static inline int64_t pnetcdf_attribute_bytes(bool failed, int ncid, int varid, const char *name, int64_t width,
                                              const void *caller) {
    pnetcdf_inq_att ask = !failed ? PNETCDF_QUERY(pnetcdf_symbol_att, pnetcdf_inq_att) : NULL;
    int type = 0;
    int64_t length = 0;
    if (!ask)
        return 0;
    iotide_self.quiet = true;
    bool known = ask(ncid, varid, name, &type, &length) == 0;
    iotide_self.quiet = false;
    return known ? times(length, width ? width : external_width(type)) : 0;
}

/* Number of processes that opened a file together. */
static inline int pnetcdf_ranks(bool failed, intptr_t comm, const void *caller) {
    static const char symbol[] = "PMPI_Comm_size";
    int (*ask)(intptr_t, int *) = failed ? NULL : PNETCDF_QUERY(symbol, int (*)(intptr_t, int *));
    int ranks = 0;
    return ask && ask(comm, &ranks) == 0 ? ranks : 0;
}

/* ---- buffers described by an MPI datatype ---- */

/* Open MPI's null datatype, NULL for other MPIs. The program may contain its own copy, which is then the one in use:
 * RTLD_DEFAULT finds that, and not the library's. */
static inline const void *pnetcdf_null(const void *caller) {
    static const void *_Atomic known;
    static _Atomic bool asked;
    if (likely(atomic_load_explicit(&asked, memory_order_acquire)))
        return atomic_load_explicit(&known, memory_order_relaxed);
    const void *null = dlsym(RTLD_DEFAULT, pnetcdf_symbol_null);
    if (!null) {
        dlerror();
        null = iotide_helper(&iotide_library_pnetcdf, pnetcdf_symbol_null, caller);
    }
    atomic_store_explicit(&known, null, memory_order_relaxed);
    atomic_store_explicit(&asked, true, memory_order_release);
    return null;
}

/* A null datatype must not reach MPI: its error handler would end the program. */
static inline bool pnetcdf_is_null(intptr_t datatype, const void *caller) {
    const void *null = pnetcdf_null(caller);
    return null ? datatype == (intptr_t)null : (uint32_t)datatype == 0x0c000000; /* MPICH's */
}

/* Bytes of a datatype; 0: null or unknown. */
static inline int64_t pnetcdf_size(intptr_t datatype, const void *caller) {
    pnetcdf_type_size_x ask = PNETCDF_QUERY(pnetcdf_symbol_size, pnetcdf_type_size_x);
    int64_t size = 0;
    return ask && !pnetcdf_is_null(datatype, caller) && ask(datatype, &size) == 0 && size > 0 ? size : 0;
}

/* Bytes of a buffer of count datatypes. Without a count or a datatype it has the elements of the access, as in
 * memory or in the file. */
static inline int64_t pnetcdf_buffer_bytes(bool failed, int ncid, int varid, int64_t elements, int64_t count,
                                           intptr_t datatype,
                                           const void *caller) {
    if (failed)
        return 0;
    int64_t size = pnetcdf_size(datatype, caller);
    if (!size)
        return times(elements, pnetcdf_variable(ncid, varid, caller)->width);
    return times(count < 0 ? elements : count, size);
}

/* Bytes of a buffer whose position is given by a file datatype. */
static inline int64_t pnetcdf_filetype_bytes(bool failed, intptr_t filetype, int64_t count, intptr_t datatype,
                                             const void *caller) {
    if (failed)
        return 0;
    int64_t size = count < 0 ? 0 : pnetcdf_size(datatype, caller);
    return size ? times(count, size) : pnetcdf_size(filetype, caller);
}

/* Bytes of several buffers. */
static inline int64_t pnetcdf_buffers_bytes(bool failed, int variables, const int64_t *counts,
                                            const intptr_t *datatypes,
                                            const void *caller) {
    bool addresses = pnetcdf_null(caller) != NULL;
    int64_t sum = 0;
    for (int i = 0; !failed && counts && datatypes && i < variables; i++)
        sum += times(counts[i], pnetcdf_size(addresses ? datatypes[i] : ((const int32_t *)datatypes)[i], caller));
    return sum;
}

/* A datatype's name, NULL if it has none. Valid until the thread's next one. */
static inline const char *pnetcdf_type_name(intptr_t datatype, bool failed, const void *caller) {
    static struct iotide_thread_memory room = {.size = 256}; /* MPI_MAX_OBJECT_NAME is 64 in Open MPI, 128 in MPICH */
    char *name = iotide_get_thread_memory(&room);
    pnetcdf_type_get_name ask = failed ? NULL : PNETCDF_QUERY(pnetcdf_symbol_name, pnetcdf_type_get_name);
    int length = 0;
    if (!ask || !name)
        return NULL;
    if (pnetcdf_is_null(datatype, caller))
        return "MPI_DATATYPE_NULL";
    name[0] = '\0';
    return ask(datatype, name, &length) == 0 && name[0] ? name : NULL;
}

/* ---- requests (pnetcdf.c) ---- */

/* Stores a begun operation until it is waited for. Returns its number, the lowest free one from 1; 0: there is
 * nothing to wait for, or no room, and the bytes count as moved now. */
uint32_t pnetcdf_add_pending(bool failed, int ncid, const int *request, int kind, int64_t bytes, const void *caller);
void pnetcdf_release_all(bool failed, int ncid, const void *caller); /* pending requests are dropped with their file */
/* Marks the requests of a call before it, because it overwrites those that it completes. call: an address that
 * identifies the call. */
void pnetcdf_mark_requests(int ncid, int count, const int *requests, const void *call, const void *caller);
void pnetcdf_release_cancelled(bool failed, const int *requests, const void *call);

#endif
