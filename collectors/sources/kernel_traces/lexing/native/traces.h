/* Parser of kernel trace lines; line.py, template.py and call_fields.py mirror the structs. */
#ifndef IOTIDE_TRACES_H
#define IOTIDE_TRACES_H

#include "../../../../native/text.h"

enum what { OTHER_FORM, EVENT, UNSURE };
enum form { PERF, BPFTRACE, TRACE_CMD, LTTNG };
enum clock { SECONDS, TIME_OF_DAY };

#define UNKNOWN_TID (-1)

struct line {
    int64_t stamp;
    struct extent text, event, payload, comm, host, date;
    int32_t tid, pid;
    uint32_t cpu, clock, inside, what;
};

enum value { NOTHING, THREAD, WORD, NUMBER };

/* One step through a payload: a literal that is searched for (lazy) or required here, and the value after it. */
struct part {
    struct extent literal; /* extent in the template's literals */
    uint32_t lazy, value;
    uint32_t before, slot; /* slots of the skipped text (NO_SLOT: not stored) and of the value */
};

#define NO_SLOT UINT32_MAX

enum has { HAS_PID = 1, HAS_FD = 2, HAS_COUNT = 4, HAS_RESULT = 8 };

struct call {
    int64_t pid, fd, count, result;
    struct extent path;
    uint32_t has, unused;
};

#define EXTENT(data, begin_at, end_at) ((struct extent){(uint32_t)((begin_at) - (data)), (uint32_t)((end_at) - (data))})

/* Returns a thread number, limited to the column's range. */
static inline int32_t thread_number(const u8 *at, const u8 *end)
{
    const uint64_t value = end - at > 18 ? INT32_MAX : number(at, end);
    return value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

#endif
