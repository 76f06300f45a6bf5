/* Two ranks write the same bytes of one file without synchronisation; mended: each has bytes of its own. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 20, BLOCKS = 64 };

int main(int argc, char **argv)
{
    char path[4096];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *block = malloc(BLOCK);
    if (argc < 3 || !block)
        MPI_Abort(MPI_COMM_WORLD, 2);
    memset(block, rank, BLOCK);
    snprintf(path, sizeof path, "%s/grid.dat", argv[2]);
    const int mended = !strcmp(argv[1], "mended");
    const int file = open(path, O_WRONLY | O_CREAT, 0600);
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    for (long at = 0; at < BLOCKS; at++)
        if (pwrite(file, block, BLOCK, (at * 2 + (mended ? rank : 0)) * BLOCK) != BLOCK)
            MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("%.6f\n", MPI_Wtime() - began);
    close(file);
    free(block);
    return MPI_Finalize();
}
