"""XES files of other tools: growing, damaged, and hostile."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iotide.collectors.source import Input, Origin
from iotide.collectors.sources.eventlog.xes_log import LONGEST_TAG, XesParser
from iotide.collectors.sources.registry import sniff
from iotide.events import InputError
from support.formats.parsing import collect, only_stream, parse

EVENT = '<event><string key="concept:name" value="read"/><date key="time:timestamp" value="{}"/></event>'
TRACE = '<trace><string key="concept:name" value="a_n1_2"/>{}</trace>'


def log(*events: str, head: str = '<?xml version="1.0"?>\n') -> bytes:
    return f"{head}<log>{TRACE.format(''.join(events))}</log>".encode()


def test_log_of_another_tool_has_calls_and_times_by_activity_and_stamp() -> None:
    data = log(
        EVENT.format("2023-11-14T22:13:20.500Z"),
        EVENT.format("2023-11-15T00:13:20.500001+02:00"),
        EVENT.format("2023-11-14T22:13:21"),
    )
    streams, about = parse(XesParser, data, "a.xes")
    assert about.problems.total == 0
    stream = only_stream(streams)
    assert (stream.info.command, stream.info.host, stream.info.rank) == ("a", "n1", 2)
    assert [row["call"] for row in stream.rows()] == ["read"] * 3
    second = 1_700_000_000 * 10**9
    assert stream.events.start.tolist() == [second + 500_000_000, second + 500_001_000, second + 10**9]
    assert stream.events.duration.tolist() == [0, 0, 0]


def test_attributes_of_attributes_and_of_other_levels_are_no_values_of_events() -> None:
    event = (
        '<event><string key="call" value="write"><string key="call" value="no"/></string>'
        '<int key="start" value="7"/><int key="dur" value="3"/></event>'
    )
    data = log(event).replace(
        b"<log>", b'<log><global scope="event"><string key="call" value="none"/></global><string key="x" value="y"/>'
    )
    rows = only_stream(parse(XesParser, data)[0]).rows()
    assert [(row["call"], row["start"], row["duration"]) for row in rows] == [("write", 7, 3)]


def test_prefixed_elements_are_those_of_the_namespace() -> None:
    data = (
        '<x:log xmlns:x="http://www.xes-standard.org/"><x:trace><x:event><x:string key="call" value="read"/>'
        '<x:int key="start" value="1"/></x:event></x:trace></x:log>'
    )
    stream = only_stream(parse(XesParser, data.encode())[0])
    assert (stream.events.start.tolist(), stream.info.origin) == ([1], "trace")


def test_traces_without_a_name_are_told_apart() -> None:
    event = '<event><string key="call" value="read"/><int key="start" value="1"/></event>'
    data = f"<log><trace>{event}</trace><trace>{event}</trace></log>".encode()
    assert [stream.rpartition(":")[2] for stream in parse(XesParser, data)[0]] == ["trace 1", "trace 2"]


def test_events_come_while_the_log_grows() -> None:
    about = Input(name="a.xes", origin=Origin(job="j"))
    parser = XesParser(about)
    whole = log(EVENT.format("2023-11-14T22:13:20Z"), EVENT.format("2023-11-14T22:13:21Z"))
    cut = whole.rindex(b"</event>") + len(b"</event>")
    items = parser.feed(whole[:cut])
    assert len(only_stream(collect(items)).events) == 2
    items += parser.feed(whole[cut:])
    items += parser.finish()
    assert only_stream(collect(items)).closed
    assert about.problems.total == 0


def test_truncated_log_keeps_its_events_and_is_reported() -> None:
    whole = log(EVENT.format("2023-11-14T22:13:20Z"), EVENT.format("2023-11-14T22:13:21Z"))
    streams, about = parse(XesParser, whole[:-40])
    assert len(only_stream(streams).events) == 1
    assert "read no further" in str(about.problems.first[0])


@pytest.mark.parametrize(
    "event",
    [
        EVENT.format("yesterday"),
        EVENT.format(""),
        '<event><string key="call" value="read"/></event>',
        '<event><string key="call" value="read"/><int key="start" value="1e3"/></event>',
        '<event><string key="call" value="read"/><int key="start" value="99999999999999999999"/></event>',
        '<event><string key="call" value="read"/><int key="start" value="9999999999999999999"/></event>',
        '<event><string key="call" value="read"/><int key="start" value="5"/><int key="dur" value="-5"/></event>',
        '<event><int key="start" value="5"/></event>',
    ],
)
def test_damaged_event_costs_itself_and_is_told_with_its_line(event: str) -> None:
    good = EVENT.format("2023-11-14T22:13:20Z")
    streams, about = parse(XesParser, log(good, "\n", event, good))
    assert len(only_stream(streams).events) == 2
    assert [problem.line for problem in about.problems.first] == [3]


BOMB = (
    '<!DOCTYPE log [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    '<log><trace><event><string key="call" value="&b;"/><int key="start" value="1"/></event></trace></log>'
)
OUTSIDE = '<!DOCTYPE log SYSTEM "file:///etc/passwd"><log/>'
EXTERNAL = '<!DOCTYPE log [<!ENTITY a SYSTEM "file:///etc/passwd">]><log>&a;</log>'


@pytest.mark.parametrize("document", [BOMB, OUTSIDE, EXTERNAL])
def test_document_types_are_refused_before_anything_is_expanded(document: str) -> None:
    streams, about = parse(XesParser, document.encode())
    assert not streams
    assert [str(problem).count("document type") for problem in about.problems.first] == [1]


def test_input_of_unbounded_memory_is_rejected() -> None:
    endless = b'<log><string key="a" value="' + b"a" * (3 * LONGEST_TAG)
    deep = b"<log>" + b"<list>" * 1000
    for document, reason in ((endless, "longer than"), (deep, "nested"), (b"<html>", "root is html")):
        streams, about = parse(XesParser, document)
        assert not streams
        assert [reason in str(problem) for problem in about.problems.first] == [True]


def test_unknown_encoding_is_a_problem() -> None:
    about = parse(XesParser, b'<?xml version="1.0" encoding="klingon"?><log/>')[1]
    assert about.problems.total == 1


@given(st.binary(max_size=200), st.integers(0, 200))
@settings(deadline=None)
def test_any_bytes_within_a_log_are_events_or_problems(data: bytes, place: int) -> None:
    whole = log(EVENT.format("2023-11-14T22:13:20Z"), EVENT.format("2023-11-14T22:13:21Z"))
    streams, about = parse(XesParser, whole[:place] + data + whole[place:])
    assert about.problems.total or sum(len(stream.events) for stream in streams.values()) == 2


@pytest.mark.parametrize(
    ("head", "told"),
    [
        (b"<log xes.version='1'>", True),
        (b'\xef\xbb\xbf<?xml version="1.0"?>\n<!-- made by a tool -->\n<log>', True),
        (b"<?xml version='1.0'?><html><p>log </p>", False),
        (b"<html> log <p>", False),
    ],
)
def test_form_is_told_by_its_root(head: bytes, told: bool) -> None:
    if told:
        assert sniff(head, "unnamed") == "xes"
    else:
        with pytest.raises(InputError):
            sniff(head, "unnamed")
