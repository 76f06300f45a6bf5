"""The manual pages of the packages, generated from the command line's own texts."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path

import click
import pytest
from iotide.cli.main import group
from support.places import ROOT
from support.tracing.programs import need


def _commands(command: click.Command, context: click.Context, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            if (sub := command.get_command(context, each)) is not None and not sub.hidden:
                yield from _commands(sub, click.Context(sub, parent=context, info_name=each), f"{name}-{each}")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("man")
    run_path(str(ROOT / "deploy/packages/man_pages.py"))["main"](folder)
    return {path.stem: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def test_each_command_has_a_page_with_all_its_options(pages: dict[str, str]) -> None:
    commands = dict(_commands(group, click.Context(group, info_name="iotide"), "iotide"))
    assert set(pages) == set(commands)
    for name, command in commands.items():
        told = pages[name].replace("\\-", "-")
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                for option in parameter.opts:
                    assert re.search(rf"^\.B .*{re.escape(option)}\b", told, re.MULTILINE), f"{name}: {option}"


def test_pages_are_the_same_again(pages: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    write = run_path(str(ROOT / "deploy/packages/man_pages.py"))["main"]
    for folder in ("once", "again"):
        write(tmp_path / folder)
    for name in pages:
        assert (tmp_path / "once" / f"{name}.1").read_bytes() == (tmp_path / "again" / f"{name}.1").read_bytes()
    assert '"2023-11-14"' in (tmp_path / "once" / "iotide.1").read_text()


@pytest.mark.slow
def test_groff_reads_them_without_a_warning_and_shows_the_text(pages: dict[str, str]) -> None:
    groff = need("groff")
    for name, page in pages.items():
        command = [groff, "-ww", "-man", "-Tutf8", "-Kutf8", "-rLL=120n"]
        done = subprocess.run(command, input=page, capture_output=True, text=True, check=True)
        assert done.stderr == "", name
        shown = re.sub(r"\x1b\[[0-9;]*m|.\x08", "", done.stdout)
        assert "SYNOPSIS" in shown
        assert name in shown
