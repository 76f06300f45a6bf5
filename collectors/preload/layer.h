/* What a layer's library includes ahead of all else. Where the core is missing (a container that has one file and not
 * the other) it passes all calls on: a program must start all the same, so nothing of the core is insisted on. */
#ifndef IOTIDE_LAYER_H
#define IOTIDE_LAYER_H

#ifndef IOTIDE_TYPES_H
#define EXPORT __attribute__((visibility("default"), weak))
#include "tracer.h"
#include "library_copies.h"
#undef EXPORT
#define EXPORT __attribute__((visibility("default")))
#endif
#pragma weak iotide_provided
#pragma weak iotide_helper
#pragma weak iotide_thread_room
#pragma weak iotide_met

/* A table of the layer's had no room; an older core counts no such. */
static inline void iotide_layer_met(enum iotide_bound bound) {
    if (iotide_met)
        iotide_met(bound);
}

/* What the compiler's start of a library would define: atexit in hooks asks for it. */
__attribute__((weak, visibility("hidden"))) void *__dso_handle;

/* The real function without the core: the next definition, else that of the caller's own libraries. */
__attribute__((noinline, unused)) static void *iotide_alone(const char *symbol, const void *caller) {
    void *found = iotide_next_here(symbol);
    Dl_info place;
    void *object = !found && dladdr(caller, &place) ? dlopen(place.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    if (object) {
        found = dlsym(object, symbol);
        dlclose(object);
    }
    return found;
}

#define PROVIDED(library, symbol, caller)                                                      \
    ((__typeof__(&symbol))(iotide_provided ? iotide_behind(library, &SITE(symbol), caller) \
                                           : iotide_alone(#symbol, caller)))

#endif
