/* Numbers rows by the values of some columns, and sums other columns by these numbers. grouping.py is its interface,
 * grouping_fallback.py its fallback.
 *
 * The columns of a row are packed into a few words, so that rows are hashed and compared word by word. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define NONE UINT32_MAX

/* A column: address of its first value, distance and size of values, and byte offset in a packed row. */
struct column {
    const char *at;
    int64_t stride, size, place;
};

#define PACK(type) \
    for (uint64_t i = 0; i < length; i++) \
        memcpy(rows + i * width + column->place, column->at + (int64_t)i * column->stride, sizeof(type))

static void pack(const struct column *column, uint64_t length, char *rows, uint64_t width) {
    switch (column->size) {
    case 1: PACK(uint8_t); break;
    case 2: PACK(uint16_t); break;
    case 4: PACK(uint32_t); break;
    default: PACK(uint64_t);
    }
}

static inline uint64_t hash_of(const uint64_t *row, uint64_t words, uint64_t hash) {
    for (uint64_t i = 0; i < words; i++) {
        hash = (hash ^ row[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return hash;
}

static inline bool same(const uint64_t *one, const uint64_t *two, uint64_t words) {
    for (uint64_t i = 0; i < words; i++)
        if (one[i] != two[i])
            return false;
    return true;
}

/* Numbers rows from 0 in order of first occurrence -> number[length], and the first and last row of each number.
 * Returns the count of numbers, -1 if out of memory. */
EXPORT int64_t grouping_number(const struct column *columns, uint64_t count, uint64_t words, uint64_t length,
                               uint64_t seed, int64_t *number, int64_t *first, int64_t *last) {
    uint64_t room = 16;
    while (room < 2 * length)
        room *= 2;
    uint64_t *rows = calloc(length * words, sizeof *rows);
    uint32_t *slots = malloc(room * sizeof *slots);
    int64_t found = -1;
    if (rows && slots) {
        memset(slots, 0xff, room * sizeof *slots);
        for (uint64_t i = 0; i < count; i++)
            pack(&columns[i], length, (char *)rows, words * sizeof *rows);
        found = 0;
        for (uint64_t i = 0; i < length; i++) {
            const uint64_t *row = rows + i * words;
            uint32_t its;
            if (i && same(row, row - words, words)) {
                its = (uint32_t)number[i - 1];
            } else {
                uint64_t at = hash_of(row, words, seed) >> 20 & (room - 1);
                while (slots[at] != NONE && !same(row, rows + (uint64_t)first[slots[at]] * words, words))
                    at = (at + 1) & (room - 1);
                if (slots[at] == NONE) {
                    first[found] = (int64_t)i;
                    slots[at] = (uint32_t)found++;
                }
                its = slots[at];
            }
            number[i] = its;
            last[its] = (int64_t)i;
        }
    }
    free(rows);
    free(slots);
    return found;
}

/* Sums int64 columns, whose values are strides[c] bytes apart, by number -> out[groups][count]. */
EXPORT void grouping_sum(const int64_t *number, uint64_t length, const char *const *columns, const int64_t *strides,
                         uint64_t count, int64_t *out) {
    for (uint64_t c = 0; c < count; c++) {
        const char *at = columns[c];
        for (uint64_t i = 0; i < length; i++, at += strides[c]) {
            uint64_t value;
            memcpy(&value, at, sizeof value);
            int64_t *mine = &out[(uint64_t)number[i] * count + c];
            *mine = (int64_t)((uint64_t)*mine + value);
        }
    }
}

#define KEEP(name, is_it) \
    EXPORT void grouping_##name(const int64_t *number, uint64_t length, const char *at, int64_t stride, int64_t *out) { \
        for (uint64_t i = 0; i < length; i++, at += stride) { \
            int64_t value, *mine = &out[number[i]]; \
            memcpy(&value, at, sizeof value); \
            if (is_it) \
                *mine = value; \
        } \
    }

/* Minimum and maximum of an int64 column by number, including the initial values of out. */
KEEP(least, value < *mine)
KEEP(most, value > *mine)

/* Counts the rows of each number. */
EXPORT void grouping_count(const int64_t *number, uint64_t length, int64_t *out) {
    for (uint64_t i = 0; i < length; i++)
        out[number[i]]++;
}

/* Part of a group: its events that begin in one time step. */
struct part {
    int64_t begin; /* start of the step */
    int64_t start, end, count, ns, bytes;
};

/* Output arrays of parts. */
struct parts {
    int64_t *group, *start, *end, *count, *ns, *bytes;
};

static void write_part(const struct parts *to, uint64_t at, int64_t group, const struct part *part) {
    to->group[at] = group;
    to->start[at] = part->start;
    to->end[at] = part->end;
    to->count[at] = part->count;
    to->ns[at] = part->ns;
    to->bytes[at] = part->bytes;
}

/* Sums events by number and by the time step in which they start. Events of an earlier step after a later one form a
 * separate part. Values of bytes are stride bytes apart. Returns the number of parts, at most length; -1 if out of
 * memory. */
EXPORT int64_t grouping_steps(const int64_t *number, uint64_t groups, uint64_t length, const int64_t *start,
                              const int64_t *duration, const char *bytes, int64_t stride, int64_t step,
                              const struct parts *to) {
    struct part *open = calloc(groups, sizeof *open);
    uint64_t made = 0;
    if (!open)
        return -1;
    for (uint64_t i = 0; i < length;) {
        struct part *part = &open[number[i]];
        int64_t at = start[i], group = number[i];
        if (part->count && (uint64_t)at - (uint64_t)part->begin >= (uint64_t)step) {
            write_part(to, made++, group, part);
            part->count = 0;
        }
        if (!part->count) {
            int64_t over = at % step;
            *part = (struct part){.begin = at - (over < 0 ? over + step : over), .start = at, .end = INT64_MIN};
        }
        struct part now = *part; /* in registers while the part continues */
        for (; i < length && number[i] == group && (uint64_t)start[i] - (uint64_t)now.begin < (uint64_t)step; i++) {
            int64_t end = (int64_t)((uint64_t)start[i] + (uint64_t)duration[i]), moved;
            memcpy(&moved, bytes + (int64_t)i * stride, sizeof moved);
            now.start = start[i] < now.start ? start[i] : now.start;
            now.end = end > now.end ? end : now.end;
            now.count++;
            now.ns = (int64_t)((uint64_t)now.ns + (uint64_t)duration[i]);
            now.bytes = (int64_t)((uint64_t)now.bytes + (uint64_t)moved);
        }
        *part = now;
    }
    for (uint64_t group = 0; group < groups; group++)
        if (open[group].count)
            write_part(to, made++, (int64_t)group, &open[group]);
    free(open);
    return (int64_t)made;
}
