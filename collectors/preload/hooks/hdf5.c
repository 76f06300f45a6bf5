/* Wrappers of functions that close any identifier: of an object in a file, or of a dataspace, datatype or property
 * list. The latter are recorded in the class of calls on the library's memory. */
#include "sites_hdf5.h"

#include "hooks/hdf5.h"

/* Also references dataspaces and similar objects. The site is of class memory, and its state shows whether that
 * class is on. */
EXPORT int H5Iinc_ref(hid_t id) {
    const void *caller = __builtin_return_address(0);
    __typeof__(&H5Iinc_ref) real = REAL(H5Iinc_ref);
    if (!iotide_traced(&SITE(H5Iinc_ref)))
        return real(id);
    struct iotide_target target = iotide_object(SPACE_hdf5, (uint64_t)id);
    struct iotide_span span = iotide_push(&SITE(H5Iinc_ref), target.handle);
    int holders = real(id);
    if (!span.start_ns)
        return holders;
    iotide_pop(span);
    uint64_t words[] = {(uint64_t)id};
    iotide_leave(span, &SITE(H5Iinc_ref),
                 (struct iotide_facts){.target = target,
                                       .offset = -1,
                                       .descriptor = -1,
                                       .kind = KIND_OTHER,
                                       .flags = FLAG_BLOCKING,
                                       .failed = holders < 0},
                 words, 1);
    return holders;
}

static int record_release(struct iotide_site *site, int (*real)(hid_t), hid_t id, const void *caller) {
    if (!iotide_traced(site))
        return real(id);
    struct iotide_target target = iotide_unbind(SPACE_hdf5, (uint64_t)id);
    if (!target.handle && !iotide_traced(&SITE(H5Iinc_ref)))
        return real(id);
    struct iotide_span span = iotide_push(site, target.handle);
    int result = real(id);
    if (!span.start_ns)
        return result;
    iotide_pop(span);
    int error = errno;
    bool failed = result < 0;
    hdf5_bind_if_valid(id, target, failed, caller);
    if (failed && target.handle)
        iotide_bind(SPACE_hdf5, (uint64_t)id, target);
    bool gone = target.handle && !iotide_object(SPACE_hdf5, (uint64_t)id).handle;
    errno = error;
    uint64_t words[] = {(uint64_t)id};
    iotide_leave(span, site,
                 (struct iotide_facts){.target = target,
                                       .offset = -1,
                                       .descriptor = -1,
                                       .kind = gone ? KIND_DESTROY : KIND_OTHER,
                                       .flags = FLAG_BLOCKING,
                                       .failed = failed},
                 words, 1);
    return result;
}

/* Most closing calls of Python programs use this function. */
EXPORT int H5Idec_ref(hid_t id) {
    const void *caller = __builtin_return_address(0);
    return record_release(&SITE(H5Idec_ref), REAL(H5Idec_ref), id, caller);
}

EXPORT herr_t H5Tclose(hid_t type_id) {
    const void *caller = __builtin_return_address(0);
    return record_release(&SITE(H5Tclose), REAL(H5Tclose), type_id, caller);
}
