/* Shared by the hand-written wrappers of libc's calls. */
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

/* Whether to track what a call does to descriptors; also for calls that are switched off. */
static inline bool iotide_tracks_descriptors(void) {
    return iotide_is_tracing() && iotide_same_process();
}

/* Streams without a descriptor (fmemopen, cookies) do no I/O of their own: -1. */
static inline int iotide_stream_descriptor(FILE *stream) {
    int error = errno;
    int fd = stream ? fileno(stream) : -1;
    errno = error;
    return fd;
}

#endif
