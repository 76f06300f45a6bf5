/* Finds sequences of phases at equal distances among those of two programs. analyzers/periodicity/compiled.py is
 * its interface; the Python code of interleaved.py is the fallback. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { MOST = 64 }; /* phases, and distances */
#define EXPORT __attribute__((visibility("default")))

/* Limits, in the order of compiled.py: phases of both programs from one phase to the next of one, distances tried,
 * missed phases, phases of a sequence; tolerance of a distance, share of phases at one, resolution. */
struct limits {
    int64_t orders, tried, missed, least;
    double tolerance, common, resolved;
};

/* The best sequence up to each phase. */
struct step {
    double score;
    int64_t periods, before;
};

static int ascending(const void *one, const void *other) {
    double left = *(const double *)one, right = *(const double *)other;
    return (left > right) - (left < right);
}

/* Writes the distances with at least the count of a regular program times ``common``, shortest first. */
static int64_t common_distances(const double *at, int64_t count, const struct limits *by, double *ordered,
                                double *running, double *found) {
    int64_t number = 0, stop = 0, made = 0;
    double width = 1 + by->tolerance, whole = fmax(at[count - 1] - at[0], 1e-9);
    for (int64_t order = 1; order <= by->orders && order < count; order++)
        for (int64_t first = 0; first + order < count; first++)
            if (at[first + order] > at[first])
                ordered[number++] = at[first + order] - at[first];
    qsort(ordered, (size_t)number, sizeof *ordered, ascending);
    running[0] = 0;
    for (int64_t place = 0; place < number; place++)
        running[place + 1] = running[place] + ordered[place];
    for (int64_t place = 0; place < number && made < by->tried; place++) {
        while (stop < number && ordered[stop] <= ordered[place] * width)
            stop++;
        double times = (double)(stop - place);
        if (!(times * ordered[place] / whole >= by->common))
            continue;
        double mean = (running[stop] - running[place]) / times;
        if (!made || mean > width * found[made - 1])
            found[made++] = mean;
    }
    return made;
}

/* First phase at or after a time, at least 1 and at most the last. */
static int64_t after(const double *at, int64_t count, int64_t from, double time) {
    int64_t place = from > 1 ? from : 1;
    while (place < count - 1 && at[place] < time)
        place++;
    return place;
}

/* Finds the sequence with the highest score: deviations and hidden phases reduce it. */
static void link(const double *at, int64_t count, double distance, const struct limits *by, struct step *steps) {
    for (int64_t place = 0; place < count; place++)
        steps[place] = (struct step){1, 0, -1};
    for (int64_t place = 0; place < count; place++) {
        int64_t from = place;
        for (int64_t hidden = 0; hidden < by->missed; hidden++) {
            double wanted = at[place] + (double)(hidden + 1) * distance;
            from = after(at, count, from, wanted);
            int64_t to = wanted - at[from - 1] < at[from] - wanted ? from - 1 : from;
            double off = fabs(at[to] - wanted) / distance;
            double score = steps[place].score + 1 - (double)hidden - off;
            if (off < by->tolerance && to > place && score > steps[to].score)
                steps[to] = (struct step){score, steps[place].periods + hidden + 1, place};
        }
    }
}

/* Writes the phases of the best sequence, ascending, its period and its spread. Returns their number, 0 if there are
 * too few or if most are hidden. */
static int64_t sequence(const double *at, int64_t count, double distance, const struct limits *by,
                        const struct step *steps, int64_t *members, double *measured) {
    int64_t last = 0, number = 0;
    for (int64_t place = 1; place < count; place++)
        if (steps[place].score > steps[last].score)
            last = place;
    for (int64_t place = last; place >= 0; place = steps[place].before)
        number++;
    if (number < by->least || steps[last].periods >= 2 * number)
        return 0;
    for (int64_t place = last, left = number; place >= 0; place = steps[place].before)
        members[--left] = place;
    double period = (at[last] - at[members[0]]) / (double)steps[last].periods, square = 0;
    for (int64_t place = 1; place < number; place++) {
        double length = at[members[place]] - at[members[place - 1]];
        double off = length / rint(length / distance) / period - 1;
        square += off * off;
    }
    measured[0] = period;
    measured[1] = sqrt(square / (double)(number - 2) + by->resolved / (period * period));
    return number;
}

/* Finds a sequence for each common distance. counts, and rows of members (one value per phase) and of measured (two),
 * have room for each distance tried. The scratch has room for two values per phase and order, and one. Returns the
 * number of distances; -1 if there are too many phases. */
EXPORT int64_t trains_find(const double *at, int64_t count, const struct limits *by, int64_t *counts, int64_t *members,
                           double *measured, double *scratch) {
    double distances[MOST];
    struct step steps[MOST];
    if (count > MOST || by->tried > MOST)
        return -1;
    int64_t made = common_distances(at, count, by, scratch, scratch + by->orders * count, distances);
    for (int64_t each = 0; each < made; each++) {
        link(at, count, distances[each], by, steps);
        counts[each] =
            sequence(at, count, distances[each], by, steps, members + each * count, measured + 2 * each);
    }
    return made;
}
