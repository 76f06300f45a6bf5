/* A thread loses its processor while it has locked the table of handles, and another one looks up a handle of the same
 * stripe. Linked with --wrap=iotide_count_overflow, which is called under the lock when a handle is evicted.
 * Prints how many of the lookups found the handle, and how often a thread proceeded without the table. */
#include "ring.h"
#include "tables/handle_map.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define STRIPE 256
#define SEARCHED 50
#define SPACE 64

static uint64_t values[STRIPE + SEARCHED]; /* of one stripe */
static sem_t locked, answered;
static _Atomic int contended;
static int found;

void __wrap_iotide_count_overflow(unsigned bound);
void __wrap_iotide_count_overflow(unsigned bound) {
    if (bound == BOUND_CONTENDED) {
        atomic_fetch_add(&contended, 1);
        return;
    }
    sem_post(&locked);
    usleep(3000); /* as if another thread had the processor */
}

static void *look_up(void *unused) {
    for (int i = 0; i < SEARCHED; i++) {
        sem_wait(&locked);
        /* the latest one is not evicted */
        found += iotide_object(SPACE, values[STRIPE - 1 + i]).handle == (uint32_t)(STRIPE + i);
        sem_post(&answered);
    }
    return unused;
}

int main(void) {
    int count = 0;
    for (uint64_t value = 1; count < STRIPE + SEARCHED; value++)
        if ((value + SPACE) * UINT64_C(0x9e3779b97f4a7c15) >> 56 == 7)
            values[count++] = value;
    sem_init(&locked, 0, 0);
    sem_init(&answered, 0, 0);
    for (int i = 0; i < STRIPE; i++)
        iotide_bind(SPACE, values[i], (struct iotide_target){(uint32_t)i + 1, 0});
    pthread_t other;
    pthread_create(&other, NULL, look_up, NULL);
    for (int i = STRIPE; i < STRIPE + SEARCHED; i++) {
        iotide_object(SPACE, values[i - 1]); /* used since the last eviction */
        iotide_bind(SPACE, values[i], (struct iotide_target){(uint32_t)i + 1, 0});
        sem_wait(&answered);
    }
    pthread_join(other, NULL);
    printf("%d found, %d without the table\n", found, contended);
    return 0;
}
