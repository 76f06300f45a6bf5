/* Parses the text before event names. The dialects' regular expressions are the grammar. This code takes their first
 * choice at each position; if that fails, the line is UNSURE and left to them. */
#define _GNU_SOURCE
#include <string.h>

#include "traces.h"

/* Parses "12.345678", with or without hours and minutes. */
static const u8 *stamp(const u8 *at, const u8 *end, struct line *line)
{
    uint64_t ns = 0;
    const u8 *day = time_of_day(at, end, &ns), *point = skip_digits(at, end, 10);
    if (day && day > at + 8) {
        line->clock = TIME_OF_DAY;
        line->stamp = (int64_t)ns;
        return day;
    }
    ns = number(at, point) * NS; /* ten digits may wrap; the result is then out of range */
    const u8 *last = fraction(point, end, &ns);
    line->stamp = (int64_t)ns;
    return point == at || last == point ? NULL : last;
}

static const u8 *spaces(const u8 *at, const u8 *end)
{
    return at && at < end && *at == ' ' ? skip(at, end, ' ') : NULL;
}

/* Parses "[001] d.h1. 12.345678: " from its bracket. */
static const u8 *processor(const u8 *at, const u8 *end, struct line *line)
{
    const u8 *last = skip_digits(at + 1, end, 6);
    if (last == at + 1 || last == end || *last != ']')
        return NULL;
    line->cpu = (uint32_t)number(at + 1, last);
    at = spaces(last + 1, end);
    if (!at)
        return NULL;
    for (last = at; last < end && (is_word(*last) || *last == '.');)
        last++;
    if (last < end && *last == ' ') {
        if (last - at < 4 || last - at > 6)
            return NULL;
        for (; at < last; at++)
            line->inside |= *at == 'h' || *at == 'H' || *at == 's' || *at == 'Z' || *at == 'z';
        at = skip(last, end, ' ');
    }
    last = stamp(at, end, line);
    return last && last < end && *last == ':' && line->clock == SECONDS ? spaces(last + 1, end) : NULL;
}

static const u8 *word(const u8 *at, const u8 *end)
{
    while (at < end && is_word(*at))
        at++;
    return at;
}

static const u8 *back(const u8 *begin, const u8 *at, u8 over)
{
    while (at > begin && at[-1] == over)
        at--;
    return at;
}

/* Parses a thread number backwards, which may be -1; returns its beginning, or NULL if there is none. */
static const u8 *thread_before(const u8 *begin, const u8 *at, int32_t *thread)
{
    const u8 *first = at;
    while (first > begin && is_digit(first[-1]))
        first--;
    if (first == at || at - first > 10)
        return NULL;
    *thread = thread_number(first, at);
    if (at - first == 1 && *first == '1' && first > begin && first[-1] == '-') {
        *thread = UNKNOWN_TID;
        first--;
    }
    return first;
}

static bool command(const u8 *data, const u8 *begin, const u8 *end, struct line *line)
{
    line->comm = EXTENT(data, begin, end);
    return begin < end && (*begin > ' ' || *begin < '\t');
}

/* Parses "bash 12/34 [001] 12.345678: 1 sched:sched_waking: ". */
static enum what perf(const u8 *data, const u8 *at, const u8 *end, struct line *line)
{
    const u8 *begin = skip(at, end, ' '), *bracket = memchr(begin, '[', (size_t)(end - begin));
    if (!bracket)
        return UNSURE;
    const u8 *last = back(begin, bracket, ' '), *first = last < bracket ? thread_before(begin, last, &line->tid) : NULL;
    if (first && first > begin && first[-1] == '/')
        first = thread_before(begin, first - 1, &line->pid);
    last = first ? back(begin, first, ' ') : NULL;
    if (!last || last == first || !command(data, begin, last, line))
        return UNSURE;
    at = processor(bracket, end, line);
    const u8 *name = at, *after = at ? word(at, end) : NULL;
    if (after && after < end && *after == ' ' && skip_digits(name, after, INT32_MAX) == after) {
        name = skip(after, end, ' ');
        after = word(name, end);
    }
    if (!after || after == name || after == end || *after != ':')
        return UNSURE;
    const u8 *second = word(after + 1, end);
    if (second > after + 1) {
        if (second == end || *second != ':')
            return UNSURE;
        name = after + 1;
        after = second;
    }
    line->event = EXTENT(data, name, after);
    line->payload = EXTENT(data, skip(after + 1, end, ' '), end);
    return EVENT;
}

/* Parses perf's form, plain or as the text of a JSON object. */
static enum what bpftrace(const u8 *data, const u8 *at, const u8 *end, struct line *line)
{
    static const char before[] = "{\"type\": \"printf\", \"data\": \"", after[] = "\\n\"}";
    if (BEGINS(at, end, before)) {
        at += sizeof before - 1;
        if (end - at >= (int)sizeof after - 1 && BEGINS(end - (sizeof after - 1), end, after))
            end -= sizeof after - 1;
    }
    return perf(data, at, end, line);
}

/* Parses "bash-34 ( 12) [001] d.h1. 12.345678: sched_waking: ", optionally after a buffer's name. */
static enum what trace_cmd(const u8 *data, const u8 *at, const u8 *end, struct line *line)
{
    const u8 *begin = skip(at, end, ' '), *bracket = memchr(begin, '[', (size_t)(end - begin));
    if (!bracket)
        return UNSURE;
    const u8 *colon = begin;
    while (colon < bracket && *colon > ' ' && *colon != ':')
        colon++;
    if (colon > begin && BEGINS(colon, bracket, ":  "))
        begin = skip(colon + 1, bracket, ' ');
    const u8 *last = back(begin, bracket, ' ');
    if (last == bracket || last == begin)
        return UNSURE;
    if (last[-1] == ')') {
        const u8 *close = last - 1, *open = memrchr(begin, '(', (size_t)(close - begin));
        const u8 *first = open ? skip(open + 1, close, ' ') : NULL;
        if (!first || first == close || (*first == '-' ? skip(first, close, '-') : skip_digits(first, close, 10)) != close)
            return UNSURE;
        line->pid = *first == '-' ? 0 : thread_number(first, close);
        last = back(begin, open, ' ');
        if (last == open)
            return UNSURE;
    }
    const u8 *first = thread_before(begin, last, &line->tid);
    if (first && line->tid == UNKNOWN_TID) { /* the minus sign was the dash between name and number */
        line->tid = 1;
        first++;
    }
    if (!first || first - begin < 2 || first[-1] != '-')
        return UNSURE;
    if (!(first - begin == 6 && BEGINS(begin, first, "<...>")) && !command(data, begin, first - 1, line))
        return UNSURE;
    const u8 *name = processor(bracket, end, line), *after = name ? word(name, end) : NULL;
    if (!after || after == name || after == end)
        return UNSURE;
    const u8 *payload = after + 1;
    if (BEGINS(after, end, " ->") || BEGINS(after, end, " <-"))
        payload = after += 3;
    else if (*after == '(')
        payload = ++after;
    else if (*after != ':')
        return UNSURE;
    line->event = EXTENT(data, name, after);
    line->payload = EXTENT(data, skip(payload, end, ' '), end);
    return EVENT;
}

/* Reads the acting thread from the context fields that a tracer was configured to write with each event. */
static void context(const u8 *data, const u8 *at, const u8 *end, struct line *line)
{
    bool has_tid = false, has_pid = false, has_comm = false;
    for (const u8 *from = at; at < end; at++) {
        if (at > from && at[-1] != ' ' && at[-1] != ',')
            continue;
        const u8 *last = BEGINS(at, end, "tid = ") || BEGINS(at, end, "pid = ") ? skip_digits(at + 6, end, INT32_MAX) : at;
        if (last > at + 6) {
            const bool is_tid = *at == 't';
            if (is_tid ? !has_tid : !has_pid)
                *(is_tid ? &line->tid : &line->pid) = thread_number(at + 6, last);
            *(is_tid ? &has_tid : &has_pid) = true;
            at = last - 1;
        } else if (BEGINS(at, end, "procname = \"") && (last = memchr(at + 12, '"', (size_t)(end - at - 12)))) {
            if (!has_comm)
                line->comm = EXTENT(data, at + 12, last);
            has_comm = true;
            at = last;
        }
    }
    if (!has_tid) {
        line->pid = 0;
        line->comm = (struct extent){0, 0};
    }
}

/* Parses "[2026-11-21 12:00:00.123456789] (+0.000000001) host sched_waking: { cpu_id = 1 }, { tid = 12 }, ". */
static enum what lttng(const u8 *data, const u8 *at, const u8 *end, struct line *line)
{
    if (at == end || *at++ != '[')
        return UNSURE;
    if (end - at > 10 && at[4] == '-') {
        const u8 *day = at + 10;
        if (skip_digits(at, day, 4) != at + 4 || skip_digits(at + 5, day, 2) != at + 7 || at[7] != '-' ||
            skip_digits(at + 8, day, 2) != day || *day != ' ')
            return UNSURE;
        line->date = EXTENT(data, at, day);
        at = day + 1;
    }
    at = stamp(at, end, line);
    if (!at || !BEGINS(at, end, "] "))
        return UNSURE;
    at += 2;
    if (at < end && *at == '(') {
        while (at < end && *at != ' ' && *at != ')')
            at++;
        if (!BEGINS(at, end, ") "))
            return UNSURE;
        at += 2;
    }
    const u8 *last = at;
    while (last < end && *last > ' ' && *last != ':' && *last != '{' && *last != '}')
        last++;
    if (last > at && last < end && *last == ' ') {
        line->host = EXTENT(data, at, last);
        at = last + 1;
    }
    last = word(at, end);
    if (last == at || !BEGINS(last, end, ": { cpu_id = "))
        return UNSURE;
    line->event = EXTENT(data, at, last);
    at = last + 13;
    last = skip_digits(at, end, 6);
    const u8 *close = memchr(last, '}', (size_t)(end - last));
    if (last == at || !close)
        return UNSURE;
    line->cpu = (uint32_t)number(at, last);
    at = close + 1;
    at += at < end && *at == ',';
    if (BEGINS(at, end, " { ")) {
        const u8 *first = at + 3;
        for (last = first; last < end && *last != '{' && *last != '}';)
            last++;
        if (last > first && last[-1] == ' ' && BEGINS(last, end, "}, {")) {
            context(data, first, last - 1, line);
            at = last + 2;
        }
    }
    line->payload = EXTENT(data, at, end);
    return EVENT;
}

/* Parses whole, terminated lines; returns their number, at most most. */
EXPORT uint64_t trace_lines(enum form form, const u8 *data, uint64_t size, struct line *lines, uint64_t most)
{
    enum what (*const forms[])(const u8 *, const u8 *, const u8 *, struct line *) = {perf, bpftrace, trace_cmd, lttng};
    uint64_t count = 0;
    for (const u8 *at = data, *stop = data + size; at < stop && count < most; count++) {
        const u8 *end = memchr(at, '\n', (size_t)(stop - at));
        end = end ? end : stop;
        struct line *line = lines + count;
        memset(line, 0, sizeof *line);
        line->tid = UNKNOWN_TID;
        line->what = forms[form](data, at, end, line);
        line->text = EXTENT(data, at, end);
        at = end + 1;
    }
    return count;
}
