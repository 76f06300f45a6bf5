/* Formatted output and input. The variadic functions pass their values to the va_list functions, which record them. */
#include "hooks/stdio.h"
#include "libc/libc.h"
#include "recording/characters.h"
#include "sites_stdio.h"

#include <stdarg.h>
#include <wchar.h>

static void record_move(struct iotide_span span, struct iotide_site *site, struct iotide_target target, int fd,
                        int64_t bytes,
                        uint16_t flags, bool failed, const uint64_t *words, unsigned int count) {
    struct iotide_facts facts = iotide_facts(site, target, fd, failed);
    facts.flags = flags;
    facts.requested = facts.bytes = bytes > 0 ? bytes : 0;
    iotide_leave(span, site, facts, words, count);
}

/* format: NULL for wide characters. */
static int record_print(struct iotide_span span, struct iotide_site *site, FILE *stream, const char *format,
                        int result) {
    int fd;
    if (span.start_ns && (fd = iotide_stream_descriptor(stream)) >= 0)
        record_move(span, site, iotide_stream_target(fd), fd, result, iotide_output_flags(stream, result), result < 0,
                    (uint64_t[]){iotide_define_string(format)},
                    format ? 1 : 0);
    return result;
}

/* ---- output ---- */

#define USUAL_LINE 256 /* bytes that a call prints, which are known only after it */

#define PRINT(symbol, stream, shown, parameters, arguments)              \
    EXPORT int symbol parameters {                                       \
        BEFORE_OUTPUT(stream, USUAL_LINE);                               \
        struct iotide_characters *characters = iotide_before_stream_call(stream, false); \
        struct iotide_span span = iotide_enter(&SITE(symbol));           \
        int result = REAL(symbol) arguments;                             \
        iotide_after_stream_call(characters, stream);                    \
        return record_print(span, &SITE(symbol), stream, shown, result); \
    }
PRINT(vfprintf, stream, format, (FILE *stream, const char *format, va_list values), (stream, format, values))
PRINT(__vfprintf_chk, stream, format, (FILE *stream, int flag, const char *format, va_list values),
      (stream, flag, format, values))
PRINT(vprintf, stdout, format, (const char *format, va_list values), (format, values))
PRINT(__vprintf_chk, stdout, format, (int flag, const char *format, va_list values), (flag, format, values))
PRINT(vfwprintf, stream, NULL, (FILE *stream, const wchar_t *format, va_list values), (stream, format, values))
PRINT(__vfwprintf_chk, stream, NULL, (FILE *stream, int flag, const wchar_t *format, va_list values),
      (stream, flag, format, values))
PRINT(vwprintf, stdout, NULL, (const wchar_t *format, va_list values), (format, values))
PRINT(__vwprintf_chk, stdout, NULL, (int flag, const wchar_t *format, va_list values), (flag, format, values))

#define PRINT_TO_DESCRIPTOR(symbol, parameters, arguments)                                                        \
    EXPORT int symbol parameters {                                                                                \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                                    \
        int result = REAL(symbol) arguments;                                                                      \
        if (span.start_ns)                                                                                        \
            record_move(span, &SITE(symbol), iotide_descriptor_target(fd), fd, result, FLAG_BLOCKING, result < 0, \
                        (uint64_t[]){iotide_define_string(format)}, 1);                                           \
        return result;                                                                                            \
    }
PRINT_TO_DESCRIPTOR(vdprintf, (int fd, const char *format, va_list values), (fd, format, values))
PRINT_TO_DESCRIPTOR(__vdprintf_chk, (int fd, int flag, const char *format, va_list values), (fd, flag, format, values))

/* ---- input ---- */

/* Remaining part of a stream's buffer, to determine how much a call takes from it. */
struct buffer_position {
    const char *at, *end;
};

static struct buffer_position buffer_position(FILE *stream) {
    return (struct buffer_position){stream->_IO_read_ptr, stream->_IO_read_end};
}

/* At most one refill is detected: more than a whole buffer per call is not counted. */
static int64_t consumed_bytes(struct buffer_position before, FILE *stream) {
    const char *base = stream->_IO_read_base, *at = stream->_IO_read_ptr;
    if (!base || at < base)
        return 0;
    return before.at && before.at >= base && at >= before.at && before.end == stream->_IO_read_end
               ? at - before.at
               : (before.end - before.at) + (at - base);
}

static int record_scan(struct iotide_span span, struct iotide_site *site, FILE *stream, const char *format,
                       struct buffer_position before, int result) {
    int fd;
    if (span.start_ns && (fd = iotide_stream_descriptor(stream)) >= 0) {
        const uint64_t words[] = {iotide_define_string(format), (uint64_t)result};
        const int64_t bytes = consumed_bytes(before, stream);
        record_move(span, site, iotide_stream_target(fd), fd, bytes, iotide_input_flags(stream, bytes),
                    result == EOF && ferror(stream),
                    format ? words : words + 1, format ? 2 : 1);
    }
    return result;
}

/* glibc's headers map these names to other symbols, depending on the C standard of the compilation: labels keep the
 * wrappers distinct. */
#define LABELLED(symbol, parameters)                                \
    EXPORT int iotide_##symbol parameters __asm__(#symbol);         \
    EXPORT int iotide_##symbol parameters

#define SCAN(symbol, stream, shown, parameters, arguments)                                                              \
    LABELLED(symbol, parameters) {                                                                                      \
        struct iotide_characters *characters = iotide_before_stream_call(stream, false);                                \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                                          \
        struct buffer_position before = span.start_ns ? buffer_position(stream) : (struct buffer_position){NULL, NULL}; \
        int result = ((__typeof__(&iotide_##symbol))iotide_real(&SITE(symbol)))arguments;                               \
        iotide_after_stream_call(characters, stream);                                                                   \
        return record_scan(span, &SITE(symbol), stream, shown, before, result);                                         \
    }
#define SCANS(prefix)                                                                                                     \
    SCAN(prefix##vfscanf, stream, format, (FILE *stream, const char *format, va_list values), (stream, format, values))   \
    SCAN(prefix##vscanf, stdin, format, (const char *format, va_list values), (format, values))                           \
    SCAN(prefix##vfwscanf, stream, NULL, (FILE *stream, const wchar_t *format, va_list values), (stream, format, values)) \
    SCAN(prefix##vwscanf, stdin, NULL, (const wchar_t *format, va_list values), (format, values))
SCANS()
SCANS(__isoc99_)
SCANS(__isoc23_)

/* ---- the variadic functions ---- */

#define VARIADIC(symbol, through, parameters, ...)    \
    EXPORT int symbol parameters {                    \
        va_list values;                               \
        va_start(values, format);                     \
        int result = through(__VA_ARGS__, values);    \
        va_end(values);                               \
        return result;                                \
    }
VARIADIC(fprintf, vfprintf, (FILE *stream, const char *format, ...), stream, format)
VARIADIC(__fprintf_chk, __vfprintf_chk, (FILE *stream, int flag, const char *format, ...), stream, flag, format)
VARIADIC(printf, vprintf, (const char *format, ...), format)
VARIADIC(__printf_chk, __vprintf_chk, (int flag, const char *format, ...), flag, format)
VARIADIC(dprintf, vdprintf, (int fd, const char *format, ...), fd, format)
VARIADIC(__dprintf_chk, __vdprintf_chk, (int fd, int flag, const char *format, ...), fd, flag, format)
VARIADIC(fwprintf, vfwprintf, (FILE *stream, const wchar_t *format, ...), stream, format)
VARIADIC(__fwprintf_chk, __vfwprintf_chk, (FILE *stream, int flag, const wchar_t *format, ...), stream, flag, format)
VARIADIC(wprintf, vwprintf, (const wchar_t *format, ...), format)
VARIADIC(__wprintf_chk, __vwprintf_chk, (int flag, const wchar_t *format, ...), flag, format)
#define VARIADIC_SCAN(symbol, through, parameters, ...)        \
    LABELLED(symbol, parameters) {                             \
        va_list values;                                        \
        va_start(values, format);                              \
        int result = iotide_##through(__VA_ARGS__, values);    \
        va_end(values);                                        \
        return result;                                         \
    }
#define VARIADIC_SCANS(prefix)                                                                                    \
    VARIADIC_SCAN(prefix##fscanf, prefix##vfscanf, (FILE *stream, const char *format, ...), stream, format)       \
    VARIADIC_SCAN(prefix##scanf, prefix##vscanf, (const char *format, ...), format)                               \
    VARIADIC_SCAN(prefix##fwscanf, prefix##vfwscanf, (FILE *stream, const wchar_t *format, ...), stream, format)  \
    VARIADIC_SCAN(prefix##wscanf, prefix##vwscanf, (const wchar_t *format, ...), format)
VARIADIC_SCANS()
VARIADIC_SCANS(__isoc99_)
VARIADIC_SCANS(__isoc23_)
