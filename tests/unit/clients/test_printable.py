"""Names of files with control characters in the texts for a terminal."""

from __future__ import annotations

import doctest
import io

import pytest
from iotide.cli.run.messages import print_message
from iotide.clients.text import printable
from iotide.clients.text.advice_text import print_advice
from iotide.results.advice import Advice, AdviceFinding, Spent

NAME = "/scratch/a\nb\x1b[31m\udcff"


def test_examples_in_docstrings_hold() -> None:
    assert doctest.testmod(printable).failed == 0


def test_advice_has_one_line_per_name() -> None:
    finding = AdviceFinding(
        cause="fsync", title=f"9 flushes of {NAME}", why="w", change="c", seconds=1.0, share=0.5, gain_s=1.0,
        gain_share=0.5, examples=[NAME],
    )  # fmt: skip
    advice = Advice(
        events=1, first_s=0.0, last_s=2.0, run_s=2.0, lanes=1, slowest="x", spent=Spent(), io_s=1.0, io_share=0.5,
        system_s=0.0, waiting_s=0.0, bytes_read=0, bytes_written=1, destinations=[], findings=[finding],
        floor_share=0.02,
    )  # fmt: skip
    stream = io.StringIO()
    print_advice(advice, stream)
    assert [line for line in stream.getvalue().splitlines() if "scratch" in line] == [
        "1. 9 flushes of /scratch/a?b?[31m?",
        "   file    /scratch/a?b?[31m?",
    ]


def test_messages_of_a_run_are_one_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    print_message(f"not seen: python3 -c {NAME}\u2028\u202e")
    assert capsys.readouterr().err == "iotide: not seen: python3 -c /scratch/a?b?[31m???\n"
