/* Writes a file through NetCDF in all processes, and reads it again: netcdf_parallel classic|netcdf4 FILE. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>

#define CHECK(call)                                                        \
    do {                                                                   \
        int status = (call);                                               \
        if (status != NC_NOERR) {                                          \
            fprintf(stderr, "%s: %s\n", #call, nc_strerror(status));       \
            MPI_Abort(MPI_COMM_WORLD, 1);                                  \
        }                                                                  \
    } while (0)

enum { COLUMNS = 1000 };

int main(int argc, char **argv) {
    int rank, ranks, file, dimensions[2], variable;
    double line[COLUMNS], mine = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 3)
        return 2;
    for (int i = 0; i < COLUMNS; i++)
        line[i] = rank + i;
    int mode = strcmp(argv[1], "netcdf4") == 0 ? NC_NETCDF4 : 0;
    size_t start[2] = {(size_t)rank, 0}, count[2] = {1, COLUMNS};
    CHECK(nc_create_par(argv[2], NC_CLOBBER | mode, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
    CHECK(nc_def_dim(file, "rank", (size_t)ranks, &dimensions[0]));
    CHECK(nc_def_dim(file, "column", COLUMNS, &dimensions[1]));
    CHECK(nc_def_var(file, "line", NC_DOUBLE, 2, dimensions, &variable));
    CHECK(nc_enddef(file));
    CHECK(nc_var_par_access(file, variable, NC_COLLECTIVE));
    CHECK(nc_put_vara_double(file, variable, start, count, line));
    CHECK(nc_close(file));
    memset(line, 0, sizeof line);
    CHECK(nc_open_par(argv[2], NC_NOWRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &file));
    CHECK(nc_inq_varid(file, "line", &variable));
    CHECK(nc_get_vara_double(file, variable, start, count, line));
    CHECK(nc_close(file));
    for (int i = 0; i < COLUMNS; i++)
        mine += line[i];
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%g\n", all);
    MPI_Finalize();
    return 0;
}
