/* Open files: the number that identifies one on all its ranks, its view, its file pointers. */
#include "mpiio_files.h"
#include "mpiio_names.h"

#include <string.h>

#define MAX_FILES 1024 /* maximum open files; further ones have no group-wide number, and their offsets come from
                         * the library */
#define MAX_OPENS 4096 /* maximum groups of ranks and paths whose opens are counted separately */
#define OPENING 1

static struct mpiio_file files[MAX_FILES];
static _Atomic int highest; /* entries below it may be in use */

static struct {
    _Atomic uint64_t key;
    _Atomic uint32_t count;
} opens[MAX_OPENS];

static struct mpiio_file *find(mpiio_word fh) {
    int count = atomic_load_explicit(&highest, memory_order_acquire);
    for (int i = 0; i < count; i++)
        if (atomic_load_explicit(&files[i].fh, memory_order_acquire) == fh)
            return &files[i];
    return NULL;
}

static struct mpiio_file *claim_entry(void) {
    for (int i = 0; i < MAX_FILES; i++) {
        mpiio_word nobody = 0;
        if (!atomic_compare_exchange_strong(&files[i].fh, &nobody, OPENING))
            continue;
        int count = atomic_load(&highest);
        while (count <= i && !atomic_compare_exchange_weak(&highest, &count, i + 1))
            ;
        return &files[i];
    }
    iotide_layer_count_overflow(BOUND_MPI_FILES);
    return NULL;
}

/* ---- the group-wide number: computed identically on all ranks, without communication ---- */

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

/* Ranks in MPI_COMM_WORLD of the communicator's first and last member. */
static bool find_end_ranks(const struct mpiio_mpi *mpi, mpiio_word comm, int *size, int ends[2]) {
    mpiio_word group = 0, world = 0;
    if (!mpi->comm_size || !mpi->comm_group || !mpi->translate_ranks || !mpi->group_free ||
        mpi->comm_size(comm, size) != 0 || mpi->comm_group(comm, &group) != 0)
        return false;
    bool known = false;
    if (mpi->comm_group(mpi->world, &world) == 0) {
        const int members[2] = {0, *size - 1};
        known = mpi->translate_ranks(group, 2, members, world, ends) == 0;
        mpi->group_free(&world);
    }
    mpi->group_free(&group);
    return known;
}

/* Number of times that this process has opened the object of key, including this one. */
static uint32_t count_open(uint64_t key) {
    for (uint32_t i = 0; i < MAX_OPENS; i++) {
        uint32_t place = (uint32_t)(key + i) % MAX_OPENS;
        uint64_t there = atomic_load(&opens[place].key);
        if (there == key || (there == 0 && atomic_compare_exchange_strong(&opens[place].key, &there, key)) || there == key)
            return atomic_fetch_add(&opens[place].count, 1) + 1;
    }
    iotide_layer_count_overflow(BOUND_MPI_FILES);
    return 1;
}

static uint64_t group_number(const struct mpiio_mpi *mpi, mpiio_word comm, const char *path) {
    int size = 1, ends[2] = {0, 0};
    if (!find_end_ranks(mpi, mpiio_value(mpi, comm), &size, ends))
        return 0;
    uint64_t key = (uint64_t)size << 32 | 1;
    key = mix(mix(key, (uint64_t)(uint32_t)ends[0] << 32 | (uint32_t)ends[1]), strlen(path));
    for (; *path; path++)
        key = mix(key, (unsigned char)*path);
    return mix(key, count_open(key | 1));
}

/* ---- the table ---- */

const char *mpiio_path(const char *filename) {
    static const char *const drivers[] = {"ufs:",    "nfs:",   "lustre:", "gpfs:",  "panfs:", "xfs:",    "pvfs2:",
                                          "testfs:", "gridftp:", "pvfs:", "daos:", "quobyte:", "unifyfs:", "bb:"};
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++)
        if (strncmp(filename, drivers[i], strlen(drivers[i])) == 0)
            return filename + strlen(drivers[i]);
    return filename;
}

void mpiio_register_open(mpiio_word fh, mpiio_word comm, const char *filename, int amode, const void *caller) {
    uint64_t group = group_number(mpiio_mpi(caller), comm, mpiio_path(filename));
    struct mpiio_file *file = fh ? claim_entry() : NULL;
    if (!file)
        return;
    file->group = group;
    file->displacement = 0;
    file->unit = 1;
    file->is_plain = true;
    file->is_appended = amode & 128; /* MPI_MODE_APPEND */
    atomic_store_explicit(&file->fh, fh, memory_order_release);
}

struct mpiio_file mpiio_remove_file(mpiio_word fh) {
    struct mpiio_file *file = find(fh), closing = {0};
    if (file) {
        closing = *file;
        atomic_store_explicit(&file->fh, 0, memory_order_release);
    }
    return closing;
}

void mpiio_restore_file(const struct mpiio_file *closing) {
    struct mpiio_file *file = closing->fh ? claim_entry() : NULL;
    if (!file)
        return;
    file->group = closing->group;
    file->displacement = closing->displacement;
    file->unit = closing->unit;
    file->is_plain = closing->is_plain;
    file->is_appended = closing->is_appended;
    atomic_store_explicit(&file->fh, closing->fh, memory_order_release);
}

uint64_t mpiio_group(mpiio_word fh) {
    const struct mpiio_file *file = find(fh);
    return file ? file->group : 0;
}

int mpiio_flags(mpiio_word fh) {
    const struct mpiio_file *file = find(fh);
    return file && file->is_appended ? FLAG_APPEND : 0;
}

/* ---- views ---- */

static bool has_no_holes(const struct mpiio_mpi *mpi, mpiio_word datatype, int64_t size) {
    int64_t lower = 0, extent = 0;
    return size > 0 && mpi->type_extent && mpi->type_extent(mpiio_value(mpi, datatype), &lower, &extent) == 0 &&
           lower == 0 && extent == size;
}

void mpiio_set_view(mpiio_word fh, int64_t displacement, mpiio_word etype, mpiio_word filetype,
                    const char *representation,
                    const void *caller) {
    const struct mpiio_mpi *mpi = mpiio_mpi(caller);
    struct mpiio_file *file = find(fh);
    if (!file)
        return;
    file->displacement = displacement;
    file->unit = mpiio_type_size(etype, false, caller);
    /* A negative displacement is MPI_DISPLACEMENT_CURRENT; other representations may have other sizes. */
    file->is_plain = displacement >= 0 && strcmp(representation, "native") == 0 &&
                     has_no_holes(mpi, etype, file->unit) &&
                     has_no_holes(mpi, filetype, mpiio_type_size(filetype, false, caller));
}

int64_t mpiio_offset(mpiio_word fh, int64_t position, const void *caller) {
    const struct mpiio_file *file = find(fh);
    if (likely(file && file->is_plain))
        return file->displacement + position * file->unit;
    const struct mpiio_mpi *mpi = mpiio_mpi(caller);
    int64_t offset = -1;
    return mpi->byte_offset && mpi->byte_offset(fh, position, &offset) == 0 ? offset : -1;
}

int64_t mpiio_position(mpiio_word fh, bool shared, const void *caller) {
    const struct mpiio_mpi *mpi = mpiio_mpi(caller);
    int (*ask)(mpiio_word, int64_t *) = shared ? mpi->position_shared : mpi->position;
    int64_t position = 0;
    return ask && ask(fh, &position) == 0 ? mpiio_offset(fh, position, caller) : -1;
}
