/* Integers with seven bits per byte, lowest first; varints.py is its interface and fallback. */
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define MORE 0x80

/* Writes each value, or its difference from the previous one if `grown`, with the sign in the lowest bit; returns
 * the size, at most ten bytes per value. */
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
