"""The ledger of a job for the API."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Final

from ....events.losses import EVENTS
from ....results.jobs.ledger import JobLedger, StreamAccount
from ..losses.ledger import LOST_AFTER_TAKING, Account
from ..session import JobSession

_MAX_STREAMS: Final = 1000
_NOT_ARCHIVED: Final = "events_not_archived:"
_LEFT_OUT: Final = ("events_left_out", "events_sampled_out")


def ledger_of(session: JobSession, *, archives: bool) -> JobLedger:
    """Return the current ledger of a job; ``archives``: whether archives are written."""
    ledger, losses = session.ledger, session.losses.total
    total = Account()
    for account in (ledger.ended, *ledger.streams.values()):
        total.add(account)
    dropped = _by_reason(losses, EVENTS)
    not_archived = _by_reason(losses, _NOT_ARCHIVED)
    analysed = session.analyzers.events
    waiting = total.received - ledger.archived - sum(not_archived.values())
    differences = {
        "collector": ledger.unaccounted,
        "analyzers": total.received - analysed,
        "archive": min(waiting, 0) if archives else 0,
    }
    return JobLedger(
        job=session.job,
        dropped_before={reason: count for reason, count in dropped.items() if reason not in LOST_AFTER_TAKING},
        left_out={name: losses[name] for name in _LEFT_OUT if losses[name]},
        total=_account_result(total, len(ledger.streams) + ledger.ended_streams),
        ended=_account_result(ledger.ended, ledger.ended_streams),
        open={name: _account_result(account) for name, account in islice(ledger.streams.items(), _MAX_STREAMS)},
        cut_off=ledger.cut_off,
        not_analysed={},
        analysed=analysed,
        archived=ledger.archived if archives else None,
        not_archived=not_archived,
        waiting_for_archive=max(waiting, 0) if archives else None,
        unaccounted={place: count for place, count in differences.items() if count},
        missing=ledger.missing,
        balanced=not any(differences.values()),
    )


def _account_result(account: Account, streams: int = 1) -> StreamAccount:
    return StreamAccount(
        streams=streams,
        made=account.made or account.received + account.dropped,
        dropped=account.dropped,
        received=account.received,
        journalled=account.journalled,
        on_the_way=account.in_transit,
    )


def _by_reason(losses: Mapping[str, int], prefix: str) -> dict[str, int]:
    return {name.removeprefix(prefix): count for name, count in sorted(losses.items()) if name.startswith(prefix)}
