/* Integers as seven bits a byte, the lowest first; varints.py is its interface and its fallback. */
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define MORE 0x80

/* Writes each value, or how much it grew where `grown`, with its sign in the lowest bit; returns how many bytes, at
 * most ten a value. */
EXPORT uint64_t varints_encode(const int64_t *values, uint64_t count, int grown, uint8_t *to) {
    uint8_t *at = to;
    uint64_t before = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t value = (uint64_t)values[i] - before;
        if (grown)
            before = (uint64_t)values[i];
        uint64_t left = value << 1 ^ (0 - (value >> 63));
        for (; left >= MORE; left >>= 7)
            *at++ = (uint8_t)(left | MORE);
        *at++ = (uint8_t)left;
    }
    return (uint64_t)(at - to);
}
