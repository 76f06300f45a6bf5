"""Jobs of any name are found by the pages, the API and the clients, each at its own address."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import iotide
import pytest
from iotide.cli.report.command import _address
from iotide.clients.job_fetch import fetch
from iotide.clients.pages.live_pages import LivePages
from iotide.daemon.jobs.job_ids import clean_job
from iotide.events.network.job_addresses import job_path
from iotide.results.jobs.job import JobDetail
from support.jobs.job_names import ODD_NAMES
from support.servers.proxy import JUPYTER, NGINX, proxied
from support.servers.running_aggregator import Fed, asking, feeding, serving, until
from support.system.browser import open_browser
from support.system.commands import iotide as command
from support.tracing.programs import need

NAMES = sorted({clean_job(name) for name in ODD_NAMES})


def fed() -> Fed:
    source = Fed()
    for place, name in enumerate(ODD_NAMES):
        source.open(f"s{place}", name, user="ann", command=f"/apps/{place}")
        source.periodic(f"s{place}")
    return source


@pytest.mark.slow
async def test_clients_find_each_job_by_its_name(tmp_path: Path) -> None:
    async with serving(pages=LivePages(0.1)) as server, feeding(server, fed()), asking(server) as http:
        held, url = server.aggregator.jobs, str(server.http_url)
        await until(lambda: all(name in held and held[name].prediction is not None for name in NAMES))

        def look() -> None:
            for name in ODD_NAMES:
                job = clean_job(name)
                assert iotide.connect(url).job(name).signal().job == job
                assert fetch(_address(f"{name}@{url}"), "", JobDetail).job == job
            shown = command("top", "--once", url, cwd=tmp_path)
            assert shown.returncode == 0, shown.stderr
            assert f"{len(NAMES)} jobs" in shown.stdout
            drawn = command("dfg", "--json", f"{url}/jobs/{job_path('a/dfg')}", cwd=tmp_path)
            assert '"a/dfg"' in drawn.stdout, drawn.stderr

        await asyncio.to_thread(look)
        for name in NAMES:
            for result, part in (("", "<h1>"), ("/dfg", "<svg"), ("/layers", "<table")):
                answer = await http.get(f"/jobs/{job_path(name)}{result}")
                assert (answer.status_code, part in answer.text) == (200, True), (name, result)
        compared = await http.get("/jobs/layers/dfg", params={"versus": "a/b"})
        layers = await http.get("/jobs/a/b/layers")  # pages are kept by name and kind
        assert (compared.status_code, layers.status_code) == (200, 200)
        assert ('id="picture"' in compared.text, 'id="picture"' in layers.text) == (True, False)


@pytest.mark.slow
@pytest.mark.parametrize("kept", [None, NGINX, JUPYTER], ids=["path as it is", "nginx", "jupyter"])
async def test_links_of_the_pages_lead_to_each_job(tmp_path: Path, kept: str | None) -> None:
    need("chromium")
    async with (
        serving(pages=LivePages(0.1)) as server,
        feeding(server, fed()),
        proxied(server, "/user/ann/proxy", kept) as address,
    ):

        def look() -> None:
            with open_browser(tmp_path) as page:
                page.open(f"{address}/")
                page.until(f"document.querySelectorAll('#jobs tr').length === {len(NAMES)}")
                found = page.value(
                    "Promise.all([...document.querySelectorAll('#jobs a')].map(async each => "
                    "[each.textContent, await (await fetch(each.href)).text()]))"
                )
                for title, text in found:
                    parsed = f"new DOMParser().parseFromString({json.dumps(text)}, 'text/html')"
                    assert page.value(f"{parsed}.querySelector('h1').textContent") == title
                page.value(
                    "[...document.querySelectorAll('#jobs a')].find(each => each.textContent === 'a/../b').click()"
                )
                page.until(
                    "document.readyState === 'complete' && document.querySelector('h1')?.textContent === 'a/../b'"
                )
                page.value("[...document.querySelectorAll('nav a')].find(each => each.textContent === 'Graph').click()")
                page.until(
                    "document.readyState === 'complete' && location.pathname === '/user/ann/proxy/jobs/=a=2F..=2Fb/dfg'"
                )
                assert page.complaints == []

        await asyncio.to_thread(look)
