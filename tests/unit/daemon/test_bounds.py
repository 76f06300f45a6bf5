"""Every bound of the aggregator has a counter, a log line that names its option, and a row in the docs."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator

import numpy as np
import pytest
from iotide.daemon.aggregator import Aggregator
from iotide.daemon.bounds import BOUNDS, HARMLESS, BoundLog
from iotide.daemon.jobs.session import JobSession
from iotide.daemon.publish.all_families import FAMILIES
from iotide.daemon.server import Server
from iotide.daemon.settings import AggregatorSettings
from iotide.events import Interner, Kind, StreamInfo, make_batch
from iotide.events.losses import REASONS
from pydantic import BaseModel
from support.places import ROOT

OPERATIONS = ROOT / "docs/operations.md"
INFO = StreamInfo(job="job", source="test", host="n1", pid=7)


def whole_numbers(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from whole_numbers(field.annotation, f"{prefix}{name}.")
        elif field.annotation is int:
            yield prefix + name


def fed(aggregator: Aggregator) -> JobSession:
    """Feed a job that makes five calls on five files, often enough to be analysed at its end."""
    interner, count = Interner(), 1000
    calls = np.array([interner.string(f"call{number}") for number in range(5)])
    files = np.array([interner.file(f"/scratch/{number}") for number in range(5)])
    columns = {
        "start": np.arange(count) * 10**6,
        "duration": 1000,
        "kind": int(Kind.WRITE),
        "layer": 1,
        "pid": 7,
        "tid": 7,
        "call": calls[np.arange(count) % 5],
        "file": files[np.arange(count) * 5 // count],
        "bytes": 10,
    }
    aggregator.opened("s", INFO)
    aggregator.batch("s", make_batch(count, columns), interner.take_fresh())
    return aggregator.jobs["job"]


def test_each_option_that_is_a_whole_number_is_a_bound_or_costs_nothing() -> None:
    known = set(BOUNDS) | set(HARMLESS)
    assert not set(BOUNDS) & set(HARMLESS)
    assert known == set(whole_numbers(AggregatorSettings))


def test_each_bound_has_a_metric_of_its_own() -> None:
    families = [bound.family for bound in BOUNDS.values()]
    assert len(set(families)) == len(families)
    assert {family.partition("{")[0] for family in families} <= set(FAMILIES)
    counters = [bound.counter for bound in BOUNDS.values() if bound.counter]
    assert len(set(counters)) == len(counters)


def test_each_bound_that_refuses_streams_or_drops_calls_of_a_job_is_one_of_its_losses() -> None:
    for option, bound in BOUNDS.items():
        if bound.counter.startswith(("streams_refused:", "events_not_archived:")):
            assert option in REASONS[bound.counter].remedy, option
            assert "losses" in bound.reported_in, option


def test_the_analyses_count_what_their_bounds_cost() -> None:
    session = fed(Aggregator(AggregatorSettings(), lambda: 0.0))
    session.compact()
    counted = {
        f"{part}:{reason}" for part in ("graph", "layers", "interactions") for reason in session.analyzers.losses(part)
    }
    for option, bound in BOUNDS.items():
        if bound.counter.startswith(("graph:", "layers:", "interactions:")):
            assert bound.counter in counted, option


def test_the_table_of_the_docs_has_each_bound() -> None:
    rows = re.findall(r"^\| `([a-z_.]+)` \| (.+) \| `(iotide_[^`]+)` \| (.+) \|$", OPERATIONS.read_text(), re.MULTILINE)
    assert {row[0]: row[1:] for row in rows} == {
        option: (bound.excess, bound.family, bound.reported_in or "-") for option, bound in BOUNDS.items()
    }
    assert len(rows) == len(BOUNDS)


@pytest.mark.parametrize("option", [option for option, bound in BOUNDS.items() if bound.counter])
def test_bound_that_is_reached_is_said_once_with_its_option(option: str, caplog: pytest.LogCaptureFixture) -> None:
    reached = BoundLog(AggregatorSettings())
    reached.check({})
    assert not caplog.records
    for count in range(1, 100):
        reached.check({BOUNDS[option].counter: count}, f"job{count}")
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert f"{option} = " in caplog.text
    assert "job1:" in caplog.text


def test_server_within_a_command_says_nothing_among_the_output_of_the_command(caplog: pytest.LogCaptureFixture) -> None:
    small = AggregatorSettings.model_validate({"dfg": {"max_activities": 1}, "http": None, "publish": None})
    server = Server(small, embedded=True)
    session = fed(server.aggregator)
    assert session.graph is not None
    server.aggregator.end_job("job")
    assert not caplog.records


def test_bounds_of_a_job_are_said_with_its_name_when_it_ends(caplog: pytest.LogCaptureFixture) -> None:
    small = {"max_files": 2, "max_calls": 2, "dfg": {"max_activities": 1}, "layers": {"max_files": 1}}
    aggregator = Aggregator(AggregatorSettings.model_validate(small), lambda: 0.0)
    session = fed(aggregator)
    assert session.graph is not None
    aggregator.end_job("job")
    said = [record.getMessage() for record in caplog.records]
    for option in ("max_files", "max_calls", "dfg.max_activities", "layers.max_files"):
        assert len([line for line in said if line.startswith(f"job job: {option} = ")]) == 1, option
    assert aggregator.sums().names_beyond() == {"files": 3, "calls": 3}
    aggregator.closed("s", {})
