/* Functions of the loaded objects. */
#ifndef IOTIDE_SYMBOL_LOOKUP_H
#define IOTIDE_SYMBOL_LOOKUP_H

#include "base/types.h"

/* The next definition of a libc function after the wrapper; found without locks or allocation. */
EXPORT void *iotide_find_real(struct iotide_site *site);
static inline void *iotide_real(struct iotide_site *site) {
    void *real = atomic_load_explicit(&site->real[0], memory_order_relaxed);
    return likely(real != NULL) ? real : iotide_find_real(site);
}
#define REAL(symbol) ((__typeof__(&symbol))iotide_real(&SITE(symbol)))

struct link_map;
void iotide_find_objects(void); /* determines the objects after this library in the program's search order */
void *iotide_find_symbol_in(const struct link_map *map, const char *symbol); /* without locks or allocation; NULL:
                                                                          * undefined */
void *iotide_find_symbol(const char *symbol); /* the same, including objects loaded since the start */
const char *iotide_own_file_name(void); /* of this library, as it was loaded; empty: unknown */
long iotide_missing_function(void); /* replaces a function that is not defined anywhere: ENOSYS, -1 */

/* The real function of a library that may have been loaded after the start, for one library alone. NULL: it is not
 * found even so. */
static inline void *iotide_real_late(struct iotide_site *site) {
    void *real = iotide_real(site);
    if (likely(real != (void *)iotide_missing_function))
        return real;
    real = iotide_find_symbol(iotide_symbol(site));
    if (real)
        atomic_store_explicit(&site->real[0], real, memory_order_relaxed);
    return real;
}

#endif
