/* Parses the text after event names by templates (template.py), and the fields of system calls (call_fields.py). */
#define _GNU_SOURCE
#include <string.h>

#include "traces.h"

static bool ends_word(const u8 *at, const u8 *end)
{
    return at == end || !is_word(*at);
}

static bool is_hex(u8 c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Parses a number, decimal or 0x, that fits 62 bits; negative ones may be written as unsigned 64-bit numbers.
 * Returns its end, or NULL if there is none; is_number is set even if it is too large. */
static const u8 *whole_number(const u8 *at, const u8 *end, int64_t *value, bool *is_number)
{
    const bool negative = at < end && *at == '-';
    at += negative;
    const bool hex = BEGINS(at, end, "0x");
    const u8 *first = at + 2 * hex, *last = first;
    uint64_t sum = 0;
    bool fits = true;
    for (; last < end && (hex ? is_hex(*last) : is_digit(*last)); last++) {
        const unsigned base = hex ? 16 : 10, digit = is_digit(*last) ? *last - '0' : (*last | 32) - 'a' + 10;
        fits = fits && sum <= (UINT64_MAX - digit) / base;
        sum = sum * base + digit;
    }
    const int64_t most = INT64_C(1) << 62, as_signed = (int64_t)sum;
    *is_number = fits && as_signed > -most && as_signed < most && (!negative || as_signed >= 0);
    *value = negative ? -as_signed : as_signed;
    return last > first && ends_word(last, end) ? last : NULL;
}

/* Parses one required step; returns its end, or NULL if it does not match. */
static const u8 *step(const u8 *data, const u8 *at, const u8 *end, const u8 *literals, const struct part *part, int64_t *numbers,
                      struct extent *texts)
{
    const u8 *last = NULL;
    bool is_number = true;
    if (!begins(at, end, (const char *)literals + part->literal.begin, part->literal.end - part->literal.begin))
        return NULL;
    at += part->literal.end - part->literal.begin;
    switch ((enum value)part->value) {
    case NOTHING:
        return at;
    case THREAD:
        last = skip_digits(at, end, INT32_MAX);
        if (last == at || !ends_word(last, end))
            return NULL;
        numbers[part->slot] = thread_number(at, last);
        return last;
    case WORD:
        last = memchr(at, ' ', (size_t)(end - at));
        last = last ? last : end;
        texts[part->slot] = EXTENT(data, at, last);
        return last > at ? last : NULL;
    case NUMBER:
        last = whole_number(at, end, numbers + part->slot, &is_number);
        if (last && !is_number)
            numbers[part->slot] = 0;
    }
    return last;
}

static bool payload(const u8 *data, struct extent extent, const u8 *literals, const struct part *parts, uint64_t steps,
                    int64_t *numbers, struct extent *texts)
{
    const u8 *at = data + extent.begin, *const end = data + extent.end;
    for (uint64_t place = 0; place < steps;) {
        const struct part *part = parts + place, *next = part;
        const u8 *begin = at, *found = at;
        uint64_t past; /* the steps up to the next lazy one must match together, at the first position where they do */
        for (;; found++) {
            if (part->lazy && part->literal.end > part->literal.begin)
                found = memmem(found, (size_t)(end - found), literals + part->literal.begin,
                               part->literal.end - part->literal.begin);
            at = found;
            for (past = place, next = part; at && past < steps && (past == place || !next->lazy); past++, next++)
                at = step(data, at, end, literals, next, numbers, texts);
            if (at || !found || found == end || !part->lazy)
                break;
        }
        if (!at)
            return false;
        if (part->before != NO_SLOT)
            texts[part->before] = EXTENT(data, begin, found);
        place = past;
    }
    return true;
}

/* Parses payloads by one template; values are valid only where fits is set. Each payload has slots numbers and slots
 * texts. */
EXPORT void trace_payloads(const u8 *data, const struct extent *extents, uint64_t count, const u8 *literals,
                           const struct part *parts, uint64_t steps, int64_t *numbers, struct extent *texts, uint64_t slots,
                           u8 *fits)
{
    for (uint64_t row = 0; row < count; row++)
        fits[row] = payload(data, extents[row], literals, parts, steps, numbers + row * slots, texts + row * slots);
}

struct key {
    const char *name;
    uint32_t size, has, rank; /* lower ranks take precedence */
};

#define KEY(name, has, rank) {name, sizeof name - 1, has, rank}
#define HAS_PATH 16

static const struct key keys[] = {
    KEY("fd", HAS_FD, 0),     KEY("fildes", HAS_FD, 1),   KEY("fd_in", HAS_FD, 2),      KEY("oldfd", HAS_FD, 3),
    KEY("pid", HAS_PID, 0),   KEY("count", HAS_COUNT, 0), KEY("len", HAS_COUNT, 1),     KEY("filename", HAS_PATH, 0),
    KEY("pathname", HAS_PATH, 1), KEY("ret", HAS_RESULT, 0),
};

static const struct key *key_of(const u8 *at, const u8 *end)
{
    for (unsigned place = 0; place < sizeof keys / sizeof *keys; place++)
        if ((uint32_t)(end - at) == keys[place].size && memcmp(at, keys[place].name, keys[place].size) == 0)
            return keys + place;
    return NULL;
}

static const u8 *end_of_text(const u8 *at, const u8 *end) /* at: after the opening quote */
{
    for (; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at : NULL;
}

/* Parses the value of a key; returns where to continue. */
static const u8 *value(const u8 *data, const u8 *at, const u8 *end, const struct key *key, struct call *call, uint32_t *ranks)
{
    const u8 *last = at + (at < end && *at == '-');
    if (at < end && *at == '"') {
        last = end_of_text(at + 1, end);
        if (!last)
            return at + 1;
        if (key->has == HAS_PATH && key->rank < ranks[4]) {
            ranks[4] = key->rank;
            call->path = EXTENT(data, at + 1, last);
        }
        return last + 1;
    }
    if (key->has == HAS_PATH) { /* newer kernels write the text after its address */
        while (last < end && is_word(*last))
            last++;
        const u8 *text = skip(last, end, ' ');
        return text > last && text < end && *text == '"' ? value(data, text, end, key, call, ranks) : at;
    }
    int64_t found = 0;
    bool is_number = false;
    last = whole_number(at, end, &found, &is_number);
    if (!last || !is_number)
        return last ? last : at;
    const unsigned which = key->has == HAS_PID ? 0 : key->has == HAS_FD ? 1 : key->has == HAS_COUNT ? 2 : 3;
    if (key->rank < ranks[which]) {
        ranks[which] = key->rank;
        *(which == 0 ? &call->pid : which == 1 ? &call->fd : which == 2 ? &call->count : &call->result) = found;
        call->has |= key->has;
    }
    return last;
}

/* A number without a key is the result. */
static bool lone(const u8 *at, const u8 *end, struct call *call)
{
    int64_t found = 0;
    bool is_number = false;
    at = skip(at, end, ' ');
    const u8 *last = at < end ? whole_number(at, end, &found, &is_number) : NULL;
    if (!last || skip(last, end, ' ') != end)
        return false;
    call->has = is_number ? HAS_RESULT : 0;
    call->result = is_number ? found : 0;
    return true;
}

static void fields(const u8 *data, const u8 *at, const u8 *end, struct call *call)
{
    uint32_t ranks[5] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    if (lone(at, end, call))
        return;
    while (at < end) {
        const u8 *last = at;
        while (last < end && is_word(*last))
            last++;
        if (last == at) {
            last = *at == '"' ? end_of_text(at + 1, end) : NULL;
            at = last ? last + 1 : at + 1;
            continue;
        }
        const struct key *key = key_of(at, last);
        const u8 *sign = skip(last, end, ' ');
        at = last;
        if (key && sign < end && (*sign == '=' || *sign == ':'))
            at = value(data, skip(sign + 1, end, ' '), end, key, call, ranks);
    }
}

/* Finds the fields of system calls that identify the file and the amount. */
EXPORT void trace_calls(const u8 *data, const struct extent *extents, uint64_t count, struct call *calls)
{
    for (uint64_t row = 0; row < count; row++) {
        memset(calls + row, 0, sizeof *calls);
        fields(data, data + extents[row].begin, data + extents[row].end, calls + row);
    }
}
