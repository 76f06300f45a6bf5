"""The compiled parser of kernel traces against its fallback, on real and on mutated lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from iotide.collectors.sources.kernel_traces import dialects
from iotide.collectors.sources.kernel_traces.lexing.dialect import Dialect
from iotide.collectors.sources.kernel_traces.lexing.line import LineKind, scan, scan_fallback
from iotide.collectors.sources.kernel_traces.lexing.native_library import native
from iotide.collectors.sources.kernel_traces.lexing.template import Template
from iotide.collectors.sources.kernel_traces.semantics.call_fields import call_fields, call_fields_fallback
from support.formats.kernel_traces import LINES, LTTNG, PERF, texts, without_native
from support.formats.parsing import parse
from support.formats.strace_fallback import assert_same

DIALECTS = [dialects.PERF, dialects.BPFTRACE, dialects.TRACE_CMD, dialects.LTTNG]
PARSERS = [dialects.PerfParser, dialects.BpftraceParser, dialects.TraceCmdParser, dialects.LttngParser]
TEMPLATES = [
    "prev_comm={} prev_pid={tid:thread} prev_prio={} prev_state={state:word} ==> next_comm={name} next_pid=",
    "{}:{tid:thread} [{}] {state:word} ==> {name}:{other:thread} [",
    '{} comm = "{name}", tid = {other:thread}',
    "{} rw = 1, cr = 3, val = {value:number}",
    "IRQ {value:number}",
]
EVERYTHING = b"".join(line + b"\n" for line in LINES)
fewer = settings(deadline=None, max_examples=30)
each_dialect = pytest.mark.parametrize("dialect", DIALECTS, ids=[dialect.name for dialect in DIALECTS])


def test_kernel_was_built() -> None:
    assert native() is not None


@pytest.mark.slow
@each_dialect
@fewer
@given(texts)
@example(EVERYTHING)
@example(b"a" + b" " * 60_000 + b"\n")
@example(b"a 1 [000] 1.5: " * 4000 + b"\n")
def test_kernel_and_fallback_take_lines_apart_alike(dialect: Dialect, text: bytes) -> None:
    ours = scan(text, dialect.form, dialect.header)
    np.testing.assert_array_equal(ours, scan_fallback(text, dialect.form, dialect.header))


@pytest.mark.slow
@fewer
@given(texts)
@example(EVERYTHING)
@example(b"prev_comm=" + b" prev_pid=1 prev_prio=" * 3000 + b"\n")
def test_kernel_and_fallback_find_the_same_in_payloads(text: bytes) -> None:
    lines = scan(text, dialects.TRACE_CMD.form, dialects.TRACE_CMD.header)
    known = lines["what"] == LineKind.EVENT
    extents = np.where(known[:, np.newaxis], lines["payload"], lines["text"])
    np.testing.assert_array_equal(call_fields(text, extents), call_fields_fallback(text, extents))
    for template in map(Template, TEMPLATES):
        ours = template.read(text, extents)
        with without_native():
            fallback = template.read(text, extents)
        np.testing.assert_array_equal(ours.fits, fallback.fits)
        for column, other in ((ours.numbers, fallback.numbers), (ours.texts, fallback.texts)):
            assert list(column) == list(other)
            for name, values in column.items():
                np.testing.assert_array_equal(values[ours.fits], other[name][ours.fits], err_msg=name)


@pytest.mark.slow
@pytest.mark.parametrize("parser", PARSERS)
@settings(deadline=None, max_examples=12)
@given(texts)
@example(EVERYTHING)
def test_parsers_with_and_without_native_agree_and_account_for_every_line(parser: Any, text: bytes) -> None:
    ours, about = parse(parser, text)
    with without_native():
        theirs, fallback = parse(parser, text)
    assert_same(ours, theirs)
    assert about.counters == fallback.counters
    assert list(map(str, about.problems.first)) == list(map(str, fallback.problems.first))
    assert_accounted(about.counters, text)


def assert_accounted(counters: Any, text: bytes) -> None:
    passed = sum(count for name, count in counters.items() if name.startswith(("lines_ignored:", "events_dropped:")))
    events = counters["events"] - counters["events_added:names"]
    assert counters["lines"] == events + passed + counters["lines_malformed"] == text.count(b"\n")


@pytest.mark.parametrize(("parser", "text"), [(PARSERS[0], PERF), (PARSERS[3], LTTNG)], ids=["perf", "lttng"])
def test_real_traces_are_read_alike_and_without_doubt(parser: Any, text: bytes) -> None:
    ours, about = parse(parser, text)
    with without_native():
        theirs, _ = parse(parser, text[:200_000])
    assert_accounted(about.counters, text)
    dialect = DIALECTS[PARSERS.index(parser)]
    lines = np.zeros(text.count(b"\n"), scan(b"", dialect.form, dialect.header).dtype)
    library = native()
    assert library is not None
    library.trace_lines(int(dialect.form), text, len(text), lines.ctypes.data, len(lines))
    assert not np.count_nonzero(lines["what"] == LineKind.UNSURE)
    (whole,), (part,) = ours.values(), theirs.values()
    assert part.rows() == whole.rows()[: len(part.rows())]
