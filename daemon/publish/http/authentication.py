"""Authentication of requests. The system identifies a user over a Unix socket, or the request has a token."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from typing import TYPE_CHECKING, Any, Final

from ....events.network.peers import user_name
from ...access.access import Access
from ...access.viewer import ANYONE, Viewer, viewer, viewer_of, viewer_of_user

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from ...access.projects import Projects

_OPEN: Final = frozenset({"/healthz", "/readyz"})
_FOR_PROMETHEUS: Final = frozenset({"/rules.yml", "/runbooks", "/runbooks.md"})
"""Files that name no job. A token for /metrics opens them, too."""
_SAFE: Final = frozenset({"GET", "HEAD"})
_READING: Final = re.compile(r"(/partitions/[0-9]+)?/internal/(rank|culprits|dfg)")
"""Paths whose POST requests change nothing; members of a cluster send them."""
_MAX_HEADER: Final = 1024
_CHALLENGE: Final = (b"www-authenticate", b'Basic realm="iotide", charset="UTF-8"')
UID: Final = "iotide.uid"
"""Key of the peer's user id over a Unix socket, in the state of a request."""


class Authentication:
    """Passes permitted requests on, and sets the viewer for the application.

    A browser sends the token as the password of any user name (Basic), a program as ``Authorization: Bearer TOKEN``.
    Health needs no authentication.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http" or scope["path"] in _OPEN:
            await self._app(scope, receive, send)
            return
        asking = self._authenticate(scope)
        if asking is None:
            self._access.count("http")
            await _answer(send, 401, "the request has no valid token", "a token of access.principals", [_CHALLENGE])
        elif (missing := _missing_permission(scope, asking)) is not None:
            self._access.count("http_permission")
            await _answer(send, 403, f"{asking.name!r} lacks a permission", f"the permission {missing}", [])
        else:
            before = viewer.set(asking)
            try:
                await self._app(scope, receive, send)
            finally:
                viewer.reset(before)

    def _authenticate(self, scope: Scope) -> Viewer | None:
        settings = self._access.settings
        own, projects = settings.visibility != "all", self._access.projects
        uid = scope.get("state", {}).get(UID)
        if uid is not None:
            user = user_name(uid)
            is_operator = uid in (0, os.geteuid()) or user in settings.operators
            return viewer_of_user(user, is_operator=is_operator, own=own, projects=_projects(projects, user))
        if self._access.principals is None:
            return None if own else ANYONE
        token = _token(scope["headers"])
        principal = self._access.principals.current.with_token(token) if token else None
        if principal is None:
            return None
        return viewer_of(principal, own=own, projects=_projects(projects, principal.user))


def _projects(known: Projects | None, user: str) -> frozenset[str]:
    return frozenset() if known is None else known.of(user)


def _missing_permission(scope: Scope, asking: Viewer) -> str | None:
    """Return the missing permission, if any."""
    if scope["path"] == "/metrics":
        return None if asking.may_scrape else "metrics"
    if scope["path"] in _FOR_PROMETHEUS and asking.may_scrape:
        return None
    if scope["method"] not in _SAFE and not _READING.fullmatch(scope["path"]):
        return None if asking.may_operate else "operate"
    return None if asking.may_read else "read"


def _token(headers: list[tuple[bytes, bytes]]) -> str:
    for name, value in headers:
        if name == b"authorization" and len(value) <= _MAX_HEADER:
            scheme, _, rest = value.decode("latin-1").partition(" ")
            if scheme.lower() == "bearer":
                return rest.strip()
            if scheme.lower() == "basic":
                return _password(rest.strip())
    return ""


def _password(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""


async def _answer(send: Send, status: int, error: str, expected: str, headers: list[Any]) -> None:
    body = json.dumps({"error": error, "expected": expected}).encode()
    kind = (b"content-type", b"application/json")
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [kind, length, *headers]})
    await send({"type": "http.response.body", "body": body})
