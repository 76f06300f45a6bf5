/* Writes a file through NetCDF and reads it again: netcdf_chain classic|netcdf4 FILE. Prints sums of the read data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netcdf.h>

#define CHECK(call)                                                        \
    do {                                                                   \
        int status = (call);                                               \
        if (status != NC_NOERR) {                                          \
            fprintf(stderr, "%s: %s\n", #call, nc_strerror(status));       \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

enum { TIMES = 2, ROWS = 4, COLUMNS = 5, CELLS = TIMES * ROWS * COLUMNS };

static double temperature[CELLS];
static int mask[ROWS * COLUMNS];

static void write_group(int file) {
    int group, dimension, variable;
    long long values[3] = {7, 8, 9};
    size_t first = 0, count = 3;
    CHECK(nc_def_grp(file, "inner", &group));
    CHECK(nc_def_dim(group, "three", 3, &dimension));
    CHECK(nc_def_var(group, "numbers", NC_INT64, 1, &dimension, &variable));
    CHECK(nc_put_vara_longlong(group, variable, &first, &count, values));
}

static void write_file(const char *path, int mode) {
    int file, dimensions[3], temperatures, masks;
    CHECK(nc_create(path, NC_CLOBBER | mode, &file));
    CHECK(nc_def_dim(file, "time", NC_UNLIMITED, &dimensions[0]));
    CHECK(nc_def_dim(file, "row", ROWS, &dimensions[1]));
    CHECK(nc_def_dim(file, "column", COLUMNS, &dimensions[2]));
    CHECK(nc_def_var(file, "temperature", NC_DOUBLE, 3, dimensions, &temperatures));
    CHECK(nc_def_var(file, "mask", NC_INT, 2, dimensions + 1, &masks));
    CHECK(nc_put_att_text(file, temperatures, "units", 6, "kelvin"));
    CHECK(nc_enddef(file));
    size_t start[3] = {0, 0, 0}, count[3] = {TIMES, ROWS, COLUMNS}, index[3] = {1, 2, 3}, part[3] = {1, 2, COLUMNS};
    ptrdiff_t stride[3] = {1, 2, 1};
    double one = -1;
    float several[2 * COLUMNS] = {0};
    CHECK(nc_put_vara_double(file, temperatures, start, count, temperature));
    CHECK(nc_put_var1_double(file, temperatures, index, &one));
    CHECK(nc_put_vars_float(file, temperatures, start, part, stride, several));
    CHECK(nc_put_var_int(file, masks, mask));
    if (mode & NC_NETCDF4)
        write_group(file);
    CHECK(nc_sync(file));
    CHECK(nc_close(file));
}

static void read_group(int file) {
    int group, again, count, variable;
    long long values[3] = {0};
    CHECK(nc_inq_grps(file, &count, &again));
    CHECK(nc_inq_grp_ncid(file, "inner", &group));
    CHECK(nc_inq_varid(group, "numbers", &variable));
    CHECK(nc_get_var_longlong(group, variable, values));
    printf("%d %d %lld\n", count, again == group, values[0] + values[1] + values[2]);
}

static void read_file(const char *path, int mode) {
    int file, temperatures, masks;
    nc_type unknown;
    CHECK(nc_open(path, NC_NOWRITE, &file));
    CHECK(nc_inq_varid(file, "temperature", &temperatures));
    CHECK(nc_inq_varid(file, "mask", &masks));
    size_t start[3] = {0, 0, 0}, count[3] = {1, ROWS, COLUMNS}, row[2] = {1, 0}, rows[2] = {3, COLUMNS};
    size_t beyond[3] = {TIMES, 0, 0};
    double values[CELLS] = {0}, sum = 0;
    int whole = 0, cells[3 * COLUMNS];
    char units[7] = "";
    CHECK(nc_get_vara_double(file, temperatures, start, count, values));
    CHECK(nc_get_var_double(file, temperatures, values));
    CHECK(nc_get_vara(file, masks, row, rows, cells));
    CHECK(nc_get_att_text(file, temperatures, "units", units));
    for (int i = 0; i < CELLS; i++)
        sum += values[i];
    for (int i = 0; i < 3 * COLUMNS; i++)
        whole += cells[i];
    printf("%g %d %s\n", sum, whole, units);
    printf("%d\n", nc_get_vara_double(file, temperatures, beyond, count, values));
    printf("%d\n", nc_inq_vartype(file, 99, &unknown));
    if (mode & NC_NETCDF4)
        read_group(file);
    CHECK(nc_close(file));
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    int mode = strcmp(argv[1], "netcdf4") == 0 ? NC_NETCDF4 : 0, file;
    for (int i = 0; i < CELLS; i++)
        temperature[i] = i;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        mask[i] = i;
    write_file(argv[2], mode);
    read_file(argv[2], mode);
    char absent[4096];
    snprintf(absent, sizeof absent, "%s.absent", argv[2]);
    printf("%s\n", nc_strerror(nc_open(absent, NC_NOWRITE, &file)));
    return 0;
}
