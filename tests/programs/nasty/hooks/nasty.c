/* A variadic function, which needs a hand-written wrapper. */
#include "sites_nasty.h"

#include <stdio.h>

EXPORT int nasty_print(const char *format, ...) {
    const void *caller = __builtin_return_address(0);
    (void)HELPER(nasty_unused); /* may be absent */
    struct iotide_span span = {0};
    if (iotide_provided) /* otherwise the core is missing */
        span = iotide_push(&SITE(nasty_print), 0);
    __typeof__(&nasty_print) real = REAL(nasty_print);
    va_list values;
    va_start(values, format);
    int number = va_arg(values, int);
    const char *text = va_arg(values, const char *);
    double factor = va_arg(values, double);
    va_end(values);
    int result = real(format, number, text, factor);
    if (!span.start_ns)
        return result;
    iotide_pop(span);
    const uint64_t words[] = {iotide_define_string(format)};
    iotide_leave(span, &SITE(nasty_print), (struct iotide_facts){.offset = -1, .descriptor = -1, .kind = KIND_OTHER},
                 words, 1);
    return result;
}
