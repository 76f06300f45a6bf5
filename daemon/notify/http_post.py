"""One blocking HTTP POST of JSON, for a thread."""

from __future__ import annotations

import http.client
import ssl
import urllib.error
import urllib.request
from pathlib import Path
from typing import Final, Literal, NamedTuple

from ...events.files import read_text

_MAX_TEXT: Final = 300
_RETRY_STATUSES: Final = (408, 425, 429)
Outcome = Literal["sent", "refused", "failed"]


class PostResult(NamedTuple):
    """Result of a message.

    Attributes:
        outcome: refused: the receiver does not accept it; failed: it may be retried.
        response_text: reason as text; "" if it was sent.
    """

    outcome: Outcome
    response_text: str = ""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Handler that follows no redirection: alerts and a token only go to the configured address."""

    def redirect_request(self, *_: object) -> None:
        """Return the redirection as the answer."""


def post(url: str, body: bytes, timeout_s: float, token_file: Path | None, ca_file: Path | None) -> PostResult:
    """Send a message and return the result. Failures of receiver, network or files raise no exception.

    Proxies of the environment are not used, and certificates are checked.

    Args:
        url: http or https.
        body: JSON.
        timeout_s: timeout of each step of connecting, sending and reading, s.
        token_file: file with a bearer token; read at each call.
        ca_file: certificates to trust instead of the system's.
    """
    headers = {"Content-Type": "application/json", "User-Agent": "iotide"}
    try:
        if token_file is not None:
            headers["Authorization"] = f"Bearer {_token(token_file)}"
        context = ssl.create_default_context(cafile=ca_file) if url.startswith("https:") else None
    except (OSError, ValueError) as error:
        return PostResult("failed", str(error))
    secure = [] if context is None else [urllib.request.HTTPSHandler(context=context)]
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects(), *secure)
    request = urllib.request.Request(url, body, headers, method="POST")  # noqa: S310  # settings take http(s) alone
    try:
        with opener.open(request, timeout=timeout_s) as answer:
            return PostResult("sent") if answer.status < 300 else PostResult("refused", f"answered {answer.status}")
    except urllib.error.HTTPError as error:
        with error:
            return _refusal(error)
    except urllib.error.URLError as error:
        return PostResult("failed", str(error.reason))
    except (OSError, http.client.HTTPException, ValueError) as error:
        return PostResult("failed", f"{type(error).__name__}: {error}")


def _refusal(error: urllib.error.HTTPError) -> PostResult:
    if 300 <= error.code < 400:
        leads = _clean(error.headers.get("Location") or "")
        return PostResult(
            "refused", f"answered {error.code} and leads to {leads}, which is not followed: set that address"
        )
    try:
        text = _clean(error.read(_MAX_TEXT).decode(errors="replace"))
    except (OSError, http.client.HTTPException):
        text = ""
    answer = f"answered {error.code} {_clean(error.reason)}" + (f": {text}" if text else "")
    return PostResult("failed" if error.code >= 500 or error.code in _RETRY_STATUSES else "refused", answer)


def _clean(text: str) -> str:
    return "".join(each if each.isprintable() else " " for each in text[:_MAX_TEXT]).strip()


def _token(path: Path) -> str:
    try:
        token = read_text(path).strip()
    except UnicodeDecodeError:
        token = ""
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError(f"{path} contains no token")  # its content must not be logged
    return token
