"""The regular expressions of the tree: errors of early Python 3.11, and their running time."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from iotide.collectors.sources.kernel_traces import dialects, lock_events
from iotide.collectors.sources.kernel_traces.lexing.template import Template
from iotide.collectors.sources.kernel_traces.semantics import call_fields
from iotide.collectors.sources.strace import line
from iotide.collectors.sources.tmio import parser as tmio
from support.places import ROOT
from support.system.growth import assert_linear

PARTS = ("analyzers", "archive", "cli", "clients", "collectors", "daemon", "events", "results")
_REPEATED = re.compile(r"[\w)\]\\.](?:[*+?]|\{\d*,?\d*\})\+|\(\?>")
_CLASS = re.compile(r"\[\^?\]?[^\]]*\]")
_ESCAPED = re.compile(r"\\.", re.DOTALL)


def possessive(text: str) -> bool:
    """Return whether a regular expression, or a part of one, has a possessive quantifier or an atomic group."""
    return bool(_REPEATED.search(_CLASS.sub("c", _ESCAPED.sub("e", text))))


def texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each constant that is no docstring."""
    told = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes) and id(node) not in told:
            text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
            yield node.lineno, text


@pytest.mark.parametrize("text", ["a++", r"\d*+", "x?+", "[^a]*+", "(ab){2,3}+", "(?>a)", "a{2}+", ".++", r"\)++"])
def test_possessive_quantifiers_and_atomic_groups_are_found(text: str) -> None:
    assert possessive(text)


@pytest.mark.parametrize("text", ["a+", r"\++", "[*+?]+", "+++ ", "(?:a+)+", "[a++]", r"\{+", "[]*+]"])
def test_other_expressions_are_not_taken_for_such(text: str) -> None:
    assert not possessive(text)


@pytest.mark.slow
def test_no_regular_expression_is_one_that_early_python_3_11_matches_wrongly() -> None:
    found = []
    for part in PARTS:
        for path in sorted((ROOT / part).rglob("*.py")):
            with warnings.catch_warnings(action="ignore"):
                tree = ast.parse(path.read_text())
            found += [f"{path.relative_to(ROOT)}:{number}: {text}" for number, text in texts(tree) if possessive(text)]
    assert not found, "\n".join(found)


def spaces(n: int) -> bytes:
    return b" " * n + b"x"


HOSTILE: list[tuple[str, Any, Any]] = [
    ("strace, spaces", line.parse_line, spaces),
    ("strace, spaces after the pid", line.parse_line, lambda n: b"[pid " + spaces(n)),
    ("strace, spaces before the stamp", line.parse_line, lambda n: b"[pid 17" + spaces(n)),
    ("strace, spaces after the stamp", line.parse_line, lambda n: b"17 1.5 (+ " + spaces(n)),
    ("strace, results", line.parse_line, lambda n: b"17 1.5 a(" + b") = 3 (" * (n // 7)),
    ("strace, descriptors", line.parse_line, lambda n: b"17 1.5 a(" + b"1</x>" * (n // 5)),
    ("strace, deleted", line.parse_line, lambda n: b"17 1.5 a(1</x>" + b"(deleted)" * (n // 9)),
    ("perf, spaces", dialects.PERF.header.match, spaces),
    ("perf, spaces behind a command", dialects.PERF.header.match, lambda n: b"a" + spaces(n)),
    ("perf, beginnings", dialects.PERF.header.match, lambda n: b"a 1 [000] 1.5: " * (n // 15)),
    ("perf, headings", dialects.looks_like_perf, lambda n: b"#\n \n" * (n // 4)),
    ("bpftrace, spaces", dialects.BPFTRACE.header.match, spaces),
    ("trace-cmd, spaces", dialects.TRACE_CMD.header.match, spaces),
    ("trace-cmd, spaces behind a buffer", dialects.TRACE_CMD.header.match, lambda n: b"b: " + spaces(n)),
    ("trace-cmd, dashes", dialects.TRACE_CMD.header.match, lambda n: b"a-1 (" + b"-" * n),
    ("trace-cmd, headings", dialects.looks_like_trace_cmd, lambda n: b"cpus=3\n" * (n // 7)),
    ("LTTng, braces", dialects.LTTNG.header.match, lambda n: b"[1.5] n e: { cpu_id = " + b"1" * n),
    ("lock events, blank lines", lock_events.looks_like_lock_events, lambda n: b" \n" * (n // 2)),
    ("lock events, spaces", lock_events.looks_like_lock_events, spaces),
    ("fields, spaces", call_fields._TOKEN.findall, lambda n: b"filename=" + spaces(n)),
    ("fields, numbers", call_fields._TOKEN.findall, lambda n: b"fd=1 " * (n // 5)),
    ("fields, escapes", call_fields._TOKEN.findall, lambda n: b'"' + b"\\x" * (n // 2) + b'"'),
    ("payloads", Template("a={} b={x:thread} c={s:word} d={} e=")._spans, lambda n: b" b=1 c=2" * (n // 8)),
    ("JSON", tmio._depth_of, lambda n: b'"' + b"\\x" * (n // 2)),
]


@pytest.mark.parametrize(("match", "make"), [row[1:] for row in HOSTILE], ids=[row[0] for row in HOSTILE])
def test_hostile_text_takes_linear_time(match: Any, make: Any) -> None:
    assert_linear(match, make, 8_000)
