/* Text scanning functions for the compiled line parsers. */
#ifndef IOTIDE_TEXT_H
#define IOTIDE_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define NS 1000000000u

typedef uint8_t u8;

struct extent {
    uint32_t begin, end; /* byte offsets in the data */
};

static inline bool is_digit(u8 c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_upper(u8 c) /* characters of error names */
{
    return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

static inline bool is_word(u8 c)
{
    return is_upper(c) || (c >= 'a' && c <= 'z');
}

static inline const u8 *skip(const u8 *at, const u8 *end, u8 c)
{
    while (at < end && *at == c)
        at++;
    return at;
}

static inline const u8 *skip_digits(const u8 *at, const u8 *end, int most)
{
    while (at < end && most-- > 0 && is_digit(*at))
        at++;
    return at;
}

static inline bool begins(const u8 *at, const u8 *end, const char *with, unsigned length)
{
    if ((uint64_t)(end - at) < length)
        return false;
    for (unsigned place = 0; place < length; place++)
        if (at[place] != (u8)with[place])
            return false;
    return true;
}

#define BEGINS(at, end, literal) begins(at, end, literal, sizeof literal - 1)

/* Returns the value of a string of digits. */
static inline uint64_t number(const u8 *at, const u8 *end)
{
    uint64_t value = 0;
    for (; at < end; at++)
        value = value * 10 + (*at - '0');
    return value;
}

/* Adds the fraction of a second at this position, if any, of 1 to 9 digits; returns its end. */
static inline const u8 *fraction(const u8 *at, const u8 *end, uint64_t *ns)
{
    const u8 *last = at < end && *at == '.' ? skip_digits(at + 1, end, 9) : at;
    if (last <= at + 1)
        return at;
    uint64_t value = 0;
    for (int place = 1; place <= 9; place++)
        value = value * 10 + (at + place < last ? at[place] - '0' : 0);
    *ns += value;
    return last;
}

/* Parses hours, minutes and seconds; returns NULL if there are none. */
static inline const u8 *time_of_day(const u8 *at, const u8 *end, uint64_t *ns)
{
    static const char clock[] = "00:00:00";
    if ((uint64_t)(end - at) < sizeof clock - 1)
        return NULL;
    for (unsigned place = 0; clock[place]; place++)
        if (clock[place] == ':' ? at[place] != ':' : !is_digit(at[place]))
            return NULL;
    *ns = (number(at, at + 2) * 3600 + number(at + 3, at + 5) * 60 + number(at + 6, at + 8)) * NS;
    return fraction(at + sizeof clock - 1, end, ns);
}

#endif
