"""``python -m iotide.collectors.wrappers [NAME...]``: rebuild the libraries of a checkout in place.

NAME is ``preload`` for the core, ``layers`` for all others, or the name of a signature file; by default all are built.
For development in C; ``pip install`` also builds them.
"""

from __future__ import annotations

import sys

from .build import BuildError, rebuild
from .model import SignatureError
from .sources import ALL_LAYERS, CORE_NAME, layers_in


def main(names: list[str]) -> int:
    """Build the named libraries and return the exit status."""
    known = [CORE_NAME, *layers_in(), ALL_LAYERS]
    status = 0
    for name in names or known:
        if name not in known:
            sys.stderr.write(f"no library is called {name!r}: expected one of {', '.join(known)}\n")
            return 2
        try:
            sys.stdout.write(f"{rebuild(name)}\n")
        except (BuildError, SignatureError) as error:
            sys.stderr.write(f"{name}: {error}\n")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
