/* What wrappers of duplicating calls share. */
#ifndef IOTIDE_WRAP_CLOSE_H
#define IOTIDE_WRAP_CLOSE_H

#include "tracer.h"

/* What a duplicating call has done; of words, the last is the result. Returns to. */
int iotide_duplicate(struct iotide_span span, struct iotide_site *site, int from, int to, uint64_t *words,
                     unsigned int count);

#endif
