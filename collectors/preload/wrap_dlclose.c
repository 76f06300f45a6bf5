/* Objects that go: another may come to lie where their code was, of which then nothing is known. */
#include "library_copies.h"
#include "symbol_lookup.h"

static struct iotide_site SITE(dlclose) = {SITE_TEXT("dlclose", "")};

/* Before, as from then on others are loaded there; and after, for what was learnt from the object's own destructors. */
EXPORT int dlclose(void *handle) {
    iotide_forget_callers();
    int result = REAL(dlclose)(handle);
    iotide_forget_callers();
    return result;
}
