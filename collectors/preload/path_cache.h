/* Files of handles of higher layers: what to know a file by when the region that numbers it is another; 0: nothing. */
#ifndef IOTIDE_PATH_CACHE_H
#define IOTIDE_PATH_CACHE_H

#include "types.h"

uint32_t iotide_keep_file(uint32_t file);
uint32_t iotide_kept_file(uint32_t mark); /* its number in the region of now */
void iotide_reset_kept(void); /* who held the lock stayed in the parent */

#endif
