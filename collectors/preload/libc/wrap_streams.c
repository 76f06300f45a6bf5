/* Calls on streams that are written by hand: lines of the standard streams, which are not among their arguments, and
 * single characters, which are recorded one by one or counted by stream (recording/characters.h). */
#include "hooks/stdio.h"
#include "libc/libc.h"
#include "recording/characters.h"
#include "sites_stdio.h"

#include <stdlib.h>
#include <unistd.h>

static void record_stream_call(struct iotide_span span, struct iotide_site *site, FILE *stream,
                               int64_t requested, int64_t bytes, bool failed, const uint64_t *words,
                               unsigned int count) {
    int fd = iotide_stream_descriptor(stream);
    if (fd < 0)
        return;
    struct iotide_facts facts = iotide_facts(site, iotide_stream_target(fd), fd, failed);
    facts.requested = requested;
    facts.bytes = bytes;
    facts.flags = site->kind == KIND_READ ? iotide_input_flags(stream, bytes) : iotide_output_flags(stream, bytes);
    iotide_leave(span, site, facts, words, count);
}

/* ---- lines ---- */

#define GETS(symbol, parameters, arguments)                                                                          \
    EXPORT char *symbol parameters {                                                                                 \
        struct iotide_characters *characters = iotide_before_stream_call(stdin, false);                              \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                                       \
        char *line = REAL(symbol) arguments;                                                                         \
        iotide_after_stream_call(characters, stdin);                                                                 \
        if (span.start_ns) {                                                                                         \
            int64_t size = iotide_text_bytes(line) + (line != NULL);                                                 \
            record_stream_call(span, &SITE(symbol), stdin, size, size, iotide_stream_failed(!line, stdin), NULL, 0); \
        }                                                                                                            \
        return line;                                                                                                 \
    }
GETS(gets, (char *to), (to))
GETS(__gets_chk, (char *to, size_t room), (to, room))

EXPORT int puts(const char *text) {
    BEFORE_OUTPUT(stdout, iotide_text_bytes(text) + 1);
    struct iotide_characters *characters = iotide_before_stream_call(stdout, false);
    struct iotide_span span = iotide_enter(&SITE(puts));
    int result = REAL(puts)(text);
    iotide_after_stream_call(characters, stdout);
    if (span.start_ns) {
        int64_t size = iotide_text_bytes(text) + 1;
        record_stream_call(span, &SITE(puts), stdout, size, size, result < 0, NULL, 0);
    }
    return result;
}

/* ---- characters ---- */

#define GET(symbol, type, parameters, arguments, stream, moved, size)                                                 \
    EXPORT type symbol parameters {                                                                                   \
        if (iotide_is_in_buffer(&SITE(symbol), stream, KIND_READ))                                                    \
            return REAL(symbol) arguments;                                                                            \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                                        \
        if (span.start_ns) {                                                                                          \
            struct iotide_characters *of = iotide_before_stream_call(stream, false);                                  \
            type got = REAL(symbol) arguments;                                                                        \
            iotide_end_span(&span);                                                                                   \
            iotide_after_stream_call(of, stream);                                                                     \
            record_stream_call(span, &SITE(symbol), stream, (moved) ? (size) : 1, (moved) ? (size) : 0,        \
                                      iotide_stream_failed(!(moved), stream), NULL, 0);                               \
            return got;                                                                                               \
        }                                                                                                             \
        struct iotide_character_call call = iotide_begin_character(stream, KIND_READ, 0);                                \
        type got = REAL(symbol) arguments;                                                                            \
        if (iotide_is_counted(call))                                                                                  \
            iotide_end_character(call, stream, (moved) ? (size) : 0, iotide_stream_failed(!(moved), stream));         \
        return got;                                                                                                   \
    }
#define INT_BYTES ((int64_t)sizeof(int))
#define GET_BYTE(symbol) GET(symbol, int, (FILE * stream), (stream), stream, got != EOF, 1)
GET_BYTE(fgetc)
GET_BYTE(fgetc_unlocked)
GET_BYTE(getc)
GET_BYTE(getc_unlocked)
GET_BYTE(_IO_getc)
GET(getchar, int, (void), (), stdin, got != EOF, 1)
GET(getchar_unlocked, int, (void), (), stdin, got != EOF, 1)
GET(getw, int, (FILE * stream), (stream), stream, got != EOF || !(feof(stream) || ferror(stream)), INT_BYTES)

#define GET_WIDE(symbol) \
    GET(symbol, wint_t, (FILE * stream), (stream), stream, got != WEOF, iotide_wide_character_bytes(got))
GET_WIDE(fgetwc)
GET_WIDE(fgetwc_unlocked)
GET_WIDE(getwc)
GET_WIDE(getwc_unlocked)
GET(getwchar, wint_t, (void), (), stdin, got != WEOF, iotide_wide_character_bytes(got))
GET(getwchar_unlocked, wint_t, (void), (), stdin, got != WEOF, iotide_wide_character_bytes(got))

#define PUT(symbol, result_type, type, parameters, arguments, stream, end, size)                                      \
    EXPORT result_type symbol parameters {                                                                            \
        if (iotide_is_in_buffer(&SITE(symbol), stream, KIND_WRITE))                                                   \
            return REAL(symbol) arguments;                                                                            \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                                        \
        if (span.start_ns) {                                                                                          \
            struct iotide_characters *of = iotide_before_stream_call(stream, false);                                  \
            result_type result = REAL(symbol) arguments;                                                              \
            iotide_end_span(&span);                                                                                   \
            iotide_after_stream_call(of, stream);                                                                     \
            record_stream_call(span, &SITE(symbol), stream, size, size, result == (end),                       \
                                      (uint64_t[]){(uint64_t)character}, 1);                                          \
            return result;                                                                                            \
        }                                                                                                             \
        struct iotide_character_call call = iotide_begin_character(stream, KIND_WRITE, (int)character);               \
        result_type result = REAL(symbol) arguments;                                                                  \
        if (iotide_is_counted(call))                                                                                  \
            iotide_end_character(call, stream, result == (end) ? 0 : (size), result == (end));                        \
        return result;                                                                                                \
    }
#define PUT_BYTE(symbol) PUT(symbol, int, int, (int character, FILE *stream), (character, stream), stream, EOF, 1)
PUT_BYTE(fputc)
PUT_BYTE(fputc_unlocked)
PUT_BYTE(putc)
PUT_BYTE(putc_unlocked)
PUT_BYTE(_IO_putc)
PUT(putchar, int, int, (int character), (character), stdout, EOF, 1)
PUT(putchar_unlocked, int, int, (int character), (character), stdout, EOF, 1)
PUT(putw, int, int, (int character, FILE *stream), (character, stream), stream, EOF, INT_BYTES)

#define PUT_WIDE(symbol)                                                                                    \
    PUT(symbol, wint_t, wchar_t, (wchar_t character, FILE *stream), (character, stream), stream, WEOF,      \
        iotide_wide_character_bytes((wint_t)character))
PUT_WIDE(fputwc)
PUT_WIDE(fputwc_unlocked)
PUT_WIDE(putwc)
PUT_WIDE(putwc_unlocked)
PUT(putwchar, wint_t, wchar_t, (wchar_t character), (character), stdout, WEOF,
    iotide_wide_character_bytes((wint_t)character))
PUT(putwchar_unlocked, wint_t, wchar_t, (wchar_t character), (character), stdout, WEOF,
    iotide_wide_character_bytes((wint_t)character))

#define RETURN(symbol, type, end, size)                                                                             \
    EXPORT type symbol(type character, FILE *stream) {                                                              \
        struct iotide_characters *of = iotide_before_stream_call(stream, false);                                    \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                                      \
        type result = REAL(symbol)(character, stream);                                                              \
        iotide_return_character(of, stream, span.start_ns || result == (end) ? 0 : (size));                         \
        int fd;                                                                                                     \
        if (span.start_ns && (fd = iotide_stream_descriptor(stream)) >= 0)                                          \
            iotide_leave(span, &SITE(symbol),                                                                       \
                         iotide_facts(&SITE(symbol), iotide_stream_target(fd), fd, result == (end)),                \
                         (uint64_t[]){(uint64_t)character}, 1);                                                     \
        return result;                                                                                              \
    }
RETURN(ungetc, int, EOF, 1)
RETURN(ungetwc, wint_t, WEOF, iotide_wide_character_bytes(character))

/* ---- the buffer's end, of characters that the program moves without a call ---- */

EXPORT int __uflow(FILE *stream) {
    struct iotide_character_call call = iotide_begin_character(stream, KIND_READ, 0);
    int got = REAL(__uflow)(stream);
    if (iotide_is_counted(call))
        iotide_end_character(call, stream, got != EOF, iotide_stream_failed(got == EOF, stream));
    return got;
}

EXPORT int __overflow(FILE *stream, int character) {
    struct iotide_character_call call = iotide_begin_character(stream, KIND_WRITE, character);
    int result = REAL(__overflow)(stream, character);
    if (iotide_is_counted(call))
        iotide_end_character(call, stream, result != EOF, result == EOF);
    return result;
}

/* ---- ends of a process without destructors ---- */

#define ENDS(symbol)                                                    \
    static struct iotide_site SITE(symbol) = {SITE_TEXT(#symbol, "")};  \
    EXPORT FREQUENT __attribute__((noreturn)) void symbol(int status) { \
        iotide_record_all_characters(false);                            \
        REAL(symbol)(status);                                           \
        __builtin_unreachable();                                        \
    }
ENDS(_exit)
ENDS(_Exit)
ENDS(quick_exit)

/* Most forked children end by _exit: each would look it up. */
__attribute__((constructor(102))) static void prepare_end(void) {
    if (iotide_process_state)
        iotide_real(&SITE(_exit));
}
