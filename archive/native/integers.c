/* What integers differ by from one to the next, as bytes of equal weight; integers.py is its interface and its fallback. */
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define BLOCK 512 /* values that are looked at together, so that they are in the cache for each of their bytes */

/* How much a value grew, in an unsigned number whose lowest bit is the sign. */
static inline uint64_t growth(int64_t value, int64_t before) {
    uint64_t grown = (uint64_t)value - (uint64_t)before;
    return grown << 1 ^ (0 - (grown >> 63));
}

/* Returns all bits that growths have but the first. */
EXPORT uint64_t integers_bits(const int64_t *values, uint64_t count) {
    uint64_t bits = 0;
    for (uint64_t i = 1; i < count; i++)
        bits |= growth(values[i], values[i - 1]);
    return bits;
}

/* Writes the lowest bytes of each growth: to[planes][count]. */
EXPORT void integers_planes(const int64_t *values, uint64_t count, uint64_t planes, uint8_t *to) {
    int64_t before = 0;
    for (uint64_t first = 0; first < count; first += BLOCK) {
        uint64_t some = count - first < BLOCK ? count - first : BLOCK, grown[BLOCK];
        for (uint64_t i = 0; i < some; i++) {
            grown[i] = growth(values[first + i], before);
            before = values[first + i];
        }
        for (uint64_t plane = 0; plane < planes; plane++)
            for (uint64_t i = 0; i < some; i++)
                to[plane * count + first + i] = (uint8_t)(grown[i] >> 8 * plane);
    }
}
