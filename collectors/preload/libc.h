/* What the hand-written wrappers of libc's calls share. */
#ifndef IOTIDE_LIBC_H
#define IOTIDE_LIBC_H

#include "tracer.h"

#include <fcntl.h>
#include <stdio.h>

static inline struct iotide_facts iotide_facts(const struct iotide_site *site, struct iotide_target target, int fd,
                                               bool failed) {
    return (struct iotide_facts){.target = target,
                                 .offset = -1,
                                 .descriptor = fd,
                                 .kind = site->kind,
                                 .flags = FLAG_BLOCKING,
                                 .failed = failed,
                                 .error = errno};
}

/* Whether what a call does to descriptors is ours to remember; also for calls that are switched off. */
static inline bool iotide_remembers(void) {
    return iotide_begun() && iotide_same_process();
}

/* Streams without a descriptor (fmemopen, cookies) do no I/O of their own: -1. */
static inline int iotide_stream_number(FILE *stream) {
    int error = errno;
    int fd = stream ? fileno(stream) : -1;
    errno = error;
    return fd;
}

/* close.c: what a duplicating call has done; of words, the last is the result. Returns to. */
int iotide_duplicate(struct iotide_span span, struct iotide_site *site, int from, int to, uint64_t *words,
                     unsigned int count);

/* transfer.c: what was moved from one descriptor to another. Returns got. */
struct iotide_side {
    int fd;
    const off64_t *at; /* where the call has left off; NULL: at the descriptor's own position */
};
ssize_t iotide_transferred(struct iotide_span span, struct iotide_site *site, struct iotide_side from,
                           struct iotide_side to, size_t wanted, ssize_t got, const uint64_t *words,
                           unsigned int count);

#endif
