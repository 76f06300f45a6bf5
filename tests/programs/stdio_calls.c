/* Calls every function of signatures/stdio.sig, and prints the expected events.
 * usage: stdio_calls NAME    in an empty folder; NAME is not used */
#include "posix_steps.h"

#include <fcntl.h>
#include <locale.h>
#include <sys/mman.h>
#include <wchar.h>

#undef stdin
#undef stdout
extern FILE *stdin, *stdout;

static char line[256];
static wchar_t wide[256];
static const char letters[] = "abcdefghijklmnopqrstuvwxyz\n";

#define END(stream, number, path)                    \
    RUN(int, fclose, (FILE *), (stream));            \
    SEE(DESTROY, path, "fclose(stream=%d)", number);

static FILE *made(const char *path, const char *mode) {
    FILE *stream = RUN_POINTER(FILE *, fopen, (const char *, const char *), (path, mode));
    SEE(CREATE, path, "fopen(mode=%s)", mode);
    return stream;
}

static void opening(void) {
    FILE *stream;
#define OPEN(symbol)                                                                                 \
    stream = RUN_POINTER(FILE *, symbol, (const char *, const char *), ("a", "w+"));                 \
    SEE(CREATE, "a", "fopen(mode=w+)");                                                              \
    END(stream, 3, "a")
    OPEN(fopen)
    OPEN(fopen64)
    RUN_POINTER(FILE *, fopen, (const char *, const char *), ("nowhere/a", "r"));
    SEE(CREATE, "nowhere/a", "fopen(mode=r)");
    RUN_POINTER(FILE *, fopen, (const char *, const char *), ("a", "nonsense"));
    SEE(CREATE, "a", "fopen(mode=nonsense)");
    RUN_POINTER(FILE *, fopen, (const char *, const char *), ((const char *)8, "r"));
    SEE(CREATE, "-", "fopen(mode=r)");
#define AGAIN(symbol)                                                                                \
    stream = RUN_POINTER(FILE *, symbol, (const char *, const char *, FILE *), ("b", "w", stream));  \
    SEE(CREATE, "b", "freopen(mode=w)");
    stream = made("a", "r");
    AGAIN(freopen)
    AGAIN(freopen64)
    END(stream, 3, "b")
#define SCRATCH(symbol)                                                                              \
    stream = RUN_POINTER(FILE *, symbol, (void), ());                                                \
    SEE(CREATE, "*", "tmpfile()");                                                                   \
    END(stream, 3, "*")
    SCRATCH(tmpfile)
    SCRATCH(tmpfile64)
    int fd = (int)syscall(SYS_open, "a", O_RDWR);
    stream = RUN_POINTER(FILE *, fdopen, (int, const char *), (fd, "r+"));
    SEE(CREATE, "a", "fdopen(fd=%d, mode=r+)", fd);
    END(stream, fd, "a")
    stream = RUN_POINTER(FILE *, popen, (const char *, const char *), ("exit 3", "r"));
    SEE(CREATE, "pipe:*", "popen(command=\"exit 3\", mode=r)");
    RUN(int, pclose, (FILE *), (stream));
    SEE(DESTROY, "pipe:*", "pclose(stream=3)");
    RUN(int, fcloseall, (void), ());
    SEE(DESTROY, "-", "fcloseall()");
    /* Streams in memory do no I/O. */
    stream = fmemopen(line, sizeof line, "w+");
    RUN(int, fputs, (const char *, FILE *), ("text", stream));
    RUN(int, fclose, (FILE *), (stream));
}

/* ---- blocks and lines ---- */

static void blocks(void) {
    FILE *stream = made("data", "w+");
#define ITEMS(kind, symbol, types, arguments, shown, got)                           \
    RUN_NUMBER(size_t, symbol, types, arguments);                                   \
    see(#kind, "data", 27, got, -1, shown "(size=9, count=3, stream=3)");
#define PUT (const void *, size_t, size_t, FILE *)
#define GET (void *, size_t, size_t, FILE *)
#define GET_CHECKED (void *, size_t, size_t, size_t, FILE *)
    for (int i = 0; i < 2; i++) {
        ITEMS(WRITE, fwrite, PUT, (letters, 9, 3, stream), "fwrite", 27)
        ITEMS(WRITE, fwrite_unlocked, PUT, (letters, 9, 3, stream), "fwrite", 27)
    }
    RUN(int, fflush, (FILE *), (stream));
    SEE(SYNC, "data", "fflush(stream=3)");
    RUN(int, fflush_unlocked, (FILE *), (stream));
    SEE(SYNC, "data", "fflush(stream=3)");
    RUN(int, fflush, (FILE *), (NULL));
    RUN_VOID(rewind, (FILE *), (stream));
    see("SEEK", "data", 0, 0, 0, "rewind(stream=3)");
    ITEMS(READ, fread, GET, (line, 9, 3, stream), "fread", 27)
    ITEMS(READ, fread_unlocked, GET, (line, 9, 3, stream), "fread", 27)
    ITEMS(READ, __fread_chk, GET_CHECKED, (line, sizeof line, 9, 3, stream), "fread", 27)
    ITEMS(READ, __fread_unlocked_chk, GET_CHECKED, (line, sizeof line, 9, 3, stream), "fread", 27)
    ITEMS(READ, fread, GET, (line, 9, 3, stream), "fread", 0)

#define SEEK(symbol, type)                                                                  \
    RUN(int, symbol, (FILE *, type, int), (stream, 0, SEEK_SET));                           \
    SEE(SEEK, "data", "fseek(stream=3, by=0, whence=SEEK_SET)");
    SEEK(fseek, long)
#define GETS(symbol, types, arguments)                                                      \
    RUN_POINTER(char *, symbol, types, arguments);                                          \
    see("READ", "data", 100, 27, -1, "fgets(size=100, stream=3)");
    GETS(fgets, (char *, int, FILE *), (line, 100, stream))
    GETS(fgets_unlocked, (char *, int, FILE *), (line, 100, stream))
    GETS(__fgets_chk, (char *, size_t, int, FILE *), (line, sizeof line, 100, stream))
    GETS(__fgets_unlocked_chk, (char *, size_t, int, FILE *), (line, sizeof line, 100, stream))
    RUN_POINTER(char *, fgets, (char *, int, FILE *), (line, 100, stream));
    see("READ", "data", 100, 0, -1, "fgets(size=100, stream=3)");
    SEEK(fseeko, off_t)
    static char *room;
    static size_t size;
    RUN_NUMBER(ssize_t, getline, (char **, size_t *, FILE *), (&room, &size, stream));
    see("READ", "data", 27, 27, -1, "getline(stream=3)");
#define DELIMITED(symbol)                                                                   \
    RUN_NUMBER(ssize_t, symbol, (char **, size_t *, int, FILE *), (&room, &size, 'c', stream)); \
    see("READ", "data", 3, 3, -1, "getdelim(delimiter=99, stream=3)");                      \
    SEEK(fseeko64, off64_t)
    SEEK(__fseeko64, off64_t)
    DELIMITED(getdelim)
    DELIMITED(__getdelim)
#define PUTS(symbol)                                                                        \
    RUN(int, symbol, (const char *, FILE *), ("some text", stream));                        \
    see("WRITE", "data", 9, 9, -1, "fputs(stream=3)");
    PUTS(fputs)
    PUTS(fputs_unlocked)
#define TELL(symbol, type)                                                                  \
    RUN(type, symbol, (FILE *), (stream));                                                  \
    see("OTHER", "data", 0, 0, 18, "ftell(stream=3)");
    TELL(ftell, long)
    TELL(ftello, off_t)
    TELL(ftello64, off64_t)
    TELL(__ftello64, off64_t)
    union {
        fpos_t plain;
        fpos64_t large;
    } position;
#define PLACE(symbol, kind, shown)                                                          \
    RUN(int, symbol, (FILE *, void *), (stream, &position));                                \
    SEE(kind, "data", shown "(stream=3)");
    PLACE(fgetpos, OTHER, "fgetpos")
    PLACE(fsetpos, SEEK, "fsetpos")
    PLACE(fgetpos64, OTHER, "fgetpos")
    PLACE(fsetpos64, SEEK, "fsetpos")
    END(stream, 3, "data")

    stream = made("/dev/full", "w");
    RUN_NUMBER(int, setvbuf, (FILE *, char *, int, size_t), (stream, NULL, _IONBF, 0));
    SEE(OTHER, "/dev/full", "setvbuf(stream=3, mode=_IONBF, size=0)");
    RUN(int, fputs, (const char *, FILE *), ("some text", stream));
    see("WRITE", "/dev/full", 9, 0, -1, "fputs(stream=3)");
    RUN_AS(size_t, fwrite, PUT, (letters, 9, 3, stream), r, r == 0);
    see("WRITE", "/dev/full", 27, 0, -1, "fwrite(size=9, count=3, stream=3)");
    RUN_VOID(setbuf, (FILE *, char *), (stream, NULL));
    SEE(OTHER, "/dev/full", "setbuf(stream=3)");
    RUN_VOID(setbuffer, (FILE *, char *, size_t), (stream, NULL, 0));
    SEE(OTHER, "/dev/full", "setbuffer(stream=3, size=0)");
    RUN_VOID(setlinebuf, (FILE *), (stream));
    SEE(OTHER, "/dev/full", "setlinebuf(stream=3)");
    END(stream, 3, "/dev/full")
}

/* ---- formatted; standard streams are files of ours meanwhile, because the transcript needs the original ones ---- */

static int print_to(const char *symbol, const char *format, ...) {
    int(*found)(const char *, va_list) = find(symbol);
    va_list values;
    va_start(values, format);
    int result = found(format, values);
    va_end(values);
    return result;
}
static int print_to_checked(const char *symbol, const char *format, ...) {
    int(*found)(int, const char *, va_list) = find(symbol);
    va_list values;
    va_start(values, format);
    int result = found(1, format, values);
    va_end(values);
    return result;
}
static int print_on(const char *symbol, void *stream, const void *format, ...) {
    int(*found)(void *, const void *, va_list) = find(symbol);
    va_list values;
    va_start(values, format);
    int result = found(stream, format, values);
    va_end(values);
    return result;
}
static int print_on_checked(const char *symbol, void *stream, const void *format, ...) {
    int(*found)(void *, int, const void *, va_list) = find(symbol);
    va_list values;
    va_start(values, format);
    int result = found(stream, 1, format, values);
    va_end(values);
    return result;
}
static int print_number(const char *symbol, int fd, const char *format, ...) {
    int(*found)(int, const char *, va_list) = find(symbol);
    va_list values;
    va_start(values, format);
    int result = found(fd, format, values);
    va_end(values);
    return result;
}
static int print_number_checked(const char *symbol, int fd, const char *format, ...) {
    int(*found)(int, int, const char *, va_list) = find(symbol);
    va_list values;
    va_start(values, format);
    int result = found(fd, 1, format, values);
    va_end(values);
    return result;
}

/* A call through one of these functions, like RUN for direct ones. */
#define THROUGH(symbol, call)                     \
    do {                                          \
        errno = 0;                                \
        int r_ = call;                            \
        failure = r_ < 0 ? errno : 0;             \
        noted(symbol, r_, failure);               \
    } while (0)

static void printing(void) {
    FILE *stream = made("data", "w"), *other = made("words", "w");
    FILE *standard = stdout;
    int fd = 3;
    stdout = stream;
#define SEEN(shown) see("WRITE", "data", 5, 5, -1, shown);
    RUN(int, fprintf, (FILE *, const char *, ...), (stream, "%05d", 7));
    SEEN("fprintf(stream=3, format=%%05d)")
    RUN(int, __fprintf_chk, (FILE *, int, const char *, ...), (stream, 1, "%05d", 7));
    SEEN("fprintf(stream=3, format=%%05d)")
    THROUGH("vfprintf", print_on("vfprintf", stream, "%05d", 7));
    SEEN("fprintf(stream=3, format=%%05d)")
    THROUGH("__vfprintf_chk", print_on_checked("__vfprintf_chk", stream, "%05d", 7));
    SEEN("fprintf(stream=3, format=%%05d)")
    RUN(int, printf, (const char *, ...), ("%05d", 7));
    SEEN("printf(format=%%05d)")
    RUN(int, __printf_chk, (int, const char *, ...), (1, "%05d", 7));
    SEEN("printf(format=%%05d)")
    THROUGH("vprintf", print_to("vprintf", "%05d", 7));
    SEEN("printf(format=%%05d)")
    THROUGH("__vprintf_chk", print_to_checked("__vprintf_chk", "%05d", 7));
    SEEN("printf(format=%%05d)")
    RUN(int, puts, (const char *), ("text"));
    SEEN("puts()")
    RUN(int, putchar, (int), ('x'));
    see("WRITE", "data", 1, 1, -1, "putchar(character=120)");
    RUN(int, putchar_unlocked, (int), ('x'));
    see("WRITE", "data", 1, 1, -1, "putchar(character=120)");
    RUN(int, dprintf, (int, const char *, ...), (fd, "%05d", 7));
    SEEN("dprintf(fd=3, format=%%05d)")
    RUN(int, __dprintf_chk, (int, int, const char *, ...), (fd, 1, "%05d", 7));
    SEEN("dprintf(fd=3, format=%%05d)")
    THROUGH("vdprintf", print_number("vdprintf", fd, "%05d", 7));
    SEEN("dprintf(fd=3, format=%%05d)")
    THROUGH("__vdprintf_chk", print_number_checked("__vdprintf_chk", fd, "%05d", 7));
    SEEN("dprintf(fd=3, format=%%05d)")

#undef SEEN
#define SEEN(shown) see("WRITE", "words", 5, 5, -1, shown);
    stdout = other;
    RUN(int, fwprintf, (FILE *, const wchar_t *, ...), (other, L"%05d", 7));
    SEEN("fwprintf(stream=4)")
    RUN(int, __fwprintf_chk, (FILE *, int, const wchar_t *, ...), (other, 1, L"%05d", 7));
    SEEN("fwprintf(stream=4)")
    THROUGH("vfwprintf", print_on("vfwprintf", other, L"%05d", 7));
    SEEN("fwprintf(stream=4)")
    THROUGH("__vfwprintf_chk", print_on_checked("__vfwprintf_chk", other, L"%05d", 7));
    SEEN("fwprintf(stream=4)")
    RUN(int, wprintf, (const wchar_t *, ...), (L"%05d", 7));
    SEEN("wprintf()")
    RUN(int, __wprintf_chk, (int, const wchar_t *, ...), (1, L"%05d", 7));
    SEEN("wprintf()")
    THROUGH("vwprintf", print_to("vwprintf", (const char *)L"%05d", 7));
    SEEN("wprintf()")
    THROUGH("__vwprintf_chk", print_to_checked("__vwprintf_chk", (const char *)L"%05d", 7));
    SEEN("wprintf()")
    RUN(int, fputws, (const wchar_t *, FILE *), (L"words", other));
    SEEN("fputws(stream=4)")
    RUN(int, fputws_unlocked, (const wchar_t *, FILE *), (L"words", other));
    SEEN("fputws(stream=4)")
#define WIDE(symbol, shown)                                                                 \
    RUN_NUMBER(wint_t, symbol, (wchar_t, FILE *), (0x20ac, other));                         \
    see("WRITE", "words", 3, 3, -1, shown "(character=8364, stream=4)");
    WIDE(fputwc, "fputwc")
    WIDE(fputwc_unlocked, "fputwc")
    WIDE(putwc, "putwc")
    WIDE(putwc_unlocked, "putwc")
#define WIDE_STANDARD(symbol)                                                               \
    RUN_NUMBER(wint_t, symbol, (wchar_t), (L'x'));                                          \
    see("WRITE", "words", 1, 1, -1, "putwchar(character=120)");
    WIDE_STANDARD(putwchar)
    WIDE_STANDARD(putwchar_unlocked)
    stdout = standard;
    END(stream, 3, "data")
    END(other, 4, "words")
}

/* ---- one character ---- */

static void characters(void) {
    FILE *stream = made("data", "w+"), *standard = stdin;
#define PUTC(symbol, shown)                                                                 \
    RUN(int, symbol, (int, FILE *), ('x', stream));                                         \
    see("WRITE", "data", 1, 1, -1, shown "(character=120, stream=3)");
    PUTC(fputc, "fputc")
    PUTC(fputc_unlocked, "fputc")
    PUTC(putc, "putc")
    PUTC(putc_unlocked, "putc")
    PUTC(_IO_putc, "putc")
    RUN(int, putw, (int, FILE *), (7, stream));
    see("WRITE", "data", 4, 4, -1, "putw(word=7, stream=3)");
    RUN(int, __overflow, (FILE *, int), (stream, 'x'));
    see("WRITE", "data", 1, 1, -1, "putc(stream=3, characters=1)"); /* before the next call that moves the position */
    RUN_VOID(rewind, (FILE *), (stream));
    see("SEEK", "data", 0, 0, 0, "rewind(stream=3)");
#define GETC(symbol, shown)                                                                 \
    RUN_NUMBER(int, symbol, (FILE *), (stream));                                            \
    see("READ", "data", 1, 1, -1, shown "(stream=3)");
    GETC(fgetc, "fgetc")
    RUN(int, ungetc, (int, FILE *), ('x', stream));
    SEE(OTHER, "data", "ungetc(character=120, stream=3)");
    GETC(fgetc_unlocked, "fgetc")
    GETC(getc, "getc")
    GETC(getc_unlocked, "getc")
    GETC(_IO_getc, "getc")
    stdin = stream;
#define GETCHAR(symbol)                                                                     \
    RUN_NUMBER(int, symbol, (void), ());                                                    \
    see("READ", "data", 1, 1, -1, "getchar()");                                             \
    RUN(int, ungetc, (int, FILE *), ('x', stream));                                         \
    SEE(OTHER, "data", "ungetc(character=120, stream=3)");
    GETCHAR(getchar)
    GETCHAR(getchar_unlocked)
    RUN_NUMBER(int, fgetc, (FILE *), (stream));
    see("READ", "data", 1, 1, -1, "fgetc(stream=3)");
    RUN_NUMBER(int, getw, (FILE *), (stream));
    see("READ", "data", 4, 4, -1, "getw(stream=3)");
    RUN_NUMBER(int, __uflow, (FILE *), (stream));
    RUN_NUMBER(int, fgetc, (FILE *), (stream));
    see("READ", "data", 1, 0, -1, "fgetc(stream=3)");
    see("READ", "data", 1, 1, -1, "getc(stream=3, characters=1)"); /* of __uflow, before the end */
    stdin = standard;
    END(stream, 3, "data")
}

/* ---- lines of standard input, and wide ---- */

static FILE *written(const char *path, const char *text) {
    FILE *stream = made(path, "w");
    long size = (long)strlen(text);
    RUN(int, fputs, (const char *, FILE *), (text, stream));
    see("WRITE", path, size, size, -1, "fputs(stream=3)");
    END(stream, 3, path)
    return made(path, "r");
}

static void reading(void) {
    FILE *standard = stdin, *stream = written("data", "first\nsecond\n");
    stdin = stream;
    RUN_POINTER(char *, gets, (char *), (line));
    see("READ", "data", 6, 6, -1, "gets()");
    RUN_POINTER(char *, __gets_chk, (char *, size_t), (line, sizeof line));
    see("READ", "data", 7, 7, -1, "gets()");
    END(stream, 3, "data")

    stream = written("words", "\xe2\x82\xacx\nsecond\nthird\nlast\nabcdefghij");
#define LINE(symbol, types, arguments, size)                                                \
    RUN_POINTER(wchar_t *, symbol, types, arguments);                                       \
    see("READ", "words", 100, size, -1, "fgetws(size=100, stream=3)");
    LINE(fgetws, (wchar_t *, int, FILE *), (wide, 100, stream), 5)
    LINE(fgetws_unlocked, (wchar_t *, int, FILE *), (wide, 100, stream), 7)
    LINE(__fgetws_chk, (wchar_t *, size_t, int, FILE *), (wide, 256, 100, stream), 6)
    LINE(__fgetws_unlocked_chk, (wchar_t *, size_t, int, FILE *), (wide, 256, 100, stream), 5)
#define GETWC(symbol, shown)                                                                \
    RUN_NUMBER(wint_t, symbol, (FILE *), (stream));                                         \
    see("READ", "words", 1, 1, -1, shown "(stream=3)");
    GETWC(fgetwc, "fgetwc")
    GETWC(fgetwc_unlocked, "fgetwc")
    GETWC(getwc, "getwc")
    GETWC(getwc_unlocked, "getwc")
    RUN_NUMBER(wint_t, ungetwc, (wint_t, FILE *), (L'x', stream));
    SEE(OTHER, "words", "ungetwc(character=120, stream=3)");
    stdin = stream;
#define GETWCHAR(symbol)                                                                    \
    RUN_NUMBER(wint_t, symbol, (void), ());                                                 \
    see("READ", "words", 1, 1, -1, "getwchar()");
    GETWCHAR(getwchar)
    GETWCHAR(getwchar_unlocked)
    stdin = standard;
    END(stream, 3, "words")
}

static void scanning(void) {
    FILE *standard = stdin, *stream = written("data", "1 2 3 4 5 6 7 8 9 ");
    stdin = stream;
    int number = 0;
    int *to = &number;
#define SCANNED(shown) see("READ", "data", 2, 2, -1, shown);
    RUN(int, fscanf, (FILE *, const char *, ...), (stream, "%d ", to));
    SCANNED("fscanf(stream=3, format=\"%%d \") = 1")
    RUN(int, __isoc99_fscanf, (FILE *, const char *, ...), (stream, "%d ", to));
    SCANNED("fscanf(stream=3, format=\"%%d \") = 1")
    THROUGH("vfscanf", print_on("vfscanf", stream, "%d ", to));
    SCANNED("fscanf(stream=3, format=\"%%d \") = 1")
    THROUGH("__isoc99_vfscanf", print_on("__isoc99_vfscanf", stream, "%d ", to));
    SCANNED("fscanf(stream=3, format=\"%%d \") = 1")
    RUN(int, scanf, (const char *, ...), ("%d ", to));
    SCANNED("scanf(format=\"%%d \") = 1")
    RUN(int, __isoc99_scanf, (const char *, ...), ("%d ", to));
    SCANNED("scanf(format=\"%%d \") = 1")
    THROUGH("vscanf", print_to("vscanf", "%d ", to));
    SCANNED("scanf(format=\"%%d \") = 1")
    THROUGH("__isoc99_vscanf", print_to("__isoc99_vscanf", "%d ", to));
    SCANNED("scanf(format=\"%%d \") = 1")
    RUN(int, fscanf, (FILE *, const char *, ...), (stream, "%d ", to));
    SCANNED("fscanf(stream=3, format=\"%%d \") = 1")
    RUN_NUMBER(int, fscanf, (FILE *, const char *, ...), (stream, "%d ", to));
    SEE(READ, "data", "fscanf(stream=3, format=\"%%d \") = -1");
    note("call\tnumber\t%d\t0\n", number);
    END(stream, 3, "data")

    /* Read-ahead of wide characters is counted for the file as a whole. */
    stream = written("words", "1 2 3 4 5 6 7 8 ");
    stdin = stream;
    int first = 1;
#define SCANNED_WIDE(shown)                                          \
    see("READ", "words", first ? 16 : 0, first ? 16 : 0, -1, shown); \
    first = 0;
    RUN(int, fwscanf, (FILE *, const wchar_t *, ...), (stream, L"%d ", to));
    SCANNED_WIDE("fwscanf(stream=3) = 1")
    RUN(int, __isoc99_fwscanf, (FILE *, const wchar_t *, ...), (stream, L"%d ", to));
    SCANNED_WIDE("fwscanf(stream=3) = 1")
    THROUGH("vfwscanf", print_on("vfwscanf", stream, L"%d ", to));
    SCANNED_WIDE("fwscanf(stream=3) = 1")
    THROUGH("__isoc99_vfwscanf", print_on("__isoc99_vfwscanf", stream, L"%d ", to));
    SCANNED_WIDE("fwscanf(stream=3) = 1")
    RUN(int, wscanf, (const wchar_t *, ...), (L"%d ", to));
    SCANNED_WIDE("wscanf() = 1")
    RUN(int, __isoc99_wscanf, (const wchar_t *, ...), (L"%d ", to));
    SCANNED_WIDE("wscanf() = 1")
    THROUGH("vwscanf", print_to("vwscanf", (const char *)L"%d ", to));
    SCANNED_WIDE("wscanf() = 1")
    THROUGH("__isoc99_vwscanf", print_to("__isoc99_vwscanf", (const char *)L"%d ", to));
    SCANNED_WIDE("wscanf() = 1")
    note("call\tnumber\t%d\t0\n", number);
    stdin = standard;
    END(stream, 3, "words")
}

int main(int count, char **words) {
    (void)words;
    if (count != 2)
        return 1;
    setlocale(LC_ALL, "C.UTF-8");
    opening();
    blocks();
    printing();
    characters();
    reading();
    scanning();
    finish();
}
