/* What the wrappers of MPI-IO need beyond a signature. One binary serves Open MPI, where handles are addresses, and
 * MPICH, where they are ints, without the headers of either: handles travel as machine words.
 *
 * Helpers of the library are asked only after the real call has succeeded: they would call the program's error handler
 * for a handle that is not one.
 */
#ifndef IOTIDE_HOOKS_MPIIO_H
#define IOTIDE_HOOKS_MPIIO_H

#include "mpiio_files.h"
#include "mpiio_library.h"
#include "mpiio_names.h"
#include "mpiio_pending.h"

#include <fcntl.h>

#endif
