/* Names of datatypes, communicators, hints and modes: texts, valid until the thread's next two. */
#ifndef IOTIDE_HOOKS_MPIIO_NAMES_H
#define IOTIDE_HOOKS_MPIIO_NAMES_H

#include "mpiio_library.h"

int64_t mpiio_type_size(mpiio_word datatype, bool failed, const void *caller); /* 0: unknown */
const char *mpiio_type_name(mpiio_word datatype, bool failed, const void *caller);
const char *mpiio_info(mpiio_word info, bool failed, const void *caller); /* "key=value;key=value" */
const char *mpiio_comm(mpiio_word comm, bool failed, const void *caller); /* its name or "size N" */
const char *mpiio_amode(int amode);
const char *mpiio_whence(int whence);

#endif
