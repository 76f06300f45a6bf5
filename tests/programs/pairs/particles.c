/* Ranks write particles of 48 bytes in turns to one file, one by one; mended: one block per rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTICLE = 48, PARTICLES = 180000 };

int main(int argc, char **argv)
{
    char path[4096];
    int rank, ranks;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char *all = malloc((size_t)PARTICLE * PARTICLES);
    if (argc < 3 || !all)
        MPI_Abort(MPI_COMM_WORLD, 2);
    memset(all, rank, (size_t)PARTICLE * PARTICLES);
    snprintf(path, sizeof path, "%s/particles.bin", argv[2]);
    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &file);
    const int mended = !strcmp(argv[1], "mended");
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    if (mended) {
        MPI_File_write_at(file, (MPI_Offset)rank * PARTICLE * PARTICLES, all, PARTICLE * PARTICLES, MPI_BYTE,
                          MPI_STATUS_IGNORE);
    } else {
        for (MPI_Offset at = 0; at < PARTICLES; at++)
            MPI_File_write_at(file, (at * ranks + rank) * PARTICLE, all + at * PARTICLE, PARTICLE, MPI_BYTE,
                              MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("%.6f\n", MPI_Wtime() - began);
    MPI_File_close(&file);
    free(all);
    return MPI_Finalize();
}
