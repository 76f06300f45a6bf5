/* Reports the meaning of numbers in records to the collector. */
#ifndef IOTIDE_DEFINITIONS_H
#define IOTIDE_DEFINITIONS_H

#include "state/state.h"

/* Bounded: a text without room has number 0, and one longer than PATH_MAX is cut. */
EXPORT uint32_t iotide_define_file(const char *path, size_t length);
EXPORT uint32_t iotide_define_string(const char *text); /* NULL: 0 */
EXPORT uint32_t iotide_define_call(struct iotide_site *site);
static inline uint32_t iotide_call_number(struct iotide_site *site) {
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
#define IOTIDE_MAX_STORED_PATH 248 /* maximum length of a stored path */
uint32_t iotide_stored_path(uint32_t number, char *to); /* of a recently defined file, at most IOTIDE_MAX_STORED_PATH;
                                                          * returns the length, 0: unknown */
void iotide_define_unseen(enum iotide_unseen why, const char *program); /* NULL: this program */
void iotide_define_emulator(void); /* of this program, if one runs it */
void iotide_reset_definitions(void);
/* Completes an entry that a handler's siglongjmp abandoned; frame: the thread's current stack position. */
void iotide_repair_definitions(uintptr_t frame);

#endif
