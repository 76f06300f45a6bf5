/* Filters that the user selected, from the environment at the program's start. */
#include "state/filters.h"
#include "base/environment.h"
#include "state/path_buffers.h"

#include <stdlib.h>
#include <string.h>

#define MAX_PREFIXES 32

struct prefixes {
    char text[2 * PATH_MAX];
    const char *start[MAX_PREFIXES];
    size_t length[MAX_PREFIXES];
    int count;
};

static const char *const layer_names[] = {"other", "posix", "stdio", "mpiio", "hdf5", "netcdf", "pnetcdf"};
static const char *const class_names[] = {"data", "handle", "seek", "sync", "meta", "char", "memory"};

static struct prefixes only, skip;
/* Beside data that each process reads: the tables are on separate pages. It is the first of these words in the library,
 * so that all of them have one page. */
FORK_WRITTEN _Alignas(4096) static bool has_prefixes;
static uint32_t layers = ~0u;
static uint32_t classes = ~(1u << CLASS_CHAR | 1u << CLASS_MEMORY);
uint32_t iotide_sample = 1;

static bool is_word(const char *text, size_t length, const char *word) {
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

/* The bits of a comma-separated list; unknown words are ignored. */
static uint32_t bits_of(const char *list, const char *const *names, uint32_t count) {
    uint32_t bits = 0;
    while (*list) {
        size_t length = strcspn(list, ",");
        for (uint32_t i = 0; i < count; i++)
            if (is_word(list, length, names[i]))
                bits |= 1u << i;
        list += length + (list[length] == ',');
    }
    return bits;
}

static void parse_prefixes(struct prefixes *to, const char *list) {
    if (!list || strlen(list) >= sizeof to->text)
        return;
    strcpy(to->text, list);
    for (const char *at = to->text; *at && to->count < MAX_PREFIXES;) {
        size_t length = strcspn(at, ":"), kept = length;
        while (kept > 1 && at[kept - 1] == '/')
            kept--;
        if (kept && *at == '/') {
            to->start[to->count] = at;
            to->length[to->count++] = kept;
        }
        at += length + (at[length] == ':');
    }
}

void iotide_read_filters(char **environment) {
    const char *text;
    if ((text = iotide_setting(environment, "IOTIDE_LAYERS")))
        /* Libraries that users added have no name here, and are enabled whenever they are loaded. */
        layers = bits_of(text, layer_names, sizeof layer_names / sizeof *layer_names) | 1u << LAYER_OTHER;
    if ((text = iotide_setting(environment, "IOTIDE_CALLS")))
        classes = bits_of(text, class_names, sizeof class_names / sizeof *class_names);
    if ((text = iotide_setting(environment, "IOTIDE_SAMPLE"))) {
        unsigned long wanted = strtoul(text, NULL, 10);
        iotide_sample = wanted < 1 ? 1 : wanted > 1000000 ? 1000000 : (uint32_t)wanted;
    }
    const char *kept = iotide_setting(environment, "IOTIDE_ONLY"), *left_out = iotide_setting(environment, "IOTIDE_SKIP");
    parse_prefixes(&only, kept);
    parse_prefixes(&skip, left_out);
    has_prefixes = (kept || left_out) && (only.count || skip.count); /* most programs read no page of the tables */
}

bool iotide_filter_site(struct iotide_site *site) {
    bool layer = layers >> site->layer & 1, on = layer && classes >> site->class & 1;
    /* A library's handles are known only from the calls that create them; descriptors can be resolved by the kernel. */
    bool library = site->layer != LAYER_POSIX && site->layer != LAYER_STDIO;
    bool silent = layer && !on && library && site->class == CLASS_HANDLE;
    atomic_store_explicit(&site->state, on ? SITE_ON : silent ? SITE_SILENT : SITE_OFF, memory_order_relaxed);
    return on || silent;
}

/* Whole components: /data does not cover /database. */
static bool is_covered(const struct prefixes *prefixes, const char *path, size_t length) {
    for (int i = 0; i < prefixes->count; i++) {
        size_t size = prefixes->length[i];
        if (length >= size && memcmp(path, prefixes->start[i], size) == 0 &&
            (length == size || path[size] == '/' || size == 1))
            return true;
    }
    return false;
}

/* Removes ".", ".." and "//", which paths of calls may contain that open nothing. Returns the length. */
static size_t normalize(char *to, const char *path, size_t length) {
    size_t kept = 0;
    for (size_t at = 0; at < length;) {
        size_t end = at;
        while (end < length && path[end] != '/')
            end++;
        size_t size = end - at;
        if (size == 2 && path[at] == '.' && path[at + 1] == '.') {
            while (kept && to[--kept] != '/')
                ;
        } else if (size && !(size == 1 && path[at] == '.')) {
            to[kept++] = '/';
            memcpy(to + kept, path + at, size);
            kept += size;
        }
        at = end + 1;
    }
    if (!kept)
        to[kept++] = '/';
    return kept;
}

static bool is_normalized(const char *path, size_t length) {
    for (size_t i = 0; i + 1 < length; i++)
        if (path[i] == '/' && (path[i + 1] == '/' || path[i + 1] == '.'))
            return false;
    return true;
}

bool iotide_is_excluded(const char *path, size_t length) {
    if (!has_prefixes)
        return false;
    bool needs_scratch = length && *path == '/' && length < IOTIDE_PATH_BUFFER_BYTES && !is_normalized(path, length);
    char *scratch = needs_scratch ? iotide_acquire_path_buffer() : NULL;
    if (scratch) {
        length = normalize(scratch, path, length);
        path = scratch;
    }
    bool left_out = (only.count && !is_covered(&only, path, length)) || is_covered(&skip, path, length);
    iotide_release_path_buffer(scratch);
    return left_out;
}
