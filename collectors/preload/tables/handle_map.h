/* Handles of the layers above libc. */
#ifndef IOTIDE_HANDLE_MAP_H
#define IOTIDE_HANDLE_MAP_H

#include "base/types.h"

/* Handles of the layers above libc, by the library's own value (an hid_t, an MPI_File, an ncid). space: the layer,
 * or any number from 64 that a library's hooks choose. */
EXPORT uint32_t iotide_new_handle(void); /* reserved before a creating call, so that nested opens have a parent */
EXPORT void iotide_bind(uint32_t space, uint64_t value, struct iotide_target target);
EXPORT struct iotide_target iotide_object(uint32_t space, uint64_t value); /* {0, 0}: unknown */
EXPORT struct iotide_target iotide_unbind(uint32_t space, uint64_t value);

void iotide_reset_handles(void); /* handles keep their numbers */

#endif
