/* From the columns of a batch to groups and fields; splitter.py is its interface, splitter_twin.py its twin.
 *
 * A group is all of a call that does not change from call to call. Its values are packed into four words; groups are
 * numbered as they are met. Names and signatures come in as what the section numbers them by (call_of, template_of);
 * a row whose name or signature is not numbered yet ends the work, so that it can be. */
#include "table.h"

#define EXPORT __attribute__((visibility("default")))
#define INTEGERS 6 /* of a signature */
#define FIELDS 12
#define STATIC 10

enum column { CALL, LAYER, KIND, DEPTH, ERRNO, FLAGS, SIGNATURE, PID, TID, RANK, HANDLE, PARENT, FILE_, OFFSET,
              REQUESTED, BYTES, COLUMNS };

/* A batch: column after column, 0 between rows where one value stands for all; splitter.py fills it in. */
struct batch {
    const char *at[COLUMNS];
    int64_t stride[COLUMNS];
    const int32_t *call_of, *template_of; /* by number; -1: not known yet */
    const int64_t *integers;              /* [INTEGERS] of each signature */
    uint64_t call_room, signature_room;   /* of those tables */
    uint64_t call_count, signature_count; /* how many numbers are defined: those from there on count as 0 */
};

struct key {
    uint64_t words[4];
};

struct splitter {
    struct key *keys;
    uint32_t count, room;
    struct table table;
};

/* Rows of a message from the network need not be aligned. */
#define READ(type, batch, column, row) \
    ({ type value_; memcpy(&value_, (batch)->at[column] + (int64_t)(row) * (batch)->stride[column], sizeof value_); \
       value_; })

/* Returns the number of a group, NONE when memory has run out. */
static uint32_t group_of(struct splitter *s, const struct key *key) {
    uint64_t hash64 = 0;
    for (int i = 0; i < 4; i++)
        hash64 = mix(hash64, key->words[i]);
    uint32_t hash = (uint32_t)(hash64 >> 32);
    TABLE_FIND(found, &s->table, hash, memcmp(&s->keys[found->at], key, sizeof *key) == 0);
    if (found->at != NONE)
        return found->at;
    if (s->count == s->room) {
        uint32_t room = s->room ? 2 * s->room : 4;
        struct key *keys = realloc(s->keys, room * sizeof *keys);
        if (!keys)
            return NONE;
        s->keys = keys;
        s->room = room;
    }
    if (!table_reserve(&s->table, s->count))
        return NONE;
    s->keys[s->count] = *key;
    TABLE_FIND(slot, &s->table, hash, false);
    *slot = (struct slot){hash, s->count};
    return s->count++;
}

EXPORT void splitter_free(struct splitter *s) {
    free(s->keys);
    free(s->table.slots);
    free(s);
}

EXPORT struct splitter *splitter_new(void) {
    struct splitter *s = calloc(1, sizeof *s);
    if (s && !table_new(&s->table, 16)) {
        splitter_free(s);
        return NULL;
    }
    return s;
}

/* Splits rows: -> groups[length], fields[length][FIELDS]. Returns how many: fewer than length at a row whose name or
 * signature is not numbered, or, with *failed set, when memory has run out. */
EXPORT uint64_t splitter_feed(struct splitter *s, const struct batch *b, uint64_t length, uint32_t *groups,
                              int64_t *fields, bool *failed) {
    struct key last = {{UINT64_MAX, 0, 0, 0}}; /* of no row */
    uint32_t group = 0;
    *failed = false;
    for (uint64_t i = 0; i < length; i++, fields += FIELDS) {
        uint64_t call = READ(uint32_t, b, CALL, i), signature = READ(uint32_t, b, SIGNATURE, i);
        call = call < b->call_count ? call : 0;
        signature = signature < b->signature_count ? signature : 0;
        if (call >= b->call_room || b->call_of[call] < 0 || signature >= b->signature_room ||
            b->template_of[signature] < 0)
            return i;
        struct key key = {{
            READ(uint8_t, b, LAYER, i) | (uint64_t)READ(uint8_t, b, KIND, i) << 8 |
                (uint64_t)READ(uint8_t, b, DEPTH, i) << 16 | (uint64_t)READ(uint16_t, b, ERRNO, i) << 24 |
                (uint64_t)READ(uint16_t, b, FLAGS, i) << 40,
            (uint32_t)b->call_of[call] | (uint64_t)(uint32_t)b->template_of[signature] << 32,
            READ(uint32_t, b, PID, i) | (uint64_t)READ(uint32_t, b, TID, i) << 32,
            READ(uint32_t, b, RANK, i),
        }};
        if (memcmp(&key, &last, sizeof key)) {
            group = group_of(s, &key);
            if (group == NONE) {
                *failed = true;
                return i;
            }
            last = key;
        }
        groups[i] = group;
        int64_t requested = READ(int64_t, b, REQUESTED, i), bytes = READ(int64_t, b, BYTES, i);
        fields[0] = READ(uint32_t, b, HANDLE, i);
        fields[1] = READ(uint32_t, b, PARENT, i);
        fields[2] = READ(uint32_t, b, FILE_, i);
        memcpy(fields + 3, b->integers + signature * INTEGERS, INTEGERS * sizeof *fields);
        fields[9] = READ(int64_t, b, OFFSET, i);
        fields[10] = requested;
        fields[11] = (int64_t)((uint64_t)requested - (uint64_t)bytes);
    }
    return length;
}

/* About the memory that it takes. */
EXPORT uint64_t splitter_bytes(const struct splitter *s) {
    return sizeof *s + s->room * sizeof *s->keys + ((uint64_t)s->table.mask + 1) * sizeof *s->table.slots;
}

EXPORT uint32_t splitter_groups(const struct splitter *s) {
    return s->count;
}

/* Writes all groups: rows[count][STATIC]: call, layer, kind, depth, errno, flags, template, pid, tid, rank. */
EXPORT void splitter_write(const struct splitter *s, int64_t *rows) {
    for (uint32_t i = 0; i < s->count; i++, rows += STATIC) {
        const uint64_t *w = s->keys[i].words;
        const int64_t row[STATIC] = {
            (uint32_t)w[1], w[0] & 0xff, w[0] >> 8 & 0xff, w[0] >> 16 & 0xff, w[0] >> 24 & 0xffff, w[0] >> 40,
            w[1] >> 32, (int32_t)w[2], (int32_t)(w[2] >> 32), (int32_t)w[3],
        };
        memcpy(rows, row, sizeof row);
    }
}
