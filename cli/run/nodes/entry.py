"""The endpoint for collectors of other nodes, protected by keys made for the run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ....daemon.access.principals import Principal, as_toml
from ....daemon.access.settings import AccessSettings
from ....events.files import write_text
from ....events.network.curve import make_keys, read_pair, read_public

_RUN: Final = "run"
_NODES: Final = "nodes"
_LIST: Final = "principals.toml"


@dataclass(frozen=True, slots=True)
class Entry:
    """An endpoint and the keys of permitted collectors.

    Attributes:
        endpoint: endpoint with a port that the system chooses.
        access: access settings of the listener.
        public, secret: keys of the collectors.
        server: public key of the listener.
    """

    endpoint: str
    access: AccessSettings
    public: str
    secret: str
    server: str


def make_entry(folder: Path, address: str) -> Entry:
    """Return an entry at an address of this machine.

    Args:
        folder: folder of the run for the keys, private to its user.
        address: numeric address of an interface.

    Raises:
        ConfigError: the keys cannot be written.
    """
    public_key, key = make_keys(folder, _RUN)
    nodes_key, nodes_secret = make_keys(folder, _NODES)
    pair, listed = read_pair(nodes_secret), folder / _LIST
    node = Principal(name=_NODES, key=read_public(nodes_key).decode(), may=frozenset({"collect"}))
    write_text(listed, as_toml([node]))
    host = f"[{address}]" if ":" in address else address
    return Entry(
        endpoint=f"tcp://{host}:*",
        access=AccessSettings(key=key, principals=listed),
        public=pair.public.decode(),
        secret=pair.secret.decode(),
        server=read_public(public_key).decode(),
    )
