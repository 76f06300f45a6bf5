/* A process that should be traced and found no collector: when it checks again, and its missed calls meanwhile. */
#ifndef IOTIDE_COLLECTOR_WAIT_H
#define IOTIDE_COLLECTOR_WAIT_H

#include "state/state.h"

/* Whether the process, or its parent before fork, waits for a collector. */
bool iotide_waits_for_collector(void);
bool iotide_is_check_due(void); /* time to check again */
/* Counts an unrecorded call, unless it is switched off; NULL: no call. */
void iotide_count_missed_call(struct iotide_site *site);
void iotide_schedule_check(void);       /* schedules the next check, after a time that doubles up to a minute */
void iotide_end_collector_wait(void);   /* a collector was found */
/* Writes the number of calls before the region existed into the region. Called again, because other threads may
 * count their last one late. */
void iotide_publish_missed_calls(struct iotide_header *region);
void iotide_reset_missed_calls(void); /* they belong to a parent, or were reported to a previous collector */

#endif
