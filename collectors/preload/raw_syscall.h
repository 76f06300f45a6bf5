/* Calls of the kernel past the wrapper of syscall(2): our own, refused with ENOSYS in a restricted program. */
#ifndef IOTIDE_RAW_SYSCALL_H
#define IOTIDE_RAW_SYSCALL_H

#include "symbol_lookup.h"

#include <limits.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef long iotide_kernel_call(long number, ...);
iotide_kernel_call *iotide_kernel(void);
#define iotide_syscall(...) iotide_kernel()(__VA_ARGS__)
iotide_kernel_call *iotide_program_syscall(void); /* libc's, for what the program asks: never refused by us */
bool iotide_restricted(void);
void iotide_refuse_kernel(bool on); /* from then on; false: a program that is refused nothing after all */
void iotide_note_directory(void); /* while the kernel may still be asked for it */
size_t iotide_directory_before(char *to); /* the working directory then, unless it has changed; 0: not known */
void iotide_leave_directory(void);
/* Holds back the thread's signals while something is half done that a handler's siglongjmp must not leave so. */
uint64_t iotide_hold_signals(void); /* returns what lets them go again */
void iotide_let_signals_go(uint64_t held);

#endif
