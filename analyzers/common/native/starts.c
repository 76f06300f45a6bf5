/* Odds of the next start of a phase, and the grid of past starts. analyzers/periodicity/compiled.py is its
 * interface; the Python code of next_start.py and clock.py is the fallback. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

enum { HALVINGS = 12 }; /* as in next_start.py */

/* A course of the next start, as in next_start.py. */
struct course {
    double odds, left, origin, mean, slope, shift;
};

/* All courses, and the odds of a stray start. */
struct odds {
    double stray, last, period, seen;
    int64_t count;
    const struct course *courses;
};

static double stray_after(const struct odds *of, double time) {
    return of->stray / fmax((time - of->last) / of->period, 1);
}

/* Odds of a start after ``seen`` and before ``time``. */
static double before(const struct odds *of, double time) {
    double sum = stray_after(of, of->seen) - stray_after(of, time);
    for (int64_t at = 0; at < of->count; at++) {
        const struct course *course = of->courses + at;
        double later = cbrt(fmax(time - course->origin, 0)) * course->slope - course->shift;
        sum += course->left - course->odds * 0.5 * erfc(later);
    }
    return sum;
}

/* Writes the times before which the start comes with the given shares of the odds, in place of the shares. */
EXPORT void starts_quantiles(const struct odds *of, double *shares, int64_t count) {
    double whole = 0, most = of->seen;
    for (int64_t at = 0; at < of->count; at++) {
        whole += of->courses[at].left;
        most = fmax(most, of->courses[at].origin + of->courses[at].mean);
    }
    whole += stray_after(of, of->seen);
    for (int64_t at = 0; at < count; at++) {
        double wanted = shares[at] * whole, low = of->seen, high = most + of->period;
        while (before(of, high) < wanted) {
            low = high;
            high = of->seen + 4 * (high - of->seen);
        }
        for (int64_t halving = 0; halving < HALVINGS; halving++) {
            double middle = (low + high) / 2;
            if (before(of, middle) < wanted)
                low = middle;
            else
                high = middle;
        }
        shares[at] = high;
    }
}

/* Follows the deviations of starts from a grid, for each share that is forgotten. Writes the last positions, and a row
 * of errors per share. */
EXPORT void starts_smooth(const double *off, int64_t count, const double *shares, int64_t tried, double most,
                          double *levels, double *errors) {
    for (int64_t row = 0; row < tried; row++) {
        double level = off[0], last = 0;
        for (int64_t at = 1; at < count; at++) {
            double error = off[at] - level;
            errors[row * (count - 1) + at - 1] = error;
            if (shares[row] > 0 && fabs(error) > most) {
                if (error * last > 0)
                    level = off[at];
                last = error;
                continue;
            }
            last = 0;
            level += fmax(1 - shares[row], 1 / (double)(at + 1)) * error;
        }
        levels[row] = level;
    }
}
