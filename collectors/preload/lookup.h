/* Functions of the loaded objects. */
#ifndef IOTIDE_LOOKUP_H
#define IOTIDE_LOOKUP_H

#include "tracer.h"

struct link_map;
void iotide_find_objects(void); /* which objects come after ours in the program's search order */
void *iotide_defined_in(const struct link_map *map, const char *symbol); /* without locks or allocation; NULL: not */
void *iotide_defined_anywhere(const char *symbol); /* likewise, in what was loaded since the start, too */
long iotide_absent(void); /* stands in for a function that nobody defines: ENOSYS, -1 */

#endif
