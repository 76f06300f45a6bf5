/* Finds the real functions of higher libraries. A process may contain several copies of one library (each Python
 * wheel has its own), so the function depends on the caller: the dynamic loader is queried once per caller and
 * function. */
#include "state/library_copies.h"
#include "base/symbol_lookup.h"

#include <link.h>
#include <string.h>

#define MAX_CALLERS 1024

struct caller {
    const struct iotide_library *library;
    uintptr_t low, high;
    uint64_t identity; /* of the object at low: another may be loaded there later */
    _Atomic uint64_t unloads; /* value of unloads when the object was last verified */
    bool inner; /* it is a copy of the library itself */
    bool own;   /* it is iotide's library: a function that it called ended in a jump to this call */
    int copy;   /* below IOTIDE_COPIES: index in the sites' real[]; -1: look each function up */
};
static struct caller callers[MAX_CALLERS];
static _Atomic int caller_count;
static _Atomic bool adding_caller;

static struct {
    const struct iotide_library *library;
    const void *base;
} copies[MAX_CALLERS];
static _Atomic int copy_count;

/* ---- unloaded objects ---- */

static _Atomic uint64_t unloads;
static struct iotide_site closing = {SITE_TEXT("dlclose", "")};

/* Bypasses the wrapper of dlclose: inspecting an object unloads nothing. */
static void dlclose_unwrapped(void *handle) {
    ((int (*)(void *))iotide_real(&closing))(handle);
}

void iotide_clear_caller_cache(void) {
    atomic_fetch_add(&unloads, 1);
    int count = atomic_load(&copy_count);
    for (int i = 0; i < count; i++)
        for (size_t gate = 0; gate < copies[i].library->gate_count; gate++)
            atomic_store_explicit(&copies[i].library->gates[gate].known, 0, memory_order_relaxed);
}

/* ---- objects ---- */

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

/* Hash of the object's name, the offset of its section table, and the number of sections. */
static uint64_t identity_of(const struct span *span) {
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(span->low & ~(uintptr_t)4095);
    uint64_t identity = (uint64_t)header->e_shoff << 16 ^ header->e_shnum ^ header->e_entry;
    for (const char *at = span->name; at && *at; at++)
        identity = (identity ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
    return identity;
}

static const void *base_of(const void *address) {
    Dl_info info;
    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

static bool is_ours(const struct iotide_library *library, const void *function) {
    return base_of(function) == base_of((const void *)library->next);
}

/* Resolves the symbol as the dynamic loader would without the wrapper: first the program's own libraries, then those
 * that the caller brought with it. */
static void *resolve_for(const struct iotide_library *library, const char *symbol, const char *object) {
    void *found = library->next(symbol);
    if (!found && object && *object) {
        void *handle = dlopen(object, RTLD_LAZY | RTLD_NOLOAD);
        if (handle) {
            found = dlsym(handle, symbol);
            dlclose_unwrapped(handle);
        }
        if (found && is_ours(library, found))
            found = NULL;
    }
    /* Looked up by name by the main program, or by an object not linked with the library: any copy. */
    for (const struct link_map *map = found ? NULL : _r_debug.r_map; map && !found; map = map->l_next) {
        found = iotide_find_symbol_in(map, symbol);
        if (found && is_ours(library, found))
            found = NULL;
    }
    dlerror(); /* clears the error, which the program must not see */
    return found && is_ours(library, found) ? NULL : found;
}

/* Keeps a library's copy loaded for good, because sites cache its addresses. */
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
    if (place >= IOTIDE_COPIES || copy_count == MAX_CALLERS)
        iotide_count_overflow(BOUND_COPIES);
    if (copy_count == MAX_CALLERS)
        return -1;
    pin(anchor);
    pin((const void *)library->next); /* its gates are written to when objects are unloaded */
    copies[copy_count].library = library;
    copies[copy_count].base = base;
    atomic_fetch_add(&copy_count, 1);
    return place < IOTIDE_COPIES ? place : -1;
}

static struct span span_of(const void *address) {
    struct span span = {(uintptr_t)address, 0, 0, NULL};
    dl_iterate_phdr(covers, &span);
    return span;
}

/* Whether the object is unchanged; verified again after any object was unloaded. */
static bool is_unchanged(struct caller *caller, const void *address) {
    uint64_t now = atomic_load_explicit(&unloads, memory_order_relaxed);
    if (likely(atomic_load_explicit(&caller->unloads, memory_order_relaxed) == now))
        return true;
    struct span span = span_of(address);
    if (span.low != caller->low || span.high != caller->high || identity_of(&span) != caller->identity)
        return false;
    atomic_store_explicit(&caller->unloads, now, memory_order_relaxed);
    return true;
}

static bool belongs_to_caller(struct caller *caller, const struct iotide_library *library, const void *address) {
    return (uintptr_t)address >= caller->low && (uintptr_t)address < caller->high && caller->library == library &&
           is_unchanged(caller, address);
}

/* Indices in callers[], from 1, of the last callers near an address: a program may have dozens. */
#define RECENT_CALLERS 1024
static _Atomic uint16_t recent_callers[RECENT_CALLERS];

static const struct caller *find_caller(const struct iotide_library *library, const void *address) {
    int count = atomic_load_explicit(&caller_count, memory_order_acquire);
    _Atomic uint16_t *near = &recent_callers[((uintptr_t)address >> 12 ^ (uintptr_t)library >> 6) % RECENT_CALLERS];
    int place = atomic_load_explicit(near, memory_order_relaxed);
    if (unlikely(!place || place > count || !belongs_to_caller(&callers[place - 1], library, address))) {
        for (place = count; place && !belongs_to_caller(&callers[place - 1], library, address); place--)
            ;
        atomic_store_explicit(near, (uint16_t)place, memory_order_relaxed);
    }
    return place ? &callers[place - 1] : NULL;
}

/* A jump to another function of the library belongs to the call that the thread made last. */
static int copy_of(const struct iotide_library *library, const struct caller *caller) {
    if (likely(caller && !caller->own))
        return caller->copy;
    return caller && iotide_self.library == library ? iotide_cached_copy(iotide_self.known) : -1;
}

/* A function of one copy; NULL: missing. */
static void *find_in_copy(const struct iotide_library *library, int copy, const char *symbol) {
    int i = 0;
    for (int place = copy; i < copy_count && (copies[i].library != library || place-- > 0); i++) {
    }
    void *found = NULL;
    for (const struct link_map *map = i < copy_count ? _r_debug.r_map : NULL; map && !found; map = map->l_next) {
        found = iotide_find_symbol_in(map, symbol);
        if (found && base_of(found) != copies[i].base)
            found = NULL;
    }
    return found;
}

static bool contains(const struct span *span, const void *address) {
    return (uintptr_t)address >= span->low && (uintptr_t)address < span->high;
}

static const struct caller *add_caller(const struct iotide_library *library, const struct span *span,
                                       const void *anchor) {
    const struct caller *made = NULL;
    if (!span->high || atomic_exchange(&adding_caller, true))
        return NULL;
    bool own = contains(span, (const void *)library->next);
    int count = atomic_load(&caller_count);
    if (count < MAX_CALLERS) {
        callers[count] = (struct caller){.library = library,
                                         .low = span->low,
                                         .high = span->high,
                                         .identity = identity_of(span),
                                         .inner = contains(span, anchor),
                                         .own = own,
                                         .copy = own ? -1 : copy_number(library, anchor)};
        made = &callers[count];
        atomic_store_explicit(&caller_count, count + 1, memory_order_release);
    } else {
        iotide_count_overflow(BOUND_CALLERS);
    }
    atomic_store(&adding_caller, false);
    return made;
}

/* Records the thread's current call for later queries of the wrapper; a jump keeps its enclosing call. */
static void set_current_call(const struct iotide_library *library, struct iotide_site *site,
                             const struct caller *caller, int copy,
                             const void *address, void *real) {
    if (copy < 0) {
        iotide_self.library = NULL;
        return;
    }
    if (caller->own)
        return;
    uint64_t page = iotide_page(address), bits = (uint64_t)copy | IOTIDE_IS_CACHED | (caller->inner ? IOTIDE_INNER : 0);
    iotide_self.library = library;
    iotide_self.known = bits << IOTIDE_CALLER_BITS_SHIFT | page;
    uint8_t state = atomic_load_explicit(&site->state, memory_order_relaxed);
    if (!real || state == SITE_NEW || !site->gate)
        return;
    struct iotide_gate *gate = &library->gates[site->gate];
    if (copy == 0)
        atomic_store_explicit(&gate->real, real, memory_order_relaxed);
    atomic_store_explicit(&gate->known, state == SITE_OFF && copy == 0 ? page : iotide_self.known, memory_order_release);
}

static void *resolve(const struct iotide_library *library, struct iotide_site *site, const void *address) {
    const struct caller *caller = find_caller(library, address);
    int copy = copy_of(library, caller);
    void *real = likely(copy >= 0) ? atomic_load_explicit(&site->real[copy], memory_order_relaxed) : NULL;
    if (unlikely(!real)) {
        struct span span = span_of(address);
        if (!caller) {
            const void *anchor = resolve_for(library, library->anchor, span.name);
            if (anchor)
                caller = add_caller(library, &span, anchor);
            copy = copy_of(library, caller);
        }
        real = caller && caller->own && copy >= 0 ? find_in_copy(library, copy, iotide_symbol(site)) : NULL;
        if (!real)
            real = resolve_for(library, iotide_symbol(site), span.name);
        if (real && copy >= 0) {
            pin(real);
            atomic_store_explicit(&site->real[copy], real, memory_order_relaxed);
        }
    }
    set_current_call(library, site, caller, copy, address, real);
    return real;
}

void *iotide_provided(const struct iotide_library *library, struct iotide_site *site, const void *address) {
    int error = errno;
    void *real = resolve(library, site, address);
    errno = error;
    return real ? real : (void *)iotide_missing_function;
}

bool iotide_find_is_inner(const struct iotide_library *library, const void *address) {
    const struct caller *caller = find_caller(library, address);
    return caller && (caller->inner || caller->own);
}

int iotide_find_copy(const struct iotide_library *library, const void *address) {
    return copy_of(library, find_caller(library, address));
}

/* ---- helpers: functions of the library that are not wrapped ---- */

#define MAX_HELPERS 1024

static struct {
    const char *symbol; /* compared by address: each use in the hooks has its own entry */
    const struct iotide_library *library;
    int copy;
    void *function;
} helpers[MAX_HELPERS];
static _Atomic int helper_count;

void *iotide_helper(const struct iotide_library *library, const char *symbol, const void *address) {
    const struct caller *caller = find_caller(library, address);
    int copy = copy_of(library, caller);
    int count = atomic_load_explicit(&helper_count, memory_order_acquire);
    for (int i = 0; copy >= 0 && i < count; i++)
        if (helpers[i].symbol == symbol && helpers[i].copy == copy && helpers[i].library == library)
            return helpers[i].function;
    int error = errno;
    struct span span = span_of(address);
    void *function = caller && caller->own && copy >= 0 ? find_in_copy(library, copy, symbol) : NULL;
    if (!function)
        function = resolve_for(library, symbol, span.name);
    if (function)
        pin(function);
    if (copy >= 0 && !atomic_exchange(&adding_caller, true)) { /* also caches that a copy lacks it, because serial
                                                           * libraries are queried often */
        count = atomic_load(&helper_count);
        if (count < MAX_HELPERS) {
            helpers[count].symbol = symbol;
            helpers[count].library = library;
            helpers[count].copy = copy;
            helpers[count].function = function;
            atomic_store_explicit(&helper_count, count + 1, memory_order_release);
        }
        atomic_store(&adding_caller, false);
    }
    errno = error;
    return function;
}
