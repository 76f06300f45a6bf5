/* Files mapped into memory. Most calls here are for memory without a file, which is not I/O: they are passed on
 * directly. */
#include "tables/path_cache.h"
#include "libc/libc.h"
#include "sites_posix.h"

#include <stdarg.h>
#include <sys/mman.h>

#define MAPPINGS 1024
#define FILLING 1 /* not a valid address */

/* Mapped ranges with their files, for msync and munmap; mappings beyond the maximum have no file. Written by the
 * thread that has claimed the entry; a concurrent reader finds no mapping, or an unknown file. */
static struct {
    _Atomic uintptr_t start; /* 0: free */
    _Atomic uintptr_t end;
    _Atomic uint64_t target; /* handle << 32 | file */
    _Atomic uint32_t generation;
    _Atomic uint32_t kept;
    _Atomic bool stores; /* stores to it change the file */
} mappings[MAPPINGS];
static _Atomic int used; /* entries below this one may be in use */

static void add_mapping(uintptr_t start, size_t length, struct iotide_target target, bool stores) {
    for (int i = 0; i < MAPPINGS; i++) {
        uintptr_t none = 0;
        if (atomic_load_explicit(&mappings[i].start, memory_order_relaxed) ||
            !atomic_compare_exchange_strong(&mappings[i].start, &none, FILLING))
            continue;
        atomic_store_explicit(&mappings[i].end, start + length, memory_order_relaxed);
        atomic_store_explicit(&mappings[i].target, (uint64_t)target.handle << 32 | target.file, memory_order_relaxed);
        atomic_store_explicit(&mappings[i].generation, atomic_load(&iotide_generation), memory_order_relaxed);
        atomic_store_explicit(&mappings[i].kept, iotide_cache_file(target.file), memory_order_relaxed);
        atomic_store_explicit(&mappings[i].stores, stores, memory_order_relaxed);
        atomic_store_explicit(&mappings[i].start, start, memory_order_release);
        int seen = atomic_load(&used);
        while (i >= seen && !atomic_compare_exchange_weak(&used, &seen, i + 1))
            ;
        return;
    }
    iotide_count_overflow(BOUND_MAPPINGS);
}

static int find(uintptr_t address) {
    int count = atomic_load_explicit(&used, memory_order_relaxed);
    for (int i = 0; i < count; i++) {
        uintptr_t start = atomic_load_explicit(&mappings[i].start, memory_order_acquire);
        if (start > FILLING && address >= start &&
            address < atomic_load_explicit(&mappings[i].end, memory_order_relaxed))
            return i;
    }
    return -1;
}

static struct iotide_target target_at(int place) {
    struct iotide_target target = {0, 0};
    if (place >= 0) {
        uint64_t word = atomic_load_explicit(&mappings[place].target, memory_order_relaxed);
        target.handle = (uint32_t)(word >> 32);
        /* Files are renumbered in a forked child. */
        if (atomic_load_explicit(&mappings[place].generation, memory_order_relaxed) == atomic_load(&iotide_generation) ||
            (uint32_t)word == IOTIDE_EXCLUDED)
            target.file = (uint32_t)word;
        else
            target.file = iotide_cached_file(atomic_load_explicit(&mappings[place].kept, memory_order_relaxed));
        if ((uint32_t)word && !target.file)
            iotide_count_overflow(BOUND_FORKED_FILES);
    }
    return target;
}

static bool stores_at(int place) {
    return place >= 0 && atomic_load_explicit(&mappings[place].stores, memory_order_relaxed);
}

/* Removes mappings that lie wholly within; a partly unmapped one keeps its file. */
static void remove_mappings(uintptr_t start, size_t length) {
    int count = atomic_load_explicit(&used, memory_order_relaxed);
    for (int i = 0; i < count; i++) {
        uintptr_t first = atomic_load_explicit(&mappings[i].start, memory_order_acquire);
        if (first > FILLING && first >= start &&
            atomic_load_explicit(&mappings[i].end, memory_order_relaxed) <= start + length)
            atomic_compare_exchange_strong(&mappings[i].start, &first, 0);
    }
}

static inline void *record_mmap(struct iotide_span span, struct iotide_site *site, void *at, size_t length,
                                int protection,
                                int flags, int fd, off64_t offset) {
    if (!span.start_ns || !iotide_is_tracing())
        return at;
    struct iotide_facts facts = iotide_facts(site, iotide_descriptor_target(fd), fd, at == MAP_FAILED);
    facts.offset = offset;
    facts.requested = (int64_t)length;
    bool stores = (protection & PROT_WRITE) && (flags & MAP_TYPE) != MAP_PRIVATE;
    if (stores)
        facts.flags |= FLAG_STORES;
    if (protection & PROT_READ)
        facts.flags |= FLAG_LOADS;
    if (at != MAP_FAILED && facts.target.file != IOTIDE_EXCLUDED)
        add_mapping((uintptr_t)at, length, facts.target, stores);
    iotide_leave(span, site, facts, (uint64_t[]){(uint64_t)protection, (uint64_t)flags}, 2);
    return at;
}

#define MMAP(symbol, type)                                                                              \
    EXPORT void *symbol(void *address, size_t length, int protection, int flags, int fd, type offset) { \
        if (flags & MAP_ANONYMOUS || fd < 0)                                                            \
            return REAL(symbol)(address, length, protection, flags, fd, offset);                        \
        struct iotide_span span = iotide_enter(&SITE(symbol));                                          \
        void *at = REAL(symbol)(address, length, protection, flags, fd, offset);                        \
        return record_mmap(span, &SITE(symbol), at, length, protection, flags, fd, offset);             \
    }
MMAP(mmap, off_t)
MMAP(mmap64, off64_t)

EXPORT int munmap(void *address, size_t length) {
    int place = iotide_is_tracing() ? find((uintptr_t)address) : -1;
    if (place < 0)
        return REAL(munmap)(address, length);
    struct iotide_target target = target_at(place);
    struct iotide_span span = iotide_enter(&SITE(munmap));
    /* Before the call: another thread may get the same addresses immediately. */
    remove_mappings((uintptr_t)address, length);
    int result = REAL(munmap)(address, length);
    if (span.start_ns) {
        struct iotide_facts facts = iotide_facts(&SITE(munmap), target, -1, result != 0);
        facts.requested = (int64_t)length;
        iotide_leave(span, &SITE(munmap), facts, NULL, 0);
    }
    return result;
}

EXPORT void *mremap(void *address, size_t length, size_t new_length, int flags, ...) {
    void *wanted = NULL;
    if (flags & MREMAP_FIXED) {
        va_list more;
        va_start(more, flags);
        wanted = va_arg(more, void *);
        va_end(more);
    }
    int place = iotide_is_tracing() ? find((uintptr_t)address) : -1;
    if (place < 0)
        return REAL(mremap)(address, length, new_length, flags, wanted);
    struct iotide_target target = target_at(place);
    bool stores = stores_at(place);
    struct iotide_span span = iotide_enter(&SITE(mremap));
    void *at = REAL(mremap)(address, length, new_length, flags, wanted);
    if (at != MAP_FAILED) {
        remove_mappings((uintptr_t)address, length);
        add_mapping((uintptr_t)at, new_length, target, stores);
    }
    if (span.start_ns) {
        struct iotide_facts facts = iotide_facts(&SITE(mremap), target, -1, at == MAP_FAILED);
        facts.requested = (int64_t)length;
        iotide_leave(span, &SITE(mremap), facts, (uint64_t[]){new_length, (uint64_t)flags}, 2);
    }
    return at;
}

EXPORT int msync(void *memory, size_t length, int flags) {
    struct iotide_span span = iotide_enter(&SITE(msync));
    int result = REAL(msync)(memory, length, flags);
    if (span.start_ns && iotide_is_tracing()) {
        int place = find((uintptr_t)memory);
        struct iotide_facts facts = iotide_facts(&SITE(msync), target_at(place), -1, result != 0);
        if (stores_at(place))
            facts.flags |= FLAG_STORES;
        facts.requested = (int64_t)length;
        iotide_leave(span, &SITE(msync), facts, (uint64_t[]){(uint64_t)flags}, 1);
    }
    return result;
}
