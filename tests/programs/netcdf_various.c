/* Rarer ways to move data through NetCDF: netcdf_various version2|odd FILE. Prints sums of the read data. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netcdf.h>

#define CHECK(call)                                          \
    do {                                                     \
        int status = (call);                                 \
        if (status < 0) {                                    \
            fprintf(stderr, "%s: %d\n", #call, status);      \
            exit(1);                                         \
        }                                                    \
    } while (0)

enum { ROWS = 3, COLUMNS = 4 };

/* The interface of 1990, where -1 means failed and indices are longs. */
static void version2(const char *path) {
    int file = nccreate(path, NC_CLOBBER), dimensions[2], fixed, growing;
    CHECK(file);
    CHECK(dimensions[0] = ncdimdef(file, "row", NC_UNLIMITED));
    CHECK(dimensions[1] = ncdimdef(file, "column", COLUMNS));
    CHECK(fixed = ncvardef(file, "fixed", NC_SHORT, 1, dimensions + 1));
    CHECK(growing = ncvardef(file, "growing", NC_FLOAT, 2, dimensions));
    double scale[2] = {1, 2};
    CHECK(ncattput(file, fixed, "scale", NC_DOUBLE, 2, scale));
    CHECK(ncendef(file));
    long start[2] = {0, 0}, count[2] = {2, COLUMNS}, stride[2] = {1, 2}, some[2] = {1, 2}, first = 0;
    short shorts[COLUMNS] = {1, 2, 3, 4};
    float floats[2 * COLUMNS] = {1, 2, 3, 4, 5, 6, 7, 8};
    void *record[2] = {floats, NULL}, *back[2] = {floats, NULL};
    long columns = COLUMNS;
    CHECK(ncvarput(file, fixed, &first, &columns, shorts));
    CHECK(ncvarput1(file, fixed, &first, shorts));
    CHECK(ncvarput(file, growing, start, count, floats));
    CHECK(ncvarputs(file, growing, start, some, stride, floats));
    CHECK(ncrecput(file, 2, record));
    CHECK(ncsync(file));
    CHECK(ncclose(file));
    CHECK(file = ncopen(path, NC_NOWRITE));
    CHECK(ncvarget(file, growing, start, count, floats));
    CHECK(ncrecget(file, 2, back));
    CHECK(ncattget(file, fixed, "scale", scale));
    ncopts = 0;
    printf("%g %g %d\n", floats[3], scale[1], ncvarget1(file, 99, &first, floats));
    CHECK(ncclose(file));
}

static void odd(const char *path) {
    int file, copy, dimensions[2], numbers, names, pairs, pair, scalar;
    struct pair {
        int key;
        double value;
    } several[COLUMNS] = {{1, 1.5}};
    const char *words[COLUMNS] = {"one", "two", "three", "four"};
    char *back[COLUMNS], other[4096];
    CHECK(nc_create(path, NC_NETCDF4 | NC_CLOBBER, &file));
    CHECK(nc_def_dim(file, "row", ROWS, &dimensions[0]));
    CHECK(nc_def_dim(file, "column", COLUMNS, &dimensions[1]));
    CHECK(nc_def_compound(file, sizeof(struct pair), "pair", &pair));
    CHECK(nc_insert_compound(file, pair, "key", NC_COMPOUND_OFFSET(struct pair, key), NC_INT));
    CHECK(nc_insert_compound(file, pair, "value", NC_COMPOUND_OFFSET(struct pair, value), NC_DOUBLE));
    CHECK(nc_def_var(file, "numbers", NC_INT, 2, dimensions, &numbers));
    CHECK(nc_def_var(file, "names", NC_STRING, 1, dimensions + 1, &names));
    CHECK(nc_def_var(file, "pairs", pair, 1, dimensions + 1, &pairs));
    CHECK(nc_def_var(file, "scalar", NC_UBYTE, 0, NULL, &scalar));
    CHECK(nc_put_att(file, NC_GLOBAL, "pair", pair, 2, several));
    CHECK(nc_put_att_text(file, NC_GLOBAL, "title", 3, "abcdef"));
    size_t start[2] = {1, 0}, count[2] = {2, COLUMNS}, none[2] = {0, 0};
    ptrdiff_t stride[2] = {1, 2}, map[2] = {1, 2};
    int cells[ROWS * COLUMNS] = {0}, sum = 0;
    long long large = 1LL << 40;
    unsigned char byte = 7;
    CHECK(nc_put_vara_int(file, numbers, none, NULL, cells));
    CHECK(nc_put_vars_int(file, numbers, none, NULL, NULL, cells));
    count[1] = 2;
    CHECK(nc_put_varm_int(file, numbers, start, count, stride, map, cells));
    CHECK(nc_put_var_string(file, names, words));
    CHECK(nc_put_var(file, pairs, several));
    CHECK(nc_put_vara(file, pairs, start, count, several));
    CHECK(nc_put_var_uchar(file, scalar, &byte));
    CHECK(nc_put_vara_uchar(file, scalar, NULL, NULL, &byte));
    int late = nc_put_var1_longlong(file, numbers, start, &large); /* NC_ERANGE: moved nevertheless */
    snprintf(other, sizeof other, "%s.copy", path);
    CHECK(nc_create(other, NC_NETCDF4 | NC_CLOBBER, &copy));
    CHECK(nc_def_dim(copy, "row", ROWS, &dimensions[0]));
    CHECK(nc_def_dim(copy, "column", COLUMNS, &dimensions[1]));
    CHECK(nc_copy_var(file, numbers, copy));
    CHECK(nc_close(copy));
    CHECK(nc_get_var_int(file, numbers, cells));
    CHECK(nc_get_var_string(file, names, back));
    CHECK(nc_get_att(file, NC_GLOBAL, "pair", several));
    for (int i = 0; i < ROWS * COLUMNS; i++)
        sum += cells[i];
    printf("%d %d %s %g\n", late, sum, back[2], several[0].value);
    CHECK(nc_free_string(COLUMNS, back));
    CHECK(nc_close(file));
}

int main(int argc, char **argv) {
    if (argc != 3)
        return 2;
    (strcmp(argv[1], "odd") == 0 ? odd : version2)(argv[2]);
    return 0;
}
