/* Files of handles of higher layers: marks that identify a file after its region was replaced; 0: none. */
#ifndef IOTIDE_PATH_CACHE_H
#define IOTIDE_PATH_CACHE_H

#include "base/types.h"

uint32_t iotide_cache_file(uint32_t file);
uint32_t iotide_cached_file(uint32_t mark); /* its number in the current region */
void iotide_reset_file_cache(void); /* the lock's holder remained in the parent */

#endif
