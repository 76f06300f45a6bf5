/* Numbers of pending asynchronous operations, from 1: one bit per number, without locks. Numbers are reused, so that
 * signatures repeat. */
#ifndef IOTIDE_OPERATION_NUMBERS_H
#define IOTIDE_OPERATION_NUMBERS_H

#include "state/state.h"

#include <stdatomic.h>
#include <stdint.h>

struct operation_numbers {
    _Atomic uint64_t *taken;
    uint32_t words;
};

/* Defines a table of ``count`` numbers, a multiple of 64. */
#define OPERATION_NUMBERS(name, count)                  \
    static _Atomic uint64_t name##_taken[(count) / 64]; \
    static const struct operation_numbers name = {name##_taken, (count) / 64}

/* Returns a number; 0 if all are taken, which is counted. */
static inline uint32_t allocate_number(const struct operation_numbers *numbers) {
    for (uint32_t i = 0; i < numbers->words; i++) {
        uint64_t word = atomic_load_explicit(&numbers->taken[i], memory_order_relaxed);
        while (~word) {
            uint32_t bit = (uint32_t)__builtin_ctzll(~word);
            if (atomic_compare_exchange_weak(&numbers->taken[i], &word, word | UINT64_C(1) << bit))
                return i * 64 + bit + 1;
        }
    }
    iotide_count_overflow(BOUND_OPERATIONS);
    return 0;
}

/* Makes a number available again; 0 and invalid numbers are ignored. */
static inline void release_number(const struct operation_numbers *numbers, uint32_t number) {
    if (number && number <= numbers->words * 64)
        atomic_fetch_and(&numbers->taken[(number - 1) / 64], ~(UINT64_C(1) << ((number - 1) % 64)));
}

#endif
