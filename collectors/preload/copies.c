/* Finding the functions of higher libraries behind our wrappers. A process may hold several copies of one library (each
 * Python wheel brings its own), so what is behind a wrapper depends on who calls: the dynamic loader is asked, once for
 * each caller and function. */
#include "core.h"

#include <link.h>
#include <string.h>

#define MOST_CALLERS 1024

struct caller {
    const struct iotide_library *library;
    uintptr_t low, high;
    uint64_t identity; /* of the object at low: another may be loaded there later */
    bool inner;        /* it is a copy of the library itself */
    bool own;          /* it is our library: a function that we called ended in a jump to the call */
    int copy;          /* below IOTIDE_COPIES: place in the sites' real[]; -1: look each function up */
};
static struct caller callers[MOST_CALLERS];
static _Atomic int caller_count;
static _Atomic bool learning;

static struct {
    const struct iotide_library *library;
    const void *base;
} copies[MOST_CALLERS];
static int copy_count;

/* What the thread called last: a jump to another function of the library is within that. */
static __thread struct {
    const struct iotide_library *library;
    int copy;
    const void *address; /* who called, */
    const struct caller *caller; /* and where that stands; NULL: not known */
} last;

struct span {
    uintptr_t address, low, high;
    const char *name;
};

static int covers(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    struct span *span = data;
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = start + info->dlpi_phdr[i].p_memsz;
        low = start < low ? start : low;
        high = end > high ? end : high;
    }
    if (span->address < low || span->address >= high)
        return 0;
    span->low = low;
    span->high = high;
    span->name = info->dlpi_name;
    return 1;
}

/* Where the section table lies in the file, and how many sections there are: differs between any two libraries. */
static uint64_t identity_of(uintptr_t low) {
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(low & ~(uintptr_t)4095);
    return (uint64_t)header->e_shoff << 16 ^ header->e_shnum ^ header->e_entry;
}

static const void *base_of(const void *address) {
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

static bool is_ours(const struct iotide_library *library, const void *function) {
    return base_of(function) == base_of((const void *)library->next);
}

/* As the dynamic loader would have bound the caller's reference had we not been there: the program's own libraries
 * first, then those that the caller brought with it. */
static void *find_for(const struct iotide_library *library, const char *symbol, const char *object) {
    void *found = library->next(symbol);
    if (!found && object && *object) {
        void *handle = dlopen(object, RTLD_LAZY | RTLD_NOLOAD);
        if (handle) {
            found = dlsym(handle, symbol);
            dlclose(handle);
        }
        if (found && is_ours(library, found))
            found = NULL;
    }
    /* Asked for by name from the main program or by an object that is not linked with it: any copy there is. */
    for (const struct link_map *map = found ? NULL : _r_debug.r_map; map && !found; map = map->l_next) {
        found = iotide_defined_in(map, symbol);
        if (found && is_ours(library, found))
            found = NULL;
    }
    dlerror(); /* what failed here is not the program's to read */
    return found && is_ours(library, found) ? NULL : found;
}

/* Keeps a library's copy in memory for good: what a site remembers of it must stay true. */
static void pin(const void *function) {
    Dl_info info;
    if (dladdr(function, &info) && info.dli_fname)
        dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

static int copy_number(const struct iotide_library *library, const void *anchor) {
    const void *base = base_of(anchor);
    int place = 0;
    for (int i = 0; i < copy_count; i++) {
        if (copies[i].library != library)
            continue;
        if (copies[i].base == base)
            return place < IOTIDE_COPIES ? place : -1;
        place++;
    }
    if (copy_count == MOST_CALLERS)
        return -1;
    pin(anchor);
    copies[copy_count].library = library;
    copies[copy_count++].base = base;
    return place < IOTIDE_COPIES ? place : -1;
}

static struct span span_of(const void *address) {
    struct span span = {(uintptr_t)address, 0, 0, NULL};
    dl_iterate_phdr(covers, &span);
    return span;
}

static bool is_in(const struct caller *caller, const struct iotide_library *library, const void *address) {
    return (uintptr_t)address >= caller->low && (uintptr_t)address < caller->high && caller->library == library;
}

/* Where the last callers from an address's neighbourhood stand in callers[], from 1: a program may have dozens. */
#define NEIGHBOURHOODS 1024
static _Atomic uint16_t recent[NEIGHBOURHOODS];

static const struct caller *known_caller(const struct iotide_library *library, const void *address) {
    int count = atomic_load_explicit(&caller_count, memory_order_acquire);
    _Atomic uint16_t *near = &recent[((uintptr_t)address >> 12 ^ (uintptr_t)library >> 6) % NEIGHBOURHOODS];
    int place = atomic_load_explicit(near, memory_order_relaxed);
    if (unlikely(!place || place > count || !is_in(&callers[place - 1], library, address))) {
        for (place = count; place && !is_in(&callers[place - 1], library, address); place--)
            ;
        if (!place)
            return NULL;
        atomic_store_explicit(near, (uint16_t)place, memory_order_relaxed);
    }
    const struct caller *caller = &callers[place - 1];
    return caller->identity == identity_of(caller->low) ? caller : NULL;
}

/* After iotide_provided, which has just found out. */
static const struct caller *same_caller(const struct iotide_library *library, const void *address) {
    return likely(last.address == address && last.library == library) ? last.caller : known_caller(library, address);
}

static int copy_of(const struct iotide_library *library, const struct caller *caller) {
    if (likely(caller && !caller->own))
        return caller->copy;
    return caller && last.library == library ? last.copy : -1;
}

/* A function of one copy; NULL: not there. */
static void *in_copy(const struct iotide_library *library, int copy, const char *symbol) {
    int i = 0;
    for (int place = copy; i < copy_count && (copies[i].library != library || place-- > 0); i++) {
    }
    void *found = NULL;
    for (const struct link_map *map = i < copy_count ? _r_debug.r_map : NULL; map && !found; map = map->l_next) {
        found = iotide_defined_in(map, symbol);
        if (found && base_of(found) != copies[i].base)
            found = NULL;
    }
    return found;
}

static bool covered(const struct span *span, const void *address) {
    return (uintptr_t)address >= span->low && (uintptr_t)address < span->high;
}

static const struct caller *learn(const struct iotide_library *library, const struct span *span, const void *anchor) {
    const struct caller *made = NULL;
    if (!span->high || atomic_exchange(&learning, true))
        return NULL;
    bool own = covered(span, (const void *)library->next);
    int count = atomic_load(&caller_count);
    if (count < MOST_CALLERS) {
        callers[count] = (struct caller){.library = library,
                                         .low = span->low,
                                         .high = span->high,
                                         .identity = identity_of(span->low),
                                         .inner = covered(span, anchor),
                                         .own = own,
                                         .copy = own ? -1 : copy_number(library, anchor)};
        made = &callers[count];
        atomic_store_explicit(&caller_count, count + 1, memory_order_release);
    }
    atomic_store(&learning, false);
    return made;
}

void *iotide_provided(const struct iotide_library *library, struct iotide_site *site, const void *address) {
    const struct caller *caller = known_caller(library, address);
    int copy = copy_of(library, caller);
    if (likely(copy >= 0)) {
        void *real = atomic_load_explicit(&site->real[copy], memory_order_relaxed);
        if (likely(real != NULL)) {
            last.library = library;
            last.copy = copy;
            last.address = address;
            last.caller = caller;
            return real;
        }
    }
    int error = errno;
    struct span span = span_of(address);
    if (!caller) {
        const void *anchor = find_for(library, library->anchor, span.name);
        if (anchor)
            caller = learn(library, &span, anchor);
        copy = copy_of(library, caller);
    }
    void *real = caller && caller->own && copy >= 0 ? in_copy(library, copy, site->symbol) : NULL;
    if (!real)
        real = find_for(library, site->symbol, span.name);
    if (real && copy >= 0) {
        pin(real);
        atomic_store_explicit(&site->real[copy], real, memory_order_relaxed);
    }
    last.library = library;
    last.copy = copy;
    last.address = address;
    last.caller = caller;
    errno = error;
    return real ? real : (void *)iotide_absent;
}

bool iotide_is_inner(const struct iotide_library *library, const void *address) {
    const struct caller *caller = iotide_self.depth ? same_caller(library, address) : NULL;
    return caller && (caller->inner || caller->own);
}

uint32_t iotide_space(const struct iotide_library *library, uint32_t space, const void *address) {
    int copy = copy_of(library, same_caller(library, address));
    return copy > 0 ? space ^ (uint32_t)copy << 16 : space;
}

/* ---- helpers: functions of the library that are not wrapped ---- */

#define MOST_HELPERS 1024

static struct {
    const char *symbol; /* by address: each mention of it in the hooks is one */
    const struct iotide_library *library;
    int copy;
    void *function;
} helpers[MOST_HELPERS];
static _Atomic int helper_count;

void *iotide_helper(const struct iotide_library *library, const char *symbol, const void *address) {
    const struct caller *caller = same_caller(library, address);
    int copy = copy_of(library, caller);
    int count = atomic_load_explicit(&helper_count, memory_order_acquire);
    for (int i = 0; copy >= 0 && i < count; i++)
        if (helpers[i].symbol == symbol && helpers[i].copy == copy && helpers[i].library == library)
            return helpers[i].function;
    int error = errno;
    struct span span = span_of(address);
    void *function = caller && caller->own && copy >= 0 ? in_copy(library, copy, symbol) : NULL;
    if (!function)
        function = find_for(library, symbol, span.name);
    if (copy >= 0 && !atomic_exchange(&learning, true)) { /* also that a copy has none: serial libraries are asked often */
        count = atomic_load(&helper_count);
        if (count < MOST_HELPERS) {
            if (function)
                pin(function);
            helpers[count].symbol = symbol;
            helpers[count].library = library;
            helpers[count].copy = copy;
            helpers[count].function = function;
            atomic_store_explicit(&helper_count, count + 1, memory_order_release);
        }
        atomic_store(&learning, false);
    }
    errno = error;
    return function;
}
