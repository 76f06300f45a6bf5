! MPI-IO from Fortran: `mpi_fortran FILE`, built once a binding: -DUSE_MPI, -DUSE_MPI_F08, neither: mpif.h.
program calls
#if defined(USE_MPI_F08)
    use mpi_f08
    implicit none
    type(MPI_File) :: file
    type(MPI_Status) :: status, statuses(3)
    type(MPI_Request) :: request, requests(3)
#elif defined(USE_MPI)
    use mpi
    implicit none
    integer :: file, status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 3), request, requests(3)
#else
    implicit none
    include 'mpif.h'
    integer :: file, status(MPI_STATUS_SIZE), statuses(MPI_STATUS_SIZE, 3), request, requests(3)
#endif
    integer, parameter :: count = 1000
    integer :: ierr, rank, ranks, i, index, got, completed, indices(3), kind_of_error
    integer :: values(count), back(count, 3)
    integer(kind=MPI_OFFSET_KIND) :: size, position, zero
    logical :: flag
    character(len=1000) :: path

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call get_command_argument(1, path)
    values = rank
    zero = 0

    call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierr)
    call MPI_File_write_at_all(file, place(0), values, count, MPI_INTEGER, status, ierr)
    call MPI_Get_count(status, MPI_INTEGER, got, ierr)
    print '(a,i0,a,i0)', 'rank ', rank, ' wrote ', got
    call MPI_File_write_at(file, place(1), values, count, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    call MPI_File_seek(file, place(2), MPI_SEEK_SET, ierr)
    call MPI_File_write(file, values, count, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    call MPI_File_seek(file, place(3), MPI_SEEK_SET, ierr)
    call MPI_File_write_all(file, values, count, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)

    call MPI_File_iwrite_at(file, place(4), values, count, MPI_INTEGER, request, ierr)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
    do i = 1, 3
        call MPI_File_iwrite_at(file, place(4 + i), values, count, MPI_INTEGER, requests(i), ierr)
    end do
    call MPI_Waitall(3, requests, MPI_STATUSES_IGNORE, ierr)
    do i = 1, 3
        call MPI_File_iread_at(file, place(i), back(:, i), count, MPI_INTEGER, requests(i), ierr)
    end do
    call MPI_Waitany(3, requests, index, MPI_STATUS_IGNORE, ierr)
    i = 2
    do while (i > 0)
        call MPI_Waitsome(3, requests, completed, indices, statuses, ierr)
        i = i - completed
    end do
    call MPI_File_iread(file, back(:, 1), 0, MPI_INTEGER, request, ierr)
    flag = .false.
    do while (.not. flag)
        call MPI_Test(request, flag, status, ierr)
    end do

    call MPI_File_write_at_all_begin(file, place(8), values, count, MPI_INTEGER, ierr)
    call MPI_File_write_at_all_end(file, values, MPI_STATUS_IGNORE, ierr)
    call MPI_File_set_view(file, 4 * zero, MPI_INTEGER, MPI_INTEGER, 'native', MPI_INFO_NULL, ierr)
    call MPI_File_read_at(file, zero + rank * count, back(:, 1), count, MPI_INTEGER, MPI_STATUS_IGNORE, ierr)
    call MPI_File_get_size(file, size, ierr)
    call MPI_File_get_position(file, position, ierr)
    call MPI_File_sync(file, ierr)
    call MPI_File_close(file, ierr)
    print '(a,i0,a,i0,a,l1)', 'rank ', rank, ' size ', size, ' same ', all(back(:, 1) == rank)

    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    if (rank == 0) call MPI_File_delete(trim(path), MPI_INFO_NULL, ierr)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
    call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierr)
    call MPI_Error_class(ierr, kind_of_error, i)
    print '(a,i0,a,l1)', 'rank ', rank, ' missing ', kind_of_error == MPI_ERR_NO_SUCH_FILE
    call MPI_Finalize(ierr)

contains

    function place(turn)
        integer, intent(in) :: turn
        integer(kind=MPI_OFFSET_KIND) :: place
        place = (int(turn, MPI_OFFSET_KIND) * ranks + rank) * count * 4
    end function place

end program calls
