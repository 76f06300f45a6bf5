/* Usage: locked_output FILE SECONDS. Copies FILE to a pipe by characters, with the output locked, while another thread flushes
 * all streams. SIGALRM ends it after the seconds. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static atomic_int done;

static void *flush_all(void *unused) {
    while (!atomic_load(&done))
        fflush(NULL);
    return unused;
}

int main(int count, char **words) {
    pthread_t thread;
    FILE *to = popen("cat > /dev/null", "w");
    if (count != 3 || !to || pthread_create(&thread, NULL, flush_all, NULL))
        return 2;
    alarm((unsigned)atoi(words[2]));
    for (int round = 0; round < 100; round++) {
        FILE *from = fopen(words[1], "r");
        if (!from)
            return 2;
        flockfile(to);
        for (int character; (character = getc_unlocked(from)) != EOF;)
            putc_unlocked(character, to);
        funlockfile(to);
        fclose(from);
    }
    atomic_store(&done, 1);
    pthread_join(thread, NULL);
    return pclose(to);
}
