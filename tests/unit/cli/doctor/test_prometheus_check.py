"""The cause if Prometheus lacks a job's series, from the list of its targets."""

from __future__ import annotations

import pytest
from iotide.cli.doctor.prometheus_check import Target, problem_of

HTTP = "http://10.1.0.1:9788"


def target(error: str = "", *, scraped_at: str = "1", url: str = f"{HTTP}/metrics", pool: str = "own") -> Target:
    return Target(url, pool, error, scraped_at)


def test_aggregator_that_is_no_target_is_named_with_the_targets() -> None:
    problem = problem_of([target(url="http://10.1.0.1:9100/metrics")], HTTP, {})
    assert problem is not None
    assert "port 9788; its targets: http://10.1.0.1:9100/metrics" in str(problem)
    assert "scrape_configs" in problem.remedy


@pytest.mark.parametrize(
    ("error", "remedy"),
    [("connection refused", "packet filter"), ("server returned HTTP status 401 Unauthorized", "credentials_file")],
)
def test_scrape_that_fails_again_is_named_with_its_error(error: str, remedy: str) -> None:
    before: dict[str, str] = {}
    assert problem_of([target(error)], HTTP, before) is None  # it may have failed before the aggregator started
    problem = problem_of([target(error, scraped_at="2")], HTTP, before)
    assert problem is not None
    assert error in str(problem)
    assert remedy in problem.remedy


def test_scrape_that_succeeds_is_waited_for() -> None:
    before: dict[str, str] = {}
    behind_a_proxy = target(url="https://monitoring.example/metrics", pool="iotide")
    for targets in ([target()], [target("one of two", scraped_at="2"), target()], [behind_a_proxy], None):
        assert problem_of(targets, HTTP, before) is None
