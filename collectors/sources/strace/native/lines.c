/* Parses strace's lines. The regular expressions in line.py are the grammar. This code takes their first choice at
 * each position; if that fails and they would backtrack, the line is UNSURE and left to them. */
#define _GNU_SOURCE
#include <string.h>

#include "strace.h"


/* Parses "<seconds>" up to the end of the line. */
static bool is_duration(const u8 *at, const u8 *end, int64_t *duration)
{
    if (at >= end || *at != '<')
        return false;
    const u8 *point = skip_digits(at + 1, end, 9);
    uint64_t ns = number(at + 1, point) * NS;
    const u8 *last = fraction(point, end, &ns);
    if (point == at + 1 || last == point || last + 1 != end || *last != '>')
        return false;
    *duration = (int64_t)ns;
    return true;
}

/* Parses unusual text after a result; TAIL in line.py. */
static bool tail(const u8 *data, const u8 *at, const u8 *end, struct line *line)
{
    if (memmem(at, (size_t)(end - at), "ERESTART", 8))
        return false;
    if (*at == '<') {
        const u8 *last = annotation_end(at + 1, end, BEFORE_NEXT);
        if (!last)
            return false;
        if (line->returned.begin == line->returned.end)
            line->returned = (struct extent){(uint32_t)(at + 1 - data), (uint32_t)(last - data)};
        at = skip_deleted(last + 1, end);
    }
    const u8 *next = skip(at, end, ' ');
    if (next < end && *next == '<' && next > at)
        at = next - 1;
    else
        at = next;
    if (at < end && *at == 'E') {
        const u8 *name = at++;
        while (at < end && is_upper(*at))
            at++;
        if (at == name + 1)
            return false;
        if (line->error.begin == line->error.end)
            line->error = (struct extent){(uint32_t)(name - data), (uint32_t)(at - data)};
    }
    if (BEGINS(at, end, " (") || (at < end && *at == '(')) {
        at = memrchr(at, ')', (size_t)(end - at));
        if (!at)
            return false;
        at++;
    }
    if (end - at == 14 && BEGINS(at, end, " <unavailable>")) {
        line->duration = 0;
        return true;
    }
    if (at == end)
        return true;
    return *at == ' ' && is_duration(at + 1, end, &line->duration);
}

static const u8 *result(const u8 *at, const u8 *end, int64_t *value)
{
    if (at == end)
        return NULL;
    if (*at == '?')
        return at + 1;
    const u8 *first = at + (*at == '-'), *last;
    if (BEGINS(at, end, "0x")) {
        for (last = at + 2; last < end && last < at + 18 && (is_digit(*last) || (*last >= 'a' && *last <= 'f'));)
            last++;
        if (last > at + 2)
            return last;
    }
    last = skip_digits(first, end, 20);
    if (last == first)
        return NULL;
    if (last - at <= 18) /* addresses and registers are not counts */
        *value = first == at ? (int64_t)number(first, last) : -(int64_t)number(first, last);
    return last;
}

/* Parses " ENOENT (No such file or directory)", if present. */
static const u8 *error(const u8 *data, const u8 *at, const u8 *end, struct line *line)
{
    if (!BEGINS(at, end, " E") || BEGINS(at, end, " ERESTART"))
        return at;
    const u8 *last = at + 2;
    while (last < end && is_upper(*last))
        last++;
    if (last == at + 2 || !BEGINS(last, end, " ("))
        return at;
    const u8 *close = last + 2;
    while (close < end && *close != '(' && *close != ')')
        close++;
    if (close == end || *close != ')')
        return at;
    line->error = (struct extent){(uint32_t)(at + 1 - data), (uint32_t)(last - data)};
    return close + 1;
}

static enum what event(const u8 *data, const u8 *at, const u8 *end, struct line *line)
{
    if (BEGINS(at, end, "<... ") && end - at > 6) {
        const u8 *name = at + 5, *last = memmem(name + 1, (size_t)(end - name - 1), " resumed>", 9);
        if (last) {
            line->call = (struct extent){(uint32_t)(name - data), (uint32_t)(last - data)};
            line->arguments = (struct extent){(uint32_t)(last + 9 - data), (uint32_t)(end - data)};
            return RESUMED;
        }
    }
    return EVENT;
}

static enum what call(const u8 *data, const u8 *at, const u8 *end, struct line *line)
{
    const u8 *begin = at;
    while (at < end && at < begin + 64 && (is_word(*at) || *at == '?'))
        at++;
    if (at == begin || at == end || *at != '(')
        return EVENT;
    line->call = (struct extent){(uint32_t)(begin - data), (uint32_t)(at++ - data)};
    const u8 *bracket = at;
    while (bracket < end && is_digit(*bracket))
        bracket++;
    if (bracket > at && bracket < end && *bracket == '<') {
        const u8 *last = bracket + 1;
        while (last < end && *last != '<' && *last != '>')
            last++;
        if (last + 1 < end && *last == '>' && (last[1] == ',' || last[1] == ')' || last[1] == '(')) {
            line->annotation = (struct extent){(uint32_t)(bracket + 1 - data), (uint32_t)(last - data)};
            at = skip_deleted(last + 1, end);
        }
    }
    const u8 *close = end, *next = NULL;
    while (!next && (close = memrchr(at, ')', (size_t)(close - at)))) {
        const u8 *equals = skip(close + 1, end, ' ');
        next = equals > close + 1 && BEGINS(equals, end, "= ") ? result(equals + 2, end, &line->result) : NULL;
    }
    if (!next)
        return EVENT;
    const bool has_result = next[-1] != '?';
    line->arguments = (struct extent){(uint32_t)(at - data), (uint32_t)(close - data)};
    if (next < end && *next == '<') {
        const u8 *last = next + 1;
        while (last < end && *last != '<' && *last != '>')
            last++;
        if (last < end && *last == '>' && (last + 1 == end || last[1] == ' ')) {
            line->returned = (struct extent){(uint32_t)(next + 1 - data), (uint32_t)(last - data)};
            next = last + 1;
        }
    }
    next = error(data, next, end, line);
    if (next < end && *next == ' ' && is_duration(next + 1, end, &line->duration))
        next = end;
    if (next < end && !tail(data, next, end, line))
        return UNSURE;
    return has_result ? CALL : NO_RESULT;
}

static enum what stamped(const u8 *data, const u8 *at, const u8 *end, struct line *line)
{
    static const char unfinished[] = " <unfinished ...>";
    const unsigned size = sizeof unfinished - 1;
    if (end - at >= size && BEGINS(end - size, end, unfinished))
        return UNFINISHED;
    const struct line before = *line;
    line->duration = -1;
    const enum what what = call(data, at, end, line);
    if (what == CALL)
        return CALL;
    *line = before;
    return what == EVENT ? event(data, at, end, line) : what;
}

/* Parses whole, terminated lines; returns their number, at most most. */
EXPORT uint64_t strace_lines(const u8 *data, uint64_t size, struct line *lines, uint64_t most)
{
    uint64_t count = 0;
    for (const u8 *at = data, *stop = data + size; at < stop && count < most; count++) {
        const u8 *end = memchr(at, '\n', (size_t)(stop - at));
        end = end ? end : stop;
        struct line *line = lines + count;
        memset(line, 0, sizeof *line);
        const u8 *text = leader(data, at, end, line);
        if (text)
            line->what = stamped(data, text, end, line);
        line->text = (struct extent){(uint32_t)((text ? text : at) - data), (uint32_t)(end - data)};
        at = end + 1;
    }
    return count;
}
