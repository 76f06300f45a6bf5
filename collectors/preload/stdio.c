/* Wrappers of the STDIO calls. glibc reads and writes below them without passing the POSIX wrappers, so a byte is
 * recorded once, here, when the program moves it; per-character calls (getc, putc) are left alone. */
#define _GNU_SOURCE
#include "tracer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#undef fread_unlocked /* macros of glibc's headers, in optimised builds */
#undef fwrite_unlocked

size_t __fread_chk(void *to, size_t room, size_t size, size_t count, FILE *file);
size_t __fread_unlocked_chk(void *to, size_t room, size_t size, size_t count, FILE *file);
char *__fgets_chk(char *to, size_t room, int size, FILE *file);
char *__fgets_unlocked_chk(char *to, size_t room, int size, FILE *file);
int __vfprintf_chk(FILE *file, int flag, const char *format, va_list values);
int __vdprintf_chk(int fd, int flag, const char *format, va_list values);
int __dprintf_chk(int fd, int flag, const char *format, ...);
int __vprintf_chk(int flag, const char *format, va_list values);
int __fprintf_chk(FILE *file, int flag, const char *format, ...);
int __printf_chk(int flag, const char *format, ...);
ssize_t __getdelim(char **line, size_t *room, int delimiter, FILE *file);

/* Streams without a descriptor (fmemopen, cookies) do no I/O of their own. */
static bool on_descriptor(FILE *file, int *fd) {
    int error = errno;
    *fd = fileno(file);
    errno = error;
    return *fd >= 0;
}

/* Not asked whether this is a vfork child: stdio must not be used there. */
static FILE *opened(struct iotide_span span, enum iotide_call_id call, FILE *file) {
    if (span.start_ns) {
        int fd = -1;
        struct iotide_target target = {0, 0};
        if (file && on_descriptor(file, &fd))
            target = iotide_opened(fd);
        iotide_leave(span, call, target, -1, 0, 0, !file);
    }
    return file;
}

#define FOPEN(symbol)                                                        \
    EXPORT FILE *symbol(const char *path, const char *mode) {                \
        struct iotide_span span = iotide_enter();                            \
        return opened(span, CALL_##symbol, REAL(symbol)(path, mode));        \
    }
FOPEN(fopen)
FOPEN(fopen64)

EXPORT FILE *fdopen(int fd, const char *mode) {
    struct iotide_span span = iotide_enter();
    FILE *file = REAL(fdopen)(fd, mode);
    if (span.start_ns)
        iotide_leave(span, CALL_fdopen, iotide_target_of(fd), -1, 0, 0, !file);
    return file;
}

#define FREOPEN(symbol)                                                                \
    EXPORT FILE *symbol(const char *path, const char *mode, FILE *file) {              \
        struct iotide_span span = iotide_enter();                                      \
        int fd;                                                                        \
        if (span.start_ns && on_descriptor(file, &fd))                                 \
            iotide_forget(fd);                                                         \
        return opened(span, CALL_##symbol, REAL(symbol)(path, mode, file));            \
    }
FREOPEN(freopen)
FREOPEN(freopen64)

#define CLOSE(symbol, failed)                                                \
    EXPORT int symbol(FILE *file) {                                          \
        struct iotide_span span = iotide_enter();                            \
        int fd = -1;                                                         \
        struct iotide_target target = {0, 0};                                \
        if (span.start_ns && on_descriptor(file, &fd))                       \
            target = iotide_forget(fd);                                      \
        int result = REAL(symbol)(file);                                     \
        if (span.start_ns && fd >= 0)                                        \
            iotide_leave(span, CALL_##symbol, target, -1, 0, 0, failed);     \
        return result;                                                       \
    }
CLOSE(fclose, result != 0)
CLOSE(pclose, result == -1)

static void moved(struct iotide_span span, enum iotide_call_id call, FILE *file, int64_t wanted, int64_t got,
                  bool failed) {
    int fd;
    if (span.start_ns && on_descriptor(file, &fd))
        iotide_leave(span, call, iotide_target_of(fd), -1, wanted, got, failed);
}

#define ITEMS(symbol, parameters, arguments)                                                                      \
    EXPORT size_t symbol parameters {                                                                             \
        struct iotide_span span = iotide_enter();                                                                 \
        size_t got = REAL(symbol) arguments;                                                                      \
        moved(span, CALL_##symbol, file, (int64_t)(size * count), (int64_t)(size * got),                          \
              got == 0 && size * count > 0 && span.start_ns && ferror(file));                                     \
        return got;                                                                                               \
    }
ITEMS(fread, (void *to, size_t size, size_t count, FILE *file), (to, size, count, file))
ITEMS(fread_unlocked, (void *to, size_t size, size_t count, FILE *file), (to, size, count, file))
ITEMS(__fread_chk, (void *to, size_t room, size_t size, size_t count, FILE *file), (to, room, size, count, file))
ITEMS(__fread_unlocked_chk, (void *to, size_t room, size_t size, size_t count, FILE *file),
      (to, room, size, count, file))
ITEMS(fwrite, (const void *from, size_t size, size_t count, FILE *file), (from, size, count, file))
ITEMS(fwrite_unlocked, (const void *from, size_t size, size_t count, FILE *file), (from, size, count, file))

#define GETS(symbol, parameters, arguments)                                                           \
    EXPORT char *symbol parameters {                                                                  \
        struct iotide_span span = iotide_enter();                                                     \
        char *line = REAL(symbol) arguments;                                                          \
        if (span.start_ns)                                                                            \
            moved(span, CALL_##symbol, file, size, line ? (int64_t)strlen(line) : 0, false);          \
        return line;                                                                                  \
    }
GETS(fgets, (char *to, int size, FILE *file), (to, size, file))
GETS(fgets_unlocked, (char *to, int size, FILE *file), (to, size, file))
GETS(__fgets_chk, (char *to, size_t room, int size, FILE *file), (to, room, size, file))
GETS(__fgets_unlocked_chk, (char *to, size_t room, int size, FILE *file), (to, room, size, file))

#define LINE(symbol, parameters, arguments)                                               \
    EXPORT ssize_t symbol parameters {                                                    \
        struct iotide_span span = iotide_enter();                                         \
        ssize_t got = REAL(symbol) arguments;                                             \
        moved(span, CALL_##symbol, file, got > 0 ? got : 0, got > 0 ? got : 0, false);    \
        return got;                                                                       \
    }
LINE(getline, (char **line, size_t *room, FILE *file), (line, room, file))
LINE(getdelim, (char **line, size_t *room, int delimiter, FILE *file), (line, room, delimiter, file))
LINE(__getdelim, (char **line, size_t *room, int delimiter, FILE *file), (line, room, delimiter, file))

#define PUTS(symbol, where, extra, parameters, arguments)                                                      \
    EXPORT int symbol parameters {                                                                             \
        struct iotide_span span = iotide_enter();                                                              \
        int result = REAL(symbol) arguments;                                                                   \
        if (span.start_ns) {                                                                                   \
            int64_t size = (int64_t)strlen(text) + (extra);                                                    \
            moved(span, CALL_##symbol, where, size, size, result < 0);                                         \
        }                                                                                                      \
        return result;                                                                                         \
    }
PUTS(fputs, file, 0, (const char *text, FILE *file), (text, file))
PUTS(fputs_unlocked, file, 0, (const char *text, FILE *file), (text, file))
PUTS(puts, stdout, 1, (const char *text), (text))

/* The variadic forms pass through the va_list forms, which record. */
#define FORMAT(symbol, where, parameters, arguments)                                                       \
    EXPORT int symbol parameters {                                                                         \
        struct iotide_span span = iotide_enter();                                                          \
        int result = REAL(symbol) arguments;                                                               \
        moved(span, CALL_##symbol, where, result > 0 ? result : 0, result, result < 0);                    \
        return result;                                                                                     \
    }
FORMAT(vfprintf, file, (FILE *file, const char *format, va_list values), (file, format, values))
FORMAT(__vfprintf_chk, file, (FILE *file, int flag, const char *format, va_list values), (file, flag, format, values))

#define FORMAT_TO_DESCRIPTOR(symbol, parameters, arguments)                                                \
    EXPORT int symbol parameters {                                                                         \
        struct iotide_span span = iotide_enter();                                                          \
        int result = REAL(symbol) arguments;                                                               \
        if (span.start_ns)                                                                                 \
            iotide_leave(span, CALL_##symbol, iotide_target_of(fd), -1, result > 0 ? result : 0, result,   \
                         result < 0);                                                                      \
        return result;                                                                                     \
    }
FORMAT_TO_DESCRIPTOR(vdprintf, (int fd, const char *format, va_list values), (fd, format, values))
FORMAT_TO_DESCRIPTOR(__vdprintf_chk, (int fd, int flag, const char *format, va_list values), (fd, flag, format, values))
FORMAT(vprintf, stdout, (const char *format, va_list values), (format, values))
FORMAT(__vprintf_chk, stdout, (int flag, const char *format, va_list values), (flag, format, values))

#define VARIADIC(symbol, through, parameters, ...)    \
    EXPORT int symbol parameters {                    \
        va_list values;                               \
        va_start(values, format);                     \
        int result = through(__VA_ARGS__, values);    \
        va_end(values);                               \
        return result;                                \
    }
VARIADIC(fprintf, vfprintf, (FILE *file, const char *format, ...), file, format)
VARIADIC(__fprintf_chk, __vfprintf_chk, (FILE *file, int flag, const char *format, ...), file, flag, format)
VARIADIC(dprintf, vdprintf, (int fd, const char *format, ...), fd, format)
VARIADIC(__dprintf_chk, __vdprintf_chk, (int fd, int flag, const char *format, ...), fd, flag, format)
VARIADIC(printf, vprintf, (const char *format, ...), format)
VARIADIC(__printf_chk, __vprintf_chk, (int flag, const char *format, ...), flag, format)

#define POSITION(symbol, parameters, arguments)                                \
    EXPORT int symbol parameters {                                             \
        struct iotide_span span = iotide_enter();                              \
        int result = REAL(symbol) arguments;                                   \
        moved(span, CALL_##symbol, file, 0, 0, result != 0);                   \
        return result;                                                         \
    }
POSITION(fseek, (FILE *file, long by, int whence), (file, by, whence))
POSITION(fseeko, (FILE *file, off_t by, int whence), (file, by, whence))
POSITION(fseeko64, (FILE *file, off64_t by, int whence), (file, by, whence))
POSITION(fsetpos, (FILE *file, const fpos_t *at), (file, at))
POSITION(fsetpos64, (FILE *file, const fpos64_t *at), (file, at))

EXPORT void rewind(FILE *file) {
    struct iotide_span span = iotide_enter();
    REAL(rewind)(file);
    moved(span, CALL_rewind, file, 0, 0, false);
}

EXPORT int fflush(FILE *file) {
    struct iotide_span span = iotide_enter();
    int result = REAL(fflush)(file);
    if (file)
        moved(span, CALL_fflush, file, 0, 0, result != 0);
    return result;
}
