/* Shared by wrappers of duplicating calls. */
#ifndef IOTIDE_WRAP_CLOSE_H
#define IOTIDE_WRAP_CLOSE_H

#include "tracer.h"

/* Records a duplicating call; the last word is the result. Returns to. */
int iotide_record_duplicate(struct iotide_span span, struct iotide_site *site, int from, int to, uint64_t *words,
                            unsigned int count);

#endif
