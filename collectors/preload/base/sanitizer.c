/* AddressSanitizer ends a program in which another library than its own was loaded first, such as a preloaded one.
 * It calls this function for its defaults; the user's ASAN_OPTIONS take precedence. If the program defines the
 * function, that one is called instead. */
#include "base/types.h"

EXPORT const char *__asan_default_options(void);

const char *__asan_default_options(void) {
    return "verify_asan_link_order=0";
}
