"""MPI-IO through mpi4py: ``mpi_python.py FILE``."""

import sys

from mpi4py import MPI

SIZE = 1000
comm = MPI.COMM_WORLD
data = bytes([comm.rank]) * SIZE
file = MPI.File.Open(comm, sys.argv[1], MPI.MODE_CREATE | MPI.MODE_RDWR)
file.Write_at_all(comm.rank * SIZE, data)
requests = [file.Iwrite_at((comm.size * turn + comm.rank) * SIZE, data) for turn in (1, 2)]
MPI.Request.Waitall(requests)
back = bytearray(SIZE)
file.Read_at(comm.rank * SIZE, back)
file.Close()
same = comm.gather(bytes(back) == data)
if comm.rank == 0:
    sys.stdout.write(f"same {same}\n")
