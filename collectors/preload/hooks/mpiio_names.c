/* Names of datatypes, communicators, hints and modes. */
#include "mpiio_names.h"
#include "state/thread_memory.h"

#include <string.h>

#define MAX_NAME 256 /* MPI_MAX_OBJECT_NAME is 64 in Open MPI, 128 in MPICH */
#define SHORT_NAME 48
#define KNOWN_TYPES 128

/* Predefined types are never freed, so they are cached. */
static struct known_type {
    _Atomic mpiio_word datatype; /* 0: free; 1: being filled in */
    int64_t size;
    char name[SHORT_NAME];
} known_types[KNOWN_TYPES];

static const char *const combiners[] = {"named",   "dup",     "contiguous", "vector",      "hvector",  "hvector", "indexed",
                                        "hindexed", "hindexed", "indexed_block", "struct", "struct",   "subarray", "darray",
                                        "real",    "complex", "integer",    "resized",     "hindexed_block"};

/* A growing text; excess text is cut. */
struct text {
    char *at, *end;
};

/* Two, because MPI_File_set_view has two datatypes. */
static struct text next_text(void) {
    struct names {
        char texts[2][2 * MAX_NAME];
        unsigned int turn;
    };
    static struct iotide_thread_memory room = {.size = sizeof(struct names)};
    static __thread char least[SHORT_NAME / 2]; /* used if a thread has no memory */
    struct names *names = iotide_get_thread_memory(&room);
    char *text = names ? names->texts[names->turn++ % 2] : least;
    *text = '\0';
    return (struct text){text, text + (names ? sizeof names->texts[0] : sizeof least) - 1};
}

static void add(struct text *to, const char *from) {
    while (*from && to->at < to->end)
        *to->at++ = *from++;
    *to->at = '\0';
}

static void add_number(struct text *to, int64_t number) {
    char digits[21];
    char *at = digits + sizeof digits - 1;
    uint64_t left = number < 0 ? -(uint64_t)number : (uint64_t)number;
    *at = '\0';
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0)
        *--at = '-';
    add(to, at);
}

/* ---- datatypes ---- */

static const struct known_type *find_type(mpiio_word datatype, struct known_type **room) {
    uint32_t place = (uint32_t)((datatype * UINT64_C(0x9e3779b97f4a7c15)) >> 40);
    *room = NULL;
    for (int i = 0; i < KNOWN_TYPES; i++) {
        struct known_type *type = &known_types[(place + (uint32_t)i) % KNOWN_TYPES];
        mpiio_word there = atomic_load_explicit(&type->datatype, memory_order_acquire);
        if (there == datatype)
            return type;
        if (there == 0) {
            *room = type;
            return NULL;
        }
    }
    return NULL;
}

static int combiner_of(const struct mpiio_mpi *mpi, mpiio_word datatype) {
    int integers, addresses, datatypes, combiner;
    if (!mpi->type_envelope || mpi->type_envelope(datatype, &integers, &addresses, &datatypes, &combiner) != 0)
        return -1;
    return combiner - mpi->named;
}

static void query_name(const struct mpiio_mpi *mpi, mpiio_word datatype, char *name) {
    int length = 0;
    *name = '\0';
    if (!mpi->type_name || mpi->type_name(datatype, name, &length) != 0)
        *name = '\0';
}

static const struct known_type *predefined(const struct mpiio_mpi *mpi, mpiio_word datatype, bool failed) {
    struct known_type *room;
    const struct known_type *known = datatype > 1 ? find_type(datatype, &room) : NULL;
    if (known || failed || datatype <= 1 || !room || !mpi->type_size || combiner_of(mpi, datatype) != 0)
        return known;
    mpiio_word nobody = 0;
    if (!atomic_compare_exchange_strong(&room->datatype, &nobody, 1))
        return NULL;
    char name[MAX_NAME];
    query_name(mpi, datatype, name);
    strncpy(room->name, name, SHORT_NAME - 1);
    if (mpi->type_size(datatype, &room->size) != 0)
        room->size = 0;
    atomic_store_explicit(&room->datatype, datatype, memory_order_release);
    return room;
}

int64_t mpiio_type_size(mpiio_word datatype, bool failed, const void *caller) {
    const struct mpiio_mpi *mpi = mpiio_mpi(caller);
    datatype = mpiio_value(mpi, datatype);
    const struct known_type *known = predefined(mpi, datatype, failed);
    int64_t size = 0;
    if (known)
        return known->size;
    return !failed && mpi->type_size && mpi->type_size(datatype, &size) == 0 && size > 0 ? size : 0;
}

const char *mpiio_type_name(mpiio_word datatype, bool failed, const void *caller) {
    const struct mpiio_mpi *mpi = mpiio_mpi(caller);
    datatype = mpiio_value(mpi, datatype);
    const struct known_type *known = predefined(mpi, datatype, failed);
    if (known && *known->name)
        return known->name;
    if (failed)
        return NULL;
    struct text text = next_text();
    char *start = text.at;
    char name[MAX_NAME];
    query_name(mpi, datatype, name);
    if (*name && strncmp(name, "Dup ", 4) != 0) { /* Open MPI gives copies such names itself */
        add(&text, name);
        return start;
    }
    int combiner = combiner_of(mpi, datatype);
    if (combiner < 0 || combiner >= (int)(sizeof combiners / sizeof *combiners))
        return NULL;
    add(&text, combiners[combiner]);
    add(&text, ":");
    add_number(&text, mpiio_type_size(datatype, false, caller));
    return start;
}

/* ---- communicators, hints ---- */

const char *mpiio_comm(mpiio_word comm, bool failed, const void *caller) {
    const struct mpiio_mpi *mpi = mpiio_mpi(caller);
    comm = mpiio_value(mpi, comm);
    if (comm == mpi->world)
        return "MPI_COMM_WORLD";
    if (comm == mpi->self)
        return "MPI_COMM_SELF";
    int size = 0;
    if (failed || !mpi->comm_size || mpi->comm_size(comm, &size) != 0)
        return NULL;
    struct text text = next_text();
    char *start = text.at;
    add(&text, "size ");
    add_number(&text, size);
    return start;
}

const char *mpiio_info(mpiio_word info, bool failed, const void *caller) {
    const struct mpiio_mpi *mpi = mpiio_mpi(caller);
    info = mpiio_value(mpi, info);
    if (info == mpi->no_info)
        return "MPI_INFO_NULL";
    int count = 0;
    if (failed || !mpi->info_count || !mpi->info_key || !mpi->info_get || mpi->info_count(info, &count) != 0)
        return NULL;
    struct text text = next_text();
    char *start = text.at;
    for (int i = 0; i < count && text.at < text.end; i++) {
        char key[MAX_NAME] = "", value[MAX_NAME] = "";
        int present = 0;
        if (mpi->info_key(info, i, key) != 0 || mpi->info_get(info, key, MAX_NAME - 1, value, &present) != 0 ||
            !present)
            continue;
        add(&text, text.at == start ? "" : ";");
        add(&text, key);
        add(&text, "=");
        add(&text, value);
    }
    return start;
}

/* ---- modes: the same numbers in every MPI ---- */

const char *mpiio_amode(int amode) {
    static const char *const names[] = {"CREATE", "RDONLY", "WRONLY", "RDWR",      "DELETE_ON_CLOSE",
                                        "UNIQUE_OPEN", "EXCL",   "APPEND", "SEQUENTIAL"};
    struct text text = next_text();
    char *start = text.at;
    for (int i = 0; i < 9; i++)
        if (amode & 1 << i) {
            add(&text, text.at == start ? "MPI_MODE_" : "|MPI_MODE_");
            add(&text, names[i]);
        }
    if (amode & ~0x1ff) {
        add(&text, text.at == start ? "" : "|");
        add_number(&text, amode & ~0x1ff);
    }
    return start;
}

const char *mpiio_whence(int whence) {
    return whence == 600 ? "MPI_SEEK_SET" : whence == 602 ? "MPI_SEEK_CUR" : whence == 604 ? "MPI_SEEK_END" : NULL;
}
