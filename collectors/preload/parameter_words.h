/* Encodes parameters as the words after a record; used by generated wrappers. */
#ifndef IOTIDE_PARAMETER_WORDS_H
#define IOTIDE_PARAMETER_WORDS_H

#include "tracer.h"

#include <fcntl.h>
#include <string.h>

/* For calls that move data: forces inlining, which a compiler refuses in a file of a hundred wrappers. */
#define HOT __attribute__((flatten))

#define IOTIDE_TRUNCATED (UINT64_C(1) << 63) /* bit in an array's number of elements: there were more */

/* An integer of any width, without sign extension to the word. */
#define IOTIDE_UNSIGNED(value) ((uint64_t)(value) & UINT64_MAX >> (64 - 8 * sizeof(value)))

static inline uint64_t iotide_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t iotide_file_word(uint32_t file) {
    return file == IOTIDE_EXCLUDED ? 0 : file;
}

/* Appends an array of integers: the number of elements, then as many as fit. Returns the words used. */
__attribute__((noinline, unused)) static unsigned int iotide_array(uint64_t *words, unsigned int used,
                                                                   const void *array, size_t width, bool is_signed,
                                                                   int64_t elements, int64_t most) {
    int64_t kept = elements < 0 ? 0 : elements > most ? most : elements;
    words[used++] = (uint64_t)kept | (elements > kept ? IOTIDE_TRUNCATED : 0);
    for (int64_t i = 0; i < kept; i++) {
        uint64_t element = 0;
        memcpy(&element, (const char *)array + (size_t)i * width, width);
        unsigned int spare = 64 - 8 * (unsigned int)width;
        words[used++] = is_signed ? (uint64_t)((int64_t)(element << spare) >> spare) : element;
    }
    return used;
}
/* Nothing is read unless readable. */
#define IOTIDE_ARRAY(words, used, readable, array, elements, most)                                               \
    (used = (readable) && (array) != NULL                                                                        \
                ? iotide_array(words, used, array, sizeof *(array), (__typeof__(*(array)))-1 < 1, elements, most) \
                : iotide_array(words, used, NULL, 1, false, 0, 0))

#endif
