/* Each rank opens its log for each line; mended: it stays open. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { LINES = 30000 };

int main(int argc, char **argv)
{
    char path[4096];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const int mended = !strcmp(argv[1], "mended");
    snprintf(path, sizeof path, "%s/rank-%d.log", argv[2], rank);
    FILE *file = NULL;
    double sum = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    const double began = MPI_Wtime();
    for (int line = 0; line < LINES; line++) {
        for (int at = 1; at < 200; at++)
            sum += 1.0 / (line + at);
        if (!file && !(file = fopen(path, "a")))
            MPI_Abort(MPI_COMM_WORLD, 1);
        fprintf(file, "step %d sum %.3f\n", line, sum);
        if (!mended) {
            fclose(file);
            file = NULL;
        }
    }
    if (file)
        fclose(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (!rank)
        printf("%.6f\n", MPI_Wtime() - began);
    return MPI_Finalize();
}
