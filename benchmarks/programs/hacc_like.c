/* I/O of HACC: compute, write the particles' nine variables to one file per rank, read them back, verify; repeat.
 * usage: hacc_like -o PREFIX [-i ITERATIONS] [-n PARTICLES] [-d COMPUTE_S] [-F BYTES]
 * -F cuts the first iteration's writes into pieces of BYTES, like a file system that is slow at first. */
#define _GNU_SOURCE
#include "phases.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { VARIABLES = 9 };
/* Position, velocity and potential are floats; then a 64-bit number and a 16-bit mask: 38 bytes per particle. */
static const int64_t widths[VARIABLES] = {4, 4, 4, 4, 4, 4, 4, 8, 2};

int main(int count, char **words) {
    const char *prefix = NULL;
    int iterations = 10, letter, rank;
    int64_t particles = 1000000, piece = 0;
    double seconds = 1;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    while ((letter = getopt(count, words, "o:i:n:d:F:")) != -1) {
        switch (letter) {
        case 'o': prefix = optarg; break;
        case 'i': iterations = atoi(optarg); break;
        case 'n': particles = atoll(optarg); break;
        case 'd': seconds = atof(optarg); break;
        case 'F': piece = atoll(optarg); break;
        default: prefix = NULL; optind = count;
        }
    }
    if (!prefix || particles <= 0) {
        if (rank == 0)
            fprintf(stderr, "hacc_like: -o PREFIX is needed\n");
        MPI_Finalize();
        return 2;
    }
    char path[4096];
    if (snprintf(path, sizeof path, "%s.%d", prefix, rank) >= (int)sizeof path)
        fail("path");
    int file = open(path, O_CREAT | O_RDWR | O_DSYNC, 0600);
    if (file < 0)
        fail(path);
    char *kept[VARIABLES], *found = grown(NULL, (size_t)(8 * particles));
    for (int variable = 0; variable < VARIABLES; variable++)
        kept[variable] = grown(NULL, (size_t)(widths[variable] * particles));
    for (int iteration = 0; iteration < iterations; iteration++) {
        for (int variable = 0; variable < VARIABLES; variable++)
            memset(kept[variable], iteration * VARIABLES + variable + 1, (size_t)(widths[variable] * particles));
        compute(seconds);
        MPI_Barrier(MPI_COMM_WORLD);
        int64_t began = now(), at = 0;
        for (int variable = 0; variable < VARIABLES; variable++) {
            int64_t length = widths[variable] * particles, step = iteration == 0 && piece > 0 ? piece : length;
            for (int64_t done = 0; done < length; done += step) {
                int64_t bytes = done + step < length ? step : length - done, start = now();
                if (pwrite(file, kept[variable] + done, (size_t)bytes, at + done) != bytes)
                    fail("write");
                add_request(start, bytes, 0);
            }
            at += length;
        }
        MPI_Barrier(MPI_COMM_WORLD);
        int64_t ended = now();
        at = 0;
        for (int variable = 0; variable < VARIABLES; variable++) {
            int64_t length = widths[variable] * particles, start = now();
            if (pread(file, found, (size_t)length, at) != length)
                fail("read");
            add_request(start, length, 1);
            ended = now();
            if (memcmp(found, kept[variable], (size_t)length) != 0)
                fail("verify");
            at += length;
        }
        add_phase(began, ended);
    }
    close(file);
    tell();
    MPI_Finalize();
    return 0;
}
