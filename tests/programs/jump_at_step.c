/* Jumps out of calls with new names after each of their locked instructions, and up to six instructions later, while a
 * second thread exists. After each jump it looks up another name. Prints the number of jumps and ends with 7. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <ucontext.h>
#include <unistd.h>

#define LATER 6
#define STEPPING 0x100 /* the processor traps after the next instruction */
#define LOCKED 0xf0    /* prefix of an instruction */

static sigjmp_buf back;
static volatile int wanted, later; /* where to jump: this locked instruction, and so many steps after it */
static volatile int seen, since, jumped;
static const unsigned char *volatile last;

static void step(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    if (last && *last == LOCKED && ++seen == wanted)
        since = 0;
    last = (const unsigned char *)registers[REG_RIP];
    if (seen >= wanted && since++ == later) {
        registers[REG_EFL] &= ~STEPPING;
        raise(SIGUSR1); /* delivered at this instruction, or once it is no longer blocked */
    }
}

static void jump(int number) {
    (void)number;
    jumped++;
    siglongjmp(back, 1);
}

static void *wait_forever(void *unused) {
    for (;;)
        pause();
    return unused;
}

static void look_up(const char *kind) {
    char name[64];
    struct stat facts;
    snprintf(name, sizeof name, "/%s-%d-%d", kind, wanted, later);
    if (stat(name, &facts) == 0)
        exit(1);
}

static void look_up_in_steps(void) {
    char name[64];
    struct stat facts;
    snprintf(name, sizeof name, "/left-%d-%d", wanted, later);
    seen = since = 0;
    last = NULL;
    __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc");
    stat(name, &facts);
    __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc");
}

int main(void) {
    pthread_t other;
    struct sigaction stepping = {.sa_sigaction = step, .sa_flags = SA_SIGINFO}, jumping = {.sa_handler = jump};
    sigfillset(&stepping.sa_mask);
    if (pthread_create(&other, NULL, wait_forever, NULL) || sigaction(SIGTRAP, &stepping, NULL) ||
        sigaction(SIGUSR1, &jumping, NULL))
        return 1;
    for (later = 0; later <= LATER; later++) {
        wanted = 0;
        volatile int before;
        do {
            wanted++;
            before = jumped;
            if (sigsetjmp(back, 1) == 0)
                look_up_in_steps();
            if (jumped != before)
                look_up("after");
        } while (jumped != before && wanted < 200);
    }
    printf("%d\n", jumped);
    fflush(stdout);
    _exit(7);
}
