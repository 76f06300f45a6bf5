/* Differences between neighbouring integers, as bytes by significance; integers.py is its interface and fallback. */
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define BLOCK 512 /* values processed together, so that they stay in the cache for each of their bytes */

/* Difference of two values, as an unsigned number with the sign in the lowest bit. */
static inline uint64_t growth(int64_t value, int64_t before) {
    uint64_t grown = (uint64_t)value - (uint64_t)before;
    return grown << 1 ^ (0 - (grown >> 63));
}

/* Returns the union of the bits of all differences except the first. */
EXPORT uint64_t integers_bits(const int64_t *values, uint64_t count) {
    uint64_t bits = 0;
    for (uint64_t i = 1; i < count; i++)
        bits |= growth(values[i], values[i - 1]);
    return bits;
}

/* Writes the lowest bytes of each difference: to[planes][count]. */
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
