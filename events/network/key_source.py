"""Origin of the keys of a connection, which may change while it is used."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ..errors import ConfigError
from .curve import ClientKeys, read_client_keys

_log = logging.getLogger(__name__)


class KeySource(Protocol):
    """Origin of the keys."""

    @property
    def keys(self) -> ClientKeys | None:
        """The keys to use from now on."""
        ...

    def refresh(self) -> None:
        """Look for other keys, because the aggregator does not answer. ``keys`` may change later."""
        ...


@dataclass(frozen=True, slots=True)
class FixedKeys:
    """Keys that do not change."""

    keys: ClientKeys | None

    def refresh(self) -> None:
        """Do nothing."""


class KeyFiles:
    """Keys in files.

    Args:
        secret_key: file of the own keys; None without keys.
        server_key: file of the aggregator's public key.

    Raises:
        ConfigError: the files cannot be read.
    """

    def __init__(self, secret_key: Path | None, server_key: Path | None) -> None:
        self._files = secret_key, server_key
        self.keys = read_client_keys(*self._files)

    def refresh(self) -> None:
        """Read the files again. Without valid keys in them, the earlier ones stay."""
        try:
            self.keys = read_client_keys(*self._files)
        except ConfigError as error:
            _log.warning("%s; the earlier keys stay in use", error)
