/* What the hooks of NetCDF and PnetCDF share: how many dimensions a variable has and how wide its elements are, asked of
 * the library once, and remembered by the thread that asked. */
#ifndef IOTIDE_VARIABLES_H
#define IOTIDE_VARIABLES_H

#include "thread_memory.h"

#define VARIABLES 64      /* remembered by a thread; what falls on the same place is asked again */
#define MOST_DIMENSIONS 1024

struct variable {
    const void *caller; /* of one object, and so of one copy of the library, which numbers its files for itself */
    int file;
    int number;
    uint32_t generation;
    int32_t dimensions;
    int64_t width; /* bytes of an element as it is stored */
};
static struct iotide_room variables_room = {.size = VARIABLES * sizeof(struct variable)};
/* A file that is opened may get the number of one that was closed. */
static _Atomic uint32_t variables_generation = 1;

static inline void variables_forget(void) {
    atomic_fetch_add_explicit(&variables_generation, 1, memory_order_relaxed);
}

/* Where it is remembered, or would be: then its generation is 0. */
static inline struct variable *variable_place(int file, int number, const void *caller) {
    uint64_t mixed = ((uint64_t)(uint32_t)file << 32 ^ (uint32_t)number ^ (uint64_t)(uintptr_t)caller << 7) *
                     UINT64_C(0x9e3779b97f4a7c15);
    static __thread struct variable only; /* where a thread has no room */
    struct variable *variables = iotide_thread_room(&variables_room);
    struct variable *place = variables ? &variables[mixed >> 58] : &only;
    uint32_t generation = atomic_load_explicit(&variables_generation, memory_order_relaxed);
    if (place->generation != generation || place->file != file || place->number != number || place->caller != caller)
        *place = (struct variable){.caller = caller, .file = file, .number = number};
    return place;
}

static inline void variable_remember(struct variable *place, int dimensions, int64_t width) {
    place->dimensions = dimensions;
    place->width = width;
    place->generation = atomic_load_explicit(&variables_generation, memory_order_relaxed);
}

/* Elements of NC_BYTE to NC_UINT64; 0: another type. */
static inline int64_t external_width(int type) {
    static const uint8_t width[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return type > 0 && type < (int)sizeof width ? width[type] : 0;
}

static inline int64_t times(int64_t a, int64_t b) {
    int64_t product;
    return a < 0 || b < 0 || __builtin_mul_overflow(a, b, &product) ? 0 : product;
}

/* Counts of elements along each dimension, multiplied. */
static inline int64_t product_of(int dimensions, const int64_t *counts) {
    int64_t product = 1;
    for (int i = 0; i < dimensions; i++)
        product = times(product, counts[i]);
    return product;
}

#endif
