/* System calls that bypass the wrapper of syscall(2): the tracer's own, refused with ENOSYS in a restricted program. */
#ifndef IOTIDE_RAW_SYSCALL_H
#define IOTIDE_RAW_SYSCALL_H

#include "base/symbol_lookup.h"

#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef long iotide_kernel_call(long number, ...);
iotide_kernel_call *iotide_kernel(void);
#define iotide_syscall(...) iotide_kernel()(__VA_ARGS__)
iotide_kernel_call *iotide_program_syscall(void); /* libc's, for requests of the program: never refused by the tracer */
bool iotide_restricted(void);
void iotide_block_syscalls(bool on); /* from then on; false: the program is not restricted after all */
void iotide_save_directory(void); /* while the kernel may still be queried for it */
size_t iotide_saved_directory(char *to); /* the working directory at that time, unless it has changed; 0: unknown */
void iotide_clear_saved_directory(void);
/* Blocks the thread's signals during changes that a handler's siglongjmp must not interrupt. */
uint64_t iotide_block_signals(void); /* returns the previous mask, for restoring */
void iotide_restore_signals(uint64_t held);

#endif
