/* Files of handles of higher layers: marks that identify a file after its region was replaced; 0: none. */
#ifndef IOTIDE_PATH_CACHE_H
#define IOTIDE_PATH_CACHE_H

#include "types.h"

uint32_t iotide_keep_file(uint32_t file);
uint32_t iotide_kept_file(uint32_t mark); /* its number in the current region */
void iotide_reset_kept(void); /* the lock's holder remained in the parent */

#endif
