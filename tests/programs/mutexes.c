/* Three threads pass one mutex around; a fourth has its own. */
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *mutex)
{
    pthread_setname_np(pthread_self(), mutex == &shared ? "sharing" : "alone");
    for (int round = 0; round < 20; round++) {
        pthread_mutex_lock(mutex);
        usleep(500);
        pthread_mutex_unlock(mutex);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    for (int at = 0; at < 4; at++)
        pthread_create(threads + at, NULL, work, at < 3 ? &shared : &own);
    for (int at = 0; at < 4; at++)
        pthread_join(threads[at], NULL);
    return 0;
}
