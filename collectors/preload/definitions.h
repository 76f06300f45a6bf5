/* What numbers in records mean, told to the collector. */
#ifndef IOTIDE_DEFINITIONS_H
#define IOTIDE_DEFINITIONS_H

#include "state.h"

/* Bounded: a text that finds no room, or is longer than PATH_MAX, is 0 or cut. */
EXPORT uint32_t iotide_define_file(const char *path, size_t length);
EXPORT uint32_t iotide_define_string(const char *text); /* NULL: 0 */
EXPORT uint32_t iotide_define_call(struct iotide_site *site);
static inline uint32_t iotide_number(struct iotide_site *site) {
    uint64_t known = atomic_load_explicit(&site->number, memory_order_relaxed);
    return likely(known >> 32 == atomic_load_explicit(&iotide_generation, memory_order_relaxed))
               ? (uint32_t)known
               : iotide_define_call(site);
}

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
/* Gives up an entry that a handler's siglongjmp has left; frame: where on the stack the thread is now. */
void iotide_mend_definitions(uintptr_t frame);

#endif
