/* Writes a compressed file with zlib, reads it again, and prints the result. usage: compressed FILE */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <fcntl.h>
#include <zlib.h>

static char block[100000];

int main(int count, char **words) {
    if (count != 2)
        return 2;
    for (size_t i = 0; i < sizeof block; i++)
        block[i] = (char)(i * i >> 3);
    gzFile file = gzopen(words[1], "wb6");
    printf("write %d\n", gzwrite(file, block, sizeof block));
    printf("puts %d\n", gzputs(file, "a line\n"));
    printf("printf %d\n", gzprintf(file, "%d %s\n", 42, "words"));
    printf("close %d\n", gzclose(file));

    int fd = open(words[1], O_RDONLY);
    file = gzdopen(fd, "rb");
    printf("read %d same %d\n", gzread(file, block, 50000), block[7] == (char)(7 * 7 >> 3));
    printf("seek %ld tell %ld\n", (long)gzseek(file, sizeof block, SEEK_SET), (long)gztell(file));
    char line[40];
    printf("gets %s", gzgets(file, line, sizeof line));
    printf("next %c\n", gzgetc(file));
    printf("close %d\n", gzclose(file));
    file = gzopen("/nonexistent/file.gz", "rb");
    printf("none %d\n", file == NULL);
    return 0;
}
