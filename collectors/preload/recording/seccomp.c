/* Programs that restrict themselves: a system call that they have not allowed may end them. So the tracer makes none
 * from then on, and what only the kernel knows (names of descriptors, ids of threads) is unknown. */
#include "recording/seccomp.h"
#include "tables/descriptors.h"
#include "base/raw_syscall.h"
#include "recording/record.h"

void iotide_restrict(bool on) {
    if (on && !iotide_restricted()) {
        int error = errno;
        iotide_claim_slot();
        for (int fd = 0; fd < 3; fd++)
            iotide_descriptor_target(fd);
        iotide_save_directory();
        errno = error;
    }
    iotide_block_syscalls(on);
}
