/* Programs that restrict themselves: one call of ours of the kernel that they have not allowed may be their end. So from
 * then on we make none: what is only known by asking (names of descriptors, ids of threads) stays unknown. */
#include "seccomp.h"
#include "descriptors.h"
#include "raw_syscall.h"
#include "record.h"

void iotide_restrict(bool on) {
    if (on && !iotide_restricted()) {
        int error = errno;
        iotide_take_slot();
        for (int fd = 0; fd < 3; fd++)
            iotide_target_of(fd);
        iotide_note_directory();
        errno = error;
    }
    iotide_refuse_kernel(on);
}
