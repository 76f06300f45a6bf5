"""Combinations of options that ``iotide collect`` refuses, before it collects anything."""

from __future__ import annotations

import pytest
from click.testing import CliRunner
from iotide.cli.collect.command import command


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", "nothing to collect"),
        ("--stop a b", "--stop stops another collector"),
        ("--stop a --ftio-listen tcp://127.0.0.1:1", "--stop stops another collector"),
        ("--print-environment", "--print-environment needs the --socket"),
        ("--layers posix --sample 2 a", "layers, sample: options of the tracer"),
        ("--replay --socket a b", "leave out --socket"),
        ("--replay --ftio-listen tcp://127.0.0.1:1 a", "leave out --socket"),
        ("--replay --ends-at +5 a", "--ends-at is for running jobs"),
        ("--all-users a", "--all-users needs the --socket"),
        ("--max-users 4 --socket a", "--max-users needs --all-users"),
        ("--pace . a", "--pace needs the --socket"),
        ("--until-unused a", "--until-unused needs the --socket"),
        ("--grace 4 --socket a", "--grace needs --until-unused or --all-users"),
        ("--all-users --socket a b", "leave out FILEs"),
        ("--all-users --socket a --ftio-listen tcp://127.0.0.1:1", "leave out FILEs"),
        ("--all-users --socket a --pace .", "leave out FILEs"),
        ("--all-users --socket a --until-unused", "leave out FILEs"),
        ("--all-users --socket a --job 7", "leave out FILEs"),
        ("--all-users --socket a --ends-at +5", "leave out FILEs"),
    ],
)
def test_options_that_exclude_or_need_each_other_are_bad_usage(words: str, expected: str) -> None:
    refused = CliRunner().invoke(command, words.split())
    assert refused.exit_code == 2
    assert expected in refused.output
