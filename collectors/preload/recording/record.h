/* Records, and the rings of the threads. */
#ifndef IOTIDE_RECORD_H
#define IOTIDE_RECORD_H

#include "base/types.h"

EXPORT void iotide_unwind(const void *frame); /* removes enclosing calls that a longjmp has left */
/* Preserves errno. words: the parameters that the site's specification encodes as words, in its order; at most
 * IOTIDE_MAX_WORDS. */
EXPORT void iotide_write_record(const struct iotide_record *record, const uint64_t *words);

void iotide_claim_slot(void); /* for the calling thread, unless it has one */
void iotide_register_thread_exit(void); /* once: from then on a thread that ends releases its slot */

#endif
