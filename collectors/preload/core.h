/* What the core's own files use of each other; wrappers need tracer.h only. */
#ifndef IOTIDE_CORE_H
#define IOTIDE_CORE_H

#include "tracer.h"

#include <limits.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "region.h"

/* sandbox.c: our own calls of the kernel, past the wrapper of syscall(2); refused with ENOSYS in a restricted program. */
typedef long iotide_kernel_call(long number, ...);
iotide_kernel_call *iotide_kernel(void);
#define syscall(...) iotide_kernel()(__VA_ARGS__)
bool iotide_restricted(void);
void iotide_restrict(bool on);
size_t iotide_directory_before(char *to); /* the working directory then, unless it has changed; 0: not known */
void iotide_leave_directory(void);

/* switches.c: what IOTIDE_LAYERS, IOTIDE_CALLS, IOTIDE_ONLY, IOTIDE_SKIP and IOTIDE_SAMPLE say. Read once. */
extern uint32_t iotide_sample; /* of the calls that move data or seek, one in so many is recorded; 1: all */
void iotide_read_switches(char **environment);
bool iotide_leaves_out(const char *path, size_t length);
const char *iotide_setting(char **environment, const char *name); /* NULL: not set */

/* tracer.c */
void iotide_take_slot(void); /* for the calling thread, unless it has one */
void iotide_give_up(void); /* traces nothing any more in this process and its children */
extern struct iotide_header *_Atomic iotide_region; /* the first, with the log; NULL while untraced */
bool iotide_on_signal_stack(void); /* where addresses say nothing of what called what */

/* Mixes a text into a hash, eight bytes at a time: a new file's path is hashed twice. The last bytes may count twice. */
static inline uint64_t iotide_hash(uint64_t hash, const char *text, size_t length) {
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t word = 0;
    hash = (hash ^ length) * factor;
    if (length < sizeof word) {
        for (size_t i = 0; i < length; i++)
            word = word << 8 | (unsigned char)text[i];
        hash = (hash ^ word) * factor;
        return hash ^ hash >> 32;
    }
    for (size_t at = 0; at + sizeof word < length; at += sizeof word) {
        memcpy(&word, text + at, sizeof word);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 32;
    }
    memcpy(&word, text + length - sizeof word, sizeof word);
    hash = (hash ^ word) * factor;
    return hash ^ hash >> 32;
}

/* clock.c */
void iotide_choose_clock(void); /* once, before the first call is traced */

/* definitions.c */
struct iotide_handle_text {
    int descriptor;
    uint32_t file;
    uint32_t parent;
    int open_flags;
    const char *origin;
};
void iotide_define_handle(uint32_t handle, uint8_t layer, struct iotide_handle_text text);
uint32_t iotide_text_of_file(uint32_t number, char *to); /* of one defined lately, at most IOTIDE_KEPT_TEXT; length, 0: not */
void iotide_define_unseen(enum iotide_unseen why, const char *program); /* NULL: this one */
void iotide_reset_definitions(void);

/* kept.c: what to know a file by when the region that numbers it is another; 0: nothing */
#define IOTIDE_KEPT_TEXT 248 /* the longest path that is kept */
uint32_t iotide_keep_file(uint32_t file);
uint32_t iotide_kept_file(uint32_t mark); /* its number in the region of now */
void iotide_reset_kept(void); /* who held the lock stayed in the parent */

/* copies.c */
void iotide_forget_callers(void); /* when an object goes */

/* objects.c */
void iotide_reset_objects(void); /* handles keep their numbers */

/* lookup.c */
struct link_map;
void iotide_find_objects(void); /* which objects come after ours in the program's search order */
void *iotide_defined_in(const struct link_map *map, const char *symbol); /* without locks or allocation; NULL: not */
void *iotide_defined_anywhere(const char *symbol); /* likewise, in what was loaded since the start, too */
long iotide_absent(void); /* stands in for a function that nobody defines: ENOSYS, -1 */

/* scratch.c: room for paths. A thread's stack may be a few kilobytes, so it is not on the stack. */
#define IOTIDE_SCRATCH (2 * PATH_MAX)
char *iotide_borrow(void); /* IOTIDE_SCRATCH bytes, or NULL when all are in use */
void iotide_give_back(char *scratch);
void iotide_reset_scratch(void);

#endif
