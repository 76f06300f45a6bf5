/* Examines programs before they are started. */
#ifndef IOTIDE_PROGRAM_INSPECTION_H
#define IOTIDE_PROGRAM_INSPECTION_H

#include "base/types.h"

struct iotide_environment {
    size_t count;        /* of the environment */
    const char *preload; /* the variable with the tracer's libraries; NULL: none */
    bool traced;         /* it has everything that tracing needs */
    bool elsewhere;      /* another collector traces it, as in a nested `iotide run` */
};

struct iotide_inspection {
    struct iotide_environment words;
    bool barred;              /* it must start without the tracer's libraries */
    enum iotide_unseen found; /* the reported reason */
};

/* Of a program, whose file is not touched if the process may make no system calls. */
__attribute__((visibility("hidden"))) struct iotide_inspection iotide_inspect(const char *path, char *const *environment);
/* As execvp finds it on PATH. */
__attribute__((visibility("hidden"))) struct iotide_inspection iotide_inspect_on_path(const char *name,
                                                                                      char *const *environment);
/* As execveat finds it: the descriptor's file if the path is empty. */
__attribute__((visibility("hidden"))) struct iotide_inspection iotide_inspect_at(int descriptor, const char *path,
                                                                                 char *const *environment);

/* Writes an environment without the tracer's libraries. to: count + 1 words; text: as long as the variable. */
__attribute__((visibility("hidden"))) void iotide_remove_libraries(char *const *environment,
                                                                   const struct iotide_environment *known, char **to,
                                                                   char *text);

/* Cancels the report of a program that was not started. result: of the call that was to start it, which is returned. */
__attribute__((visibility("hidden"))) int iotide_cancel_report(const struct iotide_inspection *look, const char *path,
                                                               int result);

#endif
