"""Compare a program's own count of its calls with the tracer's events."""

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
    """Calls on a program's own files, by kind, and the tracer's losses over all calls."""

    made: Counter[Kind]
    """Counted by the program itself; see tests/programs/counted.h."""
    seen: Counter[Kind]
    dropped: Counter[str]

    def check(self, *, may_drop: bool = False, in_flight: int = 0) -> None:
        """Fail unless the recorded calls are the calls made, except for the counted losses.

        Args:
            may_drop: whether calls may be lost. How many are depends on when threads get a core.
            in_flight: calls in progress when the program was killed, which may be recorded or not.
        """
        assert self.made, "the program counted nothing"
        for kind, count in self.made.items():
            assert self.seen[kind] <= count + in_flight, (kind, self)
        made = sum(self.made.values())
        missing = made - sum(self.seen.values())
        assert missing <= sum(self.dropped.values()) <= (made if may_drop else 0), (missing, self)
        assert missing < made, "nothing was recorded"


def account(tracing: Tracing, file: Path) -> Account:
    """Compare the calls on files whose paths begin with that of ``file`` with the counts in ``FILE.made``."""
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
    """Run a program untraced and then traced; fail if it does not end in the same way.

    Args:
        tracing: where the traced run reports to.
        command: the program and its arguments.
        file: its ``.made`` is created anew for the traced run.
        env: added to both environments; an LD_PRELOAD follows ours.
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
