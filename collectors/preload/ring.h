/* The memory that a traced process shares with the collector. collectors/sources/_region.py mirrors it.
 *
 * One region (a sealed memfd) holds: this header, the call table, the slots' control blocks, the definitions log,
 * and one ring of records a slot. Further threads than slots bring further regions ("extents") with the same layout.
 */
#ifndef IOTIDE_RING_H
#define IOTIDE_RING_H

#include <stdatomic.h>
#include <stdint.h>

#define IOTIDE_MAGIC UINT64_C(0x00454449544f4931) /* "1IOTIDE" */
#define IOTIDE_LAYOUT 1
#define IOTIDE_HEADER_BYTES 4096
#define IOTIDE_JOB_BYTES 128
#define IOTIDE_COMMAND_BYTES 512

enum iotide_layer { LAYER_POSIX = 1, LAYER_STDIO = 2 };
enum iotide_kind {
    KIND_OTHER, KIND_CREATE, KIND_DUPLICATE, KIND_DESTROY, KIND_SEEK, KIND_CHANGE_FLAGS, KIND_DELETE, KIND_READ,
    KIND_WRITE, KIND_SYNC
};
enum iotide_flag { FLAG_BLOCKING = 1, FLAG_FAILED = 4 };

/* One completed call; a cache line, so that a record is never shared between two lines. */
struct iotide_record {
    int64_t start_ns; /* CLOCK_MONOTONIC */
    int64_t duration_ns;
    int64_t offset; /* -1: unknown */
    int64_t requested;
    int64_t bytes;
    uint32_t handle;
    uint32_t parent;
    uint32_t file;
    uint32_t signature;
    uint16_t call;
    uint16_t flags;
    uint8_t layer;
    uint8_t kind;
    uint8_t error;
    uint8_t depth;
};
_Static_assert(sizeof(struct iotide_record) == 64, "a record is a cache line");

enum iotide_slot_state { SLOT_FREE, SLOT_CLAIMED, SLOT_RELEASED };

/* Control block of a thread's ring. The thread owns the first line, the collector the second. */
struct iotide_slot {
    _Atomic uint32_t state;
    _Atomic int32_t tid; /* set before the first record of a claim, so it is right for all that can be read */
    _Atomic uint64_t head;
    _Atomic uint64_t dropped_full;
    uint8_t pad0[40];
    _Atomic uint64_t tail;
    uint8_t pad1[56];
};
_Static_assert(sizeof(struct iotide_slot) == 128, "two cache lines");

struct iotide_call {
    char name[28];
    uint8_t layer;
    uint8_t kind;
    uint8_t pad[2];
};
_Static_assert(sizeof(struct iotide_call) == 32, "mirrored in Python");

/* Entry of the definitions log, 16-byte aligned. A producer reserves by moving log_head, and commits by storing size;
 * the collector zeroes what it has read, then moves log_tail. */
enum iotide_entry_type { ENTRY_PAD, ENTRY_FILE };
struct iotide_entry {
    _Atomic uint32_t size; /* of the whole entry; 0: not committed */
    uint16_t type;
    uint16_t length; /* of the text that follows */
    uint32_t number;
    uint32_t pad;
};
_Static_assert(sizeof(struct iotide_entry) == 16, "mirrored in Python");

struct iotide_header {
    uint64_t magic;
    uint32_t layout;
    uint32_t extent; /* 0: the process's first region, with the definitions log */
    uint64_t region_bytes;
    uint64_t token; /* names the process image; all its extents carry it */
    uint32_t slot_count;
    uint32_t ring_records; /* a power of two */
    uint32_t call_count;
    uint32_t log_bytes; /* a power of two */
    uint64_t calls_offset;
    uint64_t slots_offset;
    uint64_t log_offset;
    uint64_t rings_offset;
    int32_t pid;
    int32_t ppid;
    int32_t rank;  /* -1: none */
    int32_t ranks; /* 0: unknown */
    int64_t clock_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC at start */
    _Atomic uint64_t dropped_no_slot;
    _Atomic uint64_t dropped_reentrant;
    _Atomic uint64_t definitions_dropped;
    _Atomic uint64_t log_head;
    _Atomic uint64_t log_tail;
    char job[IOTIDE_JOB_BYTES];
    char command[IOTIDE_COMMAND_BYTES];
};
_Static_assert(sizeof(struct iotide_header) <= IOTIDE_HEADER_BYTES, "the header has its page");

/* What is sent over the collector's socket, with the region's descriptor; all else stands in the region. */
struct iotide_hello {
    uint64_t magic;
    uint32_t layout;
    uint32_t extent;
    uint64_t region_bytes;
    uint64_t token;
};

#endif
