/* Common code: phases and requests are timed, kept in memory and printed at the end, so that the output does not mix
 * with the measured I/O. All times are CLOCK_REALTIME in nanoseconds. */
#ifndef PHASES_H
#define PHASES_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define SECOND 1000000000LL

typedef struct {
    int64_t start, end, bytes, read;
} Request;

static Request *requests;
static size_t requests_held, requests_room;
static int64_t (*phases)[2];
static int phases_held, phases_room;

static int64_t now(void) {
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    return at.tv_sec * SECOND + at.tv_nsec;
}

static void fail(const char *what) {
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void *grown(void *kept, size_t bytes) {
    void *more = realloc(kept, bytes);
    if (!more)
        fail("memory");
    return more;
}

static void compute(double seconds) {
    int64_t length = (int64_t)(seconds * 1e9);
    struct timespec left = {length / SECOND, length % SECOND};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left))
        ;
}

static void add_request(int64_t start, int64_t bytes, int64_t read) {
    if (requests_held == requests_room) {
        requests_room = requests_room ? 2 * requests_room : 4096;
        requests = grown(requests, requests_room * sizeof *requests);
    }
    requests[requests_held++] = (Request){start, now(), bytes, read};
}

static void add_phase(int64_t start, int64_t end) {
    if (phases_held == phases_room) {
        phases_room = phases_room ? 2 * phases_room : 64;
        phases = grown(phases, (size_t)phases_room * sizeof *phases);
    }
    phases[phases_held][0] = start;
    phases[phases_held++][1] = end;
}

/* Prints "phase START END" (first start and last end of all ranks) and "request RANK START END BYTES r|w". */
static void tell(void) {
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int at = 0; at < phases_held; at++) {
        int64_t start = 0, end = 0;
        MPI_Reduce(&phases[at][0], &start, 1, MPI_INT64_T, MPI_MIN, 0, MPI_COMM_WORLD);
        MPI_Reduce(&phases[at][1], &end, 1, MPI_INT64_T, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0)
            printf("phase %lld %lld\n", (long long)start, (long long)end);
    }
    for (int from = 0; from < ranks; from++) {
        Request *told = requests;
        int words = (int)(4 * requests_held);
        if (rank == 0 && from != 0) {
            MPI_Recv(&words, 1, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            told = grown(NULL, (size_t)words * sizeof(int64_t) + 1);
            MPI_Recv(told, words, MPI_INT64_T, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == from && rank != 0) {
            MPI_Send(&words, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
            MPI_Send(requests, words, MPI_INT64_T, 0, 1, MPI_COMM_WORLD);
        }
        for (int at = 0; rank == 0 && at < words / 4; at++)
            printf("request %d %lld %lld %lld %c\n", from, (long long)told[at].start, (long long)told[at].end,
                   (long long)told[at].bytes, told[at].read ? 'r' : 'w');
        if (told != requests)
            free(told);
    }
    fflush(stdout);
}

#endif
