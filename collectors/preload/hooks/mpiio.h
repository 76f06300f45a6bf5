/* Definitions that the MPI-IO wrappers need beyond a signature. One binary supports Open MPI, where handles are
 * addresses, and MPICH, where they are ints, without the headers of either: handles are passed as machine words.
 *
 * The library's helper functions are called only after the real call has succeeded, because they would call the
 * program's error handler for an invalid handle. */
#ifndef IOTIDE_HOOKS_MPIIO_H
#define IOTIDE_HOOKS_MPIIO_H

#define MPIIO_ERR_COUNT 2 /* MPI_ERR_COUNT of Open MPI and MPICH */

#include "mpiio_files.h"
#include "mpiio_library.h"
#include "mpiio_names.h"
#include "mpiio_pending.h"

#include <fcntl.h>

#endif
