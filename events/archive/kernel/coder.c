/* From calls to terminals and back; coder.py is its interface and says what the fields are.
 *
 * A call is a group (all of it that does not change from call to call: name, thread, depth ...) and a few integers, the
 * fields. What is coded is how much each field has grown since the call before: since the last of the same group, or,
 * for fields of a handle (offset, size), since the last of the same group on the same handle. A file that is written in
 * equal steps, files with a counter in their names, handles that are numbered as they are made: all become the same
 * terminal again and again. Source: seed 004, offsets i * a + b within a process; here for every integer of a call.
 *
 * A growth that is seen for the first time is a literal: it stands in a list of its own, and the terminal says only that
 * there is one. Seen twice it gets terminals of its own, so that random offsets do not fill the table of signatures. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define NONE UINT32_MAX
#define MOST_FIELDS 16
#define MOST_TERMINALS (1u << 20)
#define MOST_HANDLES (1u << 16) /* whose last values are remembered; beyond, all begin anew */
#define MOST_GROWTHS 256        /* of one field of one group that have terminals of their own */
#define FILTER (1u << 16)

struct terminal {
    uint32_t group;
    uint32_t literals; /* a bit a field */
    int64_t growth[MOST_FIELDS];
};

struct table {
    uint32_t *slots; /* into an array, by hash; NONE: empty */
    uint32_t mask, used;
};

struct place {
    uint32_t group;
    int64_t handle;
    int64_t last[MOST_FIELDS];
};

struct growth {
    uint32_t group, field;
    int64_t by;
};

struct list {
    int64_t *values;
    uint64_t length, room, read;
};

struct coder {
    uint32_t fields, first_of_handle; /* fields from first_of_handle on are the handle's; field 0 is the handle */
    struct terminal *terminals;
    uint32_t terminal_count, terminal_room;
    struct table terminal_table;
    int64_t (*last)[MOST_FIELDS]; /* of each group */
    uint16_t (*growths)[MOST_FIELDS]; /* how many have terminals of their own */
    uint32_t group_room;
    struct place *places;
    uint32_t place_count, place_room;
    struct table place_table;
    struct growth *known;
    uint32_t known_count, known_room;
    struct table known_table;
    uint32_t *filter; /* hashes of growths that were seen once */
    struct list literals[MOST_FIELDS];
    bool failed;
};

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static bool table_new(struct table *table, uint32_t size) {
    table->slots = malloc((size_t)size * sizeof *table->slots);
    table->mask = size - 1;
    table->used = 0;
    if (table->slots)
        memset(table->slots, 0xff, (size_t)size * sizeof *table->slots);
    return table->slots != NULL;
}

static void *grown(struct coder *c, void *array, uint32_t *room, uint32_t wanted, size_t size) {
    uint32_t more = *room ? *room : 64;
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

static uint64_t hash_terminal(const struct coder *c, uint32_t group, uint32_t literals, const int64_t *growth) {
    uint64_t hash = mix(group, literals);
    for (uint32_t i = 0; i < c->fields; i++)
        hash = growth[i] ? mix(hash + i, (uint64_t)growth[i]) : hash;
    return hash;
}

static uint32_t *find_terminal(struct coder *c, uint32_t group, uint32_t literals, const int64_t *growth) {
    struct table *table = &c->terminal_table;
    uint32_t slot = (uint32_t)(hash_terminal(c, group, literals, growth) >> 32) & table->mask;
    for (; table->slots[slot] != NONE; slot = (slot + 1) & table->mask) {
        const struct terminal *terminal = &c->terminals[table->slots[slot]];
        if (terminal->group == group && terminal->literals == literals &&
            memcmp(terminal->growth, growth, c->fields * sizeof *growth) == 0)
            break;
    }
    return &table->slots[slot];
}

static bool grow_terminals(struct coder *c) {
    struct table old = c->terminal_table;
    if (!table_new(&c->terminal_table, 2 * (old.mask + 1))) {
        c->terminal_table = old;
        c->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < c->terminal_count; i++) {
        const struct terminal *each = &c->terminals[i];
        *find_terminal(c, each->group, each->literals, each->growth) = i;
    }
    free(old.slots);
    return true;
}

static uint32_t terminal_for(struct coder *c, uint32_t group, uint32_t literals, const int64_t *growth) {
    uint32_t *slot = find_terminal(c, group, literals, growth);
    if (*slot != NONE)
        return *slot;
    if (2 * (c->terminal_count + 1) > c->terminal_table.mask) {
        if (!grow_terminals(c))
            return 0;
        slot = find_terminal(c, group, literals, growth);
    }
    if (c->terminal_count == c->terminal_room)
        c->terminals = grown(c, c->terminals, &c->terminal_room, c->terminal_count + 1, sizeof *c->terminals);
    if (c->failed)
        return 0;
    struct terminal *made = &c->terminals[c->terminal_count];
    *made = (struct terminal){.group = group, .literals = literals};
    memcpy(made->growth, growth, c->fields * sizeof *growth);
    *slot = c->terminal_count;
    return c->terminal_count++;
}

/* ---- what fields were last ---- */

static int64_t *last_of_group(struct coder *c, uint32_t group) {
    if (group >= c->group_room) {
        uint32_t room = c->group_room;
        c->last = grown(c, c->last, &room, group + 1, sizeof *c->last);
        if (c->failed)
            return NULL;
        c->growths = grown(c, c->growths, &c->group_room, group + 1, sizeof *c->growths);
        if (c->failed)
            return NULL;
    }
    return c->last[group];
}

static uint32_t place_slot(const struct coder *c, uint32_t group, int64_t handle) {
    const struct table *table = &c->place_table;
    uint32_t slot = (uint32_t)(mix(mix(group, 7), (uint64_t)handle) >> 32) & table->mask;
    for (; table->slots[slot] != NONE; slot = (slot + 1) & table->mask) {
        const struct place *place = &c->places[table->slots[slot]];
        if (place->group == group && place->handle == handle)
            break;
    }
    return slot;
}

static bool grow_places(struct coder *c) {
    struct table old = c->place_table;
    if (!table_new(&c->place_table, 2 * (old.mask + 1))) {
        c->place_table = old;
        c->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < c->place_count; i++)
        c->place_table.slots[place_slot(c, c->places[i].group, c->places[i].handle)] = i;
    free(old.slots);
    return true;
}

static int64_t *last_of_handle(struct coder *c, uint32_t group, int64_t handle) {
    uint32_t slot = place_slot(c, group, handle);
    if (c->place_table.slots[slot] != NONE)
        return c->places[c->place_table.slots[slot]].last;
    if (c->place_count == MOST_HANDLES) {
        memset(c->place_table.slots, 0xff, (size_t)(c->place_table.mask + 1) * sizeof *c->place_table.slots);
        c->place_count = 0;
    } else if (2 * (c->place_count + 1) > c->place_table.mask && !grow_places(c)) {
        return NULL;
    }
    if (c->place_count == c->place_room)
        c->places = grown(c, c->places, &c->place_room, c->place_count + 1, sizeof *c->places);
    if (c->failed)
        return NULL;
    struct place *made = &c->places[c->place_count];
    *made = (struct place){.group = group, .handle = handle};
    c->place_table.slots[place_slot(c, group, handle)] = c->place_count++;
    return made->last;
}

/* ---- which growths have terminals of their own ---- */

static bool is_known(struct coder *c, uint32_t group, uint32_t field, int64_t by) {
    struct table *table = &c->known_table;
    uint64_t hash = mix(mix(group, field), (uint64_t)by);
    uint32_t slot = (uint32_t)(hash >> 32) & table->mask;
    for (; table->slots[slot] != NONE; slot = (slot + 1) & table->mask) {
        const struct growth *growth = &c->known[table->slots[slot]];
        if (growth->group == group && growth->field == field && growth->by == by)
            return true;
    }
    uint32_t *seen = &c->filter[(uint32_t)hash & (FILTER - 1)], mark = (uint32_t)(hash >> 32) | 1;
    if (*seen != mark) {
        *seen = mark;
        return false;
    }
    if (c->growths[group][field] == MOST_GROWTHS)
        return false;
    if (2 * (c->known_count + 1) > table->mask) {
        struct table old = *table;
        if (!table_new(table, 2 * (old.mask + 1))) {
            *table = old;
            c->failed = true;
            return false;
        }
        for (uint32_t i = 0; i < c->known_count; i++) {
            const struct growth *each = &c->known[i];
            uint32_t at = (uint32_t)(mix(mix(each->group, each->field), (uint64_t)each->by) >> 32) & table->mask;
            while (table->slots[at] != NONE)
                at = (at + 1) & table->mask;
            table->slots[at] = i;
        }
        free(old.slots);
        for (slot = (uint32_t)(hash >> 32) & table->mask; table->slots[slot] != NONE;)
            slot = (slot + 1) & table->mask;
    }
    if (c->known_count == c->known_room)
        c->known = grown(c, c->known, &c->known_room, c->known_count + 1, sizeof *c->known);
    if (c->failed)
        return false;
    c->known[c->known_count] = (struct growth){group, field, by};
    table->slots[slot] = c->known_count++;
    c->growths[group][field]++;
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
    for (int i = 0; i < MOST_FIELDS; i++)
        free(c->literals[i].values);
    free(c->terminal_table.slots);
    free(c->place_table.slots);
    free(c->known_table.slots);
    free(c->terminals);
    free(c->last);
    free(c->growths);
    free(c->places);
    free(c->known);
    free(c->filter);
    free(c);
}

EXPORT struct coder *coder_new(uint32_t fields, uint32_t first_of_handle) {
    struct coder *c = fields <= MOST_FIELDS ? calloc(1, sizeof *c) : NULL;
    if (!c)
        return NULL;
    c->fields = fields;
    c->first_of_handle = first_of_handle;
    c->filter = calloc(FILTER, sizeof *c->filter);
    bool made = table_new(&c->terminal_table, 128) && table_new(&c->place_table, 128) &&
                table_new(&c->known_table, 128);
    if (!made || !c->filter) {
        coder_free(c);
        return NULL;
    }
    return c;
}

/* Codes calls: groups[length], fields[length][c->fields] -> terminals[length]. Returns how many it took: fewer than
 * length when MOST_TERMINALS are in use (a new section is due) or memory has run out. */
EXPORT uint64_t coder_feed(struct coder *c, const uint32_t *groups, const int64_t *fields, uint64_t length,
                           int32_t *terminals) {
    for (uint64_t i = 0; i < length; i++) {
        const int64_t *value = fields + i * c->fields;
        uint32_t group = groups[i], literals = 0;
        int64_t growth[MOST_FIELDS];
        if (c->terminal_count == MOST_TERMINALS)
            return i;
        int64_t *last = last_of_group(c, group);
        int64_t *of_handle = last ? last_of_handle(c, group, value[0]) : NULL;
        if (c->failed)
            return i;
        for (uint32_t field = 0; field < c->fields; field++) {
            int64_t *before = field < c->first_of_handle ? &last[field] : &of_handle[field];
            growth[field] = (int64_t)((uint64_t)value[field] - (uint64_t)*before);
            *before = value[field];
        }
        uint32_t found = *find_terminal(c, group, 0, growth);
        if (found == NONE) {
            for (uint32_t field = 0; field < c->fields; field++) {
                if (growth[field] && !is_known(c, group, field, growth[field])) {
                    add_literal(c, field, growth[field]);
                    literals |= 1u << field;
                    growth[field] = 0;
                }
            }
            found = terminal_for(c, group, literals, growth);
        }
        if (c->failed)
            return i;
        terminals[i] = (int32_t)found;
    }
    return length;
}

EXPORT bool coder_failed(const struct coder *c) {
    return c->failed;
}

EXPORT uint32_t coder_terminals(const struct coder *c) {
    return c->terminal_count;
}

/* Writes terminals from first on: groups, literals (bits) and growths[count][c->fields]. */
EXPORT void coder_write(const struct coder *c, uint32_t first, uint32_t *groups, uint32_t *literals, int64_t *growths) {
    for (uint32_t i = first; i < c->terminal_count; i++) {
        *groups++ = c->terminals[i].group;
        *literals++ = c->terminals[i].literals;
        memcpy(growths, c->terminals[i].growth, c->fields * sizeof *growths);
        growths += c->fields;
    }
}

EXPORT uint64_t coder_literals(const struct coder *c, uint32_t field) {
    return c->literals[field].length;
}

/* Hands out a field's literals, and forgets them. */
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

/* Decodes terminals: -> groups[length], fields[length][c->fields]. Returns how many: fewer than length at a terminal
 * that is not defined, or whose literal is missing. */
EXPORT uint64_t coder_decode(struct coder *c, const int32_t *terminals, uint64_t length, uint32_t *groups,
                             int64_t *fields) {
    for (uint64_t i = 0; i < length; i++) {
        if (terminals[i] < 0 || (uint32_t)terminals[i] >= c->terminal_count)
            return i;
        const struct terminal *terminal = &c->terminals[terminals[i]];
        int64_t growth[MOST_FIELDS];
        for (uint32_t field = 0; field < c->fields; field++) {
            struct list *list = &c->literals[field];
            growth[field] = terminal->growth[field];
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
            int64_t *before = field < c->first_of_handle ? &last[field] : &of_handle[field];
            *before = (int64_t)((uint64_t)*before + (uint64_t)growth[field]);
            fields[i * c->fields + field] = *before;
        }
    }
    return length;
}
