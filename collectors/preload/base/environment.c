/* Settings in the environment at the program's start. */
#include "base/environment.h"

#include <string.h>

const char *iotide_setting(char **environment, const char *name) {
    size_t length = strlen(name);
    for (; environment && *environment; environment++)
        if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
            return *environment + length + 1;
    return NULL;
}
