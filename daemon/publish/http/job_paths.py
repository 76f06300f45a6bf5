"""Names of jobs in paths of requests. A name may have slashes; encoded ones (``%2F``, ``=2F``) never end it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote

from starlette.convertors import Convertor, register_url_convertor

from ....events.network.job_addresses import name_in_path

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

_MARK: Final = "\x1f"
"""Stands for an encoded slash until a route is found. Names of jobs are printable, so none has it."""
_ENCODED: Final = re.compile(r"%2[fF]")
_OF_JOB: Final = re.compile(rb"/(?:api/v1/)?jobs/[^?]*%2[fF]")

_NAMED: Final = re.compile(r"(/(?:api/v1/)?jobs/)(=[^/]*)", re.DOTALL)


class JobConvertor(Convertor[str]):
    """The parameter ``{name:job}`` of a route: the name of a job, with its slashes."""

    regex = "(?s:.*)"

    def convert(self, value: str) -> str:
        """Return the name."""
        return without_marks(value)

    def to_string(self, value: str) -> str:
        """Return the name as part of a path."""
        return value


class JobPaths:
    """Marks the encoded slashes of names, so that the routes of ``{name:job}`` see the end of a name.

    Without it ``/jobs/a%2Fdfg`` would be the graph of ``a`` instead of the page of ``a/dfg``.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        if scope["type"] == "http":
            raw: bytes = scope.get("raw_path") or b""
            if _OF_JOB.match(raw):
                path = raw.partition(b"?")[0].decode("latin-1")
                scope = {**scope, "path": unquote(_ENCODED.sub("%1F", path))}
            elif found := _NAMED.match(scope["path"]):
                name = (name_in_path(found[2]) or "").replace("/", _MARK)
                scope = {**scope, "path": f"{found[1]}{name}{scope['path'][found.end() :]}"}
        await self._app(scope, receive, send)


def without_marks(path: str) -> str:
    """Return a path or a name with the slashes that are marked in it."""
    return path.replace(_MARK, "/")


register_url_convertor("job", JobConvertor())
