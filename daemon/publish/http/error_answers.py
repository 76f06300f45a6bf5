"""Answers to refused and failed requests, in one form on all routes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from ....results.live.request_error import RequestError
from ...jobs.losses.failures import AnalysisFailedError
from .request_bounds import explain

_MAX_TEXT: Final = 200
ANY_ERROR: Final[Mapping[int | str, dict[str, Any]]] = {
    "default": {"model": RequestError, "description": "The request was refused, or failed"}
}
"""The errors of all routes, for the OpenAPI document. FastAPI would describe its own form of 422 instead."""


def answer_errors(app: FastAPI) -> None:
    """Let an application answer all errors as ``RequestError``."""
    app.add_exception_handler(HTTPException, explain)
    app.add_exception_handler(RequestValidationError, _explain_invalid)
    app.add_exception_handler(AnalysisFailedError, _explain_failed_analysis)
    app.add_exception_handler(Exception, _explain_crash)


async def _explain_invalid(_: Request, error: Exception) -> Response:
    found: Sequence[Any] = error.errors() if isinstance(error, RequestValidationError) else []
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return _answer(422, f"{_text_of(found[0]) if found else error}{more}", "a request as in /api/v1/openapi.json")


def _text_of(problem: Mapping[str, Any]) -> str:
    """Return the place of a problem, and its cause, without the value, which may be long."""
    place = " ".join(str(each) for each in problem.get("loc", ()))
    return f"{place[:_MAX_TEXT]}: {str(problem.get('msg', ''))[:_MAX_TEXT]}"


async def _explain_failed_analysis(_: Request, error: Exception) -> Response:
    return _answer(503, str(error), "a job whose analysis did not break")


async def _explain_crash(_: Request, error: Exception) -> Response:
    return _answer(500, f"the request failed: {type(error).__name__}", "the log has the cause; please report it")


def _answer(status: int, error: str, expected: str) -> Response:
    return JSONResponse({"error": error, "expected": expected}, status)
