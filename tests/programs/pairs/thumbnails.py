"""Write each thumbnail to a file; mended: all to one file, with an index."""

import json
import sys
import time
from pathlib import Path

mended, folder = sys.argv[1] == "mended", Path(sys.argv[2])
began = time.perf_counter()
if mended:
    index = {}
    with open(folder / "thumbnails.bin", "wb") as file:
        for number in range(5000):
            index[f"image-{number}"] = file.tell()
            file.write(bytes([number & 255]) * 900)
    (folder / "thumbnails.json").write_text(json.dumps(index))
else:
    for number in range(5000):
        (folder / f"image-{number}.thumb").write_bytes(bytes([number & 255]) * 900)
print(time.perf_counter() - began)
