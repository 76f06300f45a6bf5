/* The same as hdf5_parallel.py, for an MPI without h5py: ranks write one row each, collectively and independently,
 * and read one back. */
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 1024

static void must(int holds) {
    if (!holds)
        MPI_Abort(MPI_COMM_WORLD, 9);
}

static void move_row(hid_t rows, hsize_t row, hsize_t width, double *values, H5FD_mpio_xfer_t how, int reads) {
    hsize_t start[2] = {row, 0}, count[2] = {1, width};
    hid_t file = H5Dget_space(rows), memory = H5Screate_simple(2, count, NULL), plist = H5Pcreate(H5P_DATASET_XFER);
    must(H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 && H5Pset_dxpl_mpio(plist, how) >= 0);
    must((reads ? H5Dread(rows, H5T_NATIVE_DOUBLE, memory, file, plist, values)
                : H5Dwrite(rows, H5T_NATIVE_DOUBLE, memory, file, plist, values)) >= 0);
    H5Pclose(plist);
    H5Sclose(memory);
    H5Sclose(file);
}

int main(int count, char **words) {
    must(MPI_Init(&count, &words) == MPI_SUCCESS && count == 2);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double values[WIDTH], total = 0;
    for (int i = 0; i < WIDTH; i++)
        values[i] = rank;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    must(H5Pset_fapl_mpio(access, MPI_COMM_WORLD, MPI_INFO_NULL) >= 0);
    hid_t file = H5Fcreate(words[1], H5F_ACC_TRUNC, H5P_DEFAULT, access);
    hsize_t size[2] = {(hsize_t)ranks, WIDTH};
    hid_t space = H5Screate_simple(2, size, NULL);
    hid_t timeless = H5Pcreate(H5P_DATASET_CREATE); /* so that each run creates the same file */
    must(H5Pset_obj_track_times(timeless, 0) >= 0);
    hid_t rows = H5Dcreate2(file, "rows", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, timeless, H5P_DEFAULT);
    must(rows >= 0);
    move_row(rows, (hsize_t)rank, WIDTH, values, H5FD_MPIO_COLLECTIVE, 0);
    for (int i = 0; i < 4; i++)
        values[i] = 7;
    move_row(rows, (hsize_t)rank, 4, values, H5FD_MPIO_INDEPENDENT, 0);
    must(H5Sclose(space) >= 0 && H5Dclose(rows) >= 0 && H5Fclose(file) >= 0);

    file = H5Fopen(words[1], H5F_ACC_RDONLY, access);
    rows = H5Dopen2(file, "rows", H5P_DEFAULT);
    must(rows >= 0);
    move_row(rows, (hsize_t)((rank + 1) % ranks), WIDTH, values, H5FD_MPIO_INDEPENDENT, 1);
    must(H5Dclose(rows) >= 0 && H5Fclose(file) >= 0 && H5Pclose(access) >= 0);
    for (int i = 0; i < WIDTH; i++)
        total += values[i];
    double totals[64];
    must(ranks <= 64);
    MPI_Gather(&total, 1, MPI_DOUBLE, totals, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < ranks; i++)
        printf("%s%.1f%s", i ? ", " : "[", totals[i], i == ranks - 1 ? "]" : "");
    fflush(stdout);
    return MPI_Finalize();
}
