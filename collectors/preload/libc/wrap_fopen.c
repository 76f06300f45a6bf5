/* Opening and closing streams: their descriptors are tracked even if these calls are switched off. There is no check
 * for a vfork child, which must not use stdio. */
#include "libc/libc.h"
#include "recording/characters.h"
#include "sites_stdio.h"

static const struct iotide_target nothing = {0, 0};

/* A text argument, which a failed call may not have read. */
static uint64_t text_of(const FILE *made, const char *text) {
    return made || iotide_is_text(text) ? iotide_define_string(text) : 0;
}

/* mode: NULL if the call has none. */
static FILE *record_open(struct iotide_span span, struct iotide_site *site, FILE *stream, const char *path,
                         const char *mode) {
    iotide_remove_stream(stream);
    if (span.start_ns) {
        iotide_end_span(&span);
        int fd = iotide_stream_descriptor(stream);
        struct iotide_target target = !stream || fd >= 0 ? iotide_register_stream_open(fd, path) : nothing;
        struct iotide_facts facts = iotide_facts(site, target, fd, !stream);
        if (stream && mode && *mode == 'a')
            facts.flags |= FLAG_APPEND;
        uint64_t words[] = {text_of(stream, mode)};
        iotide_leave(span, site, facts, words, mode ? 1 : 0);
    }
    return stream;
}

#define FOPEN(symbol)                                                \
    EXPORT FILE *symbol(const char *path, const char *mode) {        \
        struct iotide_span span = iotide_enter(&SITE(symbol));       \
        FILE *stream = REAL(symbol)(path, mode);                     \
        return record_open(span, &SITE(symbol), stream, path, mode); \
    }
FOPEN(fopen)
FOPEN(fopen64)

#define TMPFILE(symbol)                                              \
    EXPORT FILE *symbol(void) {                                      \
        struct iotide_span span = iotide_enter(&SITE(symbol));       \
        FILE *stream = REAL(symbol)();                               \
        return record_open(span, &SITE(symbol), stream, NULL, NULL); \
    }
TMPFILE(tmpfile)
TMPFILE(tmpfile64)

#define FREOPEN(symbol)                                                     \
    EXPORT FILE *symbol(const char *path, const char *mode, FILE *stream) { \
        iotide_close_characters(stream);                                    \
        struct iotide_span span = iotide_enter(&SITE(symbol));              \
        if (iotide_is_tracing())                                            \
            iotide_unregister_stream(iotide_stream_descriptor(stream));     \
        FILE *made = REAL(symbol)(path, mode, stream);                      \
        return record_open(span, &SITE(symbol), made, path, mode);          \
    }
FREOPEN(freopen)
FREOPEN(freopen64)

EXPORT FILE *popen(const char *command, const char *mode) {
    struct iotide_span span = iotide_enter(&SITE(popen));
    FILE *stream = REAL(popen)(command, mode);
    iotide_remove_stream(stream);
    if (span.start_ns) {
        iotide_end_span(&span);
        int fd = iotide_stream_descriptor(stream);
        struct iotide_target target = stream ? iotide_register_stream_open(fd, NULL) : nothing;
        uint64_t words[] = {text_of(stream, command), text_of(stream, mode)};
        iotide_leave(span, &SITE(popen), iotide_facts(&SITE(popen), target, fd, !stream), words, 2);
    }
    return stream;
}

/* The stream's parent is the descriptor on which it is opened. */
EXPORT FILE *fdopen(int fd, const char *mode) {
    struct iotide_span span = iotide_enter(&SITE(fdopen));
    FILE *stream = REAL(fdopen)(fd, mode);
    iotide_remove_stream(stream);
    if (span.start_ns) {
        iotide_end_span(&span);
        struct iotide_target under = iotide_descriptor_target(fd);
        struct iotide_facts facts = iotide_facts(&SITE(fdopen), stream ? iotide_register_stream(fd) : under, fd,
                                                 !stream);
        if (stream)
            facts.parent = under.handle;
        if (stream && *mode == 'a')
            facts.flags |= FLAG_APPEND;
        uint64_t words[] = {(uint64_t)fd, text_of(stream, mode)};
        iotide_leave(span, &SITE(fdopen), facts, words, 2);
    }
    return stream;
}

/* ---- close ---- */

#define CLOSE(symbol, failed)                                                                            \
    EXPORT int symbol(FILE *stream) {                                                                    \
        iotide_close_characters(stream);                                                                 \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                           \
        int fd = iotide_is_tracing() ? iotide_stream_descriptor(stream) : -1;                            \
        struct iotide_target target = fd >= 0 ? iotide_unregister_stream(fd) : nothing;                  \
        int result = REAL(symbol)(stream);                                                               \
        /* As for close: an unused stream. */                                                            \
        if (span.start_ns && target.handle)                                                              \
            iotide_leave(span, &SITE(symbol), iotide_facts(&SITE(symbol), target, fd, failed), NULL, 0); \
        return result;                                                                                   \
    }
CLOSE(fclose, result != 0)
CLOSE(pclose, result == -1)
