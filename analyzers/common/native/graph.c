/* Adds events to a directly-follows graph. analyzers/dfg/compiled.py is its interface, and the parts of the graph
 * have NumPy fallbacks. Rows are numbers of activities, slots those of cases; columns are as in reorder_buffer.py. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define NOTHING (-1)
#define OUT_OF_ORDER (-1)
#define NO_MEMORY (-2)
#define ONE_LOOP static inline __attribute__((always_inline)) /* compiled twice: for runs of a row, and for mixed rows */

#define SAMPLE 512

/* Returns whether most events, by a sample, have the row of the one before; sums are then kept in registers. */
static bool is_mostly_runs(const int64_t *rows, uint64_t length) {
    uint64_t looked = 0, again = 0;
    for (uint64_t i = 1; i < length; i += 1 + length / SAMPLE, looked++)
        again += rows[i] == rows[i - 1];
    return 2 * again > looked;
}

/* ---- sums by activity ---- */

/* Columns by row, to add to; the last two are the minimum and maximum of a row's durations. */
struct tally {
    int64_t *events, *bytes, *timed, *first, *shortest, *longest;
    double *ns, *rates;
};

static void tally_runs(const int64_t *rows, const int64_t *start, const int64_t *duration, const int64_t *size,
                       uint64_t length, const struct tally *to) {
    for (uint64_t i = 0; i < length;) {
        int64_t row = rows[i], bytes = 0, timed = 0, first = to->first[row], shortest = to->shortest[row],
                longest = to->longest[row];
        double ns = to->ns[row], rates = to->rates[row];
        uint64_t begin = i;
        for (; i < length && rows[i] == row; i++) { /* sums in registers */
            int64_t took = duration[i], moved = size[i];
            ns += (double)took;
            first = start[i] < first ? start[i] : first;
            shortest = took < shortest ? took : shortest;
            longest = took > longest ? took : longest;
            if (moved >= 0) {
                bytes += moved;
                if (took > 0) {
                    timed++;
                    rates += (double)moved / (double)took;
                }
            }
        }
        to->events[row] += (int64_t)(i - begin);
        to->bytes[row] += bytes;
        to->timed[row] += timed;
        to->first[row] = first;
        to->shortest[row] = shortest;
        to->longest[row] = longest;
        to->ns[row] = ns;
        to->rates[row] = rates;
    }
}

static void tally_turns(const int64_t *rows, const int64_t *start, const int64_t *duration, const int64_t *size,
                        uint64_t length, const struct tally *to) {
    for (uint64_t i = 0; i < length; i++) {
        int64_t row = rows[i], took = duration[i], moved = size[i];
        to->events[row]++;
        to->ns[row] += (double)took;
        to->first[row] = start[i] < to->first[row] ? start[i] : to->first[row];
        to->shortest[row] = took < to->shortest[row] ? took : to->shortest[row];
        to->longest[row] = took > to->longest[row] ? took : to->longest[row];
        if (moved >= 0) {
            to->bytes[row] += moved;
            if (took > 0) {
                to->timed[row]++;
                to->rates[row] += (double)moved / (double)took;
            }
        }
    }
}

EXPORT void graph_tally(const int64_t *rows, const int64_t *start, const int64_t *duration, const int64_t *size,
                        uint64_t length, const struct tally *to) {
    (is_mostly_runs(rows, length) ? tally_runs : tally_turns)(rows, start, duration, size, length, to);
}

/* Counts durations in counts[base[row] + bucket]; the bucket is the upper bits of the duration as a float64. */
EXPORT void graph_buckets(const int64_t *rows, const int64_t *duration, uint64_t length, const int64_t *base,
                          int64_t shift, int64_t *counts) {
    for (uint64_t i = 0; i < length; i++) {
        double took = (double)(duration[i] > 1 ? duration[i] : 1);
        int64_t bits;
        memcpy(&bits, &took, sizeof bits);
        counts[base[rows[i]] + (bits >> shift)]++;
    }
}

/* ---- how many at once ---- */

/* Ends of running events as a heap, the next end first. */
struct running {
    int64_t *ends;
    uint64_t length, room;
};

static void sink(struct running *r) {
    uint64_t at = 0;
    int64_t moved = r->ends[0];
    for (;;) {
        uint64_t child = 2 * at + 1;
        if (child >= r->length)
            break;
        child += child + 1 < r->length && r->ends[child + 1] < r->ends[child];
        if (r->ends[child] >= moved)
            break;
        r->ends[at] = r->ends[child];
        at = child;
    }
    r->ends[at] = moved;
}

static bool push(struct running *r, int64_t end) {
    if (r->length == r->room) {
        uint64_t room = r->room ? 2 * r->room : 8;
        int64_t *ends = realloc(r->ends, room * sizeof *ends);
        if (!ends)
            return false;
        r->ends = ends;
        r->room = room;
    }
    uint64_t at = r->length++;
    for (; at && r->ends[(at - 1) / 2] > end; at = (at - 1) / 2)
        r->ends[at] = r->ends[(at - 1) / 2];
    r->ends[at] = end;
    return true;
}

/* Removes ended events and adds one. */
static bool begin(struct running *r, int64_t start, int64_t end) {
    if (r->length && r->ends[0] <= start) {
        r->ends[0] = end; /* replaces one that has ended */
        sink(r);
        while (r->length && r->ends[0] <= start) {
            r->ends[0] = r->ends[--r->length];
            sink(r);
        }
        return true;
    }
    return push(r, end);
}

/* Returns whether no event starts before the latest one of its row. */
ONE_LOOP bool in_order(const int64_t *rows, const int64_t *start, uint64_t length, const int64_t *latest,
                       uint64_t width, int64_t *scratch, const bool runs) {
    memcpy(scratch, latest, width * sizeof *scratch);
    for (uint64_t i = 0; i < length;) {
        int64_t row = rows[i], before = scratch[row];
        do {
            if (start[i] < before)
                return false;
            before = start[i++];
        } while (runs && i < length && rows[i] == row);
        scratch[row] = before;
    }
    return true;
}

/* Adds sequential events of one row from ``first`` on; returns the first remaining one. */
static uint64_t begin_one_by_one(struct running *r, const int64_t *rows, const int64_t *start, const int64_t *duration,
                                 uint64_t first, uint64_t length) {
    if (r->length != 1)
        return first;
    int64_t row = rows[first], end = r->ends[0];
    uint64_t i = first;
    for (; i < length && rows[i] == row && end <= start[i]; i++)
        end = start[i] + (duration[i] > 1 ? duration[i] : 1);
    r->ends[0] = end;
    return i;
}

static int64_t write_running(const struct running *running, const int64_t *latest, uint64_t width, int64_t *kept_rows,
                             int64_t *kept_ends) {
    int64_t kept = 0;
    for (uint64_t row = 0; row < width; row++)
        for (uint64_t i = 0; i < running[row].length; i++)
            if (running[row].ends[i] > latest[row]) {
                kept_rows[kept] = (int64_t)row;
                kept_ends[kept++] = running[row].ends[i];
            }
    return kept;
}

/* Raises the maximum concurrency of each row, and updates its latest start.
 *
 * kept_rows and kept_ends contain the ``kept`` events running at the latest starts, with room for ``length`` more;
 * the events running afterwards are written there. Returns their number; OUT_OF_ORDER, without changes, if an event
 * starts before an earlier one of its row; or NO_MEMORY. */
EXPORT int64_t graph_sweep(const int64_t *rows, const int64_t *start, const int64_t *duration, uint64_t length,
                           int64_t *latest, int64_t *most, uint64_t width, uint64_t kept, int64_t *kept_rows,
                           int64_t *kept_ends) {
    int64_t *scratch = malloc(width * sizeof *scratch), left = NO_MEMORY;
    struct running *running = calloc(width, sizeof *running);
    bool enough = scratch && running, runs = is_mostly_runs(rows, length);
    if (enough && !(runs ? in_order(rows, start, length, latest, width, scratch, true)
                         : in_order(rows, start, length, latest, width, scratch, false))) {
        left = OUT_OF_ORDER;
        enough = false;
    }
    for (uint64_t i = 0; enough && i < kept; i++)
        enough = push(&running[kept_rows[i]], kept_ends[i]);
    for (uint64_t i = 0; enough && i < length; i++) {
        int64_t row = rows[i];
        uint64_t left_at = runs ? begin_one_by_one(&running[row], rows, start, duration, i, length) : i;
        if (left_at > i) {
            most[row] = most[row] > 1 ? most[row] : 1;
            latest[row] = start[left_at - 1];
            i = left_at - 1;
            continue;
        }
        enough = begin(&running[row], start[i], start[i] + (duration[i] > 1 ? duration[i] : 1));
        most[row] = (int64_t)running[row].length > most[row] ? (int64_t)running[row].length : most[row];
        latest[row] = start[i];
    }
    if (enough)
        left = write_running(running, latest, width, kept_rows, kept_ends);
    for (uint64_t row = 0; running && row < width; row++)
        free(running[row].ends);
    free(running);
    free(scratch);
    return left;
}

/* ---- what follows what ---- */

/* Cases by slot, the activities of each as bits, and the edges by pair of rows. */
struct cases {
    int64_t *last, *last_start, *last_end;
    uint64_t slots;
    uint8_t *seen;
    uint64_t seen_width; /* bytes per slot */
    int64_t *cases, *starts; /* by activity: cases with it, cases that begin with it */
    const int16_t *number;   /* edge number; below 0: unknown */
    uint64_t width;
    int64_t *count;
    double *gap;
};

/* Returns whether an event has this case and activity. */
static inline bool again(const int64_t *slots, int64_t step, const int64_t *rows, uint64_t i, int64_t slot, int64_t row) {
    return rows[i] == row && slots[(int64_t)i * step] == slot;
}

static inline int16_t edge_of(const struct cases *c, int64_t before, int64_t row) {
    return c->number[(uint64_t)before * c->width + (uint64_t)row];
}

static inline bool is_edge(const struct cases *c, int64_t before, int64_t row) {
    return edge_of(c, before, row) >= 0;
}

ONE_LOOP bool can_follow(const struct cases *c, const int64_t *slots, int64_t step, const int64_t *rows,
                         const int64_t *start, uint64_t length, int64_t *last, int64_t *last_start, const bool runs) {
    memcpy(last, c->last, c->slots * sizeof *last);
    memcpy(last_start, c->last_start, c->slots * sizeof *last_start);
    for (uint64_t i = 0; i < length;) {
        int64_t slot = slots[(int64_t)i * step], row = rows[i], before = last[slot], at = last_start[slot];
        uint64_t first = i;
        do {
            if (start[i] < at)
                return false;
            at = start[i++];
        } while (runs && i < length && again(slots, step, rows, i, slot, row));
        if ((before != NOTHING && !is_edge(c, before, row)) || (i - first > 1 && !is_edge(c, row, row)))
            return false;
        last[slot] = row;
        last_start[slot] = at;
    }
    return true;
}

static void note(const struct cases *c, int64_t slot, int64_t row) {
    uint8_t *seen = &c->seen[(uint64_t)slot * c->seen_width + (uint64_t)(row >> 3)], bit = (uint8_t)(1u << (row & 7));
    if (!(*seen & bit)) {
        *seen |= bit;
        c->cases[row]++;
    }
}

ONE_LOOP void follow_all(const struct cases *c, const int64_t *slots, int64_t step, const int64_t *rows,
                         const int64_t *start, const int64_t *duration, uint64_t length, const bool runs) {
    for (uint64_t i = 0; i < length;) {
        int64_t slot = slots[(int64_t)i * step], before = c->last[slot], row = rows[i], end = c->last_end[slot];
        note(c, slot, row);
        if (before == NOTHING) {
            c->starts[row]++;
        } else {
            int16_t edge = edge_of(c, before, row);
            c->count[edge]++;
            c->gap[edge] += (double)(start[i] - end);
        }
        end = start[i] + duration[i];
        uint64_t first = ++i;
        if (runs && i < length && again(slots, step, rows, i, slot, row)) { /* repetitions, in registers */
            int16_t edge = edge_of(c, row, row);
            double gap = c->gap[edge];
            for (; i < length && again(slots, step, rows, i, slot, row); i++) {
                gap += (double)(start[i] - end);
                end = start[i] + duration[i];
            }
            c->gap[edge] = gap;
            c->count[edge] += (int64_t)(i - first);
        }
        c->last[slot] = row;
        c->last_start[slot] = start[i - 1];
        c->last_end[slot] = end;
    }
}

/* Counts the edges of events; slots[step * i] is the slot of event i. Returns 1; 0, without changes, if an event
 * starts before an earlier one of its case or an edge is unknown; or NO_MEMORY. */
EXPORT int64_t graph_follow(const struct cases *c, const int64_t *slots, int64_t step, const int64_t *rows,
                            const int64_t *start, const int64_t *duration, uint64_t length) {
    int64_t *scratch = malloc(2 * c->slots * sizeof *scratch);
    if (!scratch)
        return NO_MEMORY;
    bool can, runs = is_mostly_runs(rows, length);
    if (runs) {
        can = can_follow(c, slots, step, rows, start, length, scratch, scratch + c->slots, true);
        if (can)
            follow_all(c, slots, step, rows, start, duration, length, true);
    } else {
        can = can_follow(c, slots, step, rows, start, length, scratch, scratch + c->slots, false);
        if (can)
            follow_all(c, slots, step, rows, start, duration, length, false);
    }
    free(scratch);
    return can;
}
