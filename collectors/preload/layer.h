/* Included first by a layer's library. If the core is missing (a container with only one of the files), the library
 * passes all calls on: programs must start, so all symbols of the core are weak. */
#ifndef IOTIDE_LAYER_H
#define IOTIDE_LAYER_H

#ifndef IOTIDE_TYPES_H
#define EXPORT __attribute__((visibility("default"), weak))
#include "tracer.h"
#include "state/library_copies.h"
#undef EXPORT
#define EXPORT __attribute__((visibility("default")))
#endif
#pragma weak iotide_provided
#pragma weak iotide_helper
#pragma weak iotide_get_thread_memory
#pragma weak iotide_count_overflow

/* Counts an overflow of a table of the layer; an older core has no such counter. */
static inline void iotide_layer_count_overflow(enum iotide_bound bound) {
    if (iotide_count_overflow)
        iotide_count_overflow(bound);
}

/* Normally defined by the compiler's start files of a library: atexit in hooks needs it. */
__attribute__((weak, visibility("hidden"))) void *__dso_handle;

/* The real function without the core: the next definition, otherwise that of the caller's own libraries. */
__attribute__((noinline, unused)) static void *iotide_resolve_without_core(const char *symbol, const void *caller) {
    void *found = iotide_next_symbol(symbol);
    Dl_info place;
    void *object = !found && dladdr(caller, &place) ? dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (object) {
        found = dlsym(object, symbol);
        dlclose(object);
    }
    return found;
}

#define PROVIDED(library, symbol, caller)                                                      \
    ((__typeof__(&symbol))(iotide_provided ? iotide_real_for_caller(library, &SITE(symbol), caller) \
                                           : iotide_resolve_without_core(#symbol, caller)))

#endif
