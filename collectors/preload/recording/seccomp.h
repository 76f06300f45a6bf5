/* Programs that restrict themselves. */
#ifndef IOTIDE_SECCOMP_H
#define IOTIDE_SECCOMP_H

#include "base/types.h"

void iotide_restrict(bool on);

#endif
