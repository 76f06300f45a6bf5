/* Hash table with open addressing over the rows of an array: slots contain the row's hash, so that few other rows
 * are compared. */
#ifndef IOTIDE_TABLE_H
#define IOTIDE_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

struct slot {
    uint32_t hash, at; /* at: the row; NONE: empty */
};

struct table {
    struct slot *slots;
    uint32_t mask;
};

static inline uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Searches the slots for a row with this hash; ends at its slot, or at the empty one for inserting it. */
#define TABLE_FIND(name, table, wanted, is_it) \
    struct slot *name = &(table)->slots[(wanted) & (table)->mask]; \
    while (name->at != NONE && !(name->hash == (wanted) && (is_it))) \
        name = name == &(table)->slots[(table)->mask] ? (table)->slots : name + 1

static inline void table_clear(struct table *table) {
    memset(table->slots, 0xff, ((size_t)table->mask + 1) * sizeof *table->slots);
}

static inline bool table_new(struct table *table, uint32_t size) {
    table->slots = malloc((size_t)size * sizeof *table->slots);
    table->mask = size - 1;
    if (table->slots)
        table_clear(table);
    return table->slots != NULL;
}

/* Makes room for one more row; false: out of memory, and the table is unchanged. */
static inline bool table_reserve(struct table *table, uint32_t rows) {
    struct table old = *table;
    if (2 * ((uint64_t)rows + 1) <= old.mask)
        return true;
    if (!table_new(table, 2 * (old.mask + 1))) {
        *table = old;
        return false;
    }
    for (uint32_t i = 0; i <= old.mask; i++) {
        if (old.slots[i].at == NONE)
            continue;
        TABLE_FIND(slot, table, old.slots[i].hash, false);
        *slot = old.slots[i];
    }
    free(old.slots);
    return true;
}

#endif
