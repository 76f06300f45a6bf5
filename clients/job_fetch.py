"""Results of running jobs, asked of their aggregator."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Final, TypeVar

from pydantic import ValidationError

from ..events import InputError
from ..results.models import Model

LARGEST_ANSWER: Final = 1 << 28
_TIMEOUT_S: Final = 30.0
_EXPECTED: Final = "http://HOST:PORT/jobs/JOB of a running aggregator (iotide serve)"
_JOBS: Final = "/jobs/"
_M = TypeVar("_M", bound=Model)


def is_address(text: str) -> bool:
    """Tells whether a text is the address of a job rather than the name of a file."""
    return text.startswith(("http://", "https://"))


def fetch(address: str, result: str, model: type[_M]) -> _M:
    """Returns a result of a job as it is now.

    Args:
        address: ``http://HOST:PORT/jobs/JOB``, with or without ``/api/v1`` before and ``/RESULT`` behind.
        result: the last part of its path in the API, such as ``dfg``.
        model: what it is.

    Raises:
        InputError: the aggregator does not answer, or has no such job.
    """
    parts = urllib.parse.urlsplit(address)
    _, found, job = parts.path.partition(_JOBS)
    job = job.removesuffix(f"/{result}").strip("/")
    base = f"{parts.scheme}://{parts.netloc}/api/v1/jobs"
    if not found or not job:
        raise InputError(address, None, "the job is missing", f"{_EXPECTED}; {_known(base)}")
    try:
        return model.model_validate_json(_get(f"{base}/{job}/{result}"))
    except urllib.error.HTTPError as error:
        with error:
            told = f"{_reason(error)}"
        raise InputError(address, None, told, f"{_EXPECTED}; {_known(base)}") from None
    except (OSError, ValueError) as error:
        what = model.__name__.lower()
        problem = f"the answer is no {what}" if isinstance(error, ValidationError) else f"no answer ({error})"
        raise InputError(address, None, problem, _EXPECTED) from None


def fetch_of_all(address: str, result: str, model: type[_M]) -> _M:
    """Returns a result of all jobs together as they are now.

    Args:
        address: ``http://HOST:PORT``, with or without the path of the API behind.
        result: the last part of its path in the API, such as ``rank``.
        model: what it is.

    Raises:
        InputError: the aggregator does not answer.
    """
    parts = urllib.parse.urlsplit(address)
    try:
        return model.model_validate_json(_get(f"{parts.scheme}://{parts.netloc}/api/v1/{result}"))
    except (OSError, ValueError) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()
        expected = "http://HOST:PORT of a running aggregator (iotide serve)"
        raise InputError(address, None, f"no answer ({error})", expected) from None


def _get(address: str) -> bytes:
    # an aggregator is near; a proxy for the web is not asked for it
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(address, timeout=_TIMEOUT_S) as answer:
        content: bytes = answer.read(LARGEST_ANSWER + 1)
    if len(content) > LARGEST_ANSWER:
        raise ValueError(f"more than {LARGEST_ANSWER} bytes")
    return content


def _reason(error: urllib.error.HTTPError) -> str:
    try:
        return str(json.loads(error.read(LARGEST_ANSWER))["error"])
    except (ValueError, KeyError, TypeError):
        return f"the aggregator says {error.code} {error.reason}"


def _known(base: str) -> str:
    """Names jobs that there are."""
    try:
        jobs = [str(job["job"]) for job in json.loads(_get(base))["jobs"][:10]]
    except (OSError, ValueError, KeyError, TypeError):
        return "the aggregator does not answer"
    return f"it has {', '.join(jobs)}" if jobs else "it has no job yet"
