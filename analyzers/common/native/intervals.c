/* Classifies the intervals between phases, and finds changes among them. analyzers/periodicity/compiled.py is
 * its interface; the NumPy code of its callers is the fallback. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { ROUNDS = 4 };
static const double NOTHING = 1e-12;

static int ascending(const void *one, const void *other) {
    double left = *(const double *)one, right = *(const double *)other;
    return (left > right) - (left < right);
}

/* Numbers of a mixture of intervals on time, across missed phases, and stray. */
struct mixture {
    double period, deviation, missed, stray, range;
};

/* The interval with the middle rank, and the deviation of those near it. */
static void begin(struct mixture *of, const double *intervals, int64_t count, double on_time, double resolved,
                  double *ordered) {
    double square = 0, near = 0;
    memcpy(ordered, intervals, (size_t)count * sizeof *intervals);
    qsort(ordered, (size_t)count, sizeof *ordered, ascending);
    of->period = ordered[(count - 1) / 2];
    of->range = fmax(log(ordered[count - 1] / ordered[0]), NOTHING);
    for (int64_t at = 0; at < count; at++) {
        double ratio = intervals[at] / of->period;
        if (!(fabs(ratio - 1) < on_time))
            continue;
        square += (ratio - 1) * (ratio - 1);
        near++;
    }
    of->deviation = hypot(sqrt(square / near), sqrt(resolved) / of->period);
}

/* Expectation maximization, as missed_phases.classify_intervals. Writes the number of periods of each interval, 0 for
 * stray ones, the likelihood, and the sums of intervals and of their logarithms. The scratch has two values per
 * interval. */
EXPORT void intervals_classify(const double *intervals, int64_t count, double on_time, double prior, double resolved,
                               int64_t *multiple, double *results, double *scratch) {
    struct mixture of = {.missed = prior, .stray = prior};
    double *share = scratch, *times = scratch + count, n = (double)count, least = prior / n, unit = 1, likely = 0;
    begin(&of, intervals, count, on_time, resolved, scratch);
    for (int round = 0; round < ROUNDS; round++) {
        double whole = 0, spanned = 0, length = 0, square = 0, step = log(of.missed);
        double height = (1 - of.stray) * (1 - of.missed) / (of.deviation * sqrt(2 * M_PI));
        unit = of.period;
        likely = 0;
        for (int64_t at = 0; at < count; at++) {
            double ratio = intervals[at] / unit, nearest = fmax(rint(ratio), 1);
            double off = (ratio - nearest) / of.deviation;
            double on_grid = exp((nearest - 1) * step - 0.5 * off * off) * height;
            double either = on_grid + of.stray / of.range / ratio;
            share[at] = on_grid / either;
            times[at] = nearest;
            likely += log(either);
            whole += share[at];
            spanned += share[at] * nearest;
            length += share[at] * intervals[at];
        }
        if (whole < 1)
            break;
        of.period = length / spanned;
        for (int64_t at = 0; at < count; at++) {
            double off = intervals[at] / of.period - times[at];
            square += share[at] * off * off;
        }
        of.deviation = sqrt(square / whole + resolved / (of.period * of.period));
        of.missed = fmax(1 - whole / spanned, least);
        of.stray = fmax(1 - whole / n, least);
    }
    results[0] = likely - n * log(unit) - log(n);
    results[1] = results[2] = 0;
    for (int64_t at = 0; at < count; at++) {
        multiple[at] = 2 * share[at] > 1 ? (int64_t)times[at] : 0;
        results[1] += intervals[at];
        results[2] += log(intervals[at]);
    }
}

/* Tolerances of changes, in the order of compiled.py. */
struct bounds {
    int64_t least;
    double likelihood, resolved, drift, line, missed;
};

/* NumPy's sum of fewer than 129 values, and of more. Another order of additions would find another of two changes that
 * are equally likely. */
static double pairwise(const double *values, int64_t count) {
    if (count < 8) {
        double sum = 0;
        for (int64_t at = 0; at < count; at++)
            sum += values[at];
        return sum;
    }
    if (count > 128) {
        int64_t half = count / 2;
        half -= half % 8;
        return pairwise(values, half) + pairwise(values + half, count - half);
    }
    double part[8];
    int64_t at = 8;
    memcpy(part, values, sizeof part);
    for (; at < count - count % 8; at += 8)
        for (int64_t lane = 0; lane < 8; lane++)
            part[lane] += values[at + lane];
    double sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    for (; at < count; at++)
        sum += values[at];
    return sum;
}

/* Returns whether a line through the values explains the change as well. */
static bool is_drift(const double *level, int64_t count, double mean, double most, const struct bounds *by) {
    double middle = (double)(count - 1) / 2, product = 0, square = 0, sum = 0, rest = 0;
    for (int64_t at = 0; at < count; at++) {
        double place = (double)at - middle, off = level[at] - mean;
        product += place * off;
        square += place * place;
        sum += off;
    }
    double slope = product / square;
    if (!(fabs(slope) < by->drift))
        return false;
    for (int64_t at = 0; at < count; at++) {
        double off = level[at] - mean - sum / (double)count - slope * ((double)at - middle);
        rest += off * off;
    }
    return rest < most;
}

/* Returns the index of the first value after the likeliest change, 0 if there is none. */
static int64_t split(const double *level, int64_t count, const struct bounds *by) {
    if (count < 2 * by->least)
        return 0;
    double n = (double)count, mean = pairwise(level, count) / n, whole = 0, sum = 0, most = -1, at_most = 0;
    int64_t best = 0;
    for (int64_t at = 0; at < count; at++) {
        double off = level[at] - mean, before = (double)(at + 1);
        whole += off * off;
        sum += off;
        if (at + 1 < by->least || at >= count - by->least)
            continue;
        double between = sum * sum * (n / (before * (n - before)));
        if (between > most) {
            most = between;
            at_most = sum;
            best = at;
        }
    }
    double within = whole - most, resolved = n * by->resolved;
    if (n / 2 * log((whole + resolved) / (fmax(within, 0) + resolved)) < by->likelihood + log(n))
        return 0;
    if (is_drift(level, count, mean, by->line * within + resolved, by))
        return 0;
    double ratio = exp(-at_most * (1 / (n - 1 - (double)best) + 1 / (double)(best + 1)));
    double times = fmax(rint(ratio), 1);
    if (times > 1 && fabs(ratio / times - 1) < by->missed && count - 1 - best <= by->least)
        return 0; /* cannot be distinguished from missed phases yet */
    return best + 1;
}

/* Copies intervals that are not longer than the two before and the two after, and their logarithms. */
static int64_t without_longer(const double *intervals, const double *level, int64_t count, double longer,
                              double *kept, double *kept_level) {
    int64_t number = 0;
    for (int64_t at = 0; at < count; at++) {
        double near = INFINITY;
        if (at > 1 && at + 2 < count)
            near = fmax(fmax(intervals[at - 2], intervals[at - 1]), fmax(intervals[at + 1], intervals[at + 2]));
        if (intervals[at] >= longer * near)
            continue;
        kept[number] = intervals[at];
        kept_level[number++] = level[at];
    }
    return number;
}

/* Returns the index of the first interval after the last change, 0 if there is none, among the intervals that are not
 * longer than the two before and after. If the longest is below ``ratio`` times the shortest, there is none. The
 * scratch has room for two values per interval. */
EXPORT int64_t intervals_last_change(const double *intervals, const double *level, int64_t count, double longer,
                                     double ratio, const struct bounds *by, double *scratch) {
    double least = INFINITY, most = 0, *kept_level = scratch + count;
    count = without_longer(intervals, level, count, longer, scratch, kept_level);
    for (int64_t at = 0; at < count; at++) {
        least = fmin(least, scratch[at]);
        most = fmax(most, scratch[at]);
    }
    if (most < ratio * least)
        return 0;
    int64_t begin = 0;
    while (true) { /* several changes hide one another: the newer half may show one that the whole does not */
        int64_t first = begin, found = split(kept_level + first, count - first, by);
        if (!found) {
            first = (begin + count) / 2;
            found = split(kept_level + first, count - first, by);
        }
        if (!found)
            return begin;
        begin = first + found;
    }
}

/* Writes the indices of the first values after each change, ascending, and returns their number. The places have room
 * for twice the values; their end is a stack of the parts that wait. */
EXPORT int64_t intervals_changes(const double *level, int64_t count, const struct bounds *by, int64_t *places) {
    int64_t made = 0, room = 2 * count, stack = room, begin = 0, end = count;
    while (true) {
        int64_t found = split(level + begin, end - begin, by);
        if (found || end - begin >= 4 * by->least) {
            places[--stack] = end;
            places[--stack] = found;
            end = begin + (found ? found : (end - begin) / 2);
            continue;
        }
        if (stack == room)
            return made;
        found = places[stack++];
        if (found)
            places[made++] = end;
        begin = end;
        end = places[stack++];
    }
}

/* Writes the mean of intervals, and their deviation over the mean; resolved is the variance of their resolution. */
EXPORT void intervals_measure(const double *intervals, int64_t count, double resolved, double *results) {
    double sum = 0, square = 0;
    for (int64_t at = 0; at < count; at++)
        sum += intervals[at];
    double mean = fmax(sum / (double)count, 1e-9);
    for (int64_t at = 0; at < count; at++)
        square += (intervals[at] - mean) * (intervals[at] - mean);
    results[0] = mean;
    results[1] = sqrt(square / (double)(count - 1) + resolved) / mean;
}

/* A line through successive values. */
struct line {
    double mean, slope;
};

static struct line line_through(const double *values, int64_t count) {
    double middle = (double)(count - 1) / 2, product = 0, square = 0, sum = 0;
    for (int64_t at = 0; at < count; at++) {
        product += ((double)at - middle) * values[at];
        square += ((double)at - middle) * ((double)at - middle);
        sum += values[at];
    }
    return (struct line){sum / (double)count, product / square};
}

/* Extrapolates intervals by one, by the better of linear and exponential growth. Writes the next interval, and the sums
 * of squares around the mean and around the line. The scratch has one value per interval. */
EXPORT void intervals_extrapolate(const double *intervals, int64_t count, double *results, double *scratch) {
    struct line line = line_through(intervals, count);
    double middle = (double)(count - 1) / 2, ahead = (double)(count + 1) / 2, around = 0, rest = 0, others = 0, least;
    least = intervals[0];
    for (int64_t at = 0; at < count; at++) {
        double off = intervals[at] - line.mean, left = off - line.slope * ((double)at - middle);
        around += off * off;
        rest += left * left;
        least = fmin(least, intervals[at]);
    }
    results[0] = line.mean + line.slope * ahead;
    results[1] = around;
    results[2] = rest;
    if (!(least > 0))
        return;
    for (int64_t at = 0; at < count; at++)
        scratch[at] = log(intervals[at]);
    struct line growth = line_through(scratch, count);
    for (int64_t at = 0; at < count; at++) {
        double off = intervals[at] - exp(growth.mean + growth.slope * ((double)at - middle));
        others += off * off;
    }
    if (others < rest) {
        results[0] = exp(growth.mean + growth.slope * ahead);
        results[2] = others;
    }
}
