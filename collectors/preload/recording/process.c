/* The start and the end of the traced process. */
#include "state/clock.h"
#include "base/symbol_lookup.h"
#include "base/raw_syscall.h"
#include "recording/record.h"
#include "state/region.h"
#include "recording/session.h"
#include "state/filters.h"

#include <sys/mman.h>

/* glibc passes the program's arguments to constructors; environ may not be set yet, because this constructor runs
 * first. */
__attribute__((constructor(101))) static void load(int count, char **arguments, char **environment) {
    int error = errno;
    iotide_find_objects();
    if (iotide_read_environment(count, arguments, environment)) {
        iotide_read_filters(environment);
        iotide_choose_clock();
        void *page = (void *)iotide_syscall(SYS_mmap, NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (page != MAP_FAILED && iotide_syscall(SYS_madvise, page, 4096, MADV_WIPEONFORK) == 0) {
            iotide_register_thread_exit();
            iotide_process_state = page;
            iotide_start_tracing(NULL);
        }
    }
    errno = error;
}

__attribute__((destructor(101))) static void unload(void) {
    if (iotide_process_state && *iotide_process_state && atomic_load(&iotide_pending_fd) >= 0) {
        int error = errno;
        iotide_retry_hand_over(INT64_MAX);
        errno = error;
    }
}
