"""Ranks write a dataset per step collectively and one value each independently, and read a neighbour's row back.

Run by Debian's Python, whose h5py is parallel.
"""

import sys

import h5py
import numpy
from mpi4py import MPI

STEPS, COUNT = 3, 1 << 16
world = MPI.COMM_WORLD
with h5py.File(sys.argv[1], "w", driver="mpio", comm=world) as file:
    for step in range(STEPS):
        rows = file.create_dataset(f"step{step}", (world.size, COUNT), dtype="f8")
        with rows.collective:
            rows[world.rank] = numpy.full(COUNT, float(world.rank))
        rows[world.rank, 0] = 7.0
with h5py.File(sys.argv[1], "r", driver="mpio", comm=world) as file:
    for step in range(STEPS):
        file[f"step{step}"][(world.rank + 1) % world.size]
