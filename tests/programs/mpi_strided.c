/* Each rank writes its blocks of one file, in turn with the others, and one file of its own, the given number of
 * times. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 4096 };

int main(int argc, char **argv)
{
    static char block[BLOCK];
    char own[4096];
    int rank, ranks;
    MPI_File shared;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int times = argc > 2 ? atoi(argv[1]) : 0;
    if (!times)
        MPI_Abort(MPI_COMM_WORLD, 2);
    snprintf(own, sizeof own, "%s.%04d", argv[2], rank);
    const int descriptor = open(own, O_WRONLY | O_CREAT, 0600);
    if (descriptor < 0)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_File_open(MPI_COMM_WORLD, argv[2], MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &shared);
    for (long turn = 0; turn < times; turn++) {
        MPI_File_write_at(shared, (turn * ranks + rank) * BLOCK, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE);
        if (pwrite(descriptor, block, BLOCK, turn * BLOCK) != BLOCK)
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_File_close(&shared);
    close(descriptor);
    return MPI_Finalize();
}
