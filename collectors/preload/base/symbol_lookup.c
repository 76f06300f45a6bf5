/* Finds libc's functions behind the wrappers, in the objects' own hash tables: without locks or allocation, because
 * wrappers run inside malloc, in signal handlers and before main. */
#include "base/symbol_lookup.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#define MAX_OBJECTS 512

struct object {
    ElfW(Addr) base;
    const ElfW(Sym) *symbols;
    const char *names;
    const ElfW(Half) *versions;
    const uint32_t *gnu_hash;
    const uint32_t *sysv_hash;
};
static struct object objects[MAX_OBJECTS]; /* in search order, after this library */
static _Atomic int object_count = -1;

static const void *address_in(const struct link_map *map, ElfW(Addr) value) {
    return (const void *)(value < map->l_addr ? map->l_addr + value : value);
}

static bool describe(const struct link_map *map, struct object *object) {
    *object = (struct object){.base = map->l_addr};
    for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
        const void *at = address_in(map, entry->d_un.d_ptr);
        switch (entry->d_tag) {
        case DT_SYMTAB: object->symbols = at; break;
        case DT_STRTAB: object->names = at; break;
        case DT_VERSYM: object->versions = at; break;
        case DT_GNU_HASH: object->gnu_hash = at; break;
        case DT_HASH: object->sysv_hash = at; break;
        default: break;
        }
    }
    return object->symbols && object->names && (object->gnu_hash || object->sysv_hash);
}

/* The kernel's object, whose addresses are not relocated. */
static bool is_vdso(const struct link_map *map) {
    return strstr(map->l_name, "linux-vdso") != NULL;
}

void iotide_find_objects(void) {
    int count = 0;
    bool after = false;
    for (const struct link_map *map = _r_debug.r_map; map && count < MAX_OBJECTS; map = map->l_next) {
        if (after && !is_vdso(map) && describe(map, &objects[count]))
            count++;
        after = after || map->l_ld == _DYNAMIC;
    }
    atomic_store_explicit(&object_count, count, memory_order_release);
}

/* A function that this object defines, in its default version. */
static void *defined(const struct object *object, uint32_t index, const char *symbol) {
    const ElfW(Sym) *found = &object->symbols[index];
    int type = found->st_info & 0xf;
    if (found->st_shndx == SHN_UNDEF || !found->st_value || strcmp(object->names + found->st_name, symbol) != 0 ||
        (object->versions && object->versions[index] & 0x8000))
        return NULL;
    void *address = (void *)(object->base + found->st_value);
    return type == STT_GNU_IFUNC ? ((void *(*)(void))address)() : type == STT_FUNC || type == STT_NOTYPE ? address : NULL;
}

static void *by_gnu_hash(const struct object *object, const char *symbol, uint32_t hash) {
    const uint32_t *table = object->gnu_hash;
    uint32_t buckets = table[0], first = table[1], words = table[2], shift = table[3];
    const ElfW(Addr) *bloom = (const ElfW(Addr) *)(table + 4);
    const uint32_t *bucket = (const uint32_t *)(bloom + words), *chain = bucket + buckets;
    const uint32_t bits = 8 * sizeof(ElfW(Addr));
    ElfW(Addr) wanted = (ElfW(Addr))1 << hash % bits | (ElfW(Addr))1 << (hash >> shift) % bits;
    if (!buckets || (bloom[hash / bits % words] & wanted) != wanted)
        return NULL;
    uint32_t index = bucket[hash % buckets];
    if (index < first)
        return NULL;
    for (;; index++) {
        uint32_t entry = chain[index - first];
        void *found = (entry ^ hash) < 2 ? defined(object, index, symbol) : NULL;
        if (found || entry & 1)
            return found;
    }
}

static void *by_sysv_hash(const struct object *object, const char *symbol) {
    uint32_t hash = 0;
    for (const unsigned char *at = (const unsigned char *)symbol; *at; at++) {
        hash = (hash << 4) + *at;
        hash = (hash ^ (hash & 0xf0000000) >> 24) & 0x0fffffff;
    }
    const uint32_t *table = object->sysv_hash;
    uint32_t buckets = table[0];
    for (uint32_t index = buckets ? table[2 + hash % buckets] : 0; index; index = table[2 + buckets + index]) {
        void *found = defined(object, index, symbol);
        if (found)
            return found;
    }
    return NULL;
}

static uint32_t hash_of(const char *symbol) {
    uint32_t hash = 5381;
    for (const unsigned char *at = (const unsigned char *)symbol; *at; at++)
        hash = hash * 33 + *at;
    return hash;
}

static void *search(const struct object *object, const char *symbol, uint32_t hash) {
    return object->gnu_hash ? by_gnu_hash(object, symbol, hash) : by_sysv_hash(object, symbol);
}

void *iotide_find_symbol_in(const struct link_map *map, const char *symbol) {
    struct object object;
    return !is_vdso(map) && describe(map, &object) ? search(&object, symbol, hash_of(symbol)) : NULL;
}

void *iotide_find_symbol(const char *symbol) {
    void *real = NULL;
    for (const struct link_map *map = _r_debug.r_map; map && !real; map = map->l_next)
        if (map->l_ld != _DYNAMIC)
            real = iotide_find_symbol_in(map, symbol);
    return real;
}

const char *iotide_own_file_name(void) {
    for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next)
        if (map->l_ld == _DYNAMIC) {
            const char *slash = strrchr(map->l_name, '/');
            return slash ? slash + 1 : map->l_name;
        }
    return "";
}

long iotide_missing_function(void) {
    errno = ENOSYS;
    return -1;
}

void *iotide_find_real(struct iotide_site *site) {
    if (atomic_load_explicit(&object_count, memory_order_acquire) < 0)
        iotide_find_objects();
    uint32_t hash = hash_of(iotide_symbol(site));
    void *real = NULL;
    for (int i = 0; !real && i < atomic_load_explicit(&object_count, memory_order_acquire); i++)
        real = search(&objects[i], iotide_symbol(site), hash);
    /* libc may be beyond the maximum */
    if (!real && atomic_load_explicit(&object_count, memory_order_acquire) == MAX_OBJECTS)
        real = iotide_find_symbol(iotide_symbol(site));
    if (!real)
        real = (void *)iotide_missing_function;
    atomic_store_explicit(&site->real[0], real, memory_order_relaxed);
    return real;
}
