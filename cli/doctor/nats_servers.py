"""Access to NATS servers for ``iotide doctor --journal``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from ...events import ConfigError
from .checks import Finding, extra

_T = TypeVar("_T")
_REMEDY: Final = "see docs/failover.md"


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


def usable_servers(servers: Sequence[str], replicas: int) -> Finding:
    """Return the finding on usable servers: their addresses, and the durability of acknowledged messages."""
    kept = f"{replicas} replicas" + ("" if replicas > 1 else ", synced before they are acknowledged")
    return Finding("NATS servers", True, True, f"{', '.join(servers)}; {kept}")
