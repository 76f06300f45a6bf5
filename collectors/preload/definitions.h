/* What numbers in records mean, told to the collector. */
#ifndef IOTIDE_DEFINITIONS_H
#define IOTIDE_DEFINITIONS_H

#include "tracer.h"

struct iotide_handle_text {
    int descriptor;
    uint32_t file;
    uint32_t parent;
    int open_flags;
    const char *origin;
};
void iotide_define_handle(uint32_t handle, uint8_t layer, struct iotide_handle_text text);
#define IOTIDE_KEPT_TEXT 248 /* the longest path that is kept */
uint32_t iotide_text_of_file(uint32_t number, char *to); /* of one defined lately, at most IOTIDE_KEPT_TEXT; length, 0: not */
void iotide_define_unseen(enum iotide_unseen why, const char *program); /* NULL: this one */
void iotide_reset_definitions(void);

#endif
