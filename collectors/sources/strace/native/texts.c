/* Assigns numbers to texts, many at a time; texts.py is the interface. A text has two parts, like a path in a
 * folder. */
#include <stdlib.h>
#include <string.h>

#include "strace.h"

#define NEW (1u << 31)

struct text {
    uint64_t hash;
    uint32_t number, first, second;
    u8 bytes[];
};

struct texts {
    struct text **slots;
    uint64_t seed, used, mask;
};

struct new_texts {
    uint32_t *slots; /* by hash: indices among the new texts, from 1 */
    uint64_t mask;
};

struct key {
    const u8 *first, *second;
    uint64_t hash;
    uint32_t first_size, second_size;
};

static uint64_t mix(uint64_t hash, uint64_t word)
{
    const unsigned __int128 product = (unsigned __int128)(hash ^ word) * 0x9E3779B97F4A7C15u;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t hash_bytes(uint64_t hash, const u8 *at, uint32_t size)
{
    uint64_t word;
    hash = mix(hash, size + 0xD6E8FEB86659FD93u);
    for (; size >= 8; size -= 8, at += 8) {
        memcpy(&word, at, 8);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, at, size);
    return mix(hash, word);
}

static struct key key_of(const struct texts *texts, const u8 *data, const struct extent *parts)
{
    struct key key = {data + parts[0].begin, data + parts[1].begin, texts->seed, parts[0].end - parts[0].begin,
                      parts[1].end - parts[1].begin};
    key.hash = hash_bytes(hash_bytes(key.hash, key.first, key.first_size), key.second, key.second_size);
    return key;
}

static bool same(const struct key *key, const struct key *other)
{
    return key->hash == other->hash && key->first_size == other->first_size && key->second_size == other->second_size &&
           memcmp(key->first, other->first, key->first_size) == 0 &&
           memcmp(key->second, other->second, key->second_size) == 0;
}

static struct text **slot_of(const struct texts *texts, const struct key *key)
{
    for (uint64_t at = key->hash;; at++) {
        struct text **slot = texts->slots + (at & texts->mask), *text = *slot;
        if (!text)
            return slot;
        const struct key known = {text->bytes, text->bytes + text->first, text->hash, text->first, text->second};
        if (same(key, &known))
            return slot;
    }
}

static bool grow(struct texts *texts)
{
    const uint64_t room = texts->slots ? 2 * (texts->mask + 1) : 256;
    struct text **slots = calloc(room, sizeof *slots);
    if (!slots)
        return false;
    for (uint64_t old = 0; texts->slots && old <= texts->mask; old++) {
        struct text *text = texts->slots[old];
        uint64_t at = text ? text->hash & (room - 1) : 0;
        while (text && slots[at])
            at = (at + 1) & (room - 1);
        if (text)
            slots[at] = text;
    }
    free(texts->slots);
    texts->slots = slots;
    texts->mask = room - 1;
    return true;
}

EXPORT void texts_free(struct texts *texts)
{
    for (uint64_t at = 0; texts && texts->slots && at <= texts->mask; at++)
        free(texts->slots[at]);
    if (texts)
        free(texts->slots);
    free(texts);
}

/* The seed prevents a trace from choosing texts that all collide in one slot. */
EXPORT struct texts *texts_new(uint64_t seed)
{
    struct texts *texts = calloc(1, sizeof *texts);
    if (!texts || !grow(texts)) {
        texts_free(texts);
        return NULL;
    }
    texts->seed = seed;
    return texts;
}

/* Returns the number of new texts after adding the one in the given row; place is its index among them. */
static uint64_t place_among_new(struct new_texts *new, const struct texts *texts, const u8 *data,
                                const struct extent (*parts)[2], uint32_t row, const struct key *key, uint32_t *rows,
                                uint64_t count, uint32_t *place)
{
    uint64_t at = key->hash & new->mask;
    for (; new->slots && new->slots[at]; at = (at + 1) & new->mask) {
        const struct key other = key_of(texts, data, parts[rows[new->slots[at] - 1]]);
        if (same(key, &other)) {
            *place = new->slots[at] - 1;
            return count;
        }
    }
    *place = (uint32_t)count;
    rows[count] = row;
    if (new->slots)
        new->slots[at] = (uint32_t)count + 1;
    return count + 1;
}

/* Writes the number of each text, 0 for an empty one; NEW and an index among the new texts for unknown ones. rows
 * receives the first row of each new text. Returns the number of new texts. */
EXPORT uint64_t texts_find(const struct texts *texts, const u8 *data, const struct extent (*parts)[2], uint64_t count,
                           uint32_t *numbers, uint32_t *rows)
{
    struct new_texts new = {NULL, 0};
    uint64_t unknown = 0;
    for (uint64_t row = 0; row < count; row++) {
        const struct key key = key_of(texts, data, parts[row]);
        const bool is_empty = !(key.first_size | key.second_size);
        const struct text *text = is_empty ? NULL : *slot_of(texts, &key);
        numbers[row] = text ? text->number : 0;
        if (text || is_empty)
            continue;
        if (!unknown) {
            for (new.mask = 16; new.mask < 2 * count; new.mask *= 2)
                ;
            new.slots = calloc(new.mask--, sizeof *new.slots); /* without it, a text may be new twice */
        }
        unknown = place_among_new(&new, texts, data, parts, (uint32_t)row, &key, rows, unknown, numbers + row);
        numbers[row] |= NEW;
    }
    free(new.slots);
    return unknown;
}

/* Stores the numbers of the texts in some rows, except known texts and number 0. */
EXPORT void texts_add(struct texts *texts, const u8 *data, const struct extent (*parts)[2], const uint32_t *rows,
                      uint64_t count, const uint32_t *numbers)
{
    for (uint64_t place = 0; place < count; place++) {
        const struct key key = key_of(texts, data, parts[rows[place]]);
        const uint64_t size = (uint64_t)key.first_size + key.second_size;
        if (!numbers[place] || (2 * texts->used > texts->mask && !grow(texts)))
            continue;
        struct text **slot = slot_of(texts, &key), *text = *slot ? NULL : malloc(sizeof *text + size);
        if (!text)
            continue;
        *text = (struct text){key.hash, numbers[place], key.first_size, key.second_size};
        memcpy(text->bytes, key.first, key.first_size);
        memcpy(text->bytes + key.first_size, key.second, key.second_size);
        *slot = text;
        texts->used++;
    }
}
