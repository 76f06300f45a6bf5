"""The name of a job, whatever it is, becomes an address that leads to this job and to no other."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from fuzz.targets_http import asked
from hypothesis import example, given
from hypothesis import strategies as st
from iotide.cli.common.job_names import safe_name
from iotide.clients.schedulers.backends.cgroup import ControlGroups
from iotide.clients.schedulers.limits import Limit
from iotide.daemon.archiving.archive_io_thread import ArchiveFile
from iotide.daemon.jobs.job_ids import clean_job
from iotide.daemon.publish.http.job_paths import JobPaths
from iotide.events.network.job_addresses import RESULTS, job_path
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message
from support.jobs.job_names import job_names
from support.servers.proxy import JUPYTER, NGINX, rewritten


async def _named(request: Request) -> Response:
    return JSONResponse({"job": request.path_params["job"]})


ROUTES = [Route(f"/jobs/{{job:job}}/{result}", _named, name=result) for result in sorted(RESULTS)]
ROUTES.append(Route("/jobs/{job:job}", _named, name=""))
SERVED = JobPaths(Starlette(routes=ROUTES))


def answered(target: str) -> tuple[str, str]:
    """Return job and result of a request target, as the routes see them."""
    seen: list[tuple[str, str]] = []
    scope = {
        "type": "http",
        "method": "GET",
        "raw_path": target.encode("ascii"),
        "path": unquote(target),
        "headers": [],
    }

    async def route(inner: object, _receive: object, _send: object) -> None:
        assert isinstance(inner, dict)
        for each in ROUTES:
            match, found = each.matches(inner)
            if match.value == 2:
                seen.append((found["path_params"]["job"], each.name))
                return

    async def nothing(_: Message | None = None) -> Message:
        return {}

    asyncio.run(JobPaths(route)(scope, nothing, nothing))  # type: ignore[arg-type]
    (found,) = seen
    return found


@given(job_names)
@example("a/../b")
@example("...")
def test_address_of_a_name_leads_to_its_job_and_results(name: str) -> None:
    job = clean_job(name)
    for result in ("", "dfg", "signal"):
        path = f"/jobs/{job_path(job)}{result and '/'}{result}"
        assert urljoin("http://h/", path) == f"http://h{path}"  # no part of it is resolved, by browsers either
        assert not re.search(r"/(\.|%2e){0,2}(/|$)", path.removesuffix("/"), re.IGNORECASE)
        assert "//" not in path
        assert urlsplit(f"http://h{path}")[2:] == (path, "", "")
        assert answered(path) == (job, result)


@given(job_names, st.sampled_from([NGINX, JUPYTER]))
@example("a/dfg", NGINX)
@example("a//b", JUPYTER)
@example("=a=2Fb", NGINX)
def test_address_leads_to_its_job_behind_a_proxy_that_decodes_it(name: str, kept: str) -> None:
    job = clean_job(name)
    for result in ("", "dfg"):
        assert answered(rewritten(f"/jobs/{job_path(job)}{result and '/'}{result}", kept)) == (job, result)


@pytest.mark.parametrize(
    ("target", "job", "result"),
    [
        ("/jobs/4711", "4711", ""),
        ("/jobs/4711/dfg", "4711", "dfg"),
        ("/jobs/a/b", "a/b", ""),
        ("/jobs/a/b/layers", "a/b", "layers"),
        ("/jobs/a%20b/rank", "a b", "rank"),
        ("/jobs/a%2Fb", "a/b", ""),
        ("/jobs/a%2Fdfg", "a/dfg", ""),
        ("/jobs/a%2F..%2Fb/dfg", "a/../b", "dfg"),
    ],
)
def test_earlier_addresses_of_plain_names_remain(target: str, job: str, result: str) -> None:
    assert answered(target) == (job, result)


def test_plain_names_keep_their_slashes() -> None:
    assert [job_path(name) for name in ("4711", "a/b", "a b")] == ["4711", "a/b", "a%20b"]


@given(job_names)
def test_files_of_a_name_stay_in_their_folder(name: str) -> None:
    folder = Path("/folder")
    archive = ArchiveFile(folder, clean_job(name), 0.0, set())
    groups = ControlGroups("/folder/{job}", "8:0")
    for made in (safe_name(name), archive._stem, groups._folder(clean_job(name)).name):
        path = (folder / f"{made}.2.iotide").resolve()
        assert path.parent == folder
        assert made not in ("", ".", "..")
    assert len(safe_name(name)) <= 200


def test_name_that_is_too_long_for_a_folder_has_no_group(tmp_path: Path) -> None:
    groups = ControlGroups(f"{tmp_path}/{{job}}", "8:0")
    assert [problem[-18:] for problem in groups.apply([Limit("ü" * 200, 1e6, 1.0)])] == ["File name too long"]


def test_words_behind_a_job_are_those_of_the_routes() -> None:
    found = {path.rpartition("/")[2] for path in asked().paths if path.startswith("/api/v1/jobs/{job}/")}
    assert found == RESULTS
    assert {"dfg", "layers"} <= RESULTS


def test_errors_have_one_form_in_the_document_and_on_every_route() -> None:
    document = asked().app.openapi()
    for path, operations in document["paths"].items():
        if path in ("/healthz", "/readyz"):  # text for probes
            continue
        for method, operation in operations.items():
            refused = {status: each for status, each in operation["responses"].items() if status not in ("200", "204")}
            assert list(refused) == ["default"], (method, path)
            content = refused["default"]["content"]["application/json"]
            assert content["schema"] == {"$ref": "#/components/schemas/RequestError"}, (method, path)
    assert "HTTPValidationError" not in document["components"]["schemas"]
    for target in (
        b"/api/v1/fleet?count=x&begin=-1",
        b"/api/v1/live-io",
        b"/api/v1/jobs/none",
        b"/nothing",
        b"/healthz/x",
    ):
        status, body = asked().answer("GET", target)
        assert status in (404, 422)
        said = _fields(body)
        assert set(said) == {"error", "expected"}, target
    assert "query begin: " in _fields(asked().answer("GET", b"/api/v1/fleet?count=x&begin=-1")[1])["error"]
    status, body = asked().answer("POST", b"/api/v1/fleet")
    assert (status, set(_fields(body))) == (405, {"error", "expected"})


def test_address_without_a_name_is_no_job() -> None:
    for target in (b"/api/v1/jobs/", b"/api/v1/jobs//signal"):
        status, body = asked().answer("GET", target)
        assert (status, _fields(body)["error"]) == (404, "no job ''")


def _fields(body: bytes) -> dict[str, str]:
    found: dict[str, str] = json.loads(body)
    return found
