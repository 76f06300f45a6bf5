"""What a program says that it did, beside what the tracer saw of it."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from iotide.events import Kind
from support.system.commands import plain_environment
from support.system.waiting import DEADLINE_S
from support.tracing.tracing import Tracing


class Account(NamedTuple):
    """Calls on a program's own files, by kind, and what the tracer says that it lost of all calls."""

    made: Counter[Kind]
    """Counted by the program itself; see tests/programs/counted.h."""
    seen: Counter[Kind]
    dropped: Counter[str]

    def check(self, *, most_dropped: int = 0, in_flight: int = 0) -> None:
        """Fails unless what was made is what was seen, but for what is said to be lost.

        Args:
            most_dropped: how much may be lost.
            in_flight: calls that were being made when the program was killed, which may have been recorded or not.
        """
        assert self.made, "the program counted nothing"
        for kind, count in self.made.items():
            assert self.seen[kind] <= count + in_flight, (kind, self)
        missing = sum(self.made.values()) - sum(self.seen.values())
        assert missing <= sum(self.dropped.values()) <= most_dropped, (missing, self)


def account(tracing: Tracing, file: Path) -> Account:
    """Compares the calls on files whose paths begin with that of ``file`` with what stands in ``FILE.made``."""
    counted = np.fromfile(f"{file}.made", np.uint64).tolist()
    made = Counter({Kind(kind): count for kind, count in enumerate(counted) if count})
    seen: Counter[Kind] = Counter()
    for stream, batch in tracing.events().items():
        table = tracing.tables[stream]
        own = [table.file(number).path.startswith(str(file)) for number in batch.file.tolist()]
        seen.update(Kind(kind) for kind in batch.kind[np.array(own, bool)].tolist())
    dropped = Counter(
        {name: n for name, n in tracing.source.counters.items() if name.startswith("events_dropped") and n}
    )
    return Account(made, Counter({kind: seen[kind] for kind in made}), dropped)


def run_both(
    tracing: Tracing, command: Sequence[str | Path], file: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs a program untraced and then traced; fails where it does not end alike.

    Args:
        tracing: where the traced run reports to.
        command: the program and its words.
        file: whose ``.made`` is begun anew for the traced run.
        env: added to both environments; an LD_PRELOAD comes after ours.
    """
    words = [str(word) for word in command]
    extra = dict(env or {})
    plain = subprocess.run(
        words,
        env=plain_environment(**extra),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    for left in file.parent.glob(f"{file.name}*"):
        if left.is_file():
            left.unlink()
    traced = tracing.run(words, env=tracing.environment(**extra))
    assert (traced.returncode, traced.stdout, traced.stderr) == (plain.returncode, plain.stdout, plain.stderr)
    return traced
