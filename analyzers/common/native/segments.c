/* Finds the phases of a signal, their edges within bins, and how similar and clear they are.
 * analyzers/periodicity/compiled.py is its interface; the NumPy code there and in its callers is the fallback. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { FEWEST = 3, INNER = 5 }; /* phases, and bins of each, from which a common growth is measured */
enum { LONG = 3 };              /* bins from which on a phase has bins between its edges */
static const double ENDLESS = 1e3, STEEPEST = 4.0, NOTHING = 1e-300;

struct signal {
    const double *running; /* volume before each bin, bins + 1 values */
    const int64_t *runs;   /* first bin of each run above the threshold, and one after its last */
    int64_t bins, count;
    double threshold;
};

struct phases {
    int64_t *first, *stop;
    int64_t count;
};

static int ascending(const void *one, const void *other) {
    double left = *(const double *)one, right = *(const double *)other;
    return (left > right) - (left < right);
}

static void sort(double *values, int64_t count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
}

static inline double larger(double one, double other) {
    return one > other ? one : other;
}

/* Runs of the signal itself, joined over gaps below ``gap``. */
static void join(const struct signal *of, double gap, struct phases *made) {
    for (int64_t run = 0; run < of->count; run++) {
        if (made->count && (double)(of->runs[2 * run] - made->stop[made->count - 1]) < gap) {
            made->stop[made->count - 1] = of->runs[2 * run + 1];
            continue;
        }
        made->first[made->count] = of->runs[2 * run];
        made->stop[made->count++] = of->runs[2 * run + 1];
    }
}

/* Adds the runs of the signal within [begin, end). left and right are the runs reached so far. */
static void add_within(const struct signal *of, int64_t begin, int64_t end, int64_t *left, int64_t *right,
                       struct phases *made) {
    while (*left < of->count && of->runs[2 * *left + 1] <= begin)
        ++*left;
    while (*right < of->count && of->runs[2 * *right] < end)
        ++*right;
    if (*right > *left) {
        made->first[made->count] = of->runs[2 * *left];
        made->stop[made->count++] = of->runs[2 * *right - 1];
    }
}

/* Runs of the signal smoothed over ``width`` bins, joined. Their edges are those of the runs of the signal inside. */
static void join_smoothed(const struct signal *of, int64_t width, double gap, struct phases *made) {
    int64_t shift = width / 2, steps = of->bins - width + 1, left = 0, right = 0, begin = -1, end = 0, since = 0;
    double level = (double)width * of->threshold;
    bool was = false;
    for (int64_t at = 0; at <= steps; at++) {
        bool is = at < steps && of->running[at + width] - of->running[at] > level;
        if (is == was)
            continue;
        was = is;
        if (is) {
            since = at ? at + shift : 0;
            continue;
        }
        int64_t until = at < steps ? at + shift : of->bins;
        if (begin >= 0 && (double)(since - end) >= gap) {
            add_within(of, begin, end, &left, &right, made);
            begin = -1;
        }
        if (begin < 0)
            begin = since;
        end = until;
    }
    if (begin >= 0)
        add_within(of, begin, end, &left, &right, made);
}

/* The volume of the phase that has the median byte. */
static double typical(const double *volume, int64_t count, double *ordered) {
    double whole = 0, sum = 0;
    memcpy(ordered, volume, (size_t)count * sizeof *volume);
    sort(ordered, count);
    for (int64_t at = 0; at < count; at++)
        whole += ordered[at];
    for (int64_t at = 0; at < count; at++)
        if ((sum += ordered[at]) >= 0.5 * whole)
            return ordered[at];
    return ordered[count - 1];
}

/* Finds phases with at least ``least`` of the typical volume; width is at most 1 without smoothing. Writes first bins
 * and stops, and a row each of starts, ends and volumes. Each row, and the scratch, has ``room`` for half of the bins and
 * one. Returns the number of phases. */
EXPORT int64_t segments_find(const double *running, int64_t bins, const int64_t *runs, int64_t count, double threshold,
                             int64_t width, double gap, double least, int64_t room, int64_t *first, double *start) {
    int64_t *stop = first + room;
    double *end = start + room, *volume = end + room, *scratch = volume + room;
    struct signal of = {running, runs, bins, count, threshold};
    struct phases made = {first, stop, 0};
    int64_t kept = 0;
    if (width > 1 && bins > width)
        join_smoothed(&of, width, gap, &made);
    else
        join(&of, gap, &made);
    if (!made.count)
        return 0;
    for (int64_t at = 0; at < made.count; at++) /* a first or last bin that a phase fills partly may be quiet */
        volume[at] = running[stop[at] < bins ? stop[at] + 1 : bins] - running[first[at] > 0 ? first[at] - 1 : 0];
    double bound = least * typical(volume, made.count, scratch);
    for (int64_t at = 0; at < made.count; at++) {
        if (!(volume[at] >= bound))
            continue;
        first[kept] = first[at];
        stop[kept] = stop[at];
        start[kept] = (double)first[at];
        end[kept] = (double)stop[at];
        volume[kept++] = volume[at];
    }
    return kept;
}

/* The value of a bin; of the last one for bins outside of the signal, as these do not count. */
static inline double value(const double *values, int64_t bins, int64_t at) {
    return values[at < 0 || at >= bins ? bins - 1 : at];
}

/* Growth from one bin to the next at the start of most phases, or backwards at the end; 1 if they differ in it. */
static double growth(const double *values, const int64_t *edge, int64_t inward, const int64_t *first,
                     const int64_t *stop, int64_t count, double background, double similar, double *ratio) {
    int64_t rows = 0, begin = inward > 0 ? 1 : -2;
    for (int64_t row = 0; row < count; row++) {
        if (stop[row] - first[row] < INNER)
            continue;
        int64_t at = edge[row] + begin;
        double far = values[at + inward] - background, near = values[at] - background;
        ratio[rows++] = far / larger(near, larger(fabs(far) / ENDLESS, NOTHING));
    }
    if (rows < FEWEST)
        return 1;
    sort(ratio, rows);
    double usual = ratio[rows / 2];
    for (int64_t row = 0; row < rows; row++)
        ratio[row] = fabs(ratio[row] - usual);
    sort(ratio, rows);
    return ratio[rows / 2] <= similar * usual && usual > 1 / STEEPEST && usual < STEEPEST ? usual : 1;
}

/* Share of an edge bin that is filled, from the bins beyond it, at it, and inside. */
static inline double fill(double beyond, double edge, double inner) {
    double filled = (beyond + edge) / larger(larger(inner, edge), NOTHING);
    return filled < 0 ? 0 : filled > 2 ? 2 : filled;
}

/* Computes starts and ends within their bins, as phases.edges_of. The scratch has room for one value per phase. */
EXPORT void segments_edges(const double *values, int64_t bins, const int64_t *first, const int64_t *stop,
                           int64_t count, double background, double similar, double *start, double *end,
                           double *scratch) {
    double rise = growth(values, first, 1, first, stop, count, background, similar, scratch);
    double fall = growth(values, stop, -1, first, stop, count, background, similar, scratch);
    for (int64_t row = 0; row < count; row++) {
        int64_t from = first[row], to = stop[row];
        double before = from > 0 ? larger(value(values, bins, from - 1) - background, 0) : 0;
        double after = to < bins ? larger(value(values, bins, to) - background, 0) : 0;
        double head = value(values, bins, from) - background, tail = value(values, bins, to - 1) - background;
        if (to - from >= LONG) {
            double next = value(values, bins, from + 1) - background, last = value(values, bins, to - 2) - background;
            start[row] = (double)from + 1 - fill(before, head, next / rise);
            end[row] = (double)to - 1 + fill(after, tail, last / fall);
            continue;
        }
        double second = to - from == 2 ? tail : 0, volume = before + head + second + after, at = (double)from;
        double middle = before * (at - 0.5) + head * (at + 0.5) + second * (at + 1.5) + after * ((double)to + 0.5);
        double reach = volume / larger(head, larger(second, NOTHING)) / 2;
        start[row] = middle / volume - reach;
        end[row] = middle / volume + reach;
    }
}

/* Returns how much quieter the time between phases is, in [0, 1]. */
EXPORT double segments_contrast(const double *values, const double *running, int64_t bins, const int64_t *first,
                                const int64_t *stop, const double *volume, int64_t count, int64_t edge) {
    double inside = 0, within = 0, quiet = 0;
    int64_t length = 0, close = 0;
    for (int64_t at = 0; at < count; at++) {
        inside += volume[at];
        within += running[stop[at]] - running[first[at]];
        length += stop[at] - first[at];
        if (at + 1 == count)
            break;
        double left = values[stop[at]], right = values[first[at + 1] - 1];
        quiet += left < right ? left : right;
        close += first[at + 1] - stop[at] <= edge;
    }
    double outside = larger(running[bins] - running[first[0]] - inside, 0);
    double rest = larger((double)(bins - first[0] - length), 1), busy = larger((double)length, 1);
    double level = inside / busy;
    if (2 * close > count - 1) { /* volumes include both edges of a phase, which here are all bins between two */
        outside = larger(outside, quiet / (double)(count - 1) * rest);
        level = within / busy;
    }
    return larger(1 - outside / rest / level, 0);
}

/* Writes the spread of the volumes of the first ``plain`` phases, and of the volumes from the start of each phase to
 * the start of the next. Each is written for at least two volumes only. */
EXPORT void segments_spreads(const double *running, const int64_t *first, const double *volume, int64_t count,
                             int64_t plain, double *spreads) {
    double sum = 0, square = 0, whole_square = 0;
    for (int64_t at = 0; at < plain; at++)
        sum += volume[at];
    double mean = sum / (double)plain, whole = (running[first[count - 1]] - running[first[0]]) / (double)(count - 1);
    for (int64_t at = 0; at < plain; at++)
        square += (volume[at] - mean) * (volume[at] - mean);
    for (int64_t at = 0; at + 1 < count; at++) {
        double off = running[first[at + 1]] - running[first[at]] - whole;
        whole_square += off * off;
    }
    if (plain > 1)
        spreads[0] = sqrt(square / (double)(plain - 1)) / mean;
    if (count > 2)
        spreads[1] = sqrt(whole_square / (double)(count - 2)) / whole;
}

/* Tolerances of merged phases, in the order of compiled.py. */
struct merging {
    double tolerance, loose, single, loose_single, fitting, length, merged;
};

enum { UNITS = 48 }; /* volumes tried as that of a single phase, as in merged.py */

/* Writes different volumes among ordered ones, at most UNITS. */
static int64_t units(const double *ordered, int64_t count, double *different, double *found) {
    int64_t number = 0;
    for (int64_t at = 0; at < count; at++)
        if (!number || ordered[at] != different[number - 1])
            different[number++] = ordered[at];
    int64_t most = number < UNITS ? number : UNITS;
    double step = (double)(number - 1) / (UNITS - 1);
    for (int64_t at = 0; at < most; at++)
        found[at] = different[number <= UNITS ? at : at + 1 == most ? number - 1 : (int64_t)((double)at * step)];
    return most;
}

/* Returns the volume that most others equal, the middle one of several; 0 if these are fewer than ``least``. */
static double common_volume(const double *ordered, int64_t count, const double *unit, int64_t number,
                            double tolerance, double least) {
    int64_t equal[UNITS], low = 0, high = 0, most = 0, best = 0;
    for (int64_t at = 0; at < number; at++) {
        while (high < count && ordered[high] <= unit[at] * (1 + tolerance))
            high++;
        while (low < count && ordered[low] < unit[at] * (1 - tolerance))
            low++;
        equal[at] = high - low;
        if (equal[at] > most) {
            most = equal[at];
            best = 0;
        }
        best += equal[at] == most;
    }
    if ((double)most / (double)count < least)
        return 0;
    best /= 2;
    for (int64_t at = 0; at < number; at++)
        if (equal[at] == most && !best--)
            return unit[at];
    return 0;
}

/* Writes 1 for phases whose length does not match their volume. */
static void match_lengths(const double *length, int64_t count, double usual, double tolerance, int64_t *multiple) {
    for (int64_t at = 0; at < count; at++)
        if (!(fabs(log(larger(length[at], 1e-9) / usual / (double)multiple[at])) <= tolerance))
            multiple[at] = 1;
}

/* Writes the number of equal phases in each phase, and returns their sum, 0 without a common size. The scratch has room
 * for two values per phase, and UNITS. */
static int64_t multiples(const double *volume, const double *length, int64_t count, const struct merging *by,
                         int64_t *multiple, double *scratch) {
    double *ordered = scratch, *other = scratch + count, *unit = scratch + 2 * count;
    int64_t sum = 0;
    memcpy(ordered, volume, (size_t)count * sizeof *volume);
    sort(ordered, count);
    int64_t number = units(ordered, count, other, unit);
    for (int64_t is_loose = 0; is_loose < 2; is_loose++) {
        double tolerance = is_loose ? by->loose : by->tolerance;
        double size = common_volume(ordered, count, unit, number, tolerance, is_loose ? by->loose_single : by->single);
        int64_t fitting = 0, singles = 0;
        if (!(size > 0))
            continue;
        for (int64_t at = 0; at < count; at++) {
            double ratio = volume[at] / size, whole = fmin(fmax(rint(ratio), 1), by->merged);
            bool fits = fabs(ratio / whole - 1) <= (whole == 1 ? tolerance : by->tolerance);
            multiple[at] = fits ? (int64_t)whole : 1;
            fitting += fits;
            if (fits && whole == 1)
                other[singles++] = length[at];
        }
        if ((double)fitting / (double)count < by->fitting || !singles)
            continue;
        sort(other, singles);
        match_lengths(length, count, larger((other[(singles - 1) / 2] + other[singles / 2]) / 2, 1e-9), by->length,
                      multiple);
        for (int64_t at = 0; at < count; at++)
            sum += multiple[at];
        return sum;
    }
    return 0;
}

static bool are_similar(const double *volume, int64_t count, double ratio) {
    double least = volume[0], most = volume[0];
    for (int64_t at = 1; at < count; at++) {
        least = fmin(least, volume[at]);
        most = fmax(most, volume[at]);
    }
    return most < ratio * least;
}

/* Writes the number of equal phases in each phase, by their volumes or by those from each start to the next, whichever
 * show more. Returns whether some phases are several. The scratch has room for four values per phase and UNITS. */
EXPORT int64_t segments_multiples(const double *running, int64_t bins, const int64_t *first, const double *start,
                                  const double *end, const double *volume, int64_t count, double ratio,
                                  const struct merging *by, int64_t *multiple, double *scratch) {
    double *length = scratch, *whole = scratch + count, *rest = scratch + 2 * count;
    int64_t *other = multiple + count;
    for (int64_t at = 0; at < count; at++) {
        length[at] = end[at] - start[at];
        whole[at] = (at + 1 < count ? running[first[at + 1]] : running[bins]) - running[first[at]];
    }
    if (are_similar(volume, count, ratio) && are_similar(whole, count, ratio))
        return 0;
    int64_t sum = multiples(volume, length, count, by, multiple, rest);
    int64_t other_sum = multiples(whole, length, count, by, other, rest);
    if (other_sum > sum)
        memcpy(multiple, other, (size_t)count * sizeof *other);
    return (other_sum > sum ? other_sum : sum) > count;
}
