/* Writes and reads back like IOR, to a single shared file or to one file per process.
 * usage: ssf_fpp -o FILE [-F] [-a posix|mpiio] [-s SEGMENTS] [-b BLOCK] [-t TRANSFER]
 * Sizes are in bytes. -F gives each rank a file of its own, FILE.RANK. posix seeks, then writes or reads; mpiio
 * makes one MPI-IO call for each such pair. Each file is synced after writing; a rank reads its neighbour's data. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MPI_File by_mpi = MPI_FILE_NULL;
static int descriptor = -1;
static int mpiio;

static void fail(const char *what) {
    perror(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void open_file(const char *path, MPI_Comm who) {
    if (mpiio) {
        if (MPI_File_open(who, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &by_mpi) != MPI_SUCCESS)
            fail(path);
    } else if ((descriptor = open(path, O_CREAT | O_RDWR, 0600)) < 0) {
        fail(path);
    }
}

static void close_file(void) {
    if (mpiio)
        MPI_File_close(&by_mpi);
    else
        close(descriptor);
}

static void transfer(char *buffer, int64_t at, int64_t bytes, int reads) {
    if (mpiio) {
        int status = reads ? MPI_File_read_at(by_mpi, at, buffer, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE)
                           : MPI_File_write_at(by_mpi, at, buffer, (int)bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        if (status != MPI_SUCCESS)
            fail("MPI-IO");
        return;
    }
    if (lseek(descriptor, at, SEEK_SET) != at)
        fail("lseek");
    ssize_t moved = reads ? read(descriptor, buffer, (size_t)bytes) : write(descriptor, buffer, (size_t)bytes);
    if (moved != bytes)
        fail("transfer");
}

int main(int count, char **words) {
    const char *path = NULL;
    int per_process = 0, segments = 3, letter, rank, ranks;
    int64_t block = 1 << 20, size = 1 << 16;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    while ((letter = getopt(count, words, "o:a:s:b:t:F")) != -1) {
        switch (letter) {
        case 'o': path = optarg; break;
        case 'a': mpiio = strcmp(optarg, "mpiio") == 0; break;
        case 's': segments = atoi(optarg); break;
        case 'b': block = atoll(optarg); break;
        case 't': size = atoll(optarg); break;
        case 'F': per_process = 1; break;
        default: path = NULL; optind = count;
        }
    }
    if (!path || size <= 0 || block <= 0 || block % size) {
        if (rank == 0)
            fprintf(stderr, "ssf_fpp: -o FILE is needed, and a block is a multiple of a transfer\n");
        MPI_Finalize();
        return 2;
    }
    char *buffer = malloc((size_t)size), name[4096];
    if (!buffer)
        fail("memory");
    memset(buffer, rank + 1, (size_t)size);
    MPI_Comm who = per_process ? MPI_COMM_SELF : MPI_COMM_WORLD;
    for (int reads = 0; reads < 2; reads++) {
        int owner = (rank + reads) % ranks;
        snprintf(name, sizeof name, per_process ? "%s.%d" : "%s", path, owner);
        MPI_Barrier(MPI_COMM_WORLD);
        open_file(name, who);
        for (int segment = 0; segment < segments; segment++) {
            int64_t begin = per_process ? segment * block : ((int64_t)segment * ranks + owner) * block;
            for (int64_t done = 0; done < block; done += size)
                transfer(buffer, begin + done, size, reads);
        }
        if (!reads && mpiio)
            MPI_File_sync(by_mpi);
        else if (!reads && fsync(descriptor))
            fail("fsync");
        close_file();
    }
    free(buffer);
    MPI_Finalize();
    return 0;
}
