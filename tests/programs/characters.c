/* Writes and reads a file one character at a time: argv[1] is the file, argv[2] the number of characters, argv[3] how.
 *   calls   putc and getc
 *   inline  in the buffer itself, as optimised putc_unlocked and getc_unlocked: calls only at the buffer's end
 *   mixed   each line of 32 by another call: putc, in the buffer, fputs, fprintf, and with ungetc, fgets and fscanf
 *   wide    putwc and getwc of two-byte characters
 *   update  writes, seeks and reads again on one stream
 *   bare    without a buffer
 *   last    leaves both files open at its exit
 *   many    writes through more streams than are counted
 *   all     closes all streams at once
 * The last word of its output is the number of bytes that it moved in each direction. */
#define _GNU_SOURCE
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#undef putc_unlocked
#undef getc_unlocked
#define PUT(c, f) ((f)->_IO_write_ptr >= (f)->_IO_write_end ? __overflow(f, (unsigned char)(c)) : (*(f)->_IO_write_ptr++ = (char)(c)))
#define GET(f) ((f)->_IO_read_ptr >= (f)->_IO_read_end ? __uflow(f) : *(unsigned char *)(f)->_IO_read_ptr++)
static const char line[] = "a line of exactly 32 characters\n";

static FILE *opened(const char *path, const char *mode, int bare) {
    FILE *file = fopen(path, mode);
    if (!file)
        exit(2);
    if (bare)
        setvbuf(file, NULL, _IONBF, 0);
    return file;
}

static long write_mixed(FILE *file, long size) {
    long done = 0;
    for (int turn = 0; done < size; turn++, done += 32) {
        if (turn % 4 == 0)
            for (const char *at = line; *at; at++)
                putc(*at, file);
        else if (turn % 4 == 1)
            for (const char *at = line; *at; at++)
                PUT(*at, file);
        else if (turn % 4 == 2)
            fputs(line, file);
        else
            fprintf(file, "%s", line);
    }
    return done;
}

static long write_many(const char *path, long size) {
    static FILE *files[600];
    const long count = sizeof files / sizeof *files;
    for (int i = 0; i < count; i++)
        files[i] = opened(path, "a", 0);
    for (long i = 0; i < size; i++)
        putc('a', files[i % count]);
    for (int i = 0; i < count; i++)
        fclose(files[i]);
    return size;
}

static long read_mixed(FILE *file) {
    long done = 0;
    char text[64];
    for (int turn = 0, got;; turn++, done += 32) {
        if (turn % 4 == 0) {
            if ((got = getc(file)) == EOF)
                return done;
            ungetc(got, file);
            for (int at = 0; at < 32; at++)
                got = getc(file);
        } else if (turn % 4 == 1) {
            for (int at = 0; at < 32; at++)
                got = GET(file);
            if (got == EOF)
                return done;
        } else if (turn % 4 == 2) {
            if (!fgets(text, sizeof text, file))
                return done;
        } else {
            if (fscanf(file, "%62[^\n]", text) != 1)
                return done;
            if (getc(file) == EOF)
                return done;
        }
    }
}

int main(int count, char **arguments) {
    if (count < 4)
        return 2;
    const char *path = arguments[1], *how = arguments[3];
    long size = atol(arguments[2]), written = 0, got_bytes = 0;
    int inlined = !strcmp(how, "inline"), wide = !strcmp(how, "wide"), bare = !strcmp(how, "bare");
    if (wide)
        setlocale(LC_ALL, "C.UTF-8");
    FILE *file = opened(path, strcmp(how, "update") ? "w" : "w+", bare);
    if (!strcmp(how, "mixed"))
        written = write_mixed(file, size);
    else if (!strcmp(how, "many"))
        written = write_many(path, size);
    else
        for (; written < size; written += 1 + wide) {
            if (inlined)
                PUT('a', file);
            else if (wide)
                putwc(0xe9, file);
            else
                putc('a', file);
        }
    if (!strcmp(how, "update"))
        rewind(file);
    else {
        if (strcmp(how, "last"))
            fclose(file);
        else
            fflush(file), putc('b', file), written++;
        file = opened(path, "r", bare);
    }
    if (!strcmp(how, "mixed"))
        got_bytes = read_mixed(file);
    else if (wide)
        while (getwc(file) != WEOF)
            got_bytes += 2;
    else if (!strcmp(how, "last"))
        while (got_bytes < size)
            got_bytes += getc(file) != EOF;
    else if (!strcmp(how, "all"))
        while (got_bytes < size)
            got_bytes += GET(file) != EOF;
    else
        while ((inlined ? GET(file) : getc(file)) != EOF)
            got_bytes++;
    printf("%ld %ld\n", written, got_bytes);
    if (!strcmp(how, "all"))
        fcloseall();
    else if (strcmp(how, "last"))
        fclose(file);
    return 0;
}
