/* Shared by wrappers of calls that move data between descriptors. */
#ifndef IOTIDE_WRAP_SENDFILE_H
#define IOTIDE_WRAP_SENDFILE_H

#include "tracer.h"

/* Records a transfer between descriptors. Returns got. */
struct iotide_side {
    int fd;
    const off64_t *at; /* offset after the call; NULL: the descriptor's own position */
};
ssize_t iotide_transferred(struct iotide_span span, struct iotide_site *site, struct iotide_side from,
                           struct iotide_side to, size_t wanted, ssize_t got, const uint64_t *words,
                           unsigned int count);

#endif
