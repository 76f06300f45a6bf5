/* Sequitur with run lengths, over terminals 0, 1, 2 ...; grammar.py is its interface, grammar_fallback.py its
 * fallback.
 *
 * A grammar is a list of rules; rule 0 is the input. A symbol is a terminal or a rule, with a count: x^3 means xxx.
 * Neighbouring symbols differ; no pair of neighbours (with their counts) occurs twice; each rule except the first is
 * used by two symbols, or by one with a count. Source: [Recorder], on the context-free grammar.
 *
 * The run at the end of the input is kept open, so that a repetition costs one addition. If the input has ended in
 * r^k, new input is first compared with r's expansion: a continuing period costs one comparison per call. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define NONE UINT32_MAX

typedef int32_t value_t; /* terminal t: t; rule r: -1 - r */

struct node {
    uint32_t prev, next;
    value_t value;
    uint32_t guard; /* for a guard: its rule + 1; otherwise 0 */
    uint64_t count;
};

struct rule {
    uint32_t guard; /* NONE: free */
    uint32_t uses;  /* symbols that refer to it */
};

struct run {
    value_t value;
    uint64_t count;
};

#define DEEPEST 64

/* A position in the expansion of a rule. */
struct cursor {
    struct place {
        uint32_t node;
        uint64_t left; /* remaining passes through the node's body, including the current one */
    } places[DEEPEST];
    uint32_t depth;
    uint64_t matched; /* runs */
    bool has_next;
    struct run next;
};

struct grammar {
    struct node *nodes;
    uint32_t node_count, node_room, free_node;
    struct rule *rules;
    uint32_t rule_count, rule_room, free_rule, live_rules;
    uint32_t live_nodes;
    uint32_t *index; /* digrams by hash: the first of the two nodes; NONE: empty */
    uint32_t index_mask, index_used;
    value_t open_value; /* the run at the end of the input, which may still grow */
    uint64_t open_count;
    bool expects;   /* the input has ended in a rule, which may be repeated */
    bool repeating; /* it was repeated, so its digram with the preceding symbol is not in the index */
    struct cursor cursor;
    bool failed; /* out of memory */
};

/* ---- nodes and rules ---- */

static uint32_t new_node(struct grammar *g, value_t value, uint64_t count) {
    uint32_t at = g->free_node;
    if (at != NONE) {
        g->free_node = g->nodes[at].next;
    } else {
        if (g->node_count == g->node_room) {
            uint32_t room = 2 * g->node_room;
            struct node *grown = realloc(g->nodes, room * sizeof *grown);
            if (!grown) {
                g->failed = true;
                return 0;
            }
            g->nodes = grown;
            g->node_room = room;
        }
        at = g->node_count++;
    }
    g->nodes[at] = (struct node){NONE, NONE, value, 0, count};
    g->live_nodes++;
    if (value < 0)
        g->rules[-1 - value].uses++;
    return at;
}

static void free_node(struct grammar *g, uint32_t at) {
    if (!g->nodes[at].guard && g->nodes[at].value < 0)
        g->rules[-1 - g->nodes[at].value].uses--;
    g->nodes[at].next = g->free_node;
    g->nodes[at].guard = 0;
    g->free_node = at;
    g->live_nodes--;
}

static void link_nodes(struct grammar *g, uint32_t left, uint32_t right) {
    g->nodes[left].next = right;
    g->nodes[right].prev = left;
}

static uint32_t new_rule(struct grammar *g) {
    uint32_t rule = g->free_rule;
    if (rule != NONE) {
        g->free_rule = g->rules[rule].uses;
    } else {
        if (g->rule_count == g->rule_room) {
            uint32_t room = 2 * g->rule_room;
            struct rule *grown = realloc(g->rules, room * sizeof *grown);
            if (!grown) {
                g->failed = true;
                return 0;
            }
            g->rules = grown;
            g->rule_room = room;
        }
        rule = g->rule_count++;
    }
    uint32_t guard = new_node(g, 0, 0);
    g->nodes[guard].guard = rule + 1;
    link_nodes(g, guard, guard);
    g->rules[rule] = (struct rule){guard, 0};
    g->live_rules++;
    return rule;
}

static void free_rule(struct grammar *g, uint32_t rule) {
    free_node(g, g->rules[rule].guard);
    g->rules[rule] = (struct rule){NONE, g->free_rule};
    g->free_rule = rule;
    g->live_rules--;
}

/* ---- the index of digrams ---- */

static uint32_t hash_pair(const struct node *a, const struct node *b) {
    uint64_t hash = (uint64_t)(uint32_t)a->value * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ hash >> 29 ^ a->count) * UINT64_C(0xbf58476d1ce4e5b9);
    hash = (hash ^ hash >> 32 ^ (uint32_t)b->value) * UINT64_C(0x94d049bb133111eb);
    hash = (hash ^ hash >> 31 ^ b->count) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(hash >> 32);
}

static uint32_t hash_at(const struct grammar *g, uint32_t at) {
    return hash_pair(&g->nodes[at], &g->nodes[g->nodes[at].next]);
}

static bool same_digram(const struct grammar *g, uint32_t a, uint32_t b) {
    const struct node *x = &g->nodes[a], *y = &g->nodes[b];
    const struct node *u = &g->nodes[x->next], *v = &g->nodes[y->next];
    return x->value == y->value && x->count == y->count && u->value == v->value && u->count == v->count;
}

static bool grow_index(struct grammar *g) {
    uint32_t mask = 2 * g->index_mask + 1;
    uint32_t *grown = malloc((size_t)(mask + 1) * sizeof *grown);
    if (!grown) {
        g->failed = true;
        return false;
    }
    memset(grown, 0xff, (size_t)(mask + 1) * sizeof *grown);
    for (uint32_t i = 0; i <= g->index_mask; i++) {
        if (g->index[i] == NONE)
            continue;
        uint32_t slot = hash_at(g, g->index[i]) & mask;
        while (grown[slot] != NONE)
            slot = (slot + 1) & mask;
        grown[slot] = g->index[i];
    }
    free(g->index);
    g->index = grown;
    g->index_mask = mask;
    return true;
}

/* Returns the node of an equal digram, or NONE after adding this one. */
static uint32_t find_or_enter(struct grammar *g, uint32_t at) {
    if (2 * (g->index_used + 1) > g->index_mask && !grow_index(g))
        return NONE;
    uint32_t slot = hash_at(g, at) & g->index_mask;
    for (; g->index[slot] != NONE; slot = (slot + 1) & g->index_mask)
        if (same_digram(g, g->index[slot], at))
            return g->index[slot];
    g->index[slot] = at;
    g->index_used++;
    return NONE;
}

/* Removes the digram that begins at a node from the index, if it is the one stored there. Must precede any change of
 * its two nodes. */
static void leave(struct grammar *g, uint32_t at) {
    if (g->nodes[at].guard || g->nodes[g->nodes[at].next].guard)
        return;
    uint32_t slot = hash_at(g, at) & g->index_mask;
    while (g->index[slot] != at) {
        if (g->index[slot] == NONE)
            return;
        slot = (slot + 1) & g->index_mask;
    }
    /* Colliding entries move up, so that no search ends early. */
    uint32_t hole = slot;
    for (uint32_t next = (hole + 1) & g->index_mask; g->index[next] != NONE; next = (next + 1) & g->index_mask) {
        uint32_t home = hash_at(g, g->index[next]) & g->index_mask;
        if (((next - home) & g->index_mask) >= ((next - hole) & g->index_mask)) {
            g->index[hole] = g->index[next];
            hole = next;
        }
    }
    g->index[hole] = NONE;
    g->index_used--;
}

/* ---- the two invariants of a grammar: no digram twice, no rule used once ---- */

static bool check(struct grammar *g, uint32_t at);

/* Joins a node with its equal right neighbour. */
static void merge(struct grammar *g, uint32_t at) {
    uint32_t next = g->nodes[at].next, prev = g->nodes[at].prev;
    leave(g, prev);
    leave(g, next);
    leave(g, at);
    g->nodes[at].count += g->nodes[next].count;
    link_nodes(g, at, g->nodes[next].next);
    free_node(g, next);
    /* Checking the left digram may change the node: the right one is checked only if it still exists. */
    uint32_t right = g->nodes[at].next;
    if (!check(g, prev) && g->nodes[right].prev == at)
        check(g, at);
}

/* Replaces the two nodes from at on by a rule. */
static void substitute(struct grammar *g, uint32_t at, uint32_t rule) {
    uint32_t second = g->nodes[at].next, prev = g->nodes[at].prev, next = g->nodes[second].next;
    leave(g, prev);
    leave(g, at);
    leave(g, second);
    free_node(g, at);
    free_node(g, second);
    uint32_t made = new_node(g, -1 - (value_t)rule, 1);
    link_nodes(g, prev, made);
    link_nodes(g, made, next);
    if (!check(g, prev) && g->nodes[next].prev == made)
        check(g, made);
}

/* Replaces the only symbol that uses a rule by the rule's body. */
static void inline_rule(struct grammar *g, uint32_t at) {
    uint32_t rule = (uint32_t)(-1 - g->nodes[at].value);
    uint32_t prev = g->nodes[at].prev, next = g->nodes[at].next;
    uint32_t first = g->nodes[g->rules[rule].guard].next, last = g->nodes[g->rules[rule].guard].prev;
    leave(g, prev);
    leave(g, at);
    free_node(g, at);
    free_rule(g, rule);
    link_nodes(g, prev, first);
    link_nodes(g, last, next);
    check(g, prev);
    if (g->nodes[next].prev == last)
        check(g, last);
}

static bool is_used_once(const struct grammar *g, uint32_t at) {
    const struct node *node = &g->nodes[at];
    return !node->guard && node->value < 0 && node->count == 1 && g->rules[-1 - node->value].uses == 1;
}

static void match(struct grammar *g, uint32_t at, uint32_t found) {
    uint32_t rule;
    const struct node *left = &g->nodes[g->nodes[found].prev];
    if (left->guard && left->guard != 1 && g->nodes[g->nodes[g->nodes[found].next].next].guard) {
        rule = left->guard - 1;
        substitute(g, at, rule);
    } else {
        rule = new_rule(g);
        uint32_t guard = g->rules[rule].guard, next = g->nodes[at].next;
        uint32_t first = new_node(g, g->nodes[at].value, g->nodes[at].count);
        uint32_t second = new_node(g, g->nodes[next].value, g->nodes[next].count);
        if (g->failed)
            return;
        link_nodes(g, guard, first);
        link_nodes(g, first, second);
        link_nodes(g, second, guard);
        substitute(g, found, rule);
        find_or_enter(g, first);
        substitute(g, at, rule);
    }
    /* Changes on the way may have removed the rule, or its number may have been reused: tidying any rule is safe. */
    for (int end = 0; end < 2; end++) {
        uint32_t guard = g->rules[rule].guard;
        if (guard == NONE)
            return;
        uint32_t at_end = end ? g->nodes[guard].prev : g->nodes[guard].next;
        if (is_used_once(g, at_end))
            inline_rule(g, at_end);
    }
}

/* Checks the digram that begins at a node; returns whether anything changed. */
static bool check(struct grammar *g, uint32_t at) {
    uint32_t next = g->nodes[at].next;
    if (g->failed || g->nodes[at].guard || g->nodes[next].guard)
        return false;
    if (g->nodes[at].value == g->nodes[next].value) {
        merge(g, at);
        return true;
    }
    uint32_t found = find_or_enter(g, at);
    /* Overlapping digrams: x y x cannot have two equal pairs, because runs are merged. */
    if (found == NONE || found == at || g->failed)
        return false;
    match(g, at, found);
    return true;
}

/* ---- the input ---- */

static uint32_t tail_of(const struct grammar *g) {
    return g->nodes[g->rules[0].guard].prev;
}

static void push(struct grammar *g, value_t value, uint64_t count) {
    uint32_t guard = g->rules[0].guard, last = tail_of(g), made = new_node(g, value, count);
    if (g->failed)
        return;
    link_nodes(g, last, made);
    link_nodes(g, made, guard);
    check(g, last);
}

/* Advances to the next run of terminals of the expansion; false: there is none, or it is too deep. */
static bool step(struct grammar *g, struct run *run) {
    struct cursor *cursor = &g->cursor;
    while (cursor->depth) {
        struct place *place = &cursor->places[cursor->depth - 1];
        const struct node *node = &g->nodes[place->node];
        if (node->guard) { /* end of a rule's body: repeat it, or continue after the symbol that refers to it */
            if (--place->left) {
                place->node = g->nodes[place->node].next;
                continue;
            }
            if (--cursor->depth)
                cursor->places[cursor->depth - 1].node = g->nodes[cursor->places[cursor->depth - 1].node].next;
            continue;
        }
        if (node->value >= 0) {
            *run = (struct run){node->value, node->count};
            place->node = node->next;
            return true;
        }
        if (cursor->depth == DEEPEST)
            return false;
        cursor->places[cursor->depth++] =
            (struct place){g->nodes[g->rules[-1 - node->value].guard].next, node->count};
    }
    return false;
}

static void aim(struct grammar *g, value_t rule) {
    g->cursor.depth = 1;
    g->cursor.places[0] = (struct place){g->nodes[g->rules[-1 - rule].guard].next, 1};
    g->cursor.matched = 0;
    g->cursor.has_next = step(g, &g->cursor.next);
}

/* Starts comparing new input with the rule at the end of the input. */
static void expect(struct grammar *g) {
    value_t value = g->nodes[tail_of(g)].value;
    g->expects = !g->nodes[tail_of(g)].guard && value < 0;
    g->repeating = false;
    if (g->expects)
        aim(g, value);
    g->expects = g->expects && g->cursor.has_next;
}

/* The expected repetition ended early: its matched part becomes ordinary input. */
static void give_up(struct grammar *g) {
    uint32_t tail = tail_of(g);
    uint64_t matched = g->cursor.matched;
    value_t rule = g->nodes[tail].value;
    g->expects = false;
    /* The rule may change or vanish with the first pushed symbol, so the matched runs are copied first. */
    struct run few[16], *runs = few;
    if (matched > 16 && !(runs = malloc(matched * sizeof *runs))) {
        g->failed = true;
        return;
    }
    aim(g, rule);
    for (uint64_t i = 0; i < matched; i++) {
        runs[i] = g->cursor.next;
        g->cursor.has_next = step(g, &g->cursor.next);
    }
    if (g->repeating) {
        g->repeating = false;
        check(g, g->nodes[tail].prev);
    }
    for (uint64_t i = 0; i < matched; i++)
        push(g, runs[i].value, runs[i].count);
    if (runs != few)
        free(runs);
}

/* Adds a complete run. */
static void take(struct grammar *g, value_t value, uint64_t count) {
    if (g->expects) {
        struct cursor *cursor = &g->cursor;
        if (cursor->next.value == value && cursor->next.count == count) {
            cursor->matched++;
            cursor->has_next = step(g, &cursor->next);
            if (!cursor->has_next && cursor->depth == 0) { /* the whole expansion was repeated */
                uint32_t tail = tail_of(g);
                if (!g->repeating)
                    leave(g, g->nodes[tail].prev);
                g->repeating = true;
                g->nodes[tail].count++;
                aim(g, g->nodes[tail].value);
            } else if (!cursor->has_next) {
                give_up(g);
                expect(g);
            }
            return;
        }
        give_up(g);
    }
    push(g, value, count);
    expect(g);
}

EXPORT struct grammar *grammar_new(void) {
    struct grammar *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    g->node_room = 16;
    g->rule_room = 4;
    g->index_mask = 31;
    g->nodes = malloc(g->node_room * sizeof *g->nodes);
    g->rules = malloc(g->rule_room * sizeof *g->rules);
    g->index = malloc((size_t)(g->index_mask + 1) * sizeof *g->index);
    if (!g->nodes || !g->rules || !g->index) {
        free(g->nodes);
        free(g->rules);
        free(g->index);
        free(g);
        return NULL;
    }
    memset(g->index, 0xff, (size_t)(g->index_mask + 1) * sizeof *g->index);
    g->free_node = g->free_rule = NONE;
    new_rule(g);
    return g;
}

EXPORT void grammar_free(struct grammar *g) {
    free(g->nodes);
    free(g->rules);
    free(g->index);
    free(g);
}

/* Adds terminals; false: out of memory, and the grammar is not usable any more. */
EXPORT bool grammar_feed(struct grammar *g, const int32_t *terminals, uint64_t length) {
    for (uint64_t i = 0; i < length && !g->failed; i++) {
        if (terminals[i] == g->open_value && g->open_count) {
            g->open_count++;
            continue;
        }
        if (g->open_count)
            take(g, g->open_value, g->open_count);
        g->open_value = terminals[i];
        g->open_count = 1;
    }
    return !g->failed;
}

/* Ends the run at the end of the input, so that the rules contain all of it. */
EXPORT bool grammar_close_run(struct grammar *g) {
    if (g->open_count)
        take(g, g->open_value, g->open_count);
    g->open_count = 0;
    if (g->expects)
        give_up(g);
    return !g->failed;
}

/* Approximate memory use. */
EXPORT uint64_t grammar_bytes(const struct grammar *g) {
    return sizeof *g + g->node_room * sizeof *g->nodes + g->rule_room * sizeof *g->rules +
           ((uint64_t)g->index_mask + 1) * sizeof *g->index;
}

/* Numbers of symbols and rules in the grammar. */
EXPORT uint32_t grammar_symbols(const struct grammar *g) {
    return g->live_nodes - g->live_rules; /* minus the guards */
}

EXPORT uint32_t grammar_rules(const struct grammar *g) {
    return g->live_rules;
}

/* Writes the rules in the order of their first use from rule 0: lengths[grammar_rules], and value and count of all
 * symbols[grammar_symbols]; rules are renumbered in that order. order and number are scratch of rule_count. */
EXPORT bool grammar_write(const struct grammar *g, uint32_t *lengths, int32_t *values, uint64_t *counts) {
    uint32_t *order = malloc(g->rule_count * sizeof *order), *number = malloc(g->rule_count * sizeof *number);
    if (!order || !number) {
        free(order);
        free(number);
        return false;
    }
    memset(number, 0xff, g->rule_count * sizeof *number);
    uint32_t met = 1, written = 0;
    order[0] = number[0] = 0;
    for (uint32_t i = 0; i < met; i++) {
        uint32_t guard = g->rules[order[i]].guard, length = 0;
        for (uint32_t at = g->nodes[guard].next; at != guard; at = g->nodes[at].next, length++) {
            value_t value = g->nodes[at].value;
            if (value < 0) {
                uint32_t rule = (uint32_t)(-1 - value);
                if (number[rule] == NONE) {
                    number[rule] = met;
                    order[met++] = rule;
                }
                value = -1 - (value_t)number[rule];
            }
            values[written] = value;
            counts[written++] = g->nodes[at].count;
        }
        lengths[i] = length;
    }
    free(order);
    free(number);
    return true;
}
