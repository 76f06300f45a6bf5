/* Interface of the coder for the splitter. */
#ifndef IOTIDE_CODER_H
#define IOTIDE_CODER_H

#include <stdint.h>

struct coder;

uint64_t coder_feed(struct coder *c, const uint32_t *groups, const int64_t *fields, uint64_t length, int32_t *terminals);
uint64_t coder_feed_alike(struct coder *c, uint32_t group, int64_t handle, const int64_t *fields, uint64_t length,
                          int32_t *terminals);

#endif
