/* Small reusable numbers for pending operations, from 1: one bit per number, without locks. */
#ifndef IOTIDE_NUMBER_POOL_H
#define IOTIDE_NUMBER_POOL_H

#include <stdatomic.h>
#include <stdint.h>

/* Returns a number, or 0 if all are taken. */
static inline uint32_t iotide_allocate_number(_Atomic uint64_t *taken, uint32_t words) {
    for (uint32_t i = 0; i < words; i++) {
        uint64_t word = atomic_load_explicit(&taken[i], memory_order_relaxed);
        while (~word) {
            uint32_t bit = (uint32_t)__builtin_ctzll(~word);
            if (atomic_compare_exchange_weak(&taken[i], &word, word | UINT64_C(1) << bit))
                return i * 64 + bit + 1;
        }
    }
    return 0;
}

/* Returns a number to the pool; 0 and invalid numbers are ignored. */
static inline void iotide_release_number(_Atomic uint64_t *taken, uint32_t words, uint32_t number) {
    if (number && number <= words * 64)
        atomic_fetch_and(&taken[(number - 1) / 64], ~(UINT64_C(1) << ((number - 1) % 64)));
}

#endif
