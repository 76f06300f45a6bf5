"""Ranks write one row each, collectively and independently, and read one back.

Run by Debian's Python, whose h5py is parallel.
"""

import sys

import h5py
import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
with h5py.File(sys.argv[1], "w", driver="mpio", comm=world) as file:
    rows = file.create_dataset("rows", (world.size, 1024), dtype="f8")
    with rows.collective:
        rows[world.rank] = numpy.full(1024, float(world.rank))
    rows[world.rank, :4] = 7.0
with h5py.File(sys.argv[1], "r", driver="mpio", comm=world) as file:
    total = file["rows"][(world.rank + 1) % world.size].sum()
print(world.gather(total) or "", end="")
