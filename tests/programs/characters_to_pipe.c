/* Usage: characters_to_pipe FILE COUNT USE OUTPUT. Reads characters of FILE, and writes them to a pipe that nobody reads,
 * until SIGPIPE ends it. COUNT: a file that gets the number of characters read, as 8 bytes. USE: how they are read;
 * OUTPUT: how they are written. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int __uflow(FILE *);
int __overflow(FILE *, int);

static int taken(FILE *from, const char *how) {
    if (!strcmp(how, "inline"))
        return from->_IO_read_ptr >= from->_IO_read_end ? __uflow(from) : *(unsigned char *)from->_IO_read_ptr++;
    return getc(from);
}

static void give(FILE *to, char *line, int character, const char *how) {
    size_t length = strlen(line);
    if (!strcmp(how, "inline"))
        (void)(to->_IO_write_ptr >= to->_IO_write_end ? __overflow(to, character)
                                                      : (unsigned char)(*to->_IO_write_ptr++ = (char)character));
    else if (!strncmp(how, "putc", 4))
        putc(character, to);
    if (strcmp(how, "inline") && strcmp(how, "putc"))
        line[length] = (char)character, line[length + 1] = 0;
    if (character != '\n')
        return;
    if (!strcmp(how, "fputs") || !strcmp(how, "putc-fputs"))
        fputs(line, to);
    else if (!strcmp(how, "fwrite") || !strcmp(how, "lines"))
        fwrite(line, 1, length + 1, to);
    else if (!strcmp(how, "puts"))
        puts(line);
    else if (!strcmp(how, "fprintf"))
        fprintf(to, "%s", line);
    else if (!strcmp(how, "fflush"))
        fputs(line, to), fflush(to);
    else if (!strcmp(how, "fclose"))
        fputs(line, to), fclose(to);
    *line = 0;
}

int main(int count, char **words) {
    int ends[2];
    int kept = count == 5 ? open(words[2], O_RDWR | O_CREAT, 0600) : -1;
    if (kept < 0 || ftruncate(kept, 8) || pipe(ends) || dup2(ends[1], 1) != 1)
        return 2;
    close(ends[0]);
    uint64_t *moved = mmap(NULL, 8, PROT_READ | PROT_WRITE, MAP_SHARED, kept, 0);
    FILE *from = fopen(words[1], "r");
    char line[200] = "";
    if (!from || moved == MAP_FAILED)
        return 2;
    if (!strcmp(words[4], "lines") || !strcmp(words[4], "putc-lines"))
        setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    if (!strcmp(words[4], "unbuffered-putc"))
        setvbuf(stdout, NULL, _IONBF, 0);
    const char *how = strcmp(words[4], "unbuffered-putc") && strcmp(words[4], "putc-lines") ? words[4] : "putc";
    for (int character; (character = taken(from, words[3])) != EOF;) {
        ++*moved;
        give(stdout, line, character, how);
    }
    return 0; /* not reached: the file is longer than the buffers */
}
