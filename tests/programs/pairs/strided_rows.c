/* Ranks write their columns of a matrix row by row with MPI-IO; mended: each rank its rows as one block. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 60000, COLUMNS = 64 };

int main(int argc, char **argv)
{
    static double rows[ROWS][COLUMNS];
    char path[4096];
    int rank, ranks;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const int mended = !strcmp(argv[1], "mended"), width = COLUMNS / ranks, count = ROWS / ranks;
    snprintf(path, sizeof path, "%s/matrix.bin", argv[2]);
    memset(rows, 1, sizeof rows);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    if (mended) {
        const MPI_Offset at = (MPI_Offset)rank * count * (MPI_Offset)sizeof rows[0];
        MPI_File_write_at(file, at, rows[rank * count], count * COLUMNS, MPI_DOUBLE, MPI_STATUS_IGNORE);
    } else {
        for (int row = 0; row < ROWS; row++) {
            const MPI_Offset at = ((MPI_Offset)row * COLUMNS + rank * width) * (MPI_Offset)sizeof(double);
            MPI_File_write_at(file, at, &rows[row][rank * width], width, MPI_DOUBLE, MPI_STATUS_IGNORE);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("%.6f\n", MPI_Wtime() - began);
    MPI_File_close(&file);
    return MPI_Finalize();
}
