/* Lets wrappers of the layers above libc find the copy of their library that a call belongs to. A process may
 * contain a library more than once (each Python wheel has its own), so this depends on the caller. */
#ifndef IOTIDE_LIBRARY_COPIES_H
#define IOTIDE_LIBRARY_COPIES_H

#include "state/state.h"

/* Cached facts about the caller of a function. Small, and contiguous for all functions: programs make a hundred
 * unrecorded calls for each one that moves data, when their data has displaced caches and page tables. */
struct iotide_gate {
    _Atomic uint64_t known; /* page number of the calling code, which belongs to one object, and above it the
                             * treatment of its calls. 0: passed on. 0 in all bits: nothing is known */
    void *_Atomic real;     /* in the first copy */
};

struct iotide_library {
    const char *anchor; /* a symbol that each copy of the library defines */
    void *(*next)(const char *symbol); /* iotide_next_symbol: dlsym(RTLD_NEXT) as seen by the wrapping library */
    struct iotide_gate *gates; /* by site; the first is unused */
    size_t gate_count;
};
/* Inside each layer library, because RTLD_NEXT depends on its place in the order of objects. No tail call: the
 * loader uses the return address. */
__attribute__((noinline, unused)) static void *iotide_next_symbol(const char *symbol) {
    void *found = dlsym(RTLD_NEXT, symbol);
    __asm__ volatile("" : "+r"(found));
    return found;
}

/* ---- callers: __builtin_return_address(0) ---- */

#define IOTIDE_CALLER_BITS_SHIFT 56
enum { IOTIDE_COPY = IOTIDE_COPIES - 1, IOTIDE_INNER = IOTIDE_COPIES, IOTIDE_IS_CACHED = 2 * IOTIDE_COPIES };
static inline uint64_t iotide_page(const void *caller) {
    return (uintptr_t)caller >> 12;
}
static inline bool iotide_is_cached_caller(uint64_t known, const void *caller) {
    return likely((known ^ iotide_page(caller)) << (64 - IOTIDE_CALLER_BITS_SHIFT) == 0);
}
static inline int iotide_cached_copy(uint64_t known) {
    return (int)(known >> IOTIDE_CALLER_BITS_SHIFT & IOTIDE_COPY);
}

/* The number in its name changes with the interface between libraries and core: a library built for another core
 * passes all calls on. */
#define iotide_provided iotide_provided_3
/* The function that the calling object is linked with. Never NULL: an undefined function fails with ENOSYS, -1. */
EXPORT void *iotide_provided(const struct iotide_library *library, struct iotide_site *site, const void *caller);
static inline void *iotide_real_for_caller(const struct iotide_library *library, struct iotide_site *site,
                                           const void *caller) {
    uint64_t known = atomic_load_explicit(&library->gates[site->gate].known, memory_order_acquire);
    if (unlikely(!iotide_is_cached_caller(known, caller)))
        return iotide_provided(library, site, caller);
    iotide_self.library = library;
    iotide_self.known = known;
    return atomic_load_explicit(&site->real[iotide_cached_copy(known)], memory_order_relaxed);
}

/* Whether a call is known to be switched off: then gate->real is the real function. */
__attribute__((always_inline)) static inline bool iotide_is_bypassed(const struct iotide_gate *gate,
                                                                     const void *caller) {
    return likely(atomic_load_explicit(&gate->known, memory_order_acquire) == iotide_page(caller));
}

#define GATE __attribute__((hot, aligned(32))) /* contiguous in memory */
#define OUT_OF_LINE __attribute__((noinline))

/* The following: after iotide_real_for_caller, within the same call. */

EXPORT bool iotide_find_is_inner(const struct iotide_library *library, const void *caller);
/* Whether a copy of the library makes this call to its own functions, within a traced call. */
static inline bool iotide_is_inner(const struct iotide_library *library, const void *caller) {
    if (iotide_self.depth == 0)
        return false;
    return iotide_self.library == library && iotide_is_cached_caller(iotide_self.known, caller)
               ? (iotide_self.known >> IOTIDE_CALLER_BITS_SHIFT & IOTIDE_INNER) != 0
               : iotide_find_is_inner(library, caller);
}

EXPORT int iotide_find_copy(const struct iotide_library *library, const void *caller);
/* The caller's copy, from 0; -1: unknown, or beyond the maximum. */
static inline int iotide_caller_copy(const struct iotide_library *library, const void *caller) {
    return iotide_self.library == library && iotide_is_cached_caller(iotide_self.known, caller)
               ? iotide_cached_copy(iotide_self.known)
               : iotide_find_copy(library, caller);
}

/* The space of the handles of the caller's copy: each copy numbers its own from the start. */
static inline uint32_t iotide_copy_space(const struct iotide_library *library, uint32_t space, const void *caller) {
    int copy = iotide_caller_copy(library, caller);
    return copy > 0 ? space ^ (uint32_t)copy << 16 : space;
}

/* A function of the caller's copy by its name, e.g. one that is not wrapped; NULL if there is none. */
EXPORT void *iotide_helper(const struct iotide_library *library, const char *symbol, const void *caller);

/* Cached lookups of one place in a layer's code, by copy. */
struct iotide_helper_cache {
    void *_Atomic of[IOTIDE_COPIES]; /* NULL: not looked up yet */
};
#define IOTIDE_NO_HELPER ((void *)-1)
static inline void *iotide_cached_helper(const struct iotide_library *library, struct iotide_helper_cache *answers,
                                         const char *symbol, const void *caller) {
    int copy = iotide_caller_copy(library, caller);
    if (unlikely(copy < 0))
        return iotide_helper(library, symbol, caller);
    void *found = atomic_load_explicit(&answers->of[copy], memory_order_relaxed);
    if (unlikely(!found)) {
        found = iotide_helper(library, symbol, caller);
        atomic_store_explicit(&answers->of[copy], found ? found : IOTIDE_NO_HELPER, memory_order_relaxed);
    }
    return found == IOTIDE_NO_HELPER ? NULL : found;
}

void iotide_clear_caller_cache(void); /* when an object is unloaded */

#endif
