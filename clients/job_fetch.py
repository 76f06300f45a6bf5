"""Queries of running jobs' results at their aggregator.

Addresses are ``http://HOST:PORT/...``, ``https://...``, or ``http+unix://PATH/...`` with ``%2F`` for each slash of the
socket's path. The environment variable ``IOTIDE_TOKEN_FILE`` names a file with a token; ``SSL_CERT_FILE`` names trusted
certificates.
"""

from __future__ import annotations

import http.client
import io
import json
import os
import socket
import ssl
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Final, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from ..events import ConfigError, InputError
from ..events.files import read_text
from ..events.network.endpoints import is_loopback

TOKEN_FILE: Final = "IOTIDE_TOKEN_FILE"  # noqa: S105  (the name of a variable)
_UNIX: Final = "http+unix"
MAX_RESPONSE_BYTES: Final = 1 << 28
_TIMEOUT_S: Final = 30.0
_EXPECTED: Final = "http://HOST:PORT/jobs/JOB of a running aggregator (iotide serve)"
_CERTIFICATE: Final = "a trusted certificate, or the file of the aggregator's in SSL_CERT_FILE"
_DENIED: Final = (401, 403)
_TOKEN: Final = f"a token that may see it, in the file that {TOKEN_FILE} names"
_JOBS: Final = "/jobs/"
_SCHEMES: Final = ("http", "https", _UNIX)
_AGGREGATOR: Final = "http://HOST:PORT of a running aggregator (iotide serve)"
_FAILURES: Final = (OSError, ValueError, http.client.HTTPException)
"""Exceptions of a request without a valid answer. What answers may be no HTTP server."""
_PROBE_S: Final = 2.0
"""Maximum time to find out whether a port that does not answer speaks TLS, s."""
_PATH_CHARACTERS: Final = "/%!$&'(),;=:@+*"
"""Characters of paths that stay as they are; a percent sign begins an encoded one."""
_M = TypeVar("_M", bound=BaseModel)


def is_address(text: str) -> bool:
    """Return whether a text is the address of a job rather than a file name."""
    return text.startswith(("http://", "https://", f"{_UNIX}://"))


def fetch(address: str, result: str, model: type[_M]) -> _M:
    """Return a current result of a job.

    Args:
        address: ``http://HOST:PORT/jobs/JOB``, with or without ``/api/v1`` before and ``/RESULT`` behind.
        result: the last part of its path in the API, such as ``dfg``; "" for the job's details.
        model: model of the result.

    Raises:
        InputError: the aggregator does not answer, or has no such job.
    """
    parts = _parts_of(address, _EXPECTED)
    _, found, job = parts.path.partition(_JOBS)
    job = urllib.parse.quote(job, safe=_PATH_CHARACTERS, errors="replace")  # what a user typed as it is
    job = (job.removesuffix(f"/{result}") if result else job).strip("/")
    base = f"{parts.scheme}://{parts.netloc}/api/v1/jobs"
    if not found or not job:
        raise InputError(address, None, "the job is missing", f"{_EXPECTED}; {_known(base)}")
    try:
        return model.model_validate_json(_get(f"{base}/{job}/{result}".rstrip("/")))
    except urllib.error.HTTPError as error:
        with error:
            reason = _reason(error)
        expected = _TOKEN if error.code in _DENIED else f"{_EXPECTED}; {_known(base)}"
        raise InputError(address, None, reason, expected) from None
    except _FAILURES as error:
        raise InputError(address, None, *_problem_and_expected(error, parts, model, _EXPECTED)) from None


def fetch_for_all_jobs(address: str, result: str, model: type[_M], **query: str) -> _M:
    """Return a current result of all jobs together.

    Args:
        address: ``http://HOST:PORT``, with or without the path of the API.
        result: the last part of its path in the API, such as ``rank``.
        model: model of the result.
        **query: query parameters.

    Raises:
        InputError: the aggregator does not answer.
    """
    parts = _parts_of(address, _AGGREGATOR)
    asked = f"{result}?{urllib.parse.urlencode(query)}" if query else result
    try:
        return model.model_validate_json(_get(f"{parts.scheme}://{parts.netloc}/api/v1/{asked}"))
    except urllib.error.HTTPError as error:
        with error:
            reason, named = _reason_and_expected(error)
        expected = _TOKEN if error.code in _DENIED else named or _AGGREGATOR
        raise InputError(address, None, reason, expected) from None
    except _FAILURES as error:
        raise InputError(address, None, *_problem_and_expected(error, parts, model, _AGGREGATOR)) from None


def send_to_all(address: str, path: str, method: str, body: bytes = b"", **query: str) -> None:
    """Send a request that concerns all jobs.

    Args:
        address: ``http://HOST:PORT``, with or without the path of the API.
        path: the last part of the path in the API, such as ``pacing``.
        method: ``PUT`` or ``DELETE``.
        body: JSON.
        **query: query parameters.

    Raises:
        InputError: the aggregator does not answer, or refuses.
    """
    parts = _parts_of(address, _AGGREGATOR)
    asked = f"{path}?{urllib.parse.urlencode(query)}" if query else path
    try:
        _get(f"{parts.scheme}://{parts.netloc}/api/v1/{asked}", method, body)
    except urllib.error.HTTPError as error:
        with error:
            reason = _reason(error)
        expected = _TOKEN if error.code in _DENIED else "an aggregator of this version"
        raise InputError(address, None, reason, expected) from None
    except _FAILURES as error:
        raise InputError(address, None, *_problem_and_expected(error, parts, None, _AGGREGATOR)) from None


def _parts_of(address: str, expected: str) -> urllib.parse.SplitResult:
    """Return the parts of an address.

    Raises:
        InputError: it is no address of an aggregator.
    """
    try:
        parts = urllib.parse.urlsplit(address)
        named = parts.netloc if parts.scheme == _UNIX else parts.hostname
        if parts.scheme in _SCHEMES and named and parts.netloc.isprintable() and " " not in parts.netloc:
            _ = parts.port if parts.scheme != _UNIX else None  # raises ValueError
            return parts
    except ValueError:
        pass
    raise InputError(address, None, "this is no address of an aggregator", expected)


def _problem_and_expected(
    error: Exception, parts: urllib.parse.SplitResult, model: type[BaseModel] | None, expected: str
) -> tuple[str, str]:
    """Return the cause of a missing answer as text, without the types of exceptions, and what would be valid.

    Args:
        error: exception of the request.
        parts: parts of the address.
        model: model of the expected answer, if there is one.
        expected: what would be valid if the cause does not tell it.
    """
    if isinstance(error, ValidationError) and model is not None:
        return f"the answer is no {model.__name__.lower()}", expected
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({cause.verify_message})", _CERTIFICATE
    if isinstance(cause, ssl.SSLError) and cause.reason == "WRONG_VERSION_NUMBER":
        return "no answer (this port does not speak TLS)", f"http://{parts.netloc}"
    if isinstance(cause, http.client.BadStatusLine | ConnectionResetError | BrokenPipeError) and _speaks_tls(parts):
        return "no answer (this port speaks TLS)", f"https://{parts.netloc}"
    if isinstance(cause, http.client.IncompleteRead):
        return f"the answer ends after {len(cause.partial)} bytes", expected
    if isinstance(cause, http.client.HTTPException) and not isinstance(cause, OSError):
        return "no answer (this port does not speak HTTP)", expected
    return f"no answer ({cause.strerror if isinstance(cause, OSError) and cause.strerror else cause})", expected


def _speaks_tls(parts: urllib.parse.SplitResult) -> bool:
    """Return whether the port of an ``http`` address takes a TLS handshake. Nothing is sent to it."""
    if parts.scheme != "http":
        return False
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((parts.hostname, parts.port or http.client.HTTP_PORT), _PROBE_S) as connection,
            context.wrap_socket(connection),
        ):
            return True
    except OSError:
        return False


def fetch_text(address: str) -> str:
    """Return the text at an address of an aggregator, such as ``http://HOST:PORT/metrics``.

    Raises:
        InputError: it does not answer, or refuses.
    """
    parts = _parts_of(address, _AGGREGATOR)
    try:
        return _get(address).decode(errors="replace")
    except urllib.error.HTTPError as error:
        with error:
            reason = f"status {error.code}: {error.read(500).decode(errors='replace').strip()}"
        raise InputError(address, None, reason, "a running aggregator (iotide serve)") from None
    except _FAILURES as error:
        raise InputError(address, None, *_problem_and_expected(error, parts, None, _AGGREGATOR)) from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Handler that refuses redirections: a token is for the aggregator only."""

    def redirect_request(self, req: urllib.request.Request, fp: object, code: int, *_: object) -> NoReturn:
        raise urllib.error.HTTPError(req.full_url, code, "a redirection, which is not followed", req.headers, None)  # type: ignore[arg-type]


class _UnixConnection(http.client.HTTPConnection):
    """A connection to a Unix socket, whose path replaces the host."""

    def connect(self) -> None:
        """Connect."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(urllib.parse.unquote_to_bytes(self.host))


def _get(address: str, method: str = "GET", body: bytes = b"") -> bytes:
    parts = urllib.parse.urlsplit(address)
    headers = _token_header(parts)
    if body:
        headers["Content-Type"] = "application/json"
    if parts.scheme == _UNIX:
        content = _get_over_socket(parts, headers, method, body)
    else:
        # an aggregator is local; no web proxy is used for it
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects)
        data = body or None
        request = urllib.request.Request(address, data, headers, method=method)  # noqa: S310  (_parts_of has checked the scheme)
        with opener.open(request, timeout=_TIMEOUT_S) as answer:
            content = _content_of(answer)
    if len(content) > MAX_RESPONSE_BYTES:
        raise ValueError(f"more than {MAX_RESPONSE_BYTES} bytes")
    return content


def _get_over_socket(parts: urllib.parse.SplitResult, headers: dict[str, str], method: str, body: bytes) -> bytes:
    connection = _UnixConnection(parts.netloc, timeout=_TIMEOUT_S)
    try:
        path = urllib.parse.urlunsplit(("", "", parts.path, parts.query, ""))
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        content = _content_of(answer)
        if answer.status not in (http.HTTPStatus.OK, http.HTTPStatus.NO_CONTENT):
            reply = io.BytesIO(content)
            raise urllib.error.HTTPError(parts.geturl(), answer.status, answer.reason, answer.headers, reply)
    finally:
        connection.close()
    return content


def _content_of(answer: http.client.HTTPResponse) -> bytes:
    """Return the body of an answer, and the byte after the bound if it is longer.

    Raises:
        http.client.HTTPException: it ends before its length. ``read`` with a bound does not tell that.
    """
    content = answer.read(MAX_RESPONSE_BYTES + 1)
    if answer.length and len(content) <= MAX_RESPONSE_BYTES:
        raise http.client.IncompleteRead(content, answer.length)
    return content


def _token_header(parts: urllib.parse.SplitResult) -> dict[str, str]:
    """Return the HTTP header with the token, if there is one.

    Raises:
        ConfigError: it cannot be read, or would be sent in plain text over the network.
    """
    if not (named := os.environ.get(TOKEN_FILE)):
        return {}
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise ConfigError(f"{parts.netloc}: a token is not sent in plain text beyond loopback: use https")
    try:
        return {"Authorization": f"Bearer {read_text(Path(named)).strip()}"}
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{TOKEN_FILE} = {named}: {getattr(error, 'strerror', None) or error}") from None


def _reason(error: urllib.error.HTTPError) -> str:
    return _reason_and_expected(error)[0]


def _reason_and_expected(error: urllib.error.HTTPError) -> tuple[str, str]:
    """Return the reason of a refusal, and what the aggregator expects; "" if it does not name it."""
    try:
        answer = json.loads(error.read(MAX_RESPONSE_BYTES))
        return str(answer["error"]), str(answer.get("expected", ""))
    except (*_FAILURES, KeyError, TypeError, AttributeError):
        return f"the aggregator responds with {error.code} {error.reason}", ""


def _known(base: str) -> str:
    """Return a text with the names of existing jobs."""
    try:
        jobs = [str(job["job"]) for job in json.loads(_get(base))["jobs"][:10]]
    except (*_FAILURES, KeyError, TypeError):
        return "the aggregator does not answer"
    return f"it has {', '.join(jobs)}" if jobs else "it has no job yet"
