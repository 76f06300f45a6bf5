/* Parses the text before a call: process, stamp, and the numbers that some options add. */
#include <string.h>

#include "strace.h"

static const u8 *stamp(const u8 *at, const u8 *end, uint64_t *ns)
{
    const u8 *day = time_of_day(at, end, ns);
    if (day)
        return day;
    const u8 *point = skip_digits(at, end, 10);
    *ns = number(at, point) * NS; /* ten digits may wrap, as in NumPy; the result is then out of range */
    const u8 *last = fraction(point, end, ns);
    return point == at || last == point ? NULL : last;
}

static const u8 *process(const u8 *at, const u8 *end, uint32_t *pid)
{
    if (BEGINS(at, end, "[pid "))
        at = skip(at + 5, end, ' ');
    const u8 *last = skip_digits(at, end, 7), *next = last;
    if (last == at)
        return at;
    if (next < end && *next == '<') {
        const u8 *name = memchr(next, '>', (size_t)(end - next));
        next = name ? name + 1 : next;
    }
    next += next < end && *next == ']';
    if (next == end || *next != ' ')
        return at;
    *pid = (uint32_t)number(at, last);
    return skip(next, end, ' ');
}

/* Skips "[59] " and "[00007fd0f9879ad7] ": number of the call and instruction pointer. */
static const u8 *skip_brackets(const u8 *at, const u8 *end)
{
    while (at < end && *at == '[') {
        const u8 *first = skip(at + 1, end, ' '), *next = first;
        while (next < end && next < first + 16 && (is_digit(*next) || (*next >= 'a' && *next <= 'f') || *next == '?'))
            next++;
        if (next == first || !BEGINS(next, end, "] "))
            break;
        at = skip(next + 1, end, ' ');
    }
    return at;
}

const u8 *leader(const u8 *data, const u8 *at, const u8 *end, struct line *line)
{
    uint32_t pid = 0;
    at = skip(process(at, end, &pid), end, ' ');
    uint64_t ns = 0;
    const u8 *last = stamp(at, end, &ns), *next = last;
    if (!last)
        return NULL;
    if (BEGINS(last, end, " (+ ")) {
        next = skip(last + 4, end, ' ');
        const u8 *since = next;
        while (next < end && (is_digit(*next) || *next == '.'))
            next++;
        next = next > since && next < end && *next == ')' ? next + 1 : last;
    }
    if (next == end || *next != ' ')
        return NULL;
    line->pid = pid;
    line->stamp = (int64_t)ns;
    line->stamp_text = (struct extent){(uint32_t)(at - data), (uint32_t)(last - data)};
    return skip_brackets(skip(next, end, ' '), end);
}
