/* Starts of programs past the functions of the C library. */
#ifndef IOTIDE_WRAP_EXEC_H
#define IOTIDE_WRAP_EXEC_H

/* System calls execve and execveat, made by syscall(2). */
__attribute__((visibility("hidden"))) long iotide_exec_by_syscall(long number, const long *arguments);

#endif
