/* Shared declarations of the helper; line.py and arguments.py mirror the structs. */
#ifndef IOTIDE_STRACE_H
#define IOTIDE_STRACE_H

#include "../../../native/text.h"

enum what { UNSTAMPED, EVENT, CALL, NO_RESULT, INTERRUPTED, UNFINISHED, RESUMED, UNSURE };

struct line {
    int64_t stamp, result, duration;
    struct extent text, stamp_text, call, annotation, arguments, returned, error;
    uint32_t pid, what;
};

enum path_in { IN_DESCRIPTOR, IN_RESULT, IN_ARGUMENT, IN_LAST_DESCRIPTOR };
enum numbers { NO_NUMBERS, COUNT, OFFSET, COUNT_AND_OFFSET, MAPPING };

struct argument {
    int64_t requested, offset;
    struct extent folder, name, mapping;
};

/* Returns the beginning of the text after the stamp, NULL if there is no stamp. */
const u8 *leader(const u8 *data, const u8 *at, const u8 *end, struct line *line);

/* Text required after an annotation's last '>'. */
enum after { BEFORE_NEXT, BEFORE_STRING };

/* Returns the closing '>' of an annotation whose '<' was read; NULL if there is none. */
const u8 *annotation_end(const u8 *at, const u8 *end, enum after after);

/* Skips "(deleted)". */
static inline const u8 *skip_deleted(const u8 *at, const u8 *end)
{
    return BEGINS(at, end, "(deleted)") ? at + 9 : at;
}

#endif
