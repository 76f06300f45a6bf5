/* Writes rows of a dataset one by one; mended: in blocks of a thousand. */
#include <hdf5.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ROWS = 150000, WIDTH = 32, MOST = 1000 };

int main(int argc, char **argv)
{
    static float values[MOST][WIDTH];
    char path[4096];
    struct timespec begin, end;
    if (argc < 3)
        return 2;
    const hsize_t block = strcmp(argv[1], "mended") ? 1 : MOST;
    const hsize_t all[2] = {ROWS, WIDTH}, some[2] = {block, WIDTH};
    snprintf(path, sizeof path, "%s/rows.h5", argv[2]);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    const hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    const hid_t whole = H5Screate_simple(2, all, NULL), one = H5Screate_simple(2, some, NULL);
    const hid_t rows = H5Dcreate2(file, "rows", H5T_NATIVE_FLOAT, whole, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (hsize_t row = 0; row < ROWS; row += block) {
        const hsize_t at[2] = {row, 0};
        H5Sselect_hyperslab(whole, H5S_SELECT_SET, at, NULL, some, NULL);
        if (H5Dwrite(rows, H5T_NATIVE_FLOAT, one, whole, H5P_DEFAULT, values) < 0)
            return 1;
    }
    H5Dclose(rows);
    H5Fclose(file);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%.6f\n", (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
    return 0;
}
