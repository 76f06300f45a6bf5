/* Joins halves of calls at known positions. */
#include <string.h>

#include "strace.h"

#define STAMP "0.0 " /* makes joined text parseable as a line */

static u8 *copy(u8 *to, const u8 *from, uint32_t size)
{
    memcpy(to, from, size);
    return to + size;
}

/* Writes a line for each pair of halves to text, which has room for all; made marks the pairs that match. Returns
 * the size written. A second half without a name matches any first half. */
EXPORT uint64_t strace_join(const u8 *data, const struct line *lines, const int64_t *first, const int64_t *second,
                            uint64_t count, u8 *text, bool *made)
{
    u8 *to = text;
    for (uint64_t pair = 0; pair < count; pair++) {
        struct extent half = lines[first[pair]].text;
        const struct extent name = lines[second[pair]].call, rest = lines[second[pair]].arguments;
        const uint32_t size = name.end - name.begin;
        half.end -= sizeof " <unfinished ...>" - 1;
        const u8 *call = data + half.begin, *whole_end = data + lines[first[pair]].text.end;
        made[pair] = !size || (whole_end - call > size && memcmp(call, data + name.begin, size) == 0 && call[size] == '(');
        if (!made[pair])
            continue;
        to = copy(to, (const u8 *)STAMP, sizeof STAMP - 1);
        to = copy(to, call, half.end - half.begin);
        to = copy(to, data + rest.begin, rest.end - rest.begin);
        *to++ = '\n';
    }
    return (uint64_t)(to - text);
}
