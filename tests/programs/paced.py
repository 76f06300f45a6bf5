"""Write blocks to a file on command, one per byte; the case selects further activity."""

import os
import signal
import sys
import threading

path, case, blocks = sys.argv[1], sys.argv[2], int(sys.argv[3])
data = os.open(path, os.O_CREAT | os.O_WRONLY, 0o600)
alarms = []


def on_alarm(number: int, frame: object) -> None:
    """Write to the paced file system, too."""
    alarms.append(number)
    os.pwrite(data, b"alarm", 0)


def write(first: int) -> None:
    """Write blocks, and print that."""
    for block in range(first, first + blocks):
        os.pwrite(data, b"x" * 4096, block * 4096)


os.write(1, b"begun\n")
os.read(0, 1)
if case == "alarm":
    signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    write(0)
    while not alarms:
        signal.pause()
    signal.setitimer(signal.ITIMER_REAL, 0)
elif case == "fork":
    child = os.fork()
    write(0 if child else blocks)
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
elif case == "threads":
    threads = [threading.Thread(target=write, args=(at * blocks,)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
elif case == "leaving":  # while another thread waits
    threading.Thread(target=write, args=(0,), daemon=True).start()
    os.read(0, 1)
    os._exit(7)
else:
    write(0)
