/* Pipes and sockets, and names of connected ones. */
#ifndef IOTIDE_SOCKETS_H
#define IOTIDE_SOCKETS_H

#include "base/types.h"

/* Replaces socket:[inode] by a name that both ends share. Returns its length; the name of anything but a connected
 * socket is unchanged. Needs a buffer of 256 bytes. */
size_t iotide_connection(int fd, char *name, size_t length);

struct statx;
/* Whether a descriptor is one of a pipe or socket. facts: gets type and inode, unless it is NULL. */
bool iotide_is_pipe(int fd, struct statx *facts);

#endif
