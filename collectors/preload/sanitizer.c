/* AddressSanitizer ends a program in which another library than its own was loaded first, as a preloaded one is. It asks this
 * function for its defaults; ASAN_OPTIONS of the user come on top. A program that defines the function is asked instead. */
#include "types.h"

EXPORT const char *__asan_default_options(void);

const char *__asan_default_options(void) {
    return "verify_asan_link_order=0";
}
