"""Write each result to a file; mended: all of them to one."""

import sys
import tempfile
import time
from pathlib import Path

mended, folder = sys.argv[1] == "mended", Path(sys.argv[2])
results = [bytes([step % 256]) * 400 for step in range(10_000)]
results_folder = tempfile.mkdtemp(dir=folder)  # overwriting files is slower
began = time.perf_counter()
if mended:
    with open(f"{results_folder}/all.dat", "wb") as file:
        file.writelines(results)
else:
    for step, result in enumerate(results):
        with open(f"{results_folder}/step{step:05}.dat", "wb", buffering=0) as file:
            file.write(result)
print(time.perf_counter() - began)
