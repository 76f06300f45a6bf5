/* Converts lines of rings, each a record without words, to columns; plain.py is its interface and names its
 * fallback.
 *
 * Most batches are of one thread that repeats the same calls. records_survey determines the bits in which records
 * differ, so columns with one value throughout are not written. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define MARK_WORDS 0xff /* replaces the depth: the line contains words, not a record */
#define BLOCK 64 /* rows processed together, so that they stay in the cache for each column */
#define MISSING UINT32_MAX

/* A record, as in ring.h. */
struct record {
    uint64_t start, duration, offset, requested, bytes;
    uint32_t handle, parent, file;
    int32_t descriptor;
    uint16_t call, flags;
    uint8_t words, kind, error, depth;
};

_Static_assert(sizeof(struct record) == 64, "a record is a line");

/* Result of the survey; plain.py has the same layout. */
struct survey {
    uint64_t differs[8]; /* per word of a line, the bits that differ between records */
    uint64_t high; /* bits set in any start, duration or number of bytes */
    uint64_t kind; /* maximum of all kinds */
    uint64_t words; /* whether any record has words, or any line contains words */
};

/* Adds lines to a survey, which is initially zero; first: the first line of all. */
EXPORT void records_survey(const uint64_t *first, const uint64_t *lines, uint64_t count, int64_t clock_offset,
                           struct survey *survey) {
    uint64_t differs[8] = {0}, high = 0;
    uint8_t kind = 0, words = 0;
    for (uint64_t i = 0; i < count; i++, lines += 8) {
        const struct record *record = (const void *)lines;
        for (int word = 0; word < 8; word++)
            differs[word] |= lines[word] ^ first[word];
        high |= (record->start + (uint64_t)clock_offset) | record->duration | record->bytes;
        kind = record->kind > kind ? record->kind : kind;
        words |= record->words | (record->depth == MARK_WORDS);
    }
    for (int word = 0; word < 8; word++)
        survey->differs[word] |= differs[word];
    survey->high |= high;
    survey->kind = kind > survey->kind ? kind : survey->kind;
    survey->words |= words;
}

/* A signature's number by its hash; 0: empty entry. */
struct known {
    uint64_t hash, number;
};

/* Output columns, NULL for those that are not needed, and mappings of numbers; filled in by plain.py. */
struct columns {
    int64_t *start, *duration, *offset, *requested, *bytes;
    uint32_t *handle, *parent, *file, *call;
    uint16_t *flags, *error;
    uint8_t *kind, *depth, *layer;
    uint32_t *signature;
    int64_t clock_offset;
    const uint32_t *files;
    uint64_t file_count;
    const uint32_t *calls;
    const uint8_t *layers;
    uint64_t call_count;
    const uint32_t *specification; /* by call */
    uint64_t specification_count;
    const uint64_t *salt, *descriptor, *sized; /* by specification */
    struct known *known;
    uint64_t known_mask;
};

static inline uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

static inline uint64_t hash_of(const struct columns *c, uint32_t specification, const struct record *record) {
    uint64_t hash = mix(c->salt[specification],
                        (uint64_t)(int64_t)record->descriptor & c->descriptor[specification]);
    return mix(hash, record->requested & c->sized[specification]);
}

/* Returns the entry for a hash. */
static inline struct known *place_of(const struct columns *c, uint64_t hash) {
    return &c->known[(hash ^ hash >> 23) & c->known_mask];
}

static inline uint32_t specification_of(const struct columns *c, const struct record *record) {
    return record->call < c->specification_count ? c->specification[record->call] : 0;
}

/* Writes the numbers of signatures, MISSING for unknown ones; returns the number of unknown ones. */
static uint64_t write_signatures(const struct columns *c, const struct record *records, uint64_t count, uint64_t at) {
    uint64_t missing = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t specification = specification_of(c, &records[i]), number = 0;
        if (specification) {
            uint64_t hash = hash_of(c, specification, &records[i]);
            const struct known *known = place_of(c, hash);
            number = known->number && known->hash == hash ? (uint32_t)known->number : MISSING;
            missing += number == MISSING;
        }
        c->signature[at + i] = number;
    }
    return missing;
}

#define WRITE(column, value) \
    if (c->column) \
        for (uint64_t i = 0; i < count; i++) \
            c->column[at + i] = (value)

static uint64_t write_block(const struct columns *c, const struct record *records, uint64_t count, uint64_t at) {
    WRITE(start, (int64_t)(records[i].start + (uint64_t)c->clock_offset));
    WRITE(duration, (int64_t)records[i].duration);
    WRITE(offset, (int64_t)records[i].offset);
    WRITE(requested, (int64_t)records[i].requested);
    WRITE(bytes, (int64_t)records[i].bytes);
    WRITE(handle, records[i].handle);
    WRITE(parent, records[i].parent);
    WRITE(file, c->files[records[i].file < c->file_count ? records[i].file : 0]);
    WRITE(call, c->calls[records[i].call < c->call_count ? records[i].call : 0]);
    WRITE(layer, c->layers[records[i].call < c->call_count ? records[i].call : 0]);
    WRITE(flags, records[i].flags);
    WRITE(error, records[i].error);
    WRITE(kind, records[i].kind);
    WRITE(depth, records[i].depth);
    return c->signature ? write_signatures(c, records, count, at) : 0;
}

/* Writes the columns of records from row ``at`` on; returns the number of unknown signatures. */
EXPORT uint64_t records_columns(const struct columns *columns, const struct record *records, uint64_t count,
                                uint64_t at) {
    uint64_t missing = 0;
    for (uint64_t done = 0; done < count; done += BLOCK) {
        uint64_t some = count - done < BLOCK ? count - done : BLOCK;
        missing += write_block(columns, records + done, some, at + done);
    }
    return missing;
}

/* Stores the numbers of the signatures of some records; 0 and MISSING are ignored. */
EXPORT void records_remember(const struct columns *columns, const struct record *records, const uint32_t *numbers,
                             uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        uint32_t specification = specification_of(columns, &records[i]);
        if (!specification || !numbers[i] || numbers[i] == MISSING)
            continue;
        uint64_t hash = hash_of(columns, specification, &records[i]);
        *place_of(columns, hash) = (struct known){hash, numbers[i]};
    }
}
