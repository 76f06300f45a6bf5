/* Shared by the hooks of NetCDF and PnetCDF: number of dimensions and element width of a variable, queried from the
 * library once and cached by the thread. */
#ifndef IOTIDE_VARIABLES_H
#define IOTIDE_VARIABLES_H

#include "state/thread_memory.h"

#define VARIABLES 64      /* cached per thread; colliding variables are queried again */
#define MAX_DIMENSIONS 1024

struct variable {
    const void *caller; /* identifies one object, and so one copy of the library, which numbers its own files */
    int file;
    int number;
    uint32_t generation;
    int32_t dimensions;
    int64_t width; /* bytes of an element as stored */
};
static struct iotide_thread_memory variables_memory = {.size = VARIABLES * sizeof(struct variable)};
/* A new file may get the number of a closed one. */
static _Atomic uint32_t variables_generation = 1;

static inline void variables_invalidate(void) {
    atomic_fetch_add_explicit(&variables_generation, 1, memory_order_relaxed);
}

/* Cache entry of a variable; its generation is 0 if it is not cached. */
static inline struct variable *variable_entry(int file, int number, const void *caller) {
    uint64_t mixed = ((uint64_t)(uint32_t)file << 32 ^ (uint32_t)number ^ (uint64_t)(uintptr_t)caller << 7) *
                     UINT64_C(0x9e3779b97f4a7c15);
    static __thread struct variable only; /* used if a thread has no memory */
    struct variable *variables = iotide_get_thread_memory(&variables_memory);
    struct variable *place = variables ? &variables[mixed >> 58] : &only;
    uint32_t generation = atomic_load_explicit(&variables_generation, memory_order_relaxed);
    if (place->generation != generation || place->file != file || place->number != number || place->caller != caller)
        *place = (struct variable){.caller = caller, .file = file, .number = number};
    return place;
}

static inline void variable_store(struct variable *place, int dimensions, int64_t width) {
    place->dimensions = dimensions;
    place->width = width;
    place->generation = atomic_load_explicit(&variables_generation, memory_order_relaxed);
}

/* Bytes of an element of NC_BYTE to NC_UINT64; 0: another type. */
static inline int64_t external_width(int type) {
    static const uint8_t width[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return type > 0 && type < (int)sizeof width ? width[type] : 0;
}

static inline int64_t times(int64_t a, int64_t b) {
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? 0 : product;
}

/* Product of the counts of all dimensions. */
static inline int64_t product_of(int dimensions, const int64_t *counts) {
    int64_t product = 1;
    for (int i = 0; i < dimensions; i++)
        product = times(product, counts[i]);
    return product;
}

#endif
