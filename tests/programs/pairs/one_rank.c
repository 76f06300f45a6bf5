/* One rank writes the data of all; mended: each writes its part to a file of its own. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PART = 32 << 20, STEPS = 8 };

int main(int argc, char **argv)
{
    char path[4096];
    int rank, ranks;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *part = malloc(PART);
    if (argc < 3 || !part)
        MPI_Abort(MPI_COMM_WORLD, 2);
    memset(part, rank, PART);
    snprintf(path, sizeof path - 16, "%s/whole.dat", argv[2]);
    const int mended = !strcmp(argv[1], "mended");
    snprintf(path + strlen(path), 16, ".%d", mended ? rank : 0);
    if (mended || !rank)
        unlink(path); /* a file that is already in memory takes a tenth of the time */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_open(mended ? MPI_COMM_SELF : MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    for (MPI_Offset step = 0; step < STEPS; step++) {
        if (mended)
            MPI_File_write_at(file, step * PART, part, PART, MPI_BYTE, MPI_STATUS_IGNORE);
        else if (!rank)
            for (int of = 0; of < ranks; of++)
                MPI_File_write_at(file, (step * ranks + of) * PART, part, PART, MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (!rank)
        printf("%.6f\n", MPI_Wtime() - began);
    MPI_File_close(&file);
    free(part);
    return MPI_Finalize();
}
