/* Buffers for paths, shared by all threads: borrowed without waiting, from signal handlers too. */
#include "core.h"

#define COUNT 32

static char buffers[COUNT][IOTIDE_SCRATCH];
static _Atomic bool taken[COUNT];

char *iotide_borrow(void) {
    for (int i = 0; i < COUNT; i++)
        if (!atomic_load_explicit(&taken[i], memory_order_relaxed) && !atomic_exchange(&taken[i], true))
            return buffers[i];
    return NULL;
}

void iotide_give_back(char *scratch) {
    if (scratch)
        atomic_store(&taken[(scratch - buffers[0]) / IOTIDE_SCRATCH], false);
}

/* Those who had borrowed stayed in the parent. */
void iotide_reset_scratch(void) {
    for (int i = 0; i < COUNT; i++)
        atomic_store(&taken[i], false);
}
