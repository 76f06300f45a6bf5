/* What the expressions of signatures/stdio.sig call. */
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

/* Nothing moved: the end of the file, or an error? */
static inline bool iotide_stream_failed(bool nothing, FILE *stream) {
    return nothing && ferror(stream);
}

static inline int64_t iotide_length(const char *text) {
    return text ? (int64_t)strlen(text) : 0;
}

/* Bytes of a character in UTF-8, as the locales of today have it; others cannot be told without their tables. */
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
