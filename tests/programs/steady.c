/* Writes a hundred times per second until STOP exists; then prints the content of its file. Calls are counted.
 * usage: steady FILE STOP */
#include "counted.h"

#include <sys/stat.h>
#include <time.h>

#include "past_libc.h"

int main(int count, char **words) {
    must(count == 3);
    count_calls(words[1]);
    int fd = open_own("");
    const struct timespec pause = {0, 10000000};
    struct stat facts;
    while (syscall(SYS_newfstatat, AT_FDCWD, words[2], &facts, 0) != 0) {
        write_some(fd, 10);
        nanosleep(&pause, NULL);
    }
    close_own(fd);
    finish();
}
