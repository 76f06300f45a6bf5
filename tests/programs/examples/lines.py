"""A simulation in Python that writes its state after each step, line by line."""

import sys
import time
from pathlib import Path

STATE = [at / 3 for at in range(2000)]
for step in range(10):
    time.sleep(0.7)  # simulates compute
    with (Path(sys.argv[1]) / f"state-{step:03d}.csv").open("w") as file:
        for at, value in enumerate(STATE):
            file.write(f"{step},{at},{value}\n")
            file.flush()
