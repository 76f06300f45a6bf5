/* The memory that a traced process shares with the collector. collectors/sources/preload/records/ring_layout.py
 * mirrors it.
 *
 * One region (a sealed memfd) contains: this header, the slots' control blocks, the definitions log, and one ring of
 * lines per slot. More threads than slots need further regions ("extents") with the same layout. */
#ifndef IOTIDE_RING_H
#define IOTIDE_RING_H

#include <stdatomic.h>
#include <stdint.h>

#define IOTIDE_MAGIC UINT64_C(0x00454449544f4931) /* "1IOTIDE" */
#define IOTIDE_LAYOUT 3
#define IOTIDE_HEADER_BYTES 4096
#define IOTIDE_JOB_BYTES 128
#define IOTIDE_COMMAND_BYTES 512
#define IOTIDE_STEP_BYTES 32
#define IOTIDE_ROOT_MOUNT (UINT64_C(1) << 63)

enum iotide_layer { LAYER_OTHER, LAYER_POSIX, LAYER_STDIO, LAYER_MPIIO, LAYER_HDF5, LAYER_NETCDF, LAYER_PNETCDF };
enum iotide_kind {
    KIND_OTHER, KIND_CREATE, KIND_DUPLICATE, KIND_DESTROY, KIND_SEEK, KIND_CHANGE_FLAGS, KIND_DELETE, KIND_READ,
    KIND_WRITE, KIND_SYNC
};
/* FLAG_STORES: for mmap and msync: stores to this mapping change the file
 * FLAG_LOADS: for mmap: the program can read the file in the mapping
 * FLAG_THROUGH: for C library calls: the call made system calls; others only copied to or from the buffer */
enum iotide_flag { FLAG_BLOCKING = 1, FLAG_COLLECTIVE = 2, FLAG_FAILED = 4, FLAG_APPEND = 8, FLAG_STORES = 64,
                   FLAG_THROUGH = 256, FLAG_LOADS = 512 };

/* One completed call: one cache line, so that records do not share cache lines. */
struct iotide_record {
    int64_t start_ns; /* CLOCK_MONOTONIC */
    int64_t duration_ns;
    int64_t offset; /* -1: unknown */
    int64_t requested;
    int64_t bytes;
    uint32_t handle;
    uint32_t parent; /* handle of the enclosing call */
    uint32_t file;
    int32_t descriptor; /* the program's own number for the handle (a descriptor, an ncid); -1: none */
    uint16_t call;
    uint16_t flags;
    uint8_t words; /* parameters that follow, in further lines */
    uint8_t kind;
    uint8_t error;
    uint8_t depth; /* below MARK_WORDS */
};
_Static_assert(sizeof(struct iotide_record) == 64, "a record is a cache line");

/* Parameters that have no field in the record: they follow it in as many lines as needed. */
#define WORDS_PER_LINE 7
#define MARK_WORDS 0xff
struct iotide_words {
    uint64_t word[WORDS_PER_LINE];
    uint8_t pad[7];
    uint8_t mark; /* MARK_WORDS; at the offset of a record's depth */
};
_Static_assert(sizeof(struct iotide_words) == 64, "a line of the ring");

enum iotide_slot_state { SLOT_FREE, SLOT_CLAIMED, SLOT_RELEASED };

/* Control block of a thread's ring. The thread owns the first line, the collector the second. */
struct iotide_slot {
    _Atomic uint32_t state;
    _Atomic int32_t tid; /* set before the first record of a claim, so it is correct for all readable records */
    _Atomic uint64_t head; /* in lines; moves past a record and its words at once */
    _Atomic uint64_t dropped_full;
    _Atomic uint64_t made; /* records that head has moved past: made - taken are in the ring */
    _Atomic uint64_t sampled_out; /* calls left out by IOTIDE_SAMPLE, and their bytes */
    _Atomic uint64_t sampled_out_bytes;
    _Atomic uint64_t dropped_bytes; /* of the calls in dropped_full */
    _Atomic int64_t in_call_ns; /* CLOCK_MONOTONIC: start of the call that waits for its turn or moves data; 0: none */
    _Atomic uint64_t tail;  /* in lines */
    _Atomic uint64_t taken; /* records that the collector has copied out */
    uint8_t pad1[48];
};
_Static_assert(sizeof(struct iotide_slot) == 128, "two cache lines");

/* Entry of the definitions log, 16-byte aligned. A producer reserves an entry by moving log_head, and commits it by
 * storing size; the collector zeroes what it has read, then moves log_tail. A definition precedes the first record
 * that uses it. */
enum iotide_entry_type {
    ENTRY_PAD,
    ENTRY_FILE,   /* a path: absolute, or "pipe:[7]" */
    ENTRY_STRING, /* text of a parameter */
    ENTRY_CALL,   /* the specification of a call: "NAME(PARAMETER:CODE,...)=CODE", see docs/preload-calls.md; aux:
                   * the layer */
    ENTRY_HANDLE, /* a handle that no recorded call created: text "descriptor file parent open_flags origin"; aux:
                   * the layer */
    ENTRY_UNSEEN  /* activity that is not recorded: a program's path; aux: reason */
};
enum iotide_unseen {
    SEEN, UNSEEN_STATIC, UNSEEN_GO, UNSEEN_MUSL, UNSEEN_MACHINE, UNSEEN_PRIVILEGED,
    UNSEEN_ENVIRONMENT, /* started without the tracer's variables */
    UNSEEN_SANDBOXED,   /* may not even read the clock from now on */
    UNSEEN_CHILD,       /* forked by a program that has restricted itself */
    UNSEEN_BARRED,      /* started by a user, or in a root folder, without read access to the libraries */
    UNSEEN_NOT_STARTED, /* cancels the last report about the program */
    UNSEEN_ELSEWHERE,   /* started with the socket of another collector */
    UNSEEN_NOT_EMULATOR /* cancels a report about the program: it runs this process, which is traced */
};
struct iotide_entry {
    _Atomic uint32_t size; /* of the whole entry; 0: not committed */
    uint16_t type;
    uint16_t length; /* of the text that follows */
    uint32_t number; /* files, strings, calls and handles are numbered separately, from 1 */
    uint32_t aux;
};
_Static_assert(sizeof(struct iotide_entry) == 16, "mirrored in Python");

/* Whether to wake the collector when much data waits for it: by an empty connection to its socket. */
enum iotide_wakes { WAKES_NEVER, COLLECTOR_AWAKE, COLLECTOR_ASLEEP };

/* Bounds of the tracer's tables: calls beyond a bound are recorded without the table's information. The order is
 * that of BOUNDS in ring_layout.py; new ones go to the end. */
enum iotide_bound {
    BOUND_DESCRIPTORS,   /* numbers of descriptors */
    BOUND_HANDLES,       /* handles of libraries, by the library's value */
    BOUND_CONTENDED,     /* waits for a table that another thread has locked */
    BOUND_FORKED_FILES,  /* files of handles and mappings that a forked child inherits */
    BOUND_MAPPINGS,      /* mapped files */
    BOUND_PATH_BUFFERS,  /* concurrently used path buffers */
    BOUND_PATHS,         /* lengths of paths */
    BOUND_TEXTS,         /* lengths of text parameters */
    BOUND_NESTED,        /* nested calls */
    BOUND_COPIES,        /* copies of one library in a process */
    BOUND_CALLERS,       /* objects that call a library's functions */
    BOUND_OPERATIONS,    /* pending asynchronous operations */
    BOUND_THREAD_MEMORY, /* per-thread memory of hooks */
    BOUND_MPI_FILES,     /* open files and distinct opens in MPI-IO */
    BOUND_DIMENSIONS,    /* dimensions of a variable */
    BOUND_STREAMS,       /* streams whose characters are counted */
    IOTIDE_BOUNDS = 16   /* entries in the header */
};

struct iotide_header {
    uint64_t magic;
    uint32_t layout;
    uint32_t extent; /* 0: the process's first region, with the definitions log */
    uint64_t region_bytes;
    uint64_t token; /* identifies the process image, and a region that replaces one of a lost collector; extents have
                     * the same token */
    uint32_t slot_count;
    uint32_t ring_lines; /* a power of two */
    uint32_t log_bytes;  /* a power of two */
    int32_t pid;
    uint64_t slots_offset;
    uint64_t log_offset;
    uint64_t rings_offset;
    uint64_t mounts; /* IOTIDE_ROOT_MOUNT and the unique id of the root folder's mount, or the inode of
                      * /proc/self/ns/mnt; 0: unknown */
    int32_t ppid;
    _Atomic int32_t rank;  /* -1: none; set again by MPI_Init */
    _Atomic int32_t ranks; /* 0: unknown */
    _Atomic uint32_t wakes; /* enum iotide_wakes */
    int64_t clock_offset_ns; /* CLOCK_REALTIME - CLOCK_MONOTONIC at the start */
    _Atomic int64_t collector_seen_ns; /* CLOCK_MONOTONIC of the collector's last poll; written by the collector */
    uint64_t lost_before;              /* calls in an earlier region of this process when its collector was gone */
    _Atomic uint64_t dropped_no_slot;
    _Atomic uint64_t dropped_reentrant;
    _Atomic uint64_t definitions_dropped;
    _Atomic uint64_t left_out; /* calls on paths that the filters leave out */
    _Atomic uint64_t log_head;
    _Atomic uint64_t log_tail;
    char job[IOTIDE_JOB_BYTES];
    char command[IOTIDE_COMMAND_BYTES];
    /* Bytes of the calls counted above: a lower bound, as a record without room may lack its bytes. */
    uint64_t lost_before_bytes;
    _Atomic uint64_t dropped_no_slot_bytes;
    _Atomic uint64_t dropped_reentrant_bytes;
    uint64_t before_token; /* of the earlier region; 0: none */
    uint64_t taken_before; /* records that its collector had copied out */
    _Atomic uint64_t children_unheard; /* forked children that could not reach the collector */
    _Atomic uint64_t bounds_met[IOTIDE_BOUNDS]; /* by enum iotide_bound: number of overflows */
    char step[IOTIDE_STEP_BYTES];               /* step of the job in the batch system; empty: unknown */
    /* Pacing. The collector writes the device, the time and the word, which changes with the time; the process the
     * rest. */
    uint32_t paces;                  /* whether its calls wait on request */
    _Atomic uint32_t pace_word;      /* a futex */
    _Atomic uint64_t pace_device;    /* st_dev of the file system whose data calls wait; 0: none */
    _Atomic int64_t pace_until_ns;   /* CLOCK_MONOTONIC; a past time: no wait */
    _Atomic uint64_t paced_bytes;    /* bytes moved by calls on it */
    _Atomic uint64_t pace_waits;     /* number of calls that waited, */
    _Atomic uint64_t pace_wait_ns;   /* and their total waiting time */
    _Atomic uint64_t missed_before;  /* calls of the process before it found a collector */
    /* What would be lost if the process were killed now: streams with characters that are not recorded yet, and their
     * bytes at most. It is 0 after an exit or exec. */
    _Atomic uint64_t unrecorded_streams;
    _Atomic uint64_t unrecorded_bytes;
};

/* Cells: a process's first region has memory in which its forked children begin. A cell is a region with one slot, a
 * short ring and a short log. Most children end in it: they need no memory and no connection of their own. A child
 * that needs more hands over an extent, which has a definitions log, too. */
#define IOTIDE_CELLS 240
#define IOTIDE_CELL_LINES 64
#define IOTIDE_CELL_LOG_BYTES 32768
#define IOTIDE_CELL_SLOT_AT 1280
#define IOTIDE_CELL_RING_AT (IOTIDE_CELL_SLOT_AT + sizeof(struct iotide_slot))
#define IOTIDE_CELL_LOG_AT (IOTIDE_CELL_RING_AT + IOTIDE_CELL_LINES * sizeof(struct iotide_record))
#define IOTIDE_CELL_BYTES 40960
_Static_assert(sizeof(struct iotide_header) <= IOTIDE_CELL_SLOT_AT, "the slot follows the header");
_Static_assert(IOTIDE_CELL_LOG_AT + IOTIDE_CELL_LOG_BYTES <= IOTIDE_CELL_BYTES, "the log is in the cell");

struct iotide_cell {
    _Atomic int32_t pid;    /* 0: free. The child sets it, and the collector clears it and the used memory */
    _Atomic uint32_t stage; /* 0: being begun. Otherwise 2 * its number among the children, + 1: it has left the cell
                             * for an extent */
};

/* At this offset of a first region. */
#define IOTIDE_CELLS_AT 2048
struct iotide_cells {
    uint64_t offset;       /* of the first cell; 0: the region has none */
    uint32_t count;
    uint32_t cell_bytes;
    _Atomic uint32_t open; /* written by the collector: whether it reads cells that are begun now */
    _Atomic uint32_t begun;
    struct iotide_cell cell[IOTIDE_CELLS];
};
_Static_assert(sizeof(struct iotide_header) <= IOTIDE_CELLS_AT, "the table follows the header");
_Static_assert(IOTIDE_CELLS_AT + sizeof(struct iotide_cells) <= IOTIDE_HEADER_BYTES, "both have one page");

/* Sent over the collector's socket with the region's descriptor; everything else is in the region. */
struct iotide_hello {
    uint64_t magic;
    uint32_t layout;
    uint32_t extent;
    uint64_t region_bytes;
    uint64_t token;
};

/* Datagram to the abstract address of the socket's path, sent by a process that cannot hand over its region. */
struct iotide_untraced_report {
    uint64_t magic;
    uint32_t layout;
    int32_t failure; /* errno; 0: it could not even create a region */
    char job[IOTIDE_JOB_BYTES];
    char command[IOTIDE_JOB_BYTES];
};

#endif
