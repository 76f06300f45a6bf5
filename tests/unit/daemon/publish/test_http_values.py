"""HTTP parameters accept any float and integer, or are rejected with the reason."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from fuzz.targets_http import Asked
from starlette.routing import Route

VALUES = ("inf", "-inf", "nan", "1e308", "-1e308", "1e19", "-1", "0", "9223372036854775808", "x", "")


@pytest.fixture(scope="module")
def asked() -> Iterator[Asked]:
    with closing(Asked()) as made:
        yield made


@pytest.mark.slow
def test_no_value_of_a_parameter_breaks_an_answer(asked: Asked) -> None:
    tried = 0
    for path, operations in asked.paths.items():
        for parameter in operations["get"].get("parameters", []):
            if parameter["in"] == "query":
                for value in VALUES:
                    target = path.replace("{job}", "job").replace("{other}", "job")
                    status, _ = asked.answer("GET", f"{target}?{parameter['name']}={value}".encode())
                    assert status < 500, (target, parameter["name"], value)
                    tried += 1
    assert tried > 100


@pytest.mark.slow
def test_unknown_and_repeated_parameters_are_refused_by_every_route(asked: Asked) -> None:
    """A misspelt parameter would be ignored, and the answer would look like the wanted one."""
    repeated = 0
    for path, operations in asked.paths.items():
        if path in ("/healthz", "/readyz"):  # probes may add a parameter
            continue
        target = path.replace("{job}", "job").replace("{other}", "job")
        for method, operation in operations.items():
            names = [each["name"] for each in operation.get("parameters", []) if each["in"] == "query"]
            status, body = asked.answer(method.upper(), f"{target}?lastt=1".encode())
            assert status == 422, (method, path)
            error = json.loads(body)["error"]
            assert error.startswith("query lastt: unknown; known are: "), path
            assert sorted(names or ["none"]) == error.removeprefix("query lastt: unknown; known are: ").split(", ")
            for name in names:
                status, body = asked.answer(method.upper(), f"{target}?{name}=1&{name}=2".encode())
                assert (status, json.loads(body)["error"][:4]) == (422, "quer"), (method, path, name)
                repeated += 1
    assert repeated > 10


OPEN = {"/", "/filesystems", "/api/v1/docs", "/runbooks", "/runbooks.md", "/healthz", "/readyz"}
"""Probes and pages, to which others may add parameters."""
OPEN_BELOW = ("/jobs/", "/assets/")


def routes_of(part: Any) -> Iterator[Route]:
    """Yield the routes of an application, or of a router that some versions of FastAPI keep as one route."""
    for each in part.routes:
        if isinstance(each, Route):
            yield each
        else:
            yield from routes_of(each.original_router)


@pytest.mark.slow
def test_of_all_routes_only_probes_pages_and_their_files_ignore_parameters(asked: Asked) -> None:
    tried = 0
    for each in routes_of(asked.app):
        path = each.path.replace("{job:job}", "job").replace("{other:job}", "job").replace("{name}", "live.css")
        is_open = path in OPEN or path.startswith(OPEN_BELOW)
        for method in each.methods or ():
            status, _ = asked.answer(method, f"{path}?lastt=1".encode())
            assert status == (200 if is_open else 422), (method, path)
            tried += 1
    assert tried > 30
