"""The list of permitted principals. It is a TOML file of keys, tokens and permissions, reread when it changes."""

from __future__ import annotations

import hashlib
import json
import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from ...events import ConfigError
from ...events.files import read_toml
from ...events.network.curve import is_public_key
from ..settings_checks import validation_text

_log = logging.getLogger(__name__)
Permission = Literal["collect", "read", "metrics", "operate", "member"]
PERMISSIONS: Final[dict[Permission, str]] = {
    "collect": "send streams of events",
    "read": "see jobs over HTTP, as access.visibility says",
    "metrics": "read /metrics",
    "operate": "see all jobs over HTTP, and subscribe",
    "member": "be a member of the cluster, for the keys of a change of access.key",
}
_HEAD: Final = "# Who may connect. `iotide keys` writes this file anew; comments are not kept.\n"


class Principal(BaseModel):
    """A permitted principal."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=200)
    key: str | None = None
    """Public key of CURVE, 40 characters of Z85."""
    token_sha256: str | None = Field(None, pattern="^[0-9a-f]{64}$")
    """SHA-256 of the token for HTTP."""
    user: str = Field("", max_length=200)
    """User of its streams and of the jobs that it sees, regardless of their own user name. "": a node, for all
    users."""
    may: frozenset[Permission]

    @field_validator("key")
    @classmethod
    def _key_of_curve(cls, key: str | None) -> str | None:
        if key is not None and not is_public_key(key):
            raise ValueError("a public key has 40 characters of Z85")
        return key

    def allows(self, permission: Permission) -> bool:
        """Return whether this principal has a permission; "operate" includes reading."""
        return permission in self.may or (permission in ("read", "metrics") and "operate" in self.may)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    principal: list[Principal] = []


class Principals:
    """The principals of a file, by key and by token.

    Args:
        listed: principals with distinct names, keys and tokens.

    Raises:
        ConfigError: two have the same name, key or token.
    """

    def __init__(self, listed: Iterable[Principal]) -> None:
        self.listed = tuple(listed)
        if twice := [name for name, times in Counter(each.name for each in self.listed).items() if times > 1]:
            raise ConfigError(f"two principals are called {twice[0]!r}")
        self._by_key = _indexed("key", {each.name: each.key for each in self.listed}, self.listed)
        self._by_token = _indexed("token", {each.name: each.token_sha256 for each in self.listed}, self.listed)

    def with_key(self, key: str) -> Principal | None:
        """Return the principal with a CURVE key."""
        return self._by_key.get(key)

    def with_token(self, token: str) -> Principal | None:
        """Return the principal with a token."""
        return self._by_token.get(digest(token))


class PrincipalsFile:
    """A file of principals and its current content.

    Raises:
        ConfigError: it cannot be read or is invalid.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file_stamp = _stamp_of_file(path)
        self._local: dict[str, Principal] = {}
        self.current = read_principals(path)

    def with_key(self, key: str) -> Principal | None:
        """Return the principal with a CURVE key."""
        return self._local.get(key) or self.current.with_key(key)

    def keys_of(self, permission: Permission) -> frozenset[str]:
        """Return the listed CURVE keys with a permission."""
        return frozenset(each.key for each in self.current.listed if each.key is not None and each.allows(permission))

    def admit(self, ours: Principal) -> None:
        """Admit a part of this process, which is in no file."""
        if ours.key is not None:
            self._local[ours.key] = ours

    def reload(self) -> bool:
        """Read the file again if it has changed; return whether the principals changed. Errors are logged."""
        if (stamp := _stamp_of_file(self._path)) == self._file_stamp:
            return False
        self._file_stamp = stamp
        try:
            self.current = read_principals(self._path)
        except ConfigError as error:
            _log.error("%s; the earlier list of principals stays in use", error)
            return False
        _log.warning("%s was read again: it lists %d principals", self._path, len(self.current.listed))
        return True


def digest(token: str) -> str:
    """Return the stored hash of a token."""
    return hashlib.sha256(token.encode(errors="replace")).hexdigest()


def read_principals(path: Path) -> Principals:
    """Read a file.

    Raises:
        ConfigError: it cannot be read or is invalid; the text names the place.
    """
    values = read_toml(path)
    try:
        return Principals(_File.model_validate(values).principal)
    except ValidationError as error:
        raise ConfigError(f"{path}: {validation_text(error)}") from None
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from None


def as_toml(listed: Iterable[Principal]) -> str:
    """Return the text of a file."""
    return _HEAD + "".join(f"\n[[principal]]\n{_entry(each)}" for each in listed)


def _entry(principal: Principal) -> str:
    values = {
        "name": principal.name,
        "user": principal.user,
        "key": principal.key,
        "token_sha256": principal.token_sha256,
    }
    lines = [f"{name} = {_quoted(value)}\n" for name, value in values.items() if value]
    return "".join(lines) + f"may = [{', '.join(_quoted(each) for each in sorted(principal.may))}]\n"


def _quoted(text: str) -> str:
    """Return a text as a TOML basic string. It has the escapes of JSON, and an escaped DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _indexed(what: str, values: Mapping[str, str | None], listed: Iterable[Principal]) -> dict[str, Principal]:
    found: dict[str, Principal] = {}
    for each in listed:
        if (value := values[each.name]) is not None:
            if value in found:
                raise ConfigError(f"{found[value].name!r} and {each.name!r} have the same {what}")
            found[value] = each
    return found


def _stamp_of_file(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
