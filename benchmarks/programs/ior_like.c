/* Writes like the IOR benchmark: iterations of segments with one block per rank, in transfers, to one shared file.
 * usage: ior_like -o FILE [-a posix|mpiio] [-i ITERATIONS] [-s SEGMENTS] [-b BLOCK] [-t TRANSFER] [-d DELAY_S]
 *                 [-D SECONDS] [-r]
 * Sizes are in bytes. posix writes synchronously, mpiio syncs after each iteration. -D repeats the segments of an
 * iteration until SECONDS have passed (stonewalling), -r reads the blocks back. */
#define _GNU_SOURCE
#include "phases.h"
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static MPI_File shared;
static int descriptor = -1;
static int by_mpi;

static void transfer(char *buffer, int64_t at, int64_t bytes, int read) {
    int64_t start = now();
    if (by_mpi) {
        int status = read ? MPI_File_read_at(shared, at, buffer, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                          : MPI_File_write_at(shared, at, buffer, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        if (status != MPI_SUCCESS)
            fail("MPI-IO");
    } else {
        ssize_t moved = read ? pread(descriptor, buffer, (size_t)bytes, at) : pwrite(descriptor, buffer, (size_t)bytes, at);
        if (moved != bytes)
            fail("transfer");
    }
    add_request(start, bytes, read);
}

int main(int count, char **words) {
    const char *path = NULL;
    int iterations = 8, segments = 2, read_back = 0, letter, rank, ranks;
    int64_t block = 10 << 20, size = 2 << 20;
    double delay = 1, stonewall = 0;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((letter = getopt(count, words, "o:a:i:s:b:t:d:D:r")) != -1) {
        switch (letter) {
        case 'o': path = optarg; break;
        case 'a': by_mpi = strcmp(optarg, "mpiio") == 0; break;
        case 'i': iterations = atoi(optarg); break;
        case 's': segments = atoi(optarg); break;
        case 'b': block = atoll(optarg); break;
        case 't': size = atoll(optarg); break;
        case 'd': delay = atof(optarg); break;
        case 'D': stonewall = atof(optarg); break;
        case 'r': read_back = 1; break;
        default: path = NULL; optind = count;
        }
    }
    if (!path || size <= 0 || block % size) {
        if (rank == 0)
            fprintf(stderr, "ior_like: -o FILE is needed, and a block is a multiple of a transfer\n");
        MPI_Finalize();
        return 2;
    }
    char *buffer = grown(NULL, (size_t)size);
    memset(buffer, rank + 1, (size_t)size);
    if (by_mpi) {
        if (MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &shared) != MPI_SUCCESS)
            fail(path);
    } else if ((descriptor = open(path, O_CREAT | O_RDWR | O_DSYNC, 0600)) < 0) {
        fail(path);
    }
    for (int iteration = 0; iteration < iterations; iteration++) {
        compute(delay);
        MPI_Barrier(MPI_COMM_WORLD);
        int64_t start = now(), until = start + (int64_t)(stonewall * 1e9);
        do {
            for (int segment = 0; segment < segments; segment++)
                for (int64_t done = 0; done < block; done += size)
                    transfer(buffer, ((int64_t)segment * ranks + rank) * block + done, size, 0);
        } while (now() < until);
        if (by_mpi)
            MPI_File_sync(shared);
        for (int segment = 0; read_back && segment < segments; segment++)
            for (int64_t done = 0; done < block; done += size)
                transfer(buffer, ((int64_t)segment * ranks + rank) * block + done, size, 1);
        add_phase(start, now());
    }
    if (by_mpi)
        MPI_File_close(&shared);
    else
        close(descriptor);
    tell();
    MPI_Finalize();
    return 0;
}
