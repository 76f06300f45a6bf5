/* Filters from IOTIDE_LAYERS, IOTIDE_CALLS, IOTIDE_ONLY, IOTIDE_SKIP and IOTIDE_SAMPLE. Read once. */
#ifndef IOTIDE_FILTERS_H
#define IOTIDE_FILTERS_H

#include "base/types.h"

EXPORT bool iotide_filter_site(struct iotide_site *site); /* decides SITE_NEW; false: off */

extern uint32_t iotide_sample; /* one of this many calls that move data or seek is recorded; 1: all */
void iotide_read_filters(char **environment);
bool iotide_is_excluded(const char *path, size_t length);

#endif
