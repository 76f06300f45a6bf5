/* Forks children that make known calls, one after another and beside each other.
 * usage: children SEED COUNT
 * Begins at a line of its input. Each thread that makes calls makes a sequence of writes to
 * /dev/null: of FIRST + N bytes, and of 1 to N. Prints the number of sequences, and the sum of all N. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FIRST 1000
static char data[4096];
static const int lengths[] = {0, 1, 3, 20, 29, 30, 31, 32, 33, 64, 200};
enum { LENGTHS = sizeof lengths / sizeof *lengths };
enum { PLAIN, LONG_PATHS, THREAD, NESTED, REPLACED, KILLED, SLOW, RESTRICTED, BESIDE, ACTIONS };

static void *make_calls(void *length) {
    int fd = open("/dev/null", O_WRONLY), n = *(const int *)length;
    for (int i = 0; i <= n; i++) {
        size_t size = (size_t)(i ? i : FIRST + n);
        if (write(fd, data, size) != (ssize_t)size)
            abort();
    }
    close(fd);
    return NULL;
}

static void wait_a_little(void) {
    nanosleep(&(struct timespec){0, 25000000}, NULL);
}

static void restrict_self(void) {
    struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {1, &allow};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        abort();
}

static void open_long_paths(void) {
    char path[4000];
    for (int i = 0; i < 6; i++) {
        memset(path, 'a' + i, sizeof path);
        for (int at = 0; at < (int)sizeof path; at += 200)
            path[at] = '/';
        path[sizeof path - 1] = 0;
        if (open(path, O_RDONLY) >= 0)
            abort();
    }
}

static void wait_for(pid_t child) {
    if (child < 0 || waitpid(child, NULL, 0) != child)
        abort();
}

static void live(int action, const int *n, const int *m) {
    pthread_t other;
    char word[16];
    make_calls((void *)n);
    switch (action) {
    case LONG_PATHS: open_long_paths(); break;
    case THREAD:
        if (pthread_create(&other, NULL, make_calls, (void *)m))
            abort();
        make_calls((void *)n);
        pthread_join(other, NULL);
        return;
    case NESTED: {
        pid_t child = fork();
        if (child == 0) {
            make_calls((void *)m);
            _exit(0);
        }
        wait_for(child);
        break;
    }
    case REPLACED:
        snprintf(word, sizeof word, "%d", *m);
        execl("/proc/self/exe", "children", word, (char *)NULL);
        abort();
    case SLOW: wait_a_little(); break;
    case RESTRICTED: restrict_self(); break;
    default: break;
    }
    make_calls((void *)m);
    if (action == KILLED)
        raise(SIGKILL);
}

int main(int count, char **words) {
    if (count == 2) { /* a child's new program */
        int n = atoi(words[1]);
        make_calls(&n);
        return 0;
    }
    char line[8];
    long sequences = 0, sum = 0;
    if (count != 3 || !fgets(line, sizeof line, stdin))
        return 2;
    srandom((unsigned int)atoi(words[1]));
    int beside = 0;
    for (int left = atoi(words[2]); left > 0; left--) {
        int n = lengths[random() % LENGTHS], m = lengths[random() % LENGTHS], action = (int)(random() % ACTIONS);
        sequences += action == THREAD ? 3 : 2;
        sum += n + m + (action == THREAD ? n : 0);
        if (action == NESTED) {
            sequences++;
            sum += m;
        }
        pid_t child = fork();
        if (child == 0) {
            live(action, &n, &m);
            _exit(0);
        }
        if (action == BESIDE)
            beside++;
        else
            wait_for(child);
    }
    while (beside--)
        wait(NULL);
    printf("%ld %ld\n", sequences, sum);
    return 0;
}
