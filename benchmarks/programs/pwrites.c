/* 64-byte pwrites to the page cache in a tight loop. usage: pwrites FILE CALLS */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **words) {
    static char block[64];
    int file = count == 3 ? open(words[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
    long calls = count == 3 ? atol(words[2]) : 0;
    for (long i = 0; i < calls; i++)
        if (pwrite(file, block, sizeof block, (i & 4095) * (long)sizeof block) != (ssize_t)sizeof block)
            return 1;
    return file < 0;
}
