/* All kinds of MPI-IO, one scenario per run: `mpi_calls SCENARIO FILE`. Prints the results that the program sees. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT 1000 /* ints per rank and call */

static int rank, ranks;
static int out[4 * COUNT], in[4 * COUNT];
static const char *path;

static void check(int result, const char *what) {
    if (result != MPI_SUCCESS) {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(result, text, &length);
        fprintf(stderr, "rank %d: %s: %s\n", rank, what, text);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}
#define CHECK(call) check(call, #call)

static MPI_File opened(MPI_Comm comm, int amode) {
    MPI_File file;
    CHECK(MPI_File_open(comm, path, amode, MPI_INFO_NULL, &file));
    return file;
}

static MPI_File created(void) {
    return opened(MPI_COMM_WORLD, MPI_MODE_CREATE | MPI_MODE_RDWR);
}

static MPI_Offset place(int turn) {
    return ((MPI_Offset)turn * ranks + rank) * COUNT * (MPI_Offset)sizeof(int);
}

static int got(MPI_Status *status) {
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    return count;
}

static void blocking(void) {
    MPI_Status status;
    MPI_File file = created();
    CHECK(MPI_File_write_at_all(file, place(0), out, COUNT, MPI_INT, &status));
    printf("rank %d wrote %d\n", rank, got(&status));
    CHECK(MPI_File_write_at(file, place(1), out, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_seek(file, place(2), MPI_SEEK_SET));
    CHECK(MPI_File_write(file, out, COUNT, MPI_INT, &status));
    CHECK(MPI_File_seek(file, place(3), MPI_SEEK_SET));
    CHECK(MPI_File_write_all(file, out, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_read_at_all(file, place(0), in, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_read_at(file, place(1), in, COUNT, MPI_INT, &status));
    CHECK(MPI_File_seek(file, place(2), MPI_SEEK_SET));
    CHECK(MPI_File_read(file, in, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_read_all(file, in, COUNT, MPI_INT, &status));
    /* Past the end: less is moved than requested. */
    CHECK(MPI_File_read_at(file, place(4) - rank * COUNT * (MPI_Offset)sizeof(int) - 40, in, COUNT, MPI_INT, &status));
    printf("rank %d read %d at the end\n", rank, got(&status));
    CHECK(MPI_File_read_at(file, place(4), in, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_close(&file));
    printf("rank %d closed %d\n", rank, file == MPI_FILE_NULL);
}

static void nonblocking(void) {
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_File file = created();
    CHECK(MPI_File_iwrite_at(file, place(0), out, COUNT, MPI_INT, &requests[0]));
    CHECK(MPI_Wait(&requests[0], &statuses[0]));
    printf("rank %d wrote %d, null %d\n", rank, got(&statuses[0]), requests[0] == MPI_REQUEST_NULL);
    for (int i = 0; i < 3; i++)
        CHECK(MPI_File_iwrite_at(file, place(1 + i), out, COUNT, MPI_INT, &requests[i]));
    CHECK(MPI_Waitall(3, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 3; i++)
        CHECK(MPI_File_iread_at(file, place(i), in + i * COUNT, COUNT, MPI_INT, &requests[i]));
    int index;
    CHECK(MPI_Waitany(3, requests, &index, MPI_STATUS_IGNORE));
    int left = 2;
    while (left) {
        int completed, indices[3];
        CHECK(MPI_Waitsome(3, requests, &completed, indices, left == 2 ? statuses : MPI_STATUSES_IGNORE));
        left -= completed;
    }
    int flag = 0;
    CHECK(MPI_File_iwrite_at_all(file, place(4), out, COUNT, MPI_INT, &requests[0]));
    while (!flag)
        CHECK(MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE));
    CHECK(MPI_File_iread_at_all(file, place(0), in, COUNT, MPI_INT, &requests[0]));
    for (flag = 0; !flag;)
        CHECK(MPI_Testall(1, requests, &flag, statuses));
    CHECK(MPI_File_seek(file, place(0), MPI_SEEK_SET));
    CHECK(MPI_File_iread(file, in, COUNT, MPI_INT, &requests[0]));
    for (flag = 0; !flag;)
        CHECK(MPI_Testany(1, requests, &index, &flag, statuses));
    CHECK(MPI_File_seek(file, place(6), MPI_SEEK_SET));
    CHECK(MPI_File_iwrite(file, in, COUNT, MPI_INT, &requests[0]));
    for (int completed = 0, indices[1]; completed < 1;)
        CHECK(MPI_Testsome(1, requests, &completed, indices, statuses));
    /* A message without I/O, waited for beside I/O. */
    int sent = rank, received = -1;
    CHECK(MPI_Irecv(&received, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[0]));
    CHECK(MPI_Isend(&sent, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &requests[1]));
    CHECK(MPI_File_iwrite_at(file, place(5), out, COUNT, MPI_INT, &requests[2]));
    CHECK(MPI_Waitall(3, requests, statuses));
    printf("rank %d received %d\n", rank, received);
    CHECK(MPI_File_close(&file));
}

static void many(void) {
    enum { MANY = 50 };
    MPI_Request requests[MANY];
    MPI_File file = created();
    for (int i = 0; i < MANY; i++)
        CHECK(MPI_File_iwrite_at(file, place(0) + 40 * i, out, 10, MPI_INT, &requests[i]));
    CHECK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    CHECK(MPI_File_close(&file));
}

static void split(void) {
    MPI_Status status;
    MPI_File file = created();
    CHECK(MPI_File_write_all_begin(file, out, 0, MPI_INT));
    CHECK(MPI_File_write_all_end(file, out, MPI_STATUS_IGNORE));
    CHECK(MPI_File_write_at_all_begin(file, place(0), out, COUNT, MPI_INT));
    CHECK(MPI_File_write_at_all_end(file, out, &status));
    CHECK(MPI_File_write_ordered_begin(file, out, COUNT, MPI_INT));
    CHECK(MPI_File_write_ordered_end(file, out, MPI_STATUS_IGNORE));
    CHECK(MPI_File_read_at_all_begin(file, place(0), in, COUNT, MPI_INT));
    CHECK(MPI_File_read_at_all_end(file, in, &status));
    CHECK(MPI_File_close(&file));
}

static void shared(void) {
    MPI_Status status;
    MPI_File file = created();
    CHECK(MPI_File_write_shared(file, out, COUNT, MPI_INT, &status));
    CHECK(MPI_File_write_ordered(file, out, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    CHECK(MPI_File_read_ordered(file, in, COUNT, MPI_INT, &status));
    CHECK(MPI_File_close(&file));
}

static void views(void) {
    MPI_Datatype pieces, strided, named;
    CHECK(MPI_Type_vector(10, 2, 2 * ranks, MPI_DOUBLE, &pieces));
    CHECK(MPI_Type_create_resized(pieces, 0, 20 * ranks * (MPI_Aint)sizeof(double), &strided));
    CHECK(MPI_Type_commit(&strided));
    CHECK(MPI_Type_contiguous(4, MPI_INT, &named));
    CHECK(MPI_Type_set_name(named, "four ints"));
    CHECK(MPI_Type_commit(&named));
    MPI_File file = created();
    CHECK(MPI_File_set_view(file, 100000, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK(MPI_File_write_at(file, rank * COUNT, out, COUNT / 4, named, MPI_STATUS_IGNORE));
    CHECK(MPI_File_set_view(file, rank * 2 * (MPI_Offset)sizeof(double), MPI_DOUBLE, strided, "native", MPI_INFO_NULL));
    CHECK(MPI_File_write_at_all(file, 0, out, 20, MPI_DOUBLE, MPI_STATUS_IGNORE));
    CHECK(MPI_File_write_at_all(file, 2, out, 1, strided, MPI_STATUS_IGNORE));
    CHECK(MPI_File_close(&file));
    MPI_Type_free(&pieces);
    MPI_Type_free(&strided);
    MPI_Type_free(&named);
}

static void metadata(void) {
    MPI_Info info, used;
    MPI_Group group;
    MPI_Offset size, position, byte;
    MPI_Aint extent;
    int amode, flag;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_File file;
    CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_APPEND, info, &file));
    CHECK(MPI_File_preallocate(file, 8192));
    CHECK(MPI_File_set_size(file, 4096));
    CHECK(MPI_File_get_size(file, &size));
    CHECK(MPI_File_get_amode(file, &amode));
    CHECK(MPI_File_get_group(file, &group));
    CHECK(MPI_File_set_info(file, info));
    CHECK(MPI_File_get_info(file, &used));
    CHECK(MPI_File_get_position(file, &position));
    CHECK(MPI_File_get_byte_offset(file, 7, &byte));
    CHECK(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
    CHECK(MPI_File_set_atomicity(file, 1));
    CHECK(MPI_File_get_atomicity(file, &flag));
    printf("rank %d: size %lld amode %d position %lld byte %lld extent %ld atomic %d\n", rank, (long long)size, amode,
           (long long)position, (long long)byte, (long)extent, flag);
    CHECK(MPI_File_write(file, out, 4, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_close(&file));
    MPI_Info_free(&info);
    MPI_Info_free(&used);
    MPI_Group_free(&group);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(MPI_File_delete(path, MPI_INFO_NULL));
}

static void errors(void) {
    MPI_File file;
    char missing[4096];
    snprintf(missing, sizeof missing, "%s.missing", path);
    int result = MPI_File_open(MPI_COMM_WORLD, missing, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), class;
    MPI_Error_class(result, &class);
    printf("rank %d: no such file %d\n", rank, class == MPI_ERR_NO_SUCH_FILE);
    result = MPI_File_delete(missing, MPI_INFO_NULL);
    MPI_Error_class(result, &class);
    printf("rank %d: nothing to delete %d\n", rank, class == MPI_ERR_NO_SUCH_FILE);
    file = created();
    result = MPI_File_write_at(file, 0, out, -1, MPI_INT, MPI_STATUS_IGNORE);
    printf("rank %d: negative count fails %d\n", rank, result != MPI_SUCCESS);
    result = MPI_File_write_at(file, 0, out, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE);
    printf("rank %d: no datatype fails %d\n", rank, result != MPI_SUCCESS);
    CHECK(MPI_File_close(&file));
}

/* Opens the same path repeatedly: the library is likely to use the same memory for each. */
static void again(void) {
    for (int i = 0; i < 5; i++) {
        MPI_File file = created();
        CHECK(MPI_File_write_at_all(file, place(i), out, COUNT, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(MPI_File_close(&file));
    }
    MPI_File own;
    char name[4096];
    snprintf(name, sizeof name, "%s.%d", path, rank);
    CHECK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &own));
    CHECK(MPI_File_write(own, out, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_close(&own));
    MPI_Comm half;
    CHECK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
    snprintf(name, sizeof name, "%s.half.%d", path, rank % 2);
    CHECK(MPI_File_open(half, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &own));
    CHECK(MPI_File_write_at_all(own, rank / 2 * COUNT * 4, out, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_close(&own));
    MPI_Comm_free(&half);
}

static void handler(MPI_File *file, int *code, ...) {
    (void)file;
    (void)code;
}

static int extent_of(MPI_Datatype type, MPI_Aint *extent, void *state) {
    MPI_Aint lower;
    (void)state;
    return MPI_Type_get_extent(type, &lower, extent);
}

static void *waited(MPI_Request *request) {
    CHECK(MPI_Wait(request, MPI_STATUS_IGNORE));
    return NULL;
}

/* Calls that the other scenarios lack. */
static void rest(void) {
    MPI_Request request;
    MPI_Status status;
    MPI_File file = created();
    MPI_Errhandler errhandler;
    CHECK(MPI_File_create_errhandler(handler, &errhandler));
    CHECK(MPI_File_set_errhandler(file, errhandler));
    MPI_Errhandler_free(&errhandler);
    CHECK(MPI_File_get_errhandler(file, &errhandler));
    MPI_Errhandler_free(&errhandler);
    CHECK(MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    CHECK(MPI_File_call_errhandler(file, MPI_SUCCESS));
    /* not supported by OMPIO */
    MPI_Register_datarep("ours", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, NULL);
    CHECK(MPI_File_iwrite_all(file, out, 10, MPI_INT, &request));
    waited(&request);
    CHECK(MPI_File_iwrite_shared(file, out, 10, MPI_INT, &request));
    waited(&request);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    CHECK(MPI_File_iread_all(file, in, 10, MPI_INT, &request));
    waited(&request);
    CHECK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    CHECK(MPI_File_iread_shared(file, in, 2, MPI_INT, &request));
    waited(&request);
    CHECK(MPI_File_read_shared(file, in, 2, MPI_INT, &status));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    CHECK(MPI_File_read_ordered_begin(file, in, 2, MPI_INT));
    CHECK(MPI_File_read_ordered_end(file, in, &status));
    CHECK(MPI_File_read_all_begin(file, in, 2, MPI_INT));
    CHECK(MPI_File_read_all_end(file, in, &status));
    MPI_Offset at;
    CHECK(MPI_File_get_position_shared(file, &at));
    MPI_Datatype etype, filetype;
    char representation[MPI_MAX_DATAREP_STRING];
    CHECK(MPI_File_get_view(file, &at, &etype, &filetype, representation));
    CHECK(MPI_File_iwrite_at(file, place(0), out, 10, MPI_INT, &request));
#ifdef OPEN_MPI /* MPICH never reports it that way */
    for (int flag = 0; !flag;)
        CHECK(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE));
#endif
    CHECK(MPI_Cancel(&request));
    CHECK(MPI_Request_free(&request));
#if MPI_VERSION >= 4
    MPI_Count extent;
    CHECK(MPI_File_get_type_extent_c(file, MPI_INT, &extent));
    CHECK(MPI_File_write_c(file, out, 2, MPI_INT, &status));
    CHECK(MPI_File_write_all_c(file, out, 2, MPI_INT, &status));
    CHECK(MPI_File_write_at_c(file, place(0), out, 2, MPI_INT, &status));
    CHECK(MPI_File_write_at_all_c(file, place(0), out, 2, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_write_shared_c(file, out, 2, MPI_INT, &status));
    CHECK(MPI_File_write_ordered_c(file, out, 2, MPI_INT, &status));
    CHECK(MPI_File_iwrite_c(file, out, 2, MPI_INT, &request));
    waited(&request);
    CHECK(MPI_File_iwrite_all_c(file, out, 2, MPI_INT, &request));
    waited(&request);
    CHECK(MPI_File_iwrite_at_c(file, place(0), out, 2, MPI_INT, &request));
    waited(&request);
    CHECK(MPI_File_iwrite_at_all_c(file, place(0), out, 2, MPI_INT, &request));
    waited(&request);
    CHECK(MPI_File_iwrite_shared_c(file, out, 2, MPI_INT, &request));
    waited(&request);
    CHECK(MPI_File_write_all_begin_c(file, out, 2, MPI_INT));
    CHECK(MPI_File_write_all_end(file, out, &status));
    CHECK(MPI_File_write_at_all_begin_c(file, place(0), out, 2, MPI_INT));
    CHECK(MPI_File_write_at_all_end(file, out, &status));
    CHECK(MPI_File_write_ordered_begin_c(file, out, 2, MPI_INT));
    CHECK(MPI_File_write_ordered_end(file, out, &status));
    CHECK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    CHECK(MPI_File_read_c(file, in, 2, MPI_INT, &status));
    CHECK(MPI_File_read_all_c(file, in, 2, MPI_INT, &status));
    CHECK(MPI_File_read_at_c(file, 0, in, 2, MPI_INT, &status));
    CHECK(MPI_File_read_at_all_c(file, 0, in, 2, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    CHECK(MPI_File_read_shared_c(file, in, 1, MPI_INT, &status));
    CHECK(MPI_File_read_ordered_c(file, in, 1, MPI_INT, &status));
    CHECK(MPI_File_iread_c(file, in, 1, MPI_INT, &request));
    waited(&request);
    CHECK(MPI_File_iread_all_c(file, in, 1, MPI_INT, &request));
    waited(&request);
    CHECK(MPI_File_iread_at_c(file, 0, in, 1, MPI_INT, &request));
    waited(&request);
    CHECK(MPI_File_iread_at_all_c(file, 0, in, 1, MPI_INT, &request));
    waited(&request);
    CHECK(MPI_File_iread_shared_c(file, in, 1, MPI_INT, &request));
    waited(&request);
    CHECK(MPI_File_read_all_begin_c(file, in, 1, MPI_INT));
    CHECK(MPI_File_read_all_end(file, in, &status));
    CHECK(MPI_File_read_at_all_begin_c(file, 0, in, 1, MPI_INT));
    CHECK(MPI_File_read_at_all_end(file, in, &status));
    CHECK(MPI_File_read_ordered_begin_c(file, in, 1, MPI_INT));
    CHECK(MPI_File_read_ordered_end(file, in, &status));
#endif
    CHECK(MPI_File_close(&file));
}

/* Small interleaved pieces, which one rank aggregates and writes. */
static void aggregated(void) {
    MPI_Info info;
    MPI_File file;
    MPI_Datatype strided;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_Info_set(info, "romio_cb_write", "enable");
    CHECK(MPI_Type_vector(COUNT, 1, ranks, MPI_INT, &strided));
    CHECK(MPI_Type_commit(&strided));
    CHECK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    CHECK(MPI_File_set_view(file, rank * (MPI_Offset)sizeof(int), MPI_INT, strided, "native", info));
    CHECK(MPI_File_write_all(file, out, COUNT, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_close(&file));
    MPI_Info_free(&info);
    MPI_Type_free(&strided);
}

struct job {
    MPI_File file;
    MPI_Request request;
    int number;
};

static void *writer(void *data) {
    struct job *job = data;
    MPI_Offset at = ((MPI_Offset)job->number * ranks + rank) * 100 * 40;
    for (int i = 0; i < 100; i++)
        CHECK(MPI_File_write_at(job->file, at + 40 * i, out, 10, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(MPI_File_iwrite_at(job->file, at, out, 10, MPI_INT, &job->request));
    return NULL;
}

static void threads(void) {
    enum { THREADS = 4 };
    pthread_t all[THREADS];
    struct job jobs[THREADS];
    MPI_File file = created();
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){file, MPI_REQUEST_NULL, i};
        pthread_create(&all[i], NULL, writer, &jobs[i]);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(all[i], NULL);
    /* Begun by the threads, completed here. */
    for (int i = 0; i < THREADS; i++)
        CHECK(MPI_Wait(&jobs[i].request, MPI_STATUS_IGNORE));
    CHECK(MPI_File_close(&file));
}

int main(int count, char **arguments) {
    static const struct {
        const char *name;
        void (*run)(void);
    } scenarios[] = {{"blocking", blocking}, {"nonblocking", nonblocking}, {"many", many},         {"split", split},
                     {"shared", shared},     {"views", views},             {"metadata", metadata}, {"errors", errors},
                     {"again", again},       {"threads", threads},         {"rest", rest},         {"aggregated", aggregated}};
    int provided = MPI_THREAD_SINGLE;
    if (count != 3)
        return 2;
    path = arguments[2];
    if (strcmp(arguments[1], "threads") == 0)
        MPI_Init_thread(&count, &arguments, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 4 * COUNT; i++)
        out[i] = rank * 1000000 + i;
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(arguments[1], scenarios[i].name) == 0)
            scenarios[i].run();
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
