/* Shared by wrappers of calls that move data between descriptors. */
#ifndef IOTIDE_WRAP_SENDFILE_H
#define IOTIDE_WRAP_SENDFILE_H

#include "tracer.h"

/* Records a transfer between descriptors. Returns got. */
struct iotide_transfer_end {
    int fd;
    const off64_t *at; /* offset after the call; NULL: the descriptor's own position */
};
ssize_t iotide_record_transfer(struct iotide_span span, struct iotide_site *site, struct iotide_transfer_end from,
                               struct iotide_transfer_end to, size_t wanted, ssize_t got, const uint64_t *words,
                               unsigned int count);

#endif
