"""Access to NATS servers for ``iotide doctor --journal``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, TypeVar

from ...events import ConfigError
from .checks import Finding, extra

if TYPE_CHECKING:
    from ...daemon.journal.jetstream.stores import Stores

_T = TypeVar("_T")
_REMEDY: Final = "see docs/failover.md"
_FULL_BYTES: Final = 1 << 20
"""Free bytes of a store below which it is full: the size of a message of the journal."""
_NEARLY_FULL: Final = 0.9
"""Used share of a store that is reported."""


class UnusableServersError(Exception):
    """The servers cannot be inspected; ``finding`` has the reason."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.detail)
        self.finding = finding


def inspect_servers(load: Callable[[], Callable[[], _T]]) -> _T:
    """Return the result of an inspection.

    Args:
        load: imports the inspection and returns it.

    Raises:
        UnusableServersError: the client library is missing, or the servers cannot be used.
    """
    try:
        inspect = load()
    except ImportError:
        missing = Finding("nats-py", False, True, "it is not installed", extra("jetstream"))
        raise UnusableServersError(missing) from None
    try:
        return inspect()
    except ConfigError as error:
        raise UnusableServersError(Finding("NATS servers", False, True, str(error), _REMEDY)) from None
    except Exception as error:  # any exception of the library
        text = str(error) or repr(error)
        raise UnusableServersError(Finding("NATS servers", False, True, text, _REMEDY)) from None


def server_findings(servers: Sequence[str], replicas: int, unsynced: Sequence[str]) -> list[Finding]:
    """Return the findings on usable servers: their addresses, and the durability of acknowledged messages."""
    if unsynced:
        return [Finding("NATS servers", False, True, problem, _REMEDY) for problem in unsynced]
    kept = f"{replicas} replicas" + ("" if replicas > 1 else ", synced before they are acknowledged")
    return [Finding("NATS servers", True, True, f"{', '.join(servers)}; {kept}")]


def store_findings(stores: Stores) -> list[Finding]:
    """Return a finding per store that is unknown, full or nearly full. Return one for all if there is none."""
    remedy = "start this server, or correct journal.monitors"
    found, most = [Finding("NATS store", False, False, problem, remedy) for problem in stores.unknown], 0.0
    for each in stores.limited:
        used = each.used / each.limit
        most = max(most, used)
        is_full = each.limit - each.used < _FULL_BYTES
        if is_full or used >= _NEARLY_FULL:
            state = "full, and nothing is acknowledged" if is_full else "nearly full"
            detail = f"{each.name} is {state}: {each.used:,} of {each.limit:,} bytes"
            found.append(
                Finding("NATS store", False, is_full, detail, f"raise {each.option}, and reload the server; {_REMEDY}")
            )
    return found or [Finding("NATS store", True, False, f"at most {most:.0%} of a store is used")]
