/* Operations on HDF5 and its high-level library, selected by the first argument, on the file of the second. */
#include <hdf5.h>
#include <hdf5_hl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(what)                                                  \
    do {                                                             \
        if ((what) < 0) {                                            \
            fprintf(stderr, "line %d: %s failed\n", __LINE__, #what); \
            exit(3);                                                 \
        }                                                            \
    } while (0)

static const char *path;
static int numbers[4][6];

static hid_t new_file(void) {
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(file);
    return file;
}

static hid_t new_dataset(hid_t where, const char *name, hid_t properties) {
    hsize_t dims[2] = {4, 6};
    hid_t space = H5Screate_simple(2, dims, NULL);
    hid_t dataset = H5Dcreate2(where, name, H5T_NATIVE_INT, space, H5P_DEFAULT, properties, H5P_DEFAULT);
    CHECK(dataset);
    CHECK(H5Sclose(space));
    return dataset;
}

/* A hyperslab of two rows from row first on, in memory and in the file. */
static void move_rows(hid_t dataset, hsize_t first, int writes) {
    hsize_t start[2] = {first, 0}, count[2] = {2, 6};
    hid_t file = H5Dget_space(dataset), memory = H5Screate_simple(2, count, NULL);
    CHECK(H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL));
    if (writes)
        CHECK(H5Dwrite(dataset, H5T_NATIVE_INT, memory, file, H5P_DEFAULT, numbers[first]));
    else
        CHECK(H5Dread(dataset, H5T_NATIVE_INT, memory, file, H5P_DEFAULT, numbers[first]));
    CHECK(H5Sclose(memory));
    CHECK(H5Sclose(file));
}

static void selections(void) {
    hid_t file = new_file(), group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(group);
    hid_t dataset = new_dataset(group, "rows", H5P_DEFAULT);
    move_rows(dataset, 0, 1);
    move_rows(dataset, 2, 1);
    CHECK(H5Fflush(file, H5F_SCOPE_LOCAL));
    CHECK(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, malloc(24 * sizeof(double))));
    hsize_t points[3][2] = {{1, 2}, {3, 3}, {2, 5}}, three = 3;
    hid_t some = H5Dget_space(dataset), memory = H5Screate_simple(1, &three, NULL);
    CHECK(H5Sselect_elements(some, H5S_SELECT_SET, 3, &points[0][0]));
    CHECK(H5Dread(dataset, H5T_NATIVE_SHORT, memory, some, H5P_DEFAULT, malloc(3 * sizeof(short))));
    CHECK(H5Sselect_none(some));
    CHECK(H5Sselect_none(memory));
    CHECK(H5Dread(dataset, H5T_NATIVE_INT, memory, some, H5P_DEFAULT, numbers));
    CHECK(H5Sclose(some));
    CHECK(H5Sclose(memory));
    CHECK(H5Dclose(dataset));
    CHECK(H5Gclose(group));
    CHECK(H5Fclose(file));
}

static void attributes(void) {
    hid_t file = new_file(), scalar = H5Screate(H5S_SCALAR);
    hid_t attribute = H5Acreate2(file, "unit", H5T_NATIVE_DOUBLE, scalar, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(attribute);
    double value = 1.5;
    CHECK(H5Awrite(attribute, H5T_NATIVE_DOUBLE, &value));
    CHECK(H5Aread(attribute, H5T_NATIVE_DOUBLE, &value));
    CHECK(H5Aclose(attribute));
    CHECK(H5Adelete(file, "unit"));
    CHECK(H5Sclose(scalar));
    CHECK(H5Fclose(file));
    printf("%g\n", value);
}

static void chunks(void) {
    hsize_t chunk[2] = {2, 6}, offset[2] = {2, 0};
    hid_t file = new_file(), properties = H5Pcreate(H5P_DATASET_CREATE);
    CHECK(H5Pset_chunk(properties, 2, chunk));
    hid_t dataset = new_dataset(file, "chunks", properties);
    uint32_t filters = 0;
    CHECK(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, offset, sizeof numbers / 2, numbers));
    CHECK(H5Dread_chunk(dataset, H5P_DEFAULT, offset, &filters, numbers));
    CHECK(H5Pclose(properties));
    CHECK(H5Dclose(dataset));
    CHECK(H5Fclose(file));
}

static void lite(void) {
    hsize_t dims[2] = {4, 6};
    hid_t file = new_file();
    CHECK(H5LTmake_dataset_int(file, "lite", 2, dims, &numbers[0][0]));
    CHECK(H5LTset_attribute_string(file, "lite", "unit", "metre"));
    CHECK(H5LTread_dataset_int(file, "lite", &numbers[0][0]));
    CHECK(H5Fclose(file));
}

static void packets(void) {
    hid_t file = new_file();
    hid_t table = H5PTcreate_fl(file, "packets", H5T_NATIVE_INT, 16, -1);
    CHECK(table);
    CHECK(H5PTappend(table, 6, numbers[0]));
    CHECK(H5PTread_packets(table, 2, 3, numbers[1]));
    CHECK(H5PTclose(table));
    CHECK(H5Fclose(file));
}

/* Objects that live as long as they are referenced, and objects that end with their file. */
static void references(void) {
    hid_t properties = H5Pcreate(H5P_FILE_ACCESS);
    CHECK(H5Pset_fclose_degree(properties, H5F_CLOSE_STRONG));
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, properties);
    CHECK(file);
    hid_t dataset = new_dataset(file, "held", H5P_DEFAULT), again = H5Iget_file_id(dataset);
    CHECK(H5Iinc_ref(dataset));
    CHECK(H5Dclose(dataset));
    move_rows(dataset, 0, 1);
    CHECK(H5Idec_ref(dataset));
    hid_t type = H5Tcopy(H5T_NATIVE_INT);
    CHECK(H5Tcommit2(file, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    CHECK(H5Tclose(type));
    hid_t left = new_dataset(file, "left", H5P_DEFAULT);
    CHECK(H5Idec_ref(again));
    CHECK(H5Fclose(file));
    printf("valid %d %d %d\n", H5Iis_valid(dataset), H5Iis_valid(left), H5Iis_valid(file));
    CHECK(H5Pclose(properties));
}

static void *in_thread(void *dataset) {
    move_rows(*(hid_t *)dataset, 2, 1);
    CHECK(H5Dclose(*(hid_t *)dataset));
    return NULL;
}

static void threads(void) {
    hid_t file = new_file(), dataset = new_dataset(file, "shared", H5P_DEFAULT);
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, &dataset);
    pthread_join(thread, NULL);
    CHECK(H5Fclose(file));
}

static herr_t show(unsigned number, const H5E_error2_t *error, void *unused) {
    (void)unused;
    printf("%u %s %s\n", number, error->func_name, error->desc);
    return 0;
}

/* The library's reports of failed calls, to the program and on standard error. */
static void failures(void) {
    hid_t file = new_file(), dataset = new_dataset(file, "there", H5P_DEFAULT);
    hsize_t nine = 9;
    hid_t wrong = H5Screate_simple(1, &nine, NULL);
    printf("open %ld\n", (long)H5Dopen2(file, "absent", H5P_DEFAULT));
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, show, NULL);
    printf("stack %ld\n", (long)H5Eget_num(H5E_DEFAULT));
    printf("write %d\n", H5Dwrite(dataset, H5T_NATIVE_INT, wrong, H5S_ALL, H5P_DEFAULT, numbers));
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, show, NULL);
    printf("type %d\n", H5Dwrite(dataset, 12345, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers));
    printf("id %d\n", H5Dread(77, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers));
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, show, NULL);
    printf("close %d\n", H5Dclose(4711));
    printf("attribute %d\n", H5Aread(1, H5T_NATIVE_INT, numbers));
    printf("chunk %d\n", H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &nine, 4, numbers));
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, show, NULL);
    printf("file %ld\n", (long)H5Fopen("/nonexistent/file.h5", H5F_ACC_RDONLY, H5P_DEFAULT));
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, show, NULL);
    printf("stack %ld\n", (long)H5Eget_num(H5E_DEFAULT));
    CHECK(H5Sclose(wrong));
    CHECK(H5Dclose(dataset));
    CHECK(H5Fclose(file));
    printf("stack %ld\n", (long)H5Eget_num(H5E_DEFAULT));
}

/* The child continues with the parent's open objects. */
static void forks(void) {
    hid_t file = new_file(), dataset = new_dataset(file, "inherited", H5P_DEFAULT);
    CHECK(H5Fflush(file, H5F_SCOPE_LOCAL));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        move_rows(dataset, 0, 1);
        _exit(0);
    }
    int status;
    waitpid(child, &status, 0);
    move_rows(dataset, 2, 1);
    CHECK(H5Dclose(dataset));
    CHECK(H5Fclose(file));
}

/* More objects than any table has space for, closed only by their file. */
static void many(void) {
    hid_t file = new_file(), dataset = new_dataset(file, "many", H5P_DEFAULT);
    for (int i = 0; i < 70000; i++)
        CHECK(H5Dopen2(file, "many", H5P_DEFAULT));
    hid_t last = H5Dopen2(file, "many", H5P_DEFAULT);
    move_rows(last, 2, 1);
    CHECK(H5Dclose(last));
    CHECK(H5Dclose(dataset));
    CHECK(H5Fclose(file));
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(void);
    } runs[] = {{"selections", selections}, {"attributes", attributes}, {"chunks", chunks},     {"lite", lite},
                {"packets", packets},       {"references", references}, {"threads", threads},   {"failures", failures},
                {"forks", forks},           {"many", many}};
    if (count != 3)
        return 2;
    path = arguments[2];
    for (int i = 0; i < 24; i++)
        numbers[i / 6][i % 6] = i;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        if (strcmp(runs[i].name, arguments[1]) == 0) {
            runs[i].run();
            puts("done");
            return 0;
        }
    return 2;
}
