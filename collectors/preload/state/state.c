/* Whether and how the process is traced. */
#include "state/state.h"
#include "base/raw_syscall.h"

#include <signal.h>

volatile uint32_t *iotide_process_state;
FORK_WRITTEN struct iotide_header *_Atomic iotide_region;
FORK_WRITTEN _Atomic uint32_t iotide_generation;
FORK_WRITTEN pid_t iotide_own_pid;
FORK_WRITTEN struct iotide_header *_Atomic iotide_cell;
FORK_WRITTEN uint64_t iotide_cell_token;
FORK_WRITTEN struct iotide_header *iotide_cell_host;
__thread struct iotide_thread iotide_self __attribute__((tls_model("initial-exec")));

bool iotide_same_process(void) {
    return iotide_restricted() || (pid_t)iotide_syscall(SYS_getpid) == iotide_own_pid;
}

void iotide_count_overflow(enum iotide_bound bound) {
    struct iotide_header *region = atomic_load_explicit(&iotide_region, memory_order_relaxed);
    if (region && iotide_is_tracing())
        atomic_fetch_add_explicit(&region->bounds_met[bound], 1, memory_order_relaxed);
}

void iotide_disable_tracing(void) {
    iotide_process_state = NULL;
}

bool iotide_on_signal_stack(void) {
    int error = errno;
    stack_t stack;
    bool on = iotide_syscall(SYS_sigaltstack, NULL, &stack) == 0 && stack.ss_flags & SS_ONSTACK;
    errno = error;
    return on;
}
