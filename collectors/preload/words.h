/* Parameters as the words behind a record; what generated wrappers use. */
#ifndef IOTIDE_WORDS_H
#define IOTIDE_WORDS_H

#include "tracer.h"

#include <fcntl.h>
#include <string.h>

#define IOTIDE_CUT (UINT64_C(1) << 63) /* of an array's number of elements: there were more */

/* An integer of any width, without its sign stretched over the word. */
#define IOTIDE_UNSIGNED(value) ((uint64_t)(value) & UINT64_MAX >> (64 - 8 * sizeof(value)))

static inline uint64_t iotide_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline uint64_t iotide_file_word(uint32_t file) {
    return file == IOTIDE_LEFT_OUT ? 0 : file;
}

/* Appends an array: how many elements there are, then as many as find room. Nothing is read unless readable. */
#define IOTIDE_ARRAY(words, used, readable, array, elements, most)                                              \
    do {                                                                                                        \
        int64_t there_ = (readable) && (array) != NULL ? (int64_t)(elements) : 0;                               \
        int64_t kept_ = there_ < 0 ? 0 : there_ > (most) ? (most) : there_;                                     \
        words[used++] = (uint64_t)kept_ | (there_ > kept_ ? IOTIDE_CUT : 0);                                    \
        for (int64_t at_ = 0; at_ < kept_; at_++)                                                               \
            words[used++] = (uint64_t)(array)[at_];                                                             \
    } while (0)

#endif
