/* Packs lines of rings for the spool; packing.py is its interface and names its fallback.
 *
 * A line is encoded as its difference from the last similar line. Calls of a loop differ in their times and one more
 * number, so about nine bytes replace 64. A packed line has: its index among the last lines, and whether it contains
 * words; the sizes of its eight differences, two bits each; the differences that are not 0, in 2, 4 or 8 bytes. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define WORDS 8 /* words per line */
#define PLACES 16 /* number of remembered lines */
#define MARK_WORDS 0xff /* replaces the depth: the line contains words, not a record */
#define IS_WORDS 0x80
#define HEAD 3
#define MOST (HEAD + WORDS * 8) /* maximum size of a packed line, and number of zero bytes after the last one */

/* State shared by packing and unpacking: the last lines, and the start of the last record. */
struct before {
    uint64_t lines[PLACES][WORDS];
    uint64_t start;
};

static inline bool is_words(uint64_t last) {
    return last >> 56 == MARK_WORDS;
}

static inline unsigned int place_of(uint64_t last) {
    return (unsigned int)(last * UINT64_C(0x9e3779b97f4a7c15) >> 60);
}

static inline unsigned int size_class(uint64_t difference) {
    int64_t value = (int64_t)difference;
    return value == (int16_t)value ? 1 : value == (int32_t)value ? 2 : 3;
}

static inline size_t size_of(unsigned int class) {
    return class ? (size_t)1 << class : 0;
}

/* Packs lines, which others may write concurrently; to has room for MOST bytes per line plus MOST. Returns the size. */
EXPORT uint64_t lines_pack(const volatile uint64_t *lines, uint64_t count, uint8_t *to) {
    struct before before = {0};
    uint8_t *at = to;
    for (uint64_t i = 0; i < count; i++, lines += WORDS) {
        uint64_t last = lines[WORDS - 1];
        unsigned int place = place_of(last), classes = 0;
        uint64_t *like = before.lines[place], *start = is_words(last) ? like : &before.start;
        uint8_t *head = at;
        at += HEAD;
#pragma GCC unroll 8
        for (unsigned int word = 0; word < WORDS; word++) {
            uint64_t value = word == WORDS - 1 ? last : lines[word];
            uint64_t *reference = word ? &like[word] : start, difference = value - *reference;
            if (!difference)
                continue;
            *reference = value;
            unsigned int class = size_class(difference);
            classes |= class << 2 * word;
            memcpy(at, &difference, sizeof difference);
            at += size_of(class);
        }
        head[0] = (uint8_t)(place | (is_words(last) ? IS_WORDS : 0));
        memcpy(head + 1, &(uint16_t){(uint16_t)classes}, 2);
    }
    memset(at, 0, MOST);
    return (uint64_t)(at - to) + MOST;
}

static inline uint64_t difference_at(const uint8_t *at, unsigned int class) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return class == 1 ? (uint64_t)(int64_t)(int16_t)value : class == 2 ? (uint64_t)(int64_t)(int32_t)value : value;
}

/* Unpacks at most count lines; returns the number of complete lines. */
EXPORT uint64_t lines_unpack(const uint8_t *from, uint64_t bytes, uint64_t *lines, uint64_t count) {
    struct before before = {0};
    const uint8_t *at = from, *end = from + bytes;
    for (uint64_t i = 0; i < count; i++, lines += WORDS) {
        if (end - at < HEAD + MOST)
            return i;
        uint64_t *like = before.lines[at[0] % PLACES], *start = at[0] & IS_WORDS ? like : &before.start;
        uint16_t classes;
        memcpy(&classes, at + 1, 2);
        at += HEAD;
#pragma GCC unroll 8
        for (unsigned int word = 0; word < WORDS; word++) {
            uint64_t *reference = word ? &like[word] : start;
            unsigned int class = classes >> 2 * word & 3;
            if (class) {
                *reference += difference_at(at, class);
                at += size_of(class);
            }
            lines[word] = *reference;
        }
    }
    return count;
}
