/* Adds events to a directly-follows graph; analyzers/dfg/compiled.py is its interface, and the parts of the graph do the
 * same in NumPy. Rows are those of activities, slots those of cases; columns are as they wait in pending.py. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define NOTHING (-1)
#define OUT_OF_ORDER (-1)
#define NO_MEMORY (-2)

/* ---- sums by activity ---- */

/* Columns by row, to add to: the last two are the least and the most of a row's durations. */
struct tally {
    int64_t *events, *bytes, *timed, *first, *shortest, *longest;
    double *ns, *rates;
};

EXPORT void graph_tally(const int64_t *rows, const int64_t *start, const int64_t *duration, const int64_t *size,
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

/* Counts durations: counts[base[row] + bucket], the bucket being the upper bits of the duration as a float64. */
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

/* Ends of what runs, the next one first: a heap. */
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

/* Lets what has ended go, and takes in one more. */
static bool begin(struct running *r, int64_t start, int64_t end) {
    if (r->length && r->ends[0] <= start) {
        r->ends[0] = end; /* in the place of one that has ended */
        sink(r);
        while (r->length && r->ends[0] <= start) {
            r->ends[0] = r->ends[--r->length];
            sink(r);
        }
        return true;
    }
    return push(r, end);
}

/* Says whether no event starts before the latest one of its row. */
static bool in_order(const int64_t *rows, const int64_t *start, uint64_t length, const int64_t *latest, uint64_t width,
                     int64_t *scratch) {
    memcpy(scratch, latest, width * sizeof *scratch);
    for (uint64_t i = 0; i < length; i++) {
        if (start[i] < scratch[rows[i]])
            return false;
        scratch[rows[i]] = start[i];
    }
    return true;
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

/* Raises the most at once of each row, and moves its latest start on.
 *
 * kept_rows and kept_ends have what ran at the latest starts, ``kept`` of them, and room for as many more as there are
 * events; what runs afterwards is written there. Returns how many, or OUT_OF_ORDER, with nothing changed, where an event
 * starts before an earlier one of its row, or NO_MEMORY. */
EXPORT int64_t graph_sweep(const int64_t *rows, const int64_t *start, const int64_t *duration, uint64_t length,
                           int64_t *latest, int64_t *most, uint64_t width, uint64_t kept, int64_t *kept_rows,
                           int64_t *kept_ends) {
    int64_t *scratch = malloc(width * sizeof *scratch), left = NO_MEMORY;
    struct running *running = calloc(width, sizeof *running);
    bool enough = scratch && running;
    if (enough && !in_order(rows, start, length, latest, width, scratch)) {
        left = OUT_OF_ORDER;
        enough = false;
    }
    for (uint64_t i = 0; enough && i < kept; i++)
        enough = push(&running[kept_rows[i]], kept_ends[i]);
    for (uint64_t i = 0; enough && i < length; i++) {
        int64_t row = rows[i];
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

/* The cases by slot, the activities of each as bits, and the edges by pair of rows. */
struct cases {
    int64_t *last, *last_start, *last_end;
    uint64_t slots;
    uint8_t *seen;
    uint64_t seen_width; /* bytes of a slot */
    int64_t *cases, *starts; /* by activity: in how many it occurs, how many begin with it */
    const int16_t *number;   /* of edges; below 0: not known */
    uint64_t width;
    int64_t *count;
    double *gap;
};

static bool can_follow(const struct cases *c, const int64_t *slots, int64_t step, const int64_t *rows,
                       const int64_t *start, uint64_t length, int64_t *last, int64_t *last_start) {
    memcpy(last, c->last, c->slots * sizeof *last);
    memcpy(last_start, c->last_start, c->slots * sizeof *last_start);
    for (uint64_t i = 0; i < length; i++) {
        int64_t slot = slots[(int64_t)i * step], before = last[slot];
        if (start[i] < last_start[slot] || (before != NOTHING && c->number[(uint64_t)before * c->width + (uint64_t)rows[i]] < 0))
            return false;
        last[slot] = rows[i];
        last_start[slot] = start[i];
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

/* Counts the edges of events; slots[step * i] is that of event i. Returns 1; 0, with nothing changed, where an event
 * starts before an earlier one of its case or an edge is not known; NO_MEMORY. */
EXPORT int64_t graph_follow(const struct cases *c, const int64_t *slots, int64_t step, const int64_t *rows,
                            const int64_t *start, const int64_t *duration, uint64_t length) {
    int64_t *scratch = malloc(2 * c->slots * sizeof *scratch);
    if (!scratch)
        return NO_MEMORY;
    bool can = can_follow(c, slots, step, rows, start, length, scratch, scratch + c->slots);
    free(scratch);
    for (uint64_t i = 0; can && i < length; i++) {
        int64_t slot = slots[(int64_t)i * step], before = c->last[slot], row = rows[i];
        note(c, slot, row);
        if (before == NOTHING) {
            c->starts[row]++;
        } else {
            int16_t edge = c->number[(uint64_t)before * c->width + (uint64_t)row];
            c->count[edge]++;
            c->gap[edge] += (double)(start[i] - c->last_end[slot]);
        }
        c->last[slot] = row;
        c->last_start[slot] = start[i];
        c->last_end[slot] = start[i] + duration[i];
    }
    return can;
}
