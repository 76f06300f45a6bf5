/* What the expressions of signatures/posix.sig call. All look at what a successful call has found readable. */
#ifndef IOTIDE_HOOKS_POSIX_H
#define IOTIDE_HOOKS_POSIX_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

/* Programs may use what is out of favour. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static inline int64_t iotide_sum_of_parts(const struct iovec *parts, uint64_t count) {
    int64_t sum = 0;
    for (uint64_t i = 0; i < count; i++)
        sum += (int64_t)parts[i].iov_len;
    return sum;
}

static inline int64_t iotide_sum_of_message(const struct msghdr *message) {
    return iotide_sum_of_parts(message->msg_iov, message->msg_iovlen);
}

/* What was asked for with the messages that were passed on; what was not is not known to be readable. */
static inline int64_t iotide_sum_of_messages(const struct mmsghdr *messages, int count) {
    int64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += iotide_sum_of_message(&messages[i].msg_hdr);
    return sum;
}

static inline int64_t iotide_moved_by_messages(const struct mmsghdr *messages, int count) {
    int64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += messages[i].msg_len;
    return sum;
}

#endif
