/* The table of descriptors. */
#ifndef IOTIDE_DESCRIPTORS_H
#define IOTIDE_DESCRIPTORS_H

#include "types.h"

EXPORT struct iotide_target iotide_target_of(int fd); /* resolves a descriptor that we did not see being opened */
/* A new handle for a descriptor that has just been opened; a failed open (fd < 0) still names the file it wanted. */
EXPORT struct iotide_target iotide_opened(int fd, int directory, const char *path);
EXPORT void iotide_connected(int fd); /* what is behind the descriptor has another name now */
EXPORT struct iotide_target iotide_duplicated(int from, int to);
EXPORT struct iotide_target iotide_forget(int fd); /* before it is closed; returns what it was */
EXPORT void iotide_forget_range(unsigned int first, unsigned int last);
EXPORT uint32_t iotide_file_at(int directory, const char *path); /* made absolute; AT_FDCWD: the working directory */
/* Streams have handles of their own, by the descriptor under them; a descriptor first used beside its stream is the
 * stream's child. */
EXPORT struct iotide_target iotide_stream_of(int fd);
EXPORT struct iotide_target iotide_stream_opened(int fd, const char *path); /* by path: fopen, tmpfile */
EXPORT struct iotide_target iotide_stream_on(int fd); /* on a descriptor that was there: fdopen */
EXPORT struct iotide_target iotide_stream_forget(int fd);

void iotide_reset_descriptors(void);

#endif
