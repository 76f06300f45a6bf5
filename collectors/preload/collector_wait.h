/* A process that should be traced and found no collector: when it checks again, and its missed calls meanwhile. */
#ifndef IOTIDE_COLLECTOR_WAIT_H
#define IOTIDE_COLLECTOR_WAIT_H

#include "state.h"

/* Whether the process, or its parent before fork, waits for a collector. */
bool iotide_waits(void);
bool iotide_is_due(void); /* time to check again */
void iotide_miss(struct iotide_site *site); /* counts an unrecorded call, unless it is switched off; NULL: no call */
void iotide_wait(void);       /* schedules the next check, after a time that doubles up to a minute */
void iotide_end_wait(void);   /* a collector was found */
/* Writes the number of calls before the region existed into the region. Called again, because other threads may
 * count their last one late. */
void iotide_tell_missed(struct iotide_header *region);
void iotide_forget_missed(void); /* they belong to a parent, or were reported to a previous collector */

#endif
