/* Finds the file that each call uses, and the last numbers, in the arguments of calls. */
#define _GNU_SOURCE
#include <string.h>

#include "strace.h"

#define MAX_SEARCHED 32768 /* two paths of PATH_MAX bytes with each byte escaped */

static struct extent extent(const u8 *data, const u8 *begin, const u8 *end)
{
    return (struct extent){(uint32_t)(begin - data), (uint32_t)(end - data)};
}

static bool is_empty(struct extent extent)
{
    return extent.begin == extent.end;
}

const u8 *annotation_end(const u8 *at, const u8 *end, enum after after)
{
    const u8 *run = at;
    for (;; at++) {
        while (at < end && *at != '<' && *at != '>')
            at++;
        if (at == end)
            return NULL;
        if (*at == '<') {
            for (at++; at < end && *at != '<' && *at != '>';)
                at++;
            if (at == end || *at == '<')
                return NULL;
        } else {
            const u8 *next = at + 1;
            if (after == BEFORE_STRING ? BEGINS(skip_deleted(next, end), end, ", \"")
                                       : next == end || *next == ',' || *next == ')' || *next == '(' || *next == ' ')
                return at;
            if (at == run || at[-1] != '-')
                return NULL;
        }
        run = at + 1;
    }
}

/* Parses a descriptor with its annotation; returns its end, or NULL. */
static const u8 *descriptor(const u8 *data, const u8 *at, const u8 *end, struct extent *found)
{
    while (at < end && is_digit(*at))
        at++;
    if (at == end || *at++ != '<')
        return NULL;
    const u8 *last = annotation_end(at, end, BEFORE_NEXT);
    if (!last)
        return NULL;
    *found = extent(data, at, last);
    return skip_deleted(last + 1, end);
}

static struct extent last_descriptor(const u8 *data, const u8 *at, const u8 *end)
{
    struct extent found = {0, 0};
    end = end - at > MAX_SEARCHED ? at + MAX_SEARCHED : end;
    for (const u8 *first = at; at < end;) {
        if (is_digit(*at) && (at == first || !is_word(at[-1]))) {
            const u8 *next = descriptor(data, at, end, &found);
            at = next ? next : skip_digits(at, end, MAX_SEARCHED);
        } else {
            at++;
        }
    }
    return found;
}

/* Finds folder and name if the first string among the arguments is a path. */
static void string(const u8 *data, const u8 *at, const u8 *end, struct argument *found)
{
    if (BEGINS(at, end, ", "))
        at += 2;
    const u8 *next = BEGINS(at, end, "AT_FDCWD") ? at + 8 : skip_digits(at, end, end - at > 20 ? 20 : (int)(end - at));
    struct extent folder = {0, 0};
    if (next > at && next < end && *next == '<') {
        const u8 *last = annotation_end(next + 1, end, BEFORE_STRING);
        if (last) {
            folder = extent(data, next + 1, last);
            next = skip_deleted(last + 1, end);
        }
    }
    if (next > at && BEGINS(next, end, ", \""))
        at = next + 2;
    else
        folder = (struct extent){0, 0};
    if (at == end || *at != '"')
        return;
    const u8 *last = ++at;
    while (last < end && *last != '"')
        last += *last == '\\' ? 2 : 1;
    if (last >= end)
        return;
    found->name = extent(data, at, last);
    if (is_empty(found->folder))
        found->folder = folder;
}

static void path(const u8 *data, const struct line *line, enum path_in way, struct argument *found)
{
    const u8 *at = data + line->arguments.begin, *end = data + line->arguments.end;
    found->folder = line->annotation;
    if (way == IN_RESULT && !is_empty(line->returned))
        found->folder = line->returned;
    else if (way == IN_RESULT || way == IN_ARGUMENT)
        string(data, at, end, found);
    else if (way == IN_DESCRIPTOR && is_empty(line->annotation) && at < end && is_digit(*at))
        descriptor(data, at, end, &found->folder);
    else if (way == IN_LAST_DESCRIPTOR) {
        const struct extent last = last_descriptor(data, at, end);
        found->folder = is_empty(last) ? found->folder : last;
    }
}

/* Returns the number after the last ", " before *end, and moves *end there; -1 if it is not a valid number. */
static int64_t last_number(const u8 *begin, const u8 **end)
{
    const u8 *at = *end, *stop = *end;
    while (at > begin && !(at[-1] == ' ' && at - begin >= 2 && at[-2] == ','))
        at--;
    *end = at - begin >= 2 ? at - 2 : begin;
    if (at == stop || stop - at > 18)
        return -1;
    int64_t value = 0;
    for (; at < stop; at++) {
        if (!is_digit(*at))
            return -1;
        value = value * 10 + (*at - '0');
    }
    return value;
}

/* Returns the place after the next ", ", NULL if the next comma is no such separator. */
static const u8 *after_separator(const u8 *at, const u8 *end)
{
    while (at < end && *at != ',')
        at++;
    return end - at >= 2 && at[1] == ' ' ? at + 2 : NULL;
}

/* Finds the length of a mapping, and its protection and flags: address, length, protection, flags, ... */
static void mapping(const u8 *data, const u8 *at, const u8 *end, struct argument *found)
{
    at = after_separator(at, end);
    const u8 *next = at ? skip_digits(at, end, 19) : NULL;
    if (!next || next == at || next - at > 18 || !BEGINS(next, end, ", "))
        return;
    const u8 *first = next + 2, *second = after_separator(first, end);
    const u8 *last = second ? after_separator(second, end) : NULL;
    if (!last)
        return;
    for (; at < next; at++)
        found->requested = found->requested * 10 + (*at - '0');
    found->mapping = extent(data, first, last - 2);
}

/* Parses lines that are all calls, and finds the path and the numbers of each. */
EXPORT void strace_arguments(const u8 *data, const struct line *lines, uint64_t count, const u8 *paths, const u8 *numbers,
                             struct argument *found)
{
    for (uint64_t row = 0; row < count; row++, lines++, found++) {
        memset(found, 0, sizeof *found);
        path(data, lines, paths[row], found);
        found->offset = -1;
        const u8 *begin = data + lines->arguments.begin, *end = data + lines->arguments.end;
        if (numbers[row] == OFFSET || numbers[row] == COUNT_AND_OFFSET)
            found->offset = last_number(begin, &end);
        if (numbers[row] == COUNT || numbers[row] == COUNT_AND_OFFSET)
            found->requested = last_number(begin, &end);
        if (numbers[row] == MAPPING)
            mapping(data, begin, end, found);
    }
}
