/* Sums events by file system while they follow one another closely. analyzers/file_systems/event_sums.py is its
 * interface, with a NumPy fallback. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define LARGEST ((int64_t)1 << 44) /* per event, so that sums fit in 64 bits */

enum { LANE, START, END, LONGEST, READ, WRITTEN, CALLS, BUSY, METADATA, METADATA_BUSY, BUCKETS };
enum { WAY_READ, WAY_WRITE, WAY_FLUSH, WAY_METADATA };
enum { COLUMN_START, COLUMN_DURATION, COLUMN_BYTES, COLUMN_KIND, COLUMN_FILE, COLUMN_DEPTH, COLUMN_HOST, COLUMN_COUNT };

/* Input: columns as pointers and bytes between values, and tables by file, by host and by kind of call. */
struct work {
    const char *column[COLUMN_COUNT];
    int64_t step[COLUMN_COUNT];
    const int64_t *of_file, *of_host; /* file system as seen by a node, and its place by host */
    const uint8_t *counts, *needs, *way;
    uint8_t *used;
    int64_t spots, places, gap, piece, width, buckets, shortest_bits;
};

static inline int64_t wide(const struct work *work, int which, uint64_t row) {
    int64_t value;
    memcpy(&value, work->column[which] + (int64_t)row * work->step[which], sizeof value);
    return value;
}

static inline uint8_t narrow(const struct work *work, int which, uint64_t row) {
    return *(const uint8_t *)(work->column[which] + (int64_t)row * work->step[which]);
}

static inline int64_t least(int64_t one, int64_t other) {
    return one < other ? one : other;
}

/* The last value of an open row is the start of its time piece. */
static inline void begin(int64_t *row, const struct work *work, int64_t lane, int64_t start, int64_t end) {
    memset(row, 0, (uint64_t)work->width * sizeof *row);
    row[work->width] = start - (start % work->piece + work->piece) % work->piece;
    row[LANE] = lane;
    row[START] = start;
    row[END] = end;
}

static inline void add(int64_t *row, const struct work *work, uint8_t way, int64_t bytes, int64_t duration) {
    int64_t busy = least(duration, LARGEST);
    if (way < WAY_METADATA) {
        if (way != WAY_FLUSH)
            row[way == WAY_READ ? READ : WRITTEN] += least(bytes, LARGEST);
        row[CALLS]++;
        row[BUSY] += busy;
        return;
    }
    row[METADATA]++;
    row[METADATA_BUSY] += busy;
    if (duration > row[LONGEST])
        row[LONGEST] = duration;
    int64_t bits = (duration > 0 ? 64 - __builtin_clzll((uint64_t)duration) : 0) - work->shortest_bits;
    row[BUCKETS + (bits < 0 ? 0 : least(bits, work->buckets - 1))]++;
}

/* Sums events from ``first`` on into rows. Each row has events of one lane (data, or metadata, of one place) that
 * are at most a gap apart and begin in one time piece. Stops before an event whose place is unknown, or if room may
 * run out; room must be at least four times the places. open has one row per lane, one value wider than a row.
 * Returns the index of the next event. */
EXPORT uint64_t phases_sum(const struct work *given, uint64_t first, uint64_t count, int64_t *open, int64_t *rows,
                           uint64_t room, uint64_t *made) {
    const struct work copy = *given, *const work = &copy; /* a constant copy, so that it stays in registers */
    uint64_t at = first, written = 0, most = room - 2 * (uint64_t)work->places;
    int64_t used = -1, lanes = 2 * work->places;
    int64_t width = work->width, wider = width + 1;
    for (int64_t lane = 0; lane < lanes; lane++)
        open[lane * wider + LANE] = -1;
    for (; at < count && written < most; at++) {
        uint8_t kind = narrow(work, COLUMN_KIND, at), needs = work->needs[kind];
        uint32_t file;
        memcpy(&file, work->column[COLUMN_FILE] + (int64_t)at * work->step[COLUMN_FILE], sizeof file);
        if (!(needs & work->counts[file]) || narrow(work, COLUMN_DEPTH, at))
            continue;
        int64_t bytes = wide(work, COLUMN_BYTES, at);
        uint8_t way = work->way[kind];
        if (way < WAY_FLUSH && bytes <= 0)
            continue;
        int64_t host = wide(work, COLUMN_HOST, at);
        int64_t place = work->of_host[host * work->spots + work->of_file[file]];
        if (place < 0)
            break;
        if (host * work->places + place != used)
            work->used[used = host * work->places + place] = 1;
        int64_t start = wide(work, COLUMN_START, at), duration = wide(work, COLUMN_DURATION, at);
        int64_t end = start + duration, *row, lane = 2 * place + (way >= WAY_METADATA);
        row = open + lane * wider;
        bool is_open = row[LANE] >= 0;
        if (!is_open || start > row[END] + work->gap || end < row[START] - work->gap || start < row[width] ||
            start - row[width] >= work->piece) {
            if (is_open)
                memcpy(rows + written++ * (uint64_t)width, row, (uint64_t)width * sizeof *row);
            begin(row, work, lane, start, end);
        } else {
            row[START] = least(row[START], start);
            if (end > row[END])
                row[END] = end;
        }
        add(row, work, way, bytes, duration);
    }
    for (int64_t lane = 0; lane < lanes; lane++)
        if (open[lane * wider + LANE] >= 0)
            memcpy(rows + written++ * (uint64_t)width, open + lane * wider, (uint64_t)width * sizeof *open);
    *made = written;
    return at;
}
