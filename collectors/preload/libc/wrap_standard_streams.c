/* Calls on the standard streams, which are not among their arguments. */
#include "libc/libc.h"
#include "sites_stdio.h"
#include "hooks/stdio.h"

static void record_stream_call(struct iotide_span span, struct iotide_site *site, FILE *stream, int64_t requested,
                               int64_t bytes,
                               bool failed, const uint64_t *words, unsigned int count) {
    int fd = iotide_stream_descriptor(stream);
    if (fd < 0)
        return;
    struct iotide_facts facts = iotide_facts(site, iotide_stream_target(fd), fd, failed);
    facts.requested = requested;
    facts.bytes = bytes;
    facts.flags = site->kind == KIND_READ ? iotide_input_flags(stream, bytes) : iotide_output_flags(stream, bytes);
    iotide_leave(span, site, facts, words, count);
}

#define GETS(symbol, parameters, arguments)                                                                          \
    EXPORT char *symbol parameters {                                                                                 \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                                       \
        char *line = REAL(symbol) arguments;                                                                         \
        if (span.start_ns) {                                                                                         \
            int64_t size = iotide_text_bytes(line) + (line != NULL);                                                 \
            record_stream_call(span, &SITE(symbol), stdin, size, size, iotide_stream_failed(!line, stdin), NULL, 0); \
        }                                                                                                            \
        return line;                                                                                                 \
    }
GETS(gets, (char *to), (to))
GETS(__gets_chk, (char *to, size_t room), (to, room))

EXPORT int puts(const char *text) {
    struct iotide_span span = iotide_enter(&SITE(puts));
    int result = REAL(puts)(text);
    if (span.start_ns) {
        int64_t size = iotide_text_bytes(text) + 1;
        record_stream_call(span, &SITE(puts), stdout, size, size, result < 0, NULL, 0);
    }
    return result;
}

#define GET(symbol, type, end, size)                                                     \
    EXPORT type symbol(void) {                                                           \
        struct iotide_span span = iotide_enter(&SITE(symbol));                           \
        type got = REAL(symbol)();                                                       \
        if (span.start_ns)                                                               \
            record_stream_call(span, &SITE(symbol), stdin, 1, got == (end) ? 0 : (size), \
                               iotide_stream_failed(got == (end), stdin), NULL, 0);      \
        return got;                                                                      \
    }
GET(getchar, int, EOF, 1)
GET(getchar_unlocked, int, EOF, 1)
GET(getwchar, wint_t, WEOF, iotide_wide_character_bytes(got))
GET(getwchar_unlocked, wint_t, WEOF, iotide_wide_character_bytes(got))

#define PUT(symbol, type, result_type, end, size)                                        \
    EXPORT result_type symbol(type character) {                                          \
        struct iotide_span span = iotide_enter(&SITE(symbol));                           \
        result_type result = REAL(symbol)(character);                                    \
        if (span.start_ns)                                                               \
            record_stream_call(span, &SITE(symbol), stdout, size, size, result == (end), \
                               (uint64_t[]){(uint64_t)character}, 1);                    \
        return result;                                                                   \
    }
PUT(putchar, int, int, EOF, 1)
PUT(putchar_unlocked, int, int, EOF, 1)
PUT(putwchar, wchar_t, wint_t, WEOF, iotide_wide_character_bytes((wint_t)character))
PUT(putwchar_unlocked, wchar_t, wint_t, WEOF, iotide_wide_character_bytes((wint_t)character))
