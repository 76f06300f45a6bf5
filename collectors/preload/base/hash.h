/* A hash of texts, for tables. */
#ifndef IOTIDE_HASH_H
#define IOTIDE_HASH_H

#include "base/types.h"

#include <string.h>

/* Mixes a text into a hash, eight bytes at a time, because a new file's path is hashed twice. The last bytes may
 * count twice. */
static inline uint64_t iotide_hash(uint64_t hash, const char *text, size_t length) {
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t word = 0;
    hash = (hash ^ length) * factor;
    if (length < sizeof word) {
        for (size_t i = 0; i < length; i++)
            word = word << 8 | (unsigned char)text[i];
        hash = (hash ^ word) * factor;
        return hash ^ hash >> 32;
    }
    for (size_t at = 0; at + sizeof word < length; at += sizeof word) {
        memcpy(&word, text + at, sizeof word);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 32;
    }
    memcpy(&word, text + length - sizeof word, sizeof word);
    hash = (hash ^ word) * factor;
    return hash ^ hash >> 32;
}

#endif
