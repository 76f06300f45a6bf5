/* Unloaded objects: another one may be loaded at the same addresses, so facts about callers there are discarded. */
#include "state/library_copies.h"
#include "base/symbol_lookup.h"

static struct iotide_site SITE(dlclose) = {SITE_TEXT("dlclose", "")};

/* Before the call, because other objects may be loaded there afterwards; and after it, for facts recorded during the
 * object's own destructors. */
EXPORT int dlclose(void *handle) {
    iotide_clear_caller_cache();
    int result = REAL(dlclose)(handle);
    iotide_clear_caller_cache();
    return result;
}
