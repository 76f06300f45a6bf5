/* Usage: cookies FILE. Reads and writes FILE through streams whose functions are its own. These use other streams, also one
 * character at a time. Prints the bytes that were read and written. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ssize_t get(void *under, char *to, size_t size) {
    size_t got = 0;
    for (int c; got < size && (c = getc(under)) != EOF; got++)
        to[got] = (char)c;
    return (ssize_t)got;
}

static ssize_t put(void *under, const char *from, size_t size) {
    for (size_t i = 0; i < size; i++)
        if (putc(from[i], under) == EOF)
            return 0;
    return (ssize_t)size;
}

static int end(void *under) {
    return fclose(under);
}

static FILE *made(const char *path, const char *mode) {
    FILE *under = fopen(path, mode);
    cookie_io_functions_t functions = {get, put, NULL, end};
    return under ? fopencookie(under, mode, functions) : NULL;
}

int main(int count, char **words) {
    if (count < 2)
        return 2;
    FILE *to = made(words[1], "w");
    if (!to)
        return 1;
    int written = 0, read = 0;
    for (; written < 10000; written++)
        putc('x', to);
    written += fprintf(to, "%s", "text");
    fclose(to);
    FILE *from = made(words[1], "r");
    if (!from)
        return 1;
    for (; read < 5000; read++)
        getc(from);
    char text[100], *memory = NULL;
    read += (int)fread(text, 1, sizeof text, from);
    while (getc(from) != EOF)
        read++;
    size_t size = 0;
    FILE *in_memory = open_memstream(&memory, &size), *of_memory = fmemopen(text, sizeof text, "r");
    if (!in_memory || !of_memory)
        return 1;
    for (int i = 0; i < 50; i++)
        putc(getc(of_memory), in_memory);
    if (fork() == 0)
        _exit(0);
    printf("%d %d\n", read, written);
    return 0;
}
