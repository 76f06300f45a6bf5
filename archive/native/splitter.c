/* Splits the columns of a batch into groups and fields; splitter.py is its interface, splitter_fallback.py its
 * fallback.
 *
 * A group is the constant part of a call. Its values are packed into four words; groups are numbered in order of
 * appearance. Names and signatures are given by the section's numbers (call_of, template_of). Processing stops at a
 * row whose name or signature has no number yet, so that one can be assigned. */
#include "coder.h"
#include "table.h"

#define EXPORT __attribute__((visibility("default")))
#define INTEGERS 6 /* per signature */
#define FIELDS 12
#define FIRST_OF_HANDLE 9
#define OF_HANDLE (FIELDS - FIRST_OF_HANDLE)
#define STATIC 10
#define BLOCK 256 /* rows that are split and then encoded */

enum column { CALL, LAYER, KIND, DEPTH, ERRNO, FLAGS, SIGNATURE, PID, TID, RANK, HANDLE, PARENT, FILE_, OFFSET,
              REQUESTED, BYTES, COLUMNS };

/* A batch: column by column, stride 0 for a constant column; filled in by splitter.py. */
struct batch {
    const char *at[COLUMNS];
    int64_t stride[COLUMNS];
    const int32_t *call_of, *template_of; /* by number; -1: not known yet */
    const int64_t *integers;              /* [INTEGERS] of each signature */
    uint64_t call_room, signature_room;   /* sizes of those tables */
    uint64_t call_count, signature_count; /* number of defined numbers: higher ones count as 0 */
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

static inline bool same_key(const struct key *one, const struct key *two) {
    return !((one->words[0] ^ two->words[0]) | (one->words[1] ^ two->words[1]) | (one->words[2] ^ two->words[2]) |
             (one->words[3] ^ two->words[3]));
}

/* Returns the number of a group, NONE if memory has run out. */
static uint32_t group_of(struct splitter *s, const struct key *key) {
    uint64_t hash64 = 0;
    for (int i = 0; i < 4; i++)
        hash64 = mix(hash64, key->words[i]);
    uint32_t hash = (uint32_t)(hash64 >> 32);
    TABLE_FIND(found, &s->table, hash, same_key(&s->keys[found->at], key));
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

/* Returns whether all given columns are constant. */
static bool same_throughout(const struct batch *b, const enum column *columns, int count) {
    for (int i = 0; i < count; i++)
        if (b->stride[columns[i]])
            return false;
    return true;
}

static const enum column KINDS[] = {LAYER, KIND, DEPTH, ERRNO, FLAGS}, THREADS[] = {PID, TID, RANK};
static const enum column REST[] = {CALL, SIGNATURE, HANDLE, PARENT, FILE_}; /* except the handle's fields */

/* Parts of a key that are constant need to be read only once. */
struct reading {
    struct key key;
    bool kinds, threads; /* are constant */
};

static void read_kinds(const struct batch *b, uint64_t i, struct key *key) {
    key->words[0] = READ(uint8_t, b, LAYER, i) | (uint64_t)READ(uint8_t, b, KIND, i) << 8 |
                    (uint64_t)READ(uint8_t, b, DEPTH, i) << 16 | (uint64_t)READ(uint16_t, b, ERRNO, i) << 24 |
                    (uint64_t)READ(uint16_t, b, FLAGS, i) << 40;
}

static void read_threads(const struct batch *b, uint64_t i, struct key *key) {
    key->words[2] = READ(uint32_t, b, PID, i) | (uint64_t)READ(uint32_t, b, TID, i) << 32;
    key->words[3] = READ(uint32_t, b, RANK, i);
}

/* Reads the handle's fields: -> fields[length][OF_HANDLE]. */
static void read_of_handle(const struct batch *b, uint64_t first, uint64_t length, int64_t *fields) {
    for (uint64_t i = first; i < first + length; i++, fields += OF_HANDLE) {
        int64_t requested = READ(int64_t, b, REQUESTED, i), bytes = READ(int64_t, b, BYTES, i);
        fields[0] = READ(int64_t, b, OFFSET, i);
        fields[1] = requested;
        fields[2] = (int64_t)((uint64_t)requested - (uint64_t)bytes);
    }
}

/* Splits rows from first on: -> groups[length], fields[length][FIELDS]. Returns the number split: fewer than length
 * at a row whose name or signature has no number, or, with *failed set, if memory has run out. */
static uint64_t split_rows(struct splitter *s, const struct batch *b, uint64_t first, uint64_t length, uint32_t *groups,
                           int64_t *fields, bool *failed) {
    struct key last = {{UINT64_MAX, 0, 0, 0}}; /* matches no row */
    struct reading reading = {.kinds = same_throughout(b, KINDS, sizeof KINDS / sizeof *KINDS),
                              .threads = same_throughout(b, THREADS, sizeof THREADS / sizeof *THREADS)};
    uint32_t group = 0;
    *failed = false;
    if (length) {
        read_kinds(b, first, &reading.key);
        read_threads(b, first, &reading.key);
    }
    for (uint64_t done = 0; done < length; done++, fields += FIELDS) {
        uint64_t i = first + done;
        uint64_t call = READ(uint32_t, b, CALL, i), signature = READ(uint32_t, b, SIGNATURE, i);
        call = call < b->call_count ? call : 0;
        signature = signature < b->signature_count ? signature : 0;
        if (call >= b->call_room || b->call_of[call] < 0 || signature >= b->signature_room ||
            b->template_of[signature] < 0)
            return done;
        if (!reading.kinds)
            read_kinds(b, i, &reading.key);
        if (!reading.threads)
            read_threads(b, i, &reading.key);
        reading.key.words[1] = (uint32_t)b->call_of[call] | (uint64_t)(uint32_t)b->template_of[signature] << 32;
        if (!same_key(&reading.key, &last)) {
            group = group_of(s, &reading.key);
            if (group == NONE) {
                *failed = true;
                return done;
            }
            last = reading.key;
        }
        groups[done] = group;
        fields[0] = READ(uint32_t, b, HANDLE, i);
        fields[1] = READ(uint32_t, b, PARENT, i);
        fields[2] = READ(uint32_t, b, FILE_, i);
        memcpy(fields + 3, b->integers + signature * INTEGERS, INTEGERS * sizeof *fields);
        read_of_handle(b, i, 1, fields + FIRST_OF_HANDLE);
    }
    return length;
}

/* Returns whether rows differ only in the handle's fields. */
static bool rows_are_alike(const struct batch *b) {
    return same_throughout(b, KINDS, sizeof KINDS / sizeof *KINDS) &&
           same_throughout(b, THREADS, sizeof THREADS / sizeof *THREADS) &&
           same_throughout(b, REST, sizeof REST / sizeof *REST);
}

/* Splits rows, see split_rows. */
EXPORT uint64_t splitter_feed(struct splitter *s, const struct batch *b, uint64_t length, uint32_t *groups,
                              int64_t *fields, bool *failed) {
    return split_rows(s, b, 0, length, groups, fields, failed);
}

/* Splits and encodes rows: -> terminals[length]. Returns the number encoded: fewer than length if splitter_feed or
 * coder_feed accepts fewer; *full is set for the coder. Intermediate results stay in the cache. */
EXPORT uint64_t splitter_code(struct splitter *s, struct coder *coder, const struct batch *b, uint64_t length,
                              int32_t *terminals, bool *full, bool *failed) {
    uint32_t groups[BLOCK];
    int64_t fields[BLOCK * FIELDS];
    bool alike = rows_are_alike(b);
    *full = *failed = false;
    for (uint64_t done = 0; done < length;) {
        uint64_t wanted = alike && !done ? 1 : length - done < BLOCK ? length - done : BLOCK, split = wanted, coded;
        if (alike && done) { /* the first row is still in groups and fields */
            int64_t of_handle[BLOCK * OF_HANDLE];
            read_of_handle(b, done, wanted, of_handle);
            coded = coder_feed_alike(coder, *groups, *fields, of_handle, wanted, terminals + done);
        } else {
            split = split_rows(s, b, done, wanted, groups, fields, failed);
            coded = coder_feed(coder, groups, fields, split, terminals + done);
        }
        done += coded;
        *full = coded < split;
        if (split < wanted || *full)
            return done;
    }
    return length;
}

/* Approximate memory use. */
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
