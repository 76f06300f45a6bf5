/* Functions for the expressions of signatures/stdio.sig. */
#ifndef IOTIDE_HOOKS_STDIO_H
#define IOTIDE_HOOKS_STDIO_H

#include "ring.h"

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
#undef fgetc_unlocked
#undef fputc_unlocked
#undef getchar_unlocked
#undef putchar_unlocked
#undef getc
#undef putc

/* Nothing was moved: distinguishes an error from the end of the file. */
static inline bool iotide_stream_failed(bool nothing, FILE *stream) {
    return nothing && ferror(stream);
}

static inline int64_t iotide_text_bytes(const char *text) {
    return text ? (int64_t)strlen(text) : 0;
}

/* Bytes of a character in UTF-8, which today's locales use; other encodings would need their tables. */
static inline int64_t iotide_wide_character_bytes(wint_t character) {
    return character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
}

static inline int64_t iotide_wide_text_bytes(const wchar_t *text) {
    int64_t sum = 0;
    while (text && *text)
        sum += iotide_wide_character_bytes((wint_t)*text++);
    return sum;
}

/* Whether a call that moved these bytes made system calls, by the stream's buffer after the call. A call that only copies
 * leaves more bytes behind it in the buffer than it moved. The first call on an empty buffer counts, too. Streams of wide
 * characters convert in a buffer of their own, so nothing is reported for them. */
static inline uint16_t iotide_input_flags(FILE *stream, int64_t bytes) {
    bool through = stream->_mode <= 0 && stream->_IO_read_ptr - stream->_IO_read_base <= bytes;
    return FLAG_BLOCKING | (through ? FLAG_THROUGH : 0);
}

static inline uint16_t iotide_output_flags(FILE *stream, int64_t bytes) {
    bool through = stream->_mode <= 0 && stream->_IO_write_ptr - stream->_IO_write_base <= bytes;
    return FLAG_BLOCKING | (through ? FLAG_THROUGH : 0);
}

#endif
