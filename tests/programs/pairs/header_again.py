"""Rewrite a file's index after each block; mended: once, when it is complete."""

import os
import sys
import time
from pathlib import Path

mended, folder = sys.argv[1] == "mended", Path(sys.argv[2])
INDEX, BLOCK, BLOCKS = 4 << 20, 256 << 10, 600
index, block = bytes(INDEX), bytes(BLOCK)
descriptor = os.open(folder / "blocks.dat", os.O_WRONLY | os.O_CREAT)
began = time.perf_counter()
for number in range(BLOCKS):
    os.pwrite(descriptor, block, INDEX + number * BLOCK)
    if not mended or number == BLOCKS - 1:
        os.pwrite(descriptor, index, 0)
print(time.perf_counter() - began)
os.close(descriptor)
