/* Rank 0 reads the whole input and distributes it; mended: each rank reads its part. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PART = 1 << 20, PARTS = 384 };

int main(int argc, char **argv)
{
    char path[4096];
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *part = malloc(PART);
    if (argc < 3 || !part)
        MPI_Abort(MPI_COMM_WORLD, 2);
    memset(part, 3, PART);
    snprintf(path, sizeof path, "%s/input.bin", argv[2]);
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (!rank && lseek(file, 0, SEEK_END) == 0)
        for (int at = 0; at < PARTS; at++)
            if (write(file, part, PART) != PART)
                MPI_Abort(MPI_COMM_WORLD, 1);
    if (!rank) {
        fsync(file);
        posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    }
    const int mended = !strcmp(argv[1], "mended");
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    for (int at = 0; at < PARTS; at++) {
        const int to = at * ranks / PARTS;
        if ((mended ? to : 0) == rank && pread(file, part, PART, (off_t)at * PART) != PART)
            MPI_Abort(MPI_COMM_WORLD, 1);
        if (!mended && to && !rank)
            MPI_Send(part, PART, MPI_BYTE, to, 0, MPI_COMM_WORLD);
        if (!mended && to == rank && rank)
            MPI_Recv(part, PART, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("%.6f\n", MPI_Wtime() - began);
    close(file);
    free(part);
    return MPI_Finalize();
}
