/* Encodes calls as terminals and decodes them; coder.py is its interface and defines the fields.
 *
 * A call is a group (all its constant values: name, thread, depth ...) and a few integers, the fields. Each field is
 * coded by its growth since the previous call: of the same group, or, for fields of a handle (offset, size), of the
 * same group on the same handle. A file written in equal steps, files with a counter in their names, handles
 * numbered in order of creation: all become the same terminal repeatedly. Source: [Recorder], offsets i * a + b
 * within a process; here for every integer of a call.
 *
 * A growth seen for the first time is a literal: its value is in a separate list, and the terminal only marks it.
 * Seen twice it gets its own terminals, so that random offsets do not fill the table of signatures. The same applies
 * to combinations of growths. */
#include "coder.h"
#include "table.h"

#define EXPORT __attribute__((visibility("default")))
#define MAX_FIELDS 16
#define MAX_TERMINALS (1u << 20)
#define MAX_HANDLES (1u << 16) /* maximum handles with remembered last values; beyond, all are reset */
#define MAX_GROWTHS 256        /* maximum growths with their own terminals per field and group */
#define MIN_FILTER (1u << 8)
#define MAX_FILTER (1u << 16)
#define GUESSES 16
#define USUAL_FIELDS 12 /* fields of a call, as in columns.py */
#define USUAL_FIRST 9
#define OF_HANDLE (USUAL_FIELDS - USUAL_FIRST)

struct terminal {
    uint32_t group;
    uint32_t literals; /* one bit per field */
};

struct place {
    uint32_t group;
    int64_t handle;
};

struct growth {
    uint32_t group, field;
    int64_t by;
};

/* Location of a group's last call; a guess that must be verified. */
struct guess {
    uint32_t place, terminal;
};

struct list {
    int64_t *values;
    uint64_t length, room, read;
};

struct coder {
    uint32_t fields, first_of_handle; /* fields from first_of_handle on belong to the handle; field 0 is the handle */
    struct terminal *terminals;
    int64_t *growths; /* [fields] of each terminal */
    uint32_t terminal_count, terminal_room, growth_room;
    struct table terminal_table;
    int64_t *last;         /* [first_of_handle] of each group */
    uint16_t *known_count; /* [fields] of each group: number of growths with their own terminals */
    uint32_t group_room, known_count_room;
    struct place *places;
    int64_t *last_of_place; /* [fields - first_of_handle] of each place */
    uint32_t place_count, place_room, last_room;
    struct table place_table;
    struct growth *known;
    uint32_t known_number, known_room;
    struct table known_table;
    uint32_t *filter; /* hashes of combinations seen once */
    uint32_t filter_size, filter_used;
    struct list literals[MAX_FIELDS];
    struct guess guesses[GUESSES]; /* by group; several groups share one */
    bool failed;
};

/* Returns the array with room for the wanted number of elements; new ones are 0. */
static void *grown(struct coder *c, void *array, uint32_t *room, uint32_t wanted, size_t size) {
    uint32_t more = *room ? *room : 4;
    if (wanted <= *room)
        return array;
    while (more < wanted)
        more *= 2;
    void *made = realloc(array, more * size);
    if (!made) {
        c->failed = true;
        return array;
    }
    memset((char *)made + *room * size, 0, (more - *room) * size);
    *room = more;
    return made;
}

/* ---- terminals ---- */

static uint32_t hash_terminal(const struct coder *c, uint32_t group, uint32_t literals, const int64_t *growth) {
    uint64_t hash = mix(group, literals);
    for (uint32_t i = 0; i < c->fields; i++)
        hash = growth[i] ? mix(hash + i, (uint64_t)growth[i]) : hash;
    return (uint32_t)(hash >> 32);
}

static inline bool same_growths(const int64_t *one, const int64_t *two, uint32_t fields) {
    uint64_t differs = 0; /* faster than a call of memcmp */
    for (uint32_t i = 0; i < fields; i++)
        differs |= (uint64_t)(one[i] ^ two[i]);
    return !differs;
}

static bool is_terminal(const struct coder *c, uint32_t at, uint32_t group, uint32_t literals, const int64_t *growth) {
    return c->terminals[at].group == group && c->terminals[at].literals == literals &&
           same_growths(c->growths + (size_t)at * c->fields, growth, c->fields);
}

/* Returns its number; NONE: there is none. */
static uint32_t find_terminal(const struct coder *c, uint32_t group, uint32_t literals, const int64_t *growth) {
    uint32_t hash = hash_terminal(c, group, literals, growth);
    TABLE_FIND(slot, &c->terminal_table, hash, is_terminal(c, slot->at, group, literals, growth));
    return slot->at;
}

static uint32_t terminal_for(struct coder *c, uint32_t group, uint32_t literals, const int64_t *growth) {
    uint32_t found = find_terminal(c, group, literals, growth);
    if (found != NONE)
        return found;
    uint32_t made = c->terminal_count, hash = hash_terminal(c, group, literals, growth);
    c->terminals = grown(c, c->terminals, &c->terminal_room, made + 1, sizeof *c->terminals);
    c->growths = grown(c, c->growths, &c->growth_room, made + 1, c->fields * sizeof *growth);
    c->failed = c->failed || !table_reserve(&c->terminal_table, made);
    if (c->failed)
        return 0;
    c->terminals[made] = (struct terminal){group, literals};
    memcpy(c->growths + (size_t)made * c->fields, growth, c->fields * sizeof *growth);
    TABLE_FIND(slot, &c->terminal_table, hash, false);
    *slot = (struct slot){hash, made};
    return c->terminal_count++;
}

/* ---- last values of fields ---- */

static int64_t *last_of_group(struct coder *c, uint32_t group) {
    if (group >= c->group_room) {
        c->last = grown(c, c->last, &c->group_room, group + 1, c->first_of_handle * sizeof *c->last);
        c->known_count =
            grown(c, c->known_count, &c->known_count_room, group + 1, c->fields * sizeof *c->known_count);
        if (c->failed)
            return NULL;
    }
    return c->last + (size_t)group * c->first_of_handle;
}

/* Returns the last values of the handle's fields. */
static int64_t *last_of_handle(struct coder *c, uint32_t group, int64_t handle) {
    uint32_t hash = (uint32_t)(mix(mix(group, 7), (uint64_t)handle) >> 32), width = c->fields - c->first_of_handle;
    TABLE_FIND(found, &c->place_table, hash, c->places[found->at].group == group && c->places[found->at].handle == handle);
    if (found->at != NONE)
        return c->last_of_place + (size_t)found->at * width;
    if (c->place_count == MAX_HANDLES) {
        table_clear(&c->place_table);
        c->place_count = 0;
    }
    uint32_t made = c->place_count;
    c->places = grown(c, c->places, &c->place_room, made + 1, sizeof *c->places);
    c->last_of_place = grown(c, c->last_of_place, &c->last_room, made + 1, (width ? width : 1) * sizeof(int64_t));
    c->failed = c->failed || !table_reserve(&c->place_table, made);
    if (c->failed)
        return NULL;
    c->places[made] = (struct place){group, handle};
    memset(c->last_of_place + (size_t)made * width, 0, width * sizeof(int64_t));
    TABLE_FIND(slot, &c->place_table, hash, false);
    *slot = (struct slot){hash, c->place_count++};
    return c->last_of_place + (size_t)made * width;
}

/* The same, checking the last location first. */
static int64_t *guessed_handle(struct coder *c, struct guess *guess, uint32_t group, int64_t handle) {
    uint32_t width = c->fields - c->first_of_handle, place = guess->place;
    if (place < c->place_count && c->places[place].group == group && c->places[place].handle == handle)
        return c->last_of_place + (size_t)place * width;
    int64_t *found = last_of_handle(c, group, handle);
    guess->place = found ? (uint32_t)((found - c->last_of_place) / (width ? width : 1)) : 0;
    return found;
}

/* ---- growths with their own terminals ---- */

/* Returns whether a hash was seen before, as far as it is remembered: the filter grows with the number of distinct
 * hashes, and is emptied when it grows. */
static bool was_seen(struct coder *c, uint64_t hash) {
    if (c->filter_used == c->filter_size && c->filter_size < MAX_FILTER) {
        uint32_t size = c->filter_size ? 2 * c->filter_size : MIN_FILTER;
        uint32_t *filter = calloc(size, sizeof *filter);
        if (!filter) {
            c->failed = true;
            return false;
        }
        free(c->filter);
        c->filter = filter;
        c->filter_size = size;
        c->filter_used = 0;
    }
    uint32_t *seen = &c->filter[(uint32_t)hash & (c->filter_size - 1)], mark = (uint32_t)(hash >> 32) | 1;
    if (*seen == mark)
        return true;
    *seen = mark;
    c->filter_used += c->filter_size < MAX_FILTER;
    return false;
}

static bool is_known(struct coder *c, uint32_t group, uint32_t field, int64_t by) {
    uint64_t whole = mix(mix(group, field), (uint64_t)by);
    uint32_t hash = (uint32_t)(whole >> 32), made = c->known_number;
    TABLE_FIND(found, &c->known_table, hash,
               c->known[found->at].group == group && c->known[found->at].field == field && c->known[found->at].by == by);
    if (found->at != NONE)
        return true;
    uint16_t *count = &c->known_count[(size_t)group * c->fields + field];
    if (!was_seen(c, whole) || *count == MAX_GROWTHS)
        return false;
    c->known = grown(c, c->known, &c->known_room, made + 1, sizeof *c->known);
    c->failed = c->failed || !table_reserve(&c->known_table, made);
    if (c->failed)
        return false;
    c->known[made] = (struct growth){group, field, by};
    TABLE_FIND(slot, &c->known_table, hash, false);
    *slot = (struct slot){hash, c->known_number++};
    ++*count;
    return true;
}

static void add_literal(struct coder *c, uint32_t field, int64_t value) {
    struct list *list = &c->literals[field];
    if (list->length == list->room) {
        uint64_t room = list->room ? 2 * list->room : 64;
        int64_t *values = realloc(list->values, room * sizeof *values);
        if (!values) {
            c->failed = true;
            return;
        }
        list->values = values;
        list->room = room;
    }
    list->values[list->length++] = value;
}

/* ---- interface ---- */

EXPORT void coder_free(struct coder *c) {
    for (int i = 0; i < MAX_FIELDS; i++)
        free(c->literals[i].values);
    free(c->terminal_table.slots);
    free(c->place_table.slots);
    free(c->known_table.slots);
    free(c->terminals);
    free(c->growths);
    free(c->last);
    free(c->known_count);
    free(c->places);
    free(c->last_of_place);
    free(c->known);
    free(c->filter);
    free(c);
}

EXPORT struct coder *coder_new(uint32_t fields, uint32_t first_of_handle) {
    struct coder *c = fields <= MAX_FIELDS ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    c->fields = fields;
    c->first_of_handle = first_of_handle;
    if (!table_new(&c->terminal_table, 16) || !table_new(&c->place_table, 16) || !table_new(&c->known_table, 16)) {
        coder_free(c);
        return NULL;
    }
    return c;
}

/* Returns the terminal for growths without one: new growths, or new combinations, become literals. */
static uint32_t code(struct coder *c, uint32_t group, int64_t *growth) {
    int64_t by[MAX_FIELDS];
    uint32_t literals = 0, all = 0, kept = 0;
    for (uint32_t field = 0; field < c->fields; field++) {
        by[field] = growth[field];
        if (!growth[field])
            continue;
        all |= 1u << field;
        if (is_known(c, group, field, growth[field])) {
            kept++;
        } else {
            literals |= 1u << field;
            growth[field] = 0;
        }
    }
    uint32_t found = find_terminal(c, group, literals, growth);
    if (found == NONE) {
        uint64_t company = (uint64_t)hash_terminal(c, group, literals, growth) * UINT64_C(0xbf58476d1ce4e5b9);
        if (kept > 1 && !was_seen(c, company)) {
            literals = all;
            memset(growth, 0, c->fields * sizeof *growth);
        }
        found = terminal_for(c, group, literals, growth);
    }
    for (uint32_t field = 0; literals >> field; field++)
        if (literals >> field & 1)
            add_literal(c, field, by[field]);
    return found;
}

/* Returns whether a terminal has these growths and no literals. */
static inline bool is_plain(const struct coder *c, uint32_t at, uint32_t group, const int64_t *growth, uint32_t all) {
    return at < c->terminal_count && c->terminals[at].group == group && !c->terminals[at].literals &&
           same_growths(c->growths + (size_t)at * all, growth, all);
}

/* Returns the terminal of a call, after checking a guess; growth is overwritten. */
static inline uint32_t terminal_of(struct coder *c, struct guess *guess, uint32_t group, int64_t *growth, uint32_t all) {
    if (is_plain(c, guess->terminal, group, growth, all))
        return guess->terminal;
    uint32_t found = find_terminal(c, group, 0, growth);
    if (found == NONE)
        found = code(c, group, growth);
    if (!c->failed)
        guess->terminal = found;
    return found;
}

static inline __attribute__((always_inline)) uint64_t feed(struct coder *c, const uint32_t *groups,
                                                          const int64_t *fields, uint64_t length, int32_t *terminals,
                                                          uint32_t first, uint32_t all) {
    for (uint64_t i = 0; i < length; i++) {
        int64_t now[MAX_FIELDS], before[MAX_FIELDS];
        struct guess *guess = &c->guesses[groups[i] % GUESSES];
        int64_t growth[MAX_FIELDS];
        if (c->terminal_count == MAX_TERMINALS)
            return i;
        int64_t *last = last_of_group(c, groups[i]);
        int64_t *of_handle = last ? guessed_handle(c, guess, groups[i], fields[i * all]) : NULL;
        if (c->failed)
            return i;
        memcpy(now, fields + i * all, all * sizeof *now);
        memcpy(before, last, first * sizeof *now);
        memcpy(before + first, of_handle, (all - first) * sizeof *now);
        memcpy(last, now, first * sizeof *now);
        memcpy(of_handle, now + first, (all - first) * sizeof *now);
        for (uint32_t field = 0; field < all; field++)
            growth[field] = (int64_t)((uint64_t)now[field] - (uint64_t)before[field]);
        terminals[i] = (int32_t)terminal_of(c, guess, groups[i], growth, all);
        if (c->failed)
            return i;
    }
    return length;
}

/* Encodes calls: groups[length], fields[length][c->fields] -> terminals[length]. Returns the number encoded: fewer
 * than length if MAX_TERMINALS are in use (a new section is needed) or memory has run out. */
EXPORT uint64_t coder_feed(struct coder *c, const uint32_t *groups, const int64_t *fields, uint64_t length,
                           int32_t *terminals) {
    if (c->fields == USUAL_FIELDS && c->first_of_handle == USUAL_FIRST) /* as constants, which is much faster */
        return feed(c, groups, fields, length, terminals, USUAL_FIRST, USUAL_FIELDS);
    return feed(c, groups, fields, length, terminals, c->first_of_handle, c->fields);
}

/* Encodes calls that differ from the previous one only in the handle's fields, for the usual number of fields:
 * fields[length][USUAL_FIELDS - USUAL_FIRST] -> terminals[length]. Returns the number encoded, like coder_feed. */
uint64_t coder_feed_alike(struct coder *c, uint32_t group, int64_t handle, const int64_t *fields, uint64_t length,
                          int32_t *terminals) {
    struct guess *guess = &c->guesses[group % GUESSES];
    int64_t *last = guessed_handle(c, guess, group, handle), at[OF_HANDLE];
    const int64_t *expected = NULL; /* growths of the previous terminal, if it has no literals */
    uint64_t done = 0;
    if (c->failed)
        return 0;
    memcpy(at, last, sizeof at);
    for (; done < length && c->terminal_count < MAX_TERMINALS; done++, fields += OF_HANDLE) {
        int64_t growth[USUAL_FIELDS] = {0}, *by = growth + USUAL_FIRST;
        for (int field = 0; field < OF_HANDLE; field++) {
            by[field] = (int64_t)((uint64_t)fields[field] - (uint64_t)at[field]);
            at[field] = fields[field];
        }
        if (!expected || !same_growths(expected, by, OF_HANDLE)) {
            int64_t coded[USUAL_FIELDS];
            memcpy(coded, growth, sizeof coded);
            uint32_t found = terminal_of(c, guess, group, coded, USUAL_FIELDS);
            if (c->failed)
                return done;
            expected = is_plain(c, found, group, growth, USUAL_FIELDS)
                           ? c->growths + (size_t)found * USUAL_FIELDS + USUAL_FIRST
                           : NULL;
        }
        terminals[done] = (int32_t)guess->terminal;
    }
    memcpy(last, at, sizeof at);
    return done;
}

EXPORT bool coder_failed(const struct coder *c) {
    return c->failed;
}

/* Approximate memory use. */
EXPORT uint64_t coder_bytes(const struct coder *c) {
    uint64_t bytes = sizeof *c + (uint64_t)c->filter_size * sizeof *c->filter;
    bytes += c->terminal_room * (sizeof *c->terminals + c->fields * sizeof *c->growths);
    bytes += c->group_room * (c->first_of_handle * sizeof *c->last + c->fields * sizeof *c->known_count);
    bytes += c->place_room * (sizeof *c->places + (c->fields - c->first_of_handle) * sizeof *c->last_of_place);
    bytes += c->known_room * sizeof *c->known;
    bytes += ((uint64_t)c->terminal_table.mask + c->place_table.mask + c->known_table.mask + 3) * sizeof(struct slot);
    for (uint32_t field = 0; field < c->fields; field++)
        bytes += c->literals[field].room * sizeof *c->literals[field].values;
    return bytes;
}

EXPORT uint32_t coder_terminals(const struct coder *c) {
    return c->terminal_count;
}

/* Writes terminals from first on: groups, literals (bits) and growths[count][c->fields]. */
EXPORT void coder_write(const struct coder *c, uint32_t first, uint32_t *groups, uint32_t *literals, int64_t *growths) {
    for (uint32_t i = first; i < c->terminal_count; i++) {
        *groups++ = c->terminals[i].group;
        *literals++ = c->terminals[i].literals;
    }
    if (first < c->terminal_count) /* otherwise there may be no array */
        memcpy(growths, c->growths + (size_t)first * c->fields,
               (size_t)(c->terminal_count - first) * c->fields * sizeof *growths);
}

/* Number of waiting literals, over all fields. */
EXPORT uint64_t coder_all_literals(const struct coder *c) {
    uint64_t count = 0;
    for (uint32_t field = 0; field < c->fields; field++)
        count += c->literals[field].length;
    return count;
}

EXPORT uint64_t coder_literals(const struct coder *c, uint32_t field) {
    return c->literals[field].length;
}

/* Writes a field's literals, and removes them. */
EXPORT void coder_take_literals(struct coder *c, uint32_t field, int64_t *to) {
    memcpy(to, c->literals[field].values, c->literals[field].length * sizeof *to);
    c->literals[field].length = 0;
}

/* Adds terminals as another coder wrote them, for decoding; false: out of memory. */
EXPORT bool coder_define(struct coder *c, uint32_t count, const uint32_t *groups, const uint32_t *literals,
                         const int64_t *growths) {
    for (uint32_t i = 0; i < count && !c->failed; i++)
        terminal_for(c, groups[i], literals[i], growths + (uint64_t)i * c->fields);
    return !c->failed;
}

/* Adds literals for decoding. */
EXPORT bool coder_give_literals(struct coder *c, uint32_t field, const int64_t *values, uint64_t count) {
    for (uint64_t i = 0; i < count && !c->failed; i++)
        add_literal(c, field, values[i]);
    return !c->failed;
}

/* Decodes terminals: -> groups[length], fields[length][c->fields]. Returns the number decoded: fewer than length at
 * an undefined terminal, or one with a missing literal. */
EXPORT uint64_t coder_decode(struct coder *c, const int32_t *terminals, uint64_t length, uint32_t *groups,
                             int64_t *fields) {
    for (uint64_t i = 0; i < length; i++) {
        if (terminals[i] < 0 || (uint32_t)terminals[i] >= c->terminal_count)
            return i;
        const struct terminal *terminal = &c->terminals[terminals[i]];
        const int64_t *known = c->growths + (size_t)terminals[i] * c->fields;
        int64_t growth[MAX_FIELDS];
        for (uint32_t field = 0; field < c->fields; field++) {
            struct list *list = &c->literals[field];
            growth[field] = known[field];
            if (terminal->literals >> field & 1) {
                if (list->read == list->length)
                    return i;
                growth[field] = list->values[list->read++];
            }
        }
        int64_t *last = last_of_group(c, terminal->group);
        if (!last)
            return i;
        int64_t handle = (int64_t)((uint64_t)last[0] + (uint64_t)growth[0]);
        int64_t *of_handle = last_of_handle(c, terminal->group, handle);
        if (!of_handle)
            return i;
        groups[i] = terminal->group;
        for (uint32_t field = 0; field < c->fields; field++) {
            int64_t *before =
                field < c->first_of_handle ? &last[field] : &of_handle[field - c->first_of_handle];
            *before = (int64_t)((uint64_t)*before + (uint64_t)growth[field]);
            fields[i * c->fields + field] = *before;
        }
    }
    return length;
}
