"""Keys and tokens of peers, and an aggregator's list of principals."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

from iotide.daemon.access.principals import Permission, Principal, as_toml, digest
from iotide.events.network.curve import ClientKeys, make_keys, read_client_keys, read_public
from support.tracing.programs import need


class Listed:
    """The key pair of an aggregator and its list of principals, in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "principals.toml"
        self.path.touch()
        self.listed: dict[str, Principal] = {}
        self.public, self.secret = make_keys(folder, "aggregator")

    def key(self, name: str, *may: Permission, user: str = "") -> tuple[Path, Path]:
        """Create keys that may connect; return the files for their owner."""
        public, secret = make_keys(self.folder, name)
        self.list_key(name, public, *may, user=user)
        return secret, self.public

    def list_key(self, name: str, public: Path, *may: Permission, user: str = "") -> None:
        """List the key of a file."""
        key = read_public(public).decode()
        self._write(Principal(name=name, key=key, user=user, may=frozenset(may)))

    def stranger(self) -> tuple[Path, Path]:
        """Create keys that are not in the list."""
        return make_keys(self.folder, "stranger")[1], self.public

    def token(self, name: str, *may: Permission, user: str = "") -> dict[str, str]:
        """Add a token to the list; return the header with the token."""
        token_text = f"token of {name}"
        self._write(Principal(name=name, token_sha256=digest(token_text), user=user, may=frozenset(may)))
        return {"authorization": f"Bearer {token_text}"}

    def revoke(self, name: str) -> None:
        """Remove a principal from the list."""
        del self.listed[name]
        self._write()

    def change(self) -> None:
        """Replace the key pair of the aggregator."""
        folder = self.folder / "next"
        folder.mkdir()
        public, secret = make_keys(folder, "aggregator")
        public.replace(self.public)
        secret.replace(self.secret)

    def settings(self, **more: Any) -> dict[str, Any]:
        """Return settings of an aggregator that requires keys and tokens."""
        return {"key": self.secret, "principals": self.path} | more

    def _write(self, *principals: Principal) -> None:
        self.listed |= {each.name: each for each in principals}
        written = self.path.with_suffix(".new")
        written.write_text(as_toml(self.listed.values()))
        written.replace(self.path)


def collector_keys(keys: tuple[Path, Path]) -> dict[str, Path]:
    """Return the settings of a collector with keys."""
    return {"key": keys[0], "server_key": keys[1]}


def client_keys(keys: tuple[Path, Path]) -> ClientKeys:
    """Return the key options of a subscriber."""
    found = read_client_keys(*keys)
    assert found is not None
    return found


def certificate(folder: Path) -> tuple[Path, Path]:
    """Write a self-signed certificate of 127.0.0.1 and its key."""
    chain, key = folder / "cert.pem", folder / "cert.key"
    subprocess.run(
        [need("openssl"), "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
         "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
         "-keyout", key, "-out", chain],
        check=True,
        capture_output=True,
    )  # fmt: skip
    return chain, key
