/* Assigns requests to bins of equal length. analyzers/signal/binning.py is its interface, with a NumPy fallback. */
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* Last bin and its start, since the next request is mostly in the same bin. */
struct bin {
    int64_t number, begin;
};

static inline int64_t bin_of(struct bin *bin, int64_t at, int64_t length) {
    if ((uint64_t)at - (uint64_t)bin->begin >= (uint64_t)length) {
        bin->number = at / length - (at % length < 0);
        bin->begin = (int64_t)((uint64_t)bin->number * (uint64_t)length);
    }
    return bin->number;
}

/* Writes the first and last bin of requests [start, end); one that does not end after its start is in one bin. */
EXPORT void bins_range(const int64_t *start, const int64_t *end, uint64_t count, int64_t length, int64_t *first,
                       int64_t *last) {
    struct bin of_start = {0, 0}, of_end = {0, 0};
    for (uint64_t i = 0; i < count; i++) {
        first[i] = bin_of(&of_start, start[i], length);
        last[i] = bin_of(&of_end, end[i] > start[i] ? end[i] - 1 : start[i], length);
    }
}

/* Adds the volumes of requests within one bin to total[bin - lowest], except bins before lowest. Volumes are step
 * bytes apart. Writes the rows of the other requests and returns their number. */
EXPORT uint64_t bins_sum(const int64_t *first, const int64_t *last, const char *volume, int64_t step, uint64_t count,
                         int64_t lowest, double *total, int64_t *rows) {
    uint64_t across = 0;
    for (uint64_t i = 0; i < count;) {
        int64_t bin = first[i];
        if (bin != last[i]) {
            rows[across++] = (int64_t)i++;
            continue;
        }
        double sum = bin >= lowest ? total[bin - lowest] : 0; /* in a register while the bin stays the same */
        for (; i < count && first[i] == bin && last[i] == bin; i++) {
            int64_t moved;
            memcpy(&moved, volume + (int64_t)i * step, sizeof moved);
            sum += (double)moved;
        }
        if (bin >= lowest)
            total[bin - lowest] = sum;
    }
    return across;
}
