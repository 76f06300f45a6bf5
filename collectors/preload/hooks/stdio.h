/* Functions for the expressions of signatures/stdio.sig. */
#ifndef IOTIDE_HOOKS_STDIO_H
#define IOTIDE_HOOKS_STDIO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

/* Macros of glibc's headers, in optimised builds. */
#undef fread_unlocked
#undef fwrite_unlocked
#undef getc_unlocked
#undef putc_unlocked

/* Nothing was moved: distinguishes an error from the end of the file. */
static inline bool iotide_stream_failed(bool nothing, FILE *stream) {
    return nothing && ferror(stream);
}

static inline int64_t iotide_length(const char *text) {
    return text ? (int64_t)strlen(text) : 0;
}

/* Bytes of a character in UTF-8, which today's locales use; other encodings would need their tables. */
static inline int64_t iotide_wide_size(wint_t character) {
    return character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
}

static inline int64_t iotide_wide_length(const wchar_t *text) {
    int64_t sum = 0;
    while (text && *text)
        sum += iotide_wide_size((wint_t)*text++);
    return sum;
}

#endif
