"""The live pages: over HTTP, and in a headless Chromium that loads, searches, sorts and follows them."""

from __future__ import annotations

import asyncio
import html
import re
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote, urlsplit

import httpx
import numpy as np
import pytest
from iotide.clients.pages.live_pages import LivePages
from iotide.collectors.source import Chunk
from iotide.daemon.server import Server
from iotide.events import FileInfo, FileType, Kind, make_batch
from support.places import ROOT
from support.servers.proxy import proxied
from support.servers.running_aggregator import Fed, asking, feeding, serving, until
from support.system.accessibility import LEAST_LETTERS, keep_loaded, serious_findings
from support.system.browser import Page, open_browser
from support.system.commands import IOTIDE
from support.system.line_process import LineProcess
from support.system.waiting import DEADLINE_S
from support.tracing.programs import need

HOSTILE = "<img src=x onerror=alert(1)>&\"'</script><script>alert(2)</script>"
SCRATCH = {"mount_point": "/scratch", "filesystem": "lustre", "shared": True, "source": "mgs@tcp:/fs"}
T = TypeVar("T")


class Jobs:
    """Jobs that write in phases, up to now; the next one is expected after the end of any test."""

    def __init__(self) -> None:
        self.source = Fed()

    def open(self, job: str, *, ranks: int = 2, **facts: object) -> None:
        for rank in range(ranks):
            self.source.open(f"{job}/{rank}", job, rank=rank, ranks=ranks, host=f"n{rank}", **facts)

    def write(self, job: str, *, ranks: int = 2, period_s: float = 20.0, phases: int = 15, size: int = 10**6) -> None:
        end_s = time.time() - 0.3
        starts = [end_s - period_s * back + 0.02 * at for back in range(phases - 1, -1, -1) for at in range(5)]
        for rank in range(ranks):
            interner = self.source._interners[f"{job}/{rank}"]
            path = f"/scratch/{job}/out{rank}"
            file = interner.file(path, FileInfo(path, FileType.REGULAR, **SCRATCH))  # type: ignore[arg-type]
            columns = {
                "start": (np.array(starts) * 1e9).astype(np.int64),
                "duration": 15_000_000,
                "call": interner.string("write"),
                "kind": int(Kind.WRITE),
                "layer": 1,
                "rank": rank,
                "requested": size,
                "bytes": size,
                "file": file,
            }
            chunk = Chunk(f"{job}/{rank}", make_batch(len(starts), columns), interner.take_fresh())
            self.source._waiting.append(chunk)


@asynccontextmanager
async def running(jobs: Jobs, *names: str, **options: object) -> AsyncIterator[Server]:
    async with serving(pages=LivePages(0.1), **options) as server:
        for name in names:
            jobs.open(name, user="ann", command=f"/apps/{name} -x")
            jobs.write(name)
        async with feeding(server, jobs.source):
            held = server.aggregator.jobs
            await until(lambda: all(name in held and held[name].prediction is not None for name in names))
            yield server


async def shown(folder: Path, look: Callable[[Page], T]) -> T:
    """Run a thread that reads pages, while the aggregator runs in this one."""

    def work() -> T:
        with open_browser(folder) as page:
            return look(page)

    return await asyncio.to_thread(work)


def is_clean(page: Page, server: Server) -> None:
    """Check that the console stays empty and no other host is requested."""
    assert page.complaints == []
    home = urlsplit(str(server.http_url)).netloc
    asked = {urlsplit(request).netloc for request in page.requests if not request.startswith(("data:", "about:"))}
    assert asked == {home}


async def test_rules_for_prometheus_link_to_runbooks_that_open() -> None:
    async with running(Jobs(), "sim") as server, asking(server) as http:
        shipped = (ROOT / "deploy/prometheus/rules.yml").read_text()
        rules = (await http.get("/rules.yml")).text
        addresses = re.findall(r"runbook_url: (\S+)#", rules)
        assert set(addresses) == {f"{server.http_url}/runbooks"}
        assert rules.replace(f"{addresses[0]}#", "runbooks.md#") == shipped
        assert (await http.get(addresses[0])).status_code == 200
        elsewhere = "https://wiki.example.org/iotide/runbooks"
        rules = (await http.get("/rules.yml", params={"runbooks": elsewhere})).text
        assert set(re.findall(r"runbook_url: (\S+)#", rules)) == {elsewhere}
        assert (await http.get("/rules.yml", params={"runbooks": "x: y\n"})).status_code == 422
        assert (await http.get("/rules.yml", headers={"Host": "a b"})).status_code != 500
        assert (await http.get("/assets/rules.yml")).status_code == 404


async def test_pages_carry_a_strict_policy_and_relative_addresses() -> None:
    async with running(Jobs(), "sim") as server, asking(server) as http:
        for path in (
            "/",
            "/filesystems",
            "/runbooks",
            "/jobs/sim",
            "/assets/fleet.js",
            "/assets/live.css",
            "/assets/report.css",
        ):
            answer = await http.get(path)
            assert answer.status_code == 200, path
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            if path.startswith("/assets"):
                continue
            assert not re.findall(r"<script>|<style|\son\w+=|\sstyle=|javascript:", answer.text), path
            addresses = re.findall(r'(?:href|src)="([^"]*)"', answer.text)
            assert addresses
            assert not [each for each in addresses if each.startswith(("/", "http", "//"))]
        for name in ("fleet.html", "..%2Freport.py", "none.js", ".hidden.js", "x" * 300 + ".js"):
            assert (await http.get(f"/assets/{name}")).status_code == 404
        assert (await http.get("/jobs/none")).json()["error"] == "no job 'none'"
        waiting = await http.get("/jobs/<b>", headers={"accept": "text/html"})
        assert waiting.status_code == 404
        assert "&lt;b&gt;" in waiting.text
        assert "Nothing of this job has come yet" in waiting.text


@pytest.mark.parametrize(("path", "base"), [("/", "./"), ("/filesystems", "./"), ("/jobs/a/b", "../../")])
async def test_way_to_the_root_follows_the_address(path: str, base: str) -> None:
    async with running(Jobs(), "a/b") as server, asking(server) as http:
        assert f'<base href="{base}">' in (await http.get(path)).text


async def test_list_is_searched_sorted_and_cut_by_the_aggregator() -> None:
    names = [f"sim-{number}" for number in range(7)]
    async with running(Jobs(), *names, "other") as server, asking(server) as http:

        async def listed(**query: object) -> list[str]:
            answer = await http.get("/api/v1/fleet", params=query)  # type: ignore[arg-type]
            assert answer.status_code == 200, answer.text
            return [row["job"] for row in answer.json()["jobs"]]

        async def has_periods() -> bool:
            rows = (await http.get("/api/v1/fleet")).json()["jobs"]
            return len(rows) == 8 and all(row["period_s"] is not None for row in rows)

        while not await has_periods():
            await asyncio.sleep(0.05)
        assert await listed(search="SIM ann", sort="job", descending="false") == names
        assert await listed(search="sim", sort="job", descending="true", begin=2, count=2) == ["sim-4", "sim-3"]
        told = (await http.get("/api/v1/fleet", params={"search": "sim"})).json()
        assert (told["total"], told["matching"], told["states"]) == (8, 7, {"running": 8})
        row = told["jobs"][0]
        assert row["period_s"] == pytest.approx(20.0, rel=0.1)
        assert len(row["recent"]) == 30
        for wrong in ({"sort": "x"}, {"count": "0"}, {"begin": "-1"}, {"search": "x" * 201}):
            assert (await http.get("/api/v1/fleet", params=wrong)).status_code == 422


async def test_names_that_jobs_give_are_text_on_their_page() -> None:
    async with running(Jobs(), HOSTILE.replace("/", "|")) as server, asking(server) as http:
        (job,) = server.aggregator.jobs
        page = (await http.get(f"/jobs/{quote(job, safe='')}")).text
        assert "<img" not in page
        assert page.count("<script") == 2
        assert html.escape(job) in page


async def test_predictions_that_are_kept_are_listed() -> None:
    async with running(Jobs(), "sim") as server, asking(server) as http:
        await until(lambda: len(server.aggregator.jobs["sim"].history) > 1)
        told = (await http.get("/api/v1/jobs/sim/predictions", params={"last": 2})).json()
        assert len(told["predictions"]) == 2
        assert told["predictions"][0]["made_at_s"] <= told["predictions"][1]["made_at_s"]


@pytest.mark.slow
async def test_run_prints_the_address_of_its_page_and_serves_it(tmp_path: Path) -> None:
    program = "import sys; open('out', 'w').write('x' * 9); sys.stdin.read()"
    command = [*IOTIDE, "run", "--web", "--job", "a b", "--no-report", "--", sys.executable, "-c", program]
    with LineProcess(["env", "-C", tmp_path, *command], output="stderr") as talking:
        line = await asyncio.to_thread(talking.wait_for_line, lambda line: "live page" in line)
        address = line.split("live page: ")[1]
        assert address.endswith("/jobs/a%20b")

        def page() -> str:
            request = urllib.request.Request(address, headers={"accept": "text/html"})
            try:
                with urllib.request.urlopen(request, timeout=DEADLINE_S) as answer:
                    return str(answer.read().decode())
            except urllib.error.HTTPError as error:
                with error:
                    return ""

        await until(lambda: "It wrote 9 B" in page())
        async with httpx.AsyncClient(timeout=DEADLINE_S, trust_env=False) as http:
            for path in ("contention", "filesystems", "alerts", "fleet"):  # of one job, without `iotide serve`
                assert (await http.get(f"http://{urlsplit(address).netloc}/api/v1/{path}")).status_code == 200, path
        talking.process.stdin.close()
        assert await asyncio.to_thread(talking.process.wait, DEADLINE_S) == 0


@pytest.mark.slow
async def test_list_in_a_browser_is_searched_sorted_and_renewed(tmp_path: Path) -> None:
    need("chromium")
    jobs = Jobs()
    hostile = HOSTILE.replace("/", "|")
    async with running(jobs, "alpha", "beta", hostile) as server:
        loop = asyncio.get_running_loop()

        def add() -> None:
            jobs.open("gamma", user="bob")
            jobs.write("gamma", size=10**8)

        def look(page: Page) -> None:
            page.open(f"{server.http_url}/#sort=written&descending=true")
            page.until("document.querySelectorAll('#jobs tr').length === 3")
            names = "[...document.querySelectorAll('#jobs a')].map(each => each.textContent)"
            assert any("<img" in name for name in page.value(names))
            assert page.value("document.querySelectorAll('#jobs img').length") == 0
            loop.call_soon_threadsafe(add)
            page.until(f"{names}[0] === 'gamma'")  # which has written the most
            page.value("document.querySelector('th[data-key=job] button').click()")
            page.until("document.querySelector('th[data-key=job]').ariaSort === 'ascending'")
            page.until(f"{names}.indexOf('alpha') < {names}.indexOf('gamma')")
            page.press("/")
            page.type("bob")
            page.until(f"{names}.join() === 'gamma'")
            assert "search=bob" in page.value("location.hash")
            page.until("document.querySelector('#jobs td.next').textContent !== ''")
            is_clean(page, server)

        await shown(tmp_path, look)


@pytest.mark.slow
async def test_page_of_a_job_grows_in_place_and_survives_an_aggregator_that_is_away(tmp_path: Path) -> None:
    need("chromium")
    jobs = Jobs()
    async with running(jobs, "a/b") as server:
        loop = asyncio.get_running_loop()

        def look(page: Page) -> None:
            page.open(f"{server.http_url}/jobs/a/b")
            assert "2 ranks ran for" in page.text()
            assert page.value("document.querySelectorAll('main svg').length") >= 2
            page.value("document.querySelector('details').open = true")
            page.value("window.here = document.querySelector('nav')")
            loop.call_soon_threadsafe(lambda: jobs.write("a/b", phases=1, size=7 * 10**9))
            page.until("/70\\.\\d GB/.test(document.body.innerText)")
            assert page.value("document.querySelector('details').open && window.here.isConnected")
            for section in ("Ledger", "Who does I/O when", "Confidence and completeness"):
                assert section in page.text()
            is_clean(page, server)
            page.call(
                "Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0
            )
            page.until("document.getElementById('status').textContent.includes('trying again')")
            page.call(
                "Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1
            )
            page.until("document.getElementById('status').textContent.startsWith('as of')")

        await shown(tmp_path, look)


@pytest.mark.slow
async def test_file_systems_show_phases_to_come(tmp_path: Path) -> None:
    need("chromium")
    async with running(Jobs(), "alpha", "beta", contention={"interval_s": 0.1}) as server:

        def look(page: Page) -> None:
            page.open(f"{server.http_url}/filesystems")
            page.until("document.querySelectorAll('rect.phase').length > 3")
            page.until("document.body.innerText.includes('Collision expected')")
            assert "lustre" in page.text()
            assert "alpha" in page.text()
            assert "capacity at least" in page.text()
            assert "times what there is" not in page.text()
            is_clean(page, server)

        await shown(tmp_path, look)


@pytest.mark.slow
async def test_pages_work_below_the_prefix_of_a_proxy(tmp_path: Path) -> None:
    """As behind JupyterHub, whose proxy removes its prefix."""
    need("chromium")
    async with running(Jobs(), "sim") as server, proxied(server, "/user/ann/proxy/9788") as address:

        def look(page: Page) -> None:
            page.open(f"{address}/")
            page.until("document.querySelectorAll('#jobs tr').length === 1")
            page.value("document.querySelector('#jobs a').click()")
            page.until("document.body && document.body.innerText.includes('ranks ran for')")
            page.until("document.getElementById('status').textContent.startsWith('as of')")
            assert page.complaints == []

        await shown(tmp_path, look)


_SCROLLED = """(() => {
    const wide = () => [...boxesByHeading()].filter(([, box]) => box.scrollWidth > box.clientWidth + 60);
    window.left = () => Object.fromEntries(wide().map(([key, box]) => [key, box.scrollLeft]));
    for (const [, box] of wide()) box.scrollLeft = 50;
    window.box = wide()[0][1];
    box.focus({ preventScroll: true });
})()"""


@pytest.mark.slow
async def test_boxes_keep_their_place_and_focus_while_pages_follow_the_jobs(tmp_path: Path) -> None:
    """Charts and tables are wider than a telephone. A page that goes on must not scroll back what is being read."""
    need("chromium")
    jobs = Jobs()
    async with running(jobs, "alpha", "beta", contention={"interval_s": 0.1}) as server:

        def look(page: Page) -> None:
            for path, ready in (("/jobs/alpha", ".picture"), ("/filesystems", "rect.phase")):
                page.open(f"{server.http_url}{path}")
                page.until(f"document.querySelector('{ready}')")
                page.resize(400, 900)
                page.value(_SCROLLED)
                before = page.value("left()")
                assert set(before.values()) == {50}, path
                jobs.write("alpha", phases=1)
                page.until("!box.isConnected")
                after = page.value("left()")
                assert {key: after[key] for key in before} == before, path
                assert page.value("document.activeElement === boxesByHeading().get(Object.keys(left())[0])"), path
                page.resize(0, 0)
            is_clean(page, server)

        await shown(tmp_path, look)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_nothing_on_the_pages_is_beyond_a_screen_reader_or_a_weak_eye(tmp_path: Path, scheme: str) -> None:
    need("chromium")
    async with running(Jobs(), "alpha", "beta", contention={"interval_s": 0.1}) as server:

        def look(page: Page) -> None:
            keep_loaded(page)
            for path, ready in (
                ("/", "document.querySelectorAll('#jobs tr').length === 2"),
                ("/filesystems", "document.querySelectorAll('rect.phase').length > 3"),
                ("/api/v1/docs", "document.querySelectorAll('#paths tr').length > 10"),
                ("/jobs/alpha", "document.body.innerText.includes('ranks ran for')"),
                ("/jobs/alpha/dfg", "document.querySelector('svg') !== null"),
                ("/jobs/alpha/layers", "document.querySelector('table') !== null"),
            ):
                page.open(f"{server.http_url}{path}")
                page.until(f"location.pathname === '{path}' && {ready}")
                assert serious_findings(page, scheme=scheme) == [], path
                page.resize(400, 900)
                assert page.value("document.documentElement.scrollWidth") <= 400, path  # as on a telephone
                assert (least := page.value(LEAST_LETTERS)) is None or least >= 9, path
                assert (least is None) == (path in ("/", "/api/v1/docs", "/jobs/alpha/layers"))
                page.resize(0, 0)
            is_clean(page, server)

        await shown(tmp_path, look)
