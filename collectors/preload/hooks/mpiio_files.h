/* Open files: the number that identifies one on all its ranks, its view, its file pointers. */
#ifndef IOTIDE_HOOKS_MPIIO_FILES_H
#define IOTIDE_HOOKS_MPIIO_FILES_H

#include "mpiio_library.h"

struct mpiio_file {
    _Atomic mpiio_word fh; /* 0: free */
    uint64_t group;        /* identifies the opened file on all ranks that opened it */
    int64_t displacement;
    int64_t unit;  /* bytes of the view's elementary type */
    bool is_plain; /* a view without holes: an offset is displacement plus position times unit */
    bool is_appended;
};
/* "ufs:/a/b" names a driver of ROMIO before the path. */
const char *mpiio_path(const char *filename);
void mpiio_register_open(mpiio_word fh, mpiio_word comm, const char *filename, int amode, const void *caller);
struct mpiio_file mpiio_remove_file(mpiio_word fh); /* removes it, before the real call */
void mpiio_restore_file(const struct mpiio_file *file);
void mpiio_set_view(mpiio_word fh, int64_t displacement, mpiio_word etype, mpiio_word filetype,
                    const char *representation,
                    const void *caller);
uint64_t mpiio_group(mpiio_word fh);
int mpiio_flags(mpiio_word fh); /* FLAG_APPEND or 0 */
/* Offset in the file of a position in the view; -1: unknown. */
int64_t mpiio_offset(mpiio_word fh, int64_t position, const void *caller);
int64_t mpiio_position(mpiio_word fh, bool shared, const void *caller); /* offset of a file pointer, in bytes of the
                                                                         * file */

#endif
