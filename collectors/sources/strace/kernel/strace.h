/* What the parts of the kernel share; _strace_line.py and _strace_arguments.py mirror the structs. */
#ifndef IOTIDE_STRACE_H
#define IOTIDE_STRACE_H

#include <stdbool.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint8_t u8;

struct extent {
    uint32_t begin, end; /* bytes of the data */
};

enum what { UNSTAMPED, EVENT, CALL, NO_RESULT, INTERRUPTED, UNFINISHED, RESUMED, UNSURE };

struct line {
    int64_t stamp, result, duration;
    struct extent text, stamp_text, call, annotation, arguments, returned, error;
    uint32_t pid, what;
};

enum path_in { IN_DESCRIPTOR, IN_RESULT, IN_ARGUMENT, IN_LAST_DESCRIPTOR };
enum numbers { NO_NUMBERS, COUNT, OFFSET, COUNT_AND_OFFSET };

struct argument {
    int64_t requested, offset;
    struct extent folder, name;
};

static inline bool is_digit(u8 c)
{
    return c >= '0' && c <= '9';
}

static inline bool is_upper(u8 c) /* as in names of errors */
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

#define NS 1000000000u

/* Returns the number that digits are. */
uint64_t number(const u8 *at, const u8 *end);

/* Adds the fraction of a second that begins here, if one does, of 1 to 9 digits; returns where it ends. */
const u8 *fraction(const u8 *at, const u8 *end, uint64_t *ns);

/* Returns where the text after the stamp begins, NULL where there is no stamp. */
const u8 *leader(const u8 *data, const u8 *at, const u8 *end, struct line *line);

/* What must follow an annotation's last '>'. */
enum after { BEFORE_NEXT, BEFORE_STRING };

/* Returns where an annotation, of which the '<' has been read, ends: its '>'; NULL where it has no end. */
const u8 *annotation_end(const u8 *at, const u8 *end, enum after after);

/* Skips "(deleted)". */
static inline const u8 *skip_deleted(const u8 *at, const u8 *end)
{
    return BEGINS(at, end, "(deleted)") ? at + 9 : at;
}

#endif
