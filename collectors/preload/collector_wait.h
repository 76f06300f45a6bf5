/* A process that was to be traced and has found no collector: when it looks again, and how many calls it has made meanwhile. */
#ifndef IOTIDE_COLLECTOR_WAIT_H
#define IOTIDE_COLLECTOR_WAIT_H

#include "state.h"

/* Whether the process, or the one that it was forked from, waits for a collector. */
bool iotide_waits(void);
bool iotide_is_due(void); /* to look again */
void iotide_miss(struct iotide_site *site); /* counts a call that nobody records, unless it is switched off; NULL: no call */
void iotide_wait(void);       /* looks again later, after a time that doubles up to a minute */
void iotide_end_wait(void);   /* there is a collector */
/* Into the process's region: calls that it made before it had one. Called again, as other threads may count their last one late. */
void iotide_tell_missed(struct iotide_header *region);
void iotide_forget_missed(void); /* they are a parent's, or a collector that is gone was told */

#endif
