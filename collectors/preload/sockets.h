/* What connected sockets are called. */
#ifndef IOTIDE_SOCKETS_H
#define IOTIDE_SOCKETS_H

#include "types.h"

/* Puts a name that both ends have in the place of socket:[inode]. Returns its length; of what is no connected socket the
 * name stays. Needs 256 bytes of room. */
size_t iotide_connection(int fd, char *name, size_t length);

#endif
