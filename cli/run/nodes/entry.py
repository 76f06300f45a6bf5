"""Where the collectors of other nodes connect to a run: keys that are made for it, and nobody else gets in."""

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
    """What listens, and the keys of who may connect.

    Attributes:
        endpoint: with a port that the system chooses.
        access: of what listens.
        public, secret: of the collectors.
        server: public, of what listens.
    """

    endpoint: str
    access: AccessSettings
    public: str
    secret: str
    server: str


def make_entry(folder: Path, address: str) -> Entry:
    """Returns an entry at an address of this machine.

    Args:
        folder: of the run, private to its user; gets the keys.
        address: of an interface, numeric.

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
