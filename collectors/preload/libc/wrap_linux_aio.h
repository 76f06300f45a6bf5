/* The kernel's asynchronous I/O, for calls by syscall(2) in wrap_syscall.c. */
#ifndef IOTIDE_WRAP_LINUX_AIO_H
#define IOTIDE_WRAP_LINUX_AIO_H

#include "base/types.h"

#include <linux/aio_abi.h>

enum iotide_aio_call { AIO_SUBMIT, AIO_REAP, AIO_DESTROY };
bool iotide_aio_in_libaio(void); /* one of libaio's functions makes the call, and records it */
struct iotide_site *iotide_aio_site(enum iotide_aio_call call);

/* End of a context's ring before more is submitted. */
struct iotide_aio_ring_end {
    const struct ring *ring;
    uint32_t tail;
};
struct iotide_aio_ring_end iotide_aio_ring_end(aio_context_t context);

/* result: as from libaio's functions, a negative error or a count. */
void iotide_aio_record_submit(struct iotide_span span, aio_context_t context, struct iotide_aio_ring_end look,
                              struct iocb *const *blocks, long result);
void iotide_aio_record_reap(struct iotide_span span, long least, const struct io_event *events, long result);
void iotide_aio_record_destroy(struct iotide_span span, aio_context_t context); /* before the real call */

#endif
