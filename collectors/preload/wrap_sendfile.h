/* What wrappers of calls share that move data from one descriptor to another. */
#ifndef IOTIDE_WRAP_SENDFILE_H
#define IOTIDE_WRAP_SENDFILE_H

#include "tracer.h"

/* What was moved from one descriptor to another. Returns got. */
struct iotide_side {
    int fd;
    const off64_t *at; /* where the call has left off; NULL: at the descriptor's own position */
};
ssize_t iotide_transferred(struct iotide_span span, struct iotide_site *site, struct iotide_side from,
                           struct iotide_side to, size_t wanted, ssize_t got, const uint64_t *words,
                           unsigned int count);

#endif
