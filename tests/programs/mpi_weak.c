/* Calls the MPI-IO functions with large counts where they exist, as mpi4py's wheels do: by weak references. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define N 1000

int MPI_File_write_at_all_c(MPI_File, MPI_Offset, const void *, MPI_Count, MPI_Datatype, MPI_Status *);
int MPI_File_iread_at_c(MPI_File, MPI_Offset, void *, MPI_Count, MPI_Datatype, MPI_Request *);
int MPI_File_read_all_begin_c(MPI_File, void *, MPI_Count, MPI_Datatype);
int MPI_File_get_type_extent_c(MPI_File, MPI_Datatype, MPI_Count *);
#pragma weak MPI_File_write_at_all_c
#pragma weak MPI_File_iread_at_c
#pragma weak MPI_File_read_all_begin_c
#pragma weak MPI_File_get_type_extent_c

#define CHECK(call)                                  \
    do {                                             \
        int failed_ = call;                          \
        if (failed_)                                 \
            printf("%s: error %d\n", #call, failed_); \
    } while (0)

int main(int count, char **words) {
    MPI_File file;
    MPI_Request request;
    MPI_Status status;
    MPI_Aint extent = 0;
    int rank, moved, out[N], in[N] = {0}, again[N] = {0};
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < N; i++)
        out[i] = rank * N + i;
    CHECK(MPI_File_open(MPI_COMM_WORLD, words[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    MPI_Offset place = rank * (MPI_Offset)sizeof out;
    if (MPI_File_write_at_all_c)
        CHECK(MPI_File_write_at_all_c(file, place, out, N, MPI_INT, &status));
    else
        CHECK(MPI_File_write_at_all(file, place, out, N, MPI_INT, &status));
    MPI_Get_count(&status, MPI_INT, &moved);
    if (MPI_File_iread_at_c)
        CHECK(MPI_File_iread_at_c(file, place, in, N, MPI_INT, &request));
    else
        CHECK(MPI_File_iread_at(file, place, in, N, MPI_INT, &request));
    CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK(MPI_File_seek(file, place, MPI_SEEK_SET));
    if (MPI_File_read_all_begin_c)
        CHECK(MPI_File_read_all_begin_c(file, again, N, MPI_INT));
    else
        CHECK(MPI_File_read_all_begin(file, again, N, MPI_INT));
    CHECK(MPI_File_read_all_end(file, again, &status));
    if (MPI_File_get_type_extent_c) {
        MPI_Count large = 0;
        CHECK(MPI_File_get_type_extent_c(file, MPI_INT, &large));
        extent = (MPI_Aint)large;
    } else {
        CHECK(MPI_File_get_type_extent(file, MPI_INT, &extent));
    }
    printf("rank %d: %d moved, extent %ld, same %d %d\n", rank, moved, (long)extent, !memcmp(in, out, sizeof out),
           !memcmp(again, out, sizeof out));
    CHECK(MPI_File_close(&file));
    MPI_Finalize();
    return 0;
}
