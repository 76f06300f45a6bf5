/* Writes 1024 records of 8 bytes and lines of 8, and reads both: with a buffer of 4096 bytes, or without one. */
#include <stdio.h>
#include <string.h>

static FILE *opened(const char *folder, const char *name, const char *mode, int buffered)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, mode);
    if (file)
        setvbuf(file, NULL, buffered ? _IOFBF : _IONBF, buffered ? 4096 : 0);
    return file;
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    const int buffered = !strcmp(argv[2], "buffered");
    char record[8] = "1234567", line[16];
    FILE *file = opened(argv[1], "records", "w", buffered);
    for (int at = 0; at < 1024; at++)
        fwrite(record, sizeof record, 1, file);
    fclose(file);
    file = opened(argv[1], "lines", "w", buffered);
    for (int at = 0; at < 1024; at++)
        fprintf(file, "%07d\n", at);
    fclose(file);
    file = opened(argv[1], "records", "r", buffered);
    for (int at = 0; at < 1024; at++)
        if (fread(record, sizeof record, 1, file) != 1)
            return 1;
    fclose(file);
    file = opened(argv[1], "lines", "r", buffered);
    for (int at = 0; at < 1024; at++)
        if (!fgets(line, sizeof line, file))
            return 1;
    fclose(file);
    return 0;
}
