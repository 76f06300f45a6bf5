/* Writes a file through PnetCDF in all processes, and reads it again: pnetcdf_chain FILE. The first prints sums.
 * pnetcdf_chain FILE many: has more pending requests than the tracer stores, and waits for writes and reads at once.
 * pnetcdf_chain FILE fortran: as Fortran programs call it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>
#include <pnetcdf.h>

#define CHECK(call)                                                        \
    do {                                                                   \
        int status = (call);                                               \
        if (status != NC_NOERR) {                                          \
            fprintf(stderr, "%s: %s\n", #call, ncmpi_strerror(status));    \
            MPI_Abort(MPI_COMM_WORLD, 1);                                  \
        }                                                                  \
    } while (0)

enum { COLUMNS = 1000 };

static int rank, ranks;
static double line[COLUMNS];
static int numbers[COLUMNS];

static void write_file(const char *path) {
    int file, dimensions[2], lines, counts, requests[3], statuses[2];
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &file));
    CHECK(ncmpi_def_dim(file, "rank", ranks, &dimensions[0]));
    CHECK(ncmpi_def_dim(file, "column", COLUMNS, &dimensions[1]));
    CHECK(ncmpi_def_var(file, "line", NC_DOUBLE, 2, dimensions, &lines));
    CHECK(ncmpi_def_var(file, "count", NC_INT, 2, dimensions, &counts));
    CHECK(ncmpi_put_att_text(file, lines, "units", 5, "metre"));
    CHECK(ncmpi_enddef(file));
    MPI_Offset start[2] = {rank, 0}, count[2] = {1, COLUMNS}, half[2] = {1, COLUMNS / 2}, other[2] = {rank, COLUMNS / 2};
    CHECK(ncmpi_put_vara_double_all(file, lines, start, count, line));
    CHECK(ncmpi_begin_indep_data(file));
    CHECK(ncmpi_put_var1_double(file, lines, start, line));
    CHECK(ncmpi_end_indep_data(file));
    CHECK(ncmpi_iput_vara_int(file, counts, start, half, numbers, &requests[0]));
    CHECK(ncmpi_iput_vara(file, counts, other, half, numbers + COLUMNS / 2, COLUMNS / 2, MPI_INT, &requests[1]));
    CHECK(ncmpi_iput_var1_int(file, counts, start, numbers, &requests[2]));
    CHECK(ncmpi_cancel(file, 1, &requests[2], NULL));
    CHECK(ncmpi_wait_all(file, 2, requests, statuses));
    CHECK(ncmpi_buffer_attach(file, 64));
    CHECK(ncmpi_bput_var1_int(file, counts, start, numbers, &requests[0]));
    CHECK(ncmpi_wait_all(file, NC_REQ_ALL, NULL, NULL));
    CHECK(ncmpi_buffer_detach(file));
    CHECK(ncmpi_sync(file));
    CHECK(ncmpi_close(file));
}

static double read_file(const char *path) {
    int file, lines, counts, requests[2];
    double sum = 0;
    char units[6] = "";
    CHECK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
    CHECK(ncmpi_inq_varid(file, "line", &lines));
    CHECK(ncmpi_inq_varid(file, "count", &counts));
    MPI_Offset start[2] = {rank, 0}, count[2] = {1, COLUMNS}, one[2] = {1, 1}, last[2] = {rank, COLUMNS - 1};
    MPI_Offset *starts[2] = {start, last}, *both[2] = {one, one};
    double whole[COLUMNS], two[2];
    int cells[COLUMNS];
    CHECK(ncmpi_get_vara_all(file, lines, start, count, whole, COLUMNS, MPI_DOUBLE));
    CHECK(ncmpi_get_vara_all(file, lines, start, count, whole, 0, MPI_DATATYPE_NULL));
    CHECK(ncmpi_get_varn_double_all(file, lines, 2, starts, both, two));
    CHECK(ncmpi_iget_vara_int(file, counts, start, count, cells, &requests[0]));
    CHECK(ncmpi_wait_all(file, 1, requests, NULL));
    CHECK(ncmpi_get_att_text(file, lines, "units", units));
    for (int i = 0; i < COLUMNS; i++)
        sum += whole[i] + cells[i];
    CHECK(ncmpi_close(file));
    return sum + two[0] + two[1];
}

static void write_many(const char *path) {
    enum { MANY = 20000 };
    int file, dimension, cells, requests[2], statuses[2], back = 0, request;
    CHECK(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER, MPI_INFO_NULL, &file));
    CHECK(ncmpi_def_dim(file, "cell", (MPI_Offset)MANY * ranks, &dimension));
    CHECK(ncmpi_def_var(file, "cells", NC_INT, 1, &dimension, &cells));
    CHECK(ncmpi_enddef(file));
    for (MPI_Offset i = 0; i < MANY; i++) {
        MPI_Offset at = rank * (MPI_Offset)MANY + i;
        CHECK(ncmpi_iput_var1_int(file, cells, &at, &rank, i % 2 ? &request : NULL));
    }
    CHECK(ncmpi_wait_all(file, NC_PUT_REQ_ALL, NULL, NULL));
    MPI_Offset first = rank * (MPI_Offset)MANY, second = first + 1;
    CHECK(ncmpi_iput_var1_int(file, cells, &second, &ranks, &requests[0]));
    CHECK(ncmpi_iget_var1_int(file, cells, &first, &back, &requests[1]));
    CHECK(ncmpi_wait_all(file, 2, requests, statuses));
    CHECK(ncmpi_close(file));
    if (back != rank)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

int nfmpi_create_(MPI_Fint *, const char *, int *, MPI_Fint *, int *, int);
int nfmpi_def_dim_(int *, const char *, MPI_Offset *, int *, int);
int nfmpi_def_var_(int *, const char *, int *, int *, int *, int *, int);
int nfmpi_enddef_(int *);
int nfmpi_inq_dimlen_(int *, int *, MPI_Offset *);
int nfmpi_put_vara_double_all_(int *, int *, MPI_Offset *, MPI_Offset *, double *);
int nfmpi_iput_vara_int_(int *, int *, MPI_Offset *, MPI_Offset *, int *, int *);
int nfmpi_wait_all_(int *, int *, int *, int *);
int nfmpi_close_(int *);

static void write_fortran(const char *path) {
    MPI_Fint world = MPI_Comm_c2f(MPI_COMM_WORLD), none = MPI_Info_c2f(MPI_INFO_NULL);
    MPI_Offset first = 1, columns = COLUMNS, length;
    int mode = NC_CLOBBER, file, dimension, lines, counts, one = 1, real = NC_DOUBLE, whole = NC_INT, request, outcome;
    CHECK(nfmpi_create_(&world, path, &mode, &none, &file, (int)strlen(path)));
    CHECK(nfmpi_def_dim_(&file, "column", &columns, &dimension, 6));
    CHECK(nfmpi_def_var_(&file, "line", &real, &one, &dimension, &lines, 4));
    CHECK(nfmpi_def_var_(&file, "count", &whole, &one, &dimension, &counts, 5));
    CHECK(nfmpi_enddef_(&file));
    CHECK(nfmpi_inq_dimlen_(&file, &dimension, &length));
    CHECK(nfmpi_put_vara_double_all_(&file, &lines, &first, &length, line));
    CHECK(nfmpi_iput_vara_int_(&file, &counts, &first, &length, numbers, &request));
    CHECK(nfmpi_wait_all_(&file, &one, &request, &outcome));
    CHECK(nfmpi_close_(&file));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < COLUMNS; i++) {
        line[i] = rank + i;
        numbers[i] = i;
    }
    if (argc == 3) {
        (strcmp(argv[2], "many") == 0 ? write_many : write_fortran)(argv[1]);
        MPI_Finalize();
        return 0;
    }
    write_file(argv[1]);
    double mine = read_file(argv[1]), all = 0;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%g\n", all);
    MPI_Finalize();
    return 0;
}
