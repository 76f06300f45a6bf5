"""Replay of a journal with the original results."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ...events.counted_text import counted
from ..aggregator import Aggregator
from ..clocks import Clocks
from ..ingest.ingest_core import IngestCore
from ..jobs.lifecycle.recorded_steps import Kind
from .contract import Gap, Record, Replayed

_log = logging.getLogger(__name__)
SEARCHED = b"\1"


class RecoveryResult(NamedTuple):
    """Result of a replay.

    Attributes:
        core: core that has processed all messages.
        records, damaged: numbers of replayed and of unreadable records.
        steady_s: steady clock of the last record; None without records.
    """

    core: IngestCore
    records: int
    damaged: int
    steady_s: float | None


def replay_records(
    found: Iterable[Replayed],
    aggregator: Aggregator,
    clocks: Clocks,
    core: IngestCore,
    another: Callable[[], IngestCore],
) -> RecoveryResult:
    """Replay a journal in an aggregator.

    Args:
        found: records after those that the aggregator's state covers.
        aggregator: aggregator in the state before the first record.
        clocks: clocks of the aggregator.
        core: core in the same state.
        another: creates an empty core.
    """
    records = damaged = 0
    steady_s: float | None = None
    for each in found:
        if isinstance(each, Gap):
            damaged += each.missing
            _log.error(
                "the journal is damaged: %s cannot be read, from %s on", counted(each.missing, "records"), each.where
            )
            core.accept_gap()
            continue
        with clocks.frozen(each.moment.clock_s, each.moment.steady_s):
            if each.kind is Kind.RESTART:
                before, core = core, another()
                core.resume(before.state(), each.moment.now_s)
            else:
                _replay_record(each, aggregator, core)
        steady_s = each.moment.steady_s
        records += 1
    return RecoveryResult(core, records, damaged, steady_s)


def _replay_record(record: Record, aggregator: Aggregator, core: IngestCore) -> None:
    if record.kind is Kind.MESSAGE:
        aggregator.journals = True
        try:
            core.receive(record.sender, record.frames, record.moment.now_s)
        except Exception:  # as at its arrival
            core.stats.failed += 1
    elif record.kind is Kind.TICK:
        core.tick(record.moment.now_s)
    elif (session := aggregator.jobs.get(b"".join(record.frames).decode(errors="replace"))) is not None:
        search = record.sender == SEARCHED
        if record.kind is Kind.AGE:
            aggregator.advance_state(session, search)
        else:
            aggregator.predict(session, search)
