/* CPU nanoseconds of a small transfer, and of a query without I/O: the best of many rounds. */
#include <hdf5.h>
#include <stdio.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

int main(int count, char **arguments) {
    enum { ROUNDS = 300, WRITES = 200, QUESTIONS = 2000 };
    static double row[64];
    hsize_t dims[2] = {64, 64}, start[2] = {1, 0}, size[2] = {1, 64};
    if (count != 2)
        return 2;
    hid_t file = H5Fcreate(arguments[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), type = H5T_NATIVE_DOUBLE;
    hid_t space = H5Screate_simple(2, dims, NULL), memory = H5Screate_simple(2, size, NULL);
    hid_t data = H5Dcreate2(file, "data", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL);
    double write_ns = 1e18, question_ns = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double begun = now();
        for (int i = 0; i < WRITES; i++)
            if (H5Dwrite(data, type, memory, space, H5P_DEFAULT, row) < 0)
                return 1;
        double middle = now();
        for (int i = 0; i < QUESTIONS; i++)
            if (H5Iis_valid(data) <= 0)
                return 1;
        double ended = now();
        write_ns = middle - begun < write_ns * WRITES ? (middle - begun) / WRITES : write_ns;
        question_ns = ended - middle < question_ns * QUESTIONS ? (ended - middle) / QUESTIONS : question_ns;
    }
    printf("%.1f %.1f\n", write_ns, question_ns);
    H5Dclose(data);
    H5Fclose(file);
    return 0;
}
