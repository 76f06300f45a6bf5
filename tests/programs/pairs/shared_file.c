/* Ranks write small pieces in turn to one file; mended: one large block each. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 256, PIECES = 20000, STEPS = 4 };

int main(int argc, char **argv)
{
    static char data[PIECE * PIECES];
    char path[4096];
    int rank, ranks;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    snprintf(path, sizeof path, "%s/shared.dat", argv[2]);
    const int mended = !strcmp(argv[1], "mended");
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    for (int step = 0; step < STEPS; step++) {
        if (mended)
            MPI_File_write_at(file, ((MPI_Offset)step * ranks + rank) * PIECE * PIECES, data, PIECE * PIECES, MPI_BYTE,
                              MPI_STATUS_IGNORE);
        else
            for (long at = (long)step * PIECES; at < (step + 1L) * PIECES; at++)
                MPI_File_write_at(file, (at * ranks + rank) * PIECE, data, PIECE, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("%.6f\n", MPI_Wtime() - began);
    MPI_File_close(&file);
    return MPI_Finalize();
}
