"""The program ``iotide``: Ctrl-C during the imports ends it without a traceback."""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # built in: importing signal takes longer than Python's start


def main() -> None:
    """Import the command line and run it.

    The imports take seconds on a cold network file system. Until they are done, the kernel handles SIGINT.
    """
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:  # else ignored, as by nohup
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from .main import main as command_line

    signal.signal(signal.SIGINT, handler)
    command_line()
