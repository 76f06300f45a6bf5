"""Write the manual pages of the command line from the texts of ``--help``, one page per command.

Usage: python deploy/packages/man_pages.py FOLDER
"""

from __future__ import annotations

import inspect
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click
from iotide import __version__
from iotide.cli.main import COMMANDS, group

_EXIT_STATUS: Final = "Exit status:"
_LONGEST: Final = 200  # characters per line in a list of commands
_ROFF: Final = str.maketrans({"\\": "\\e", "-": "\\-", "`": "\\(ga", "'": "\\(aq", "~": "\\(ti"})
_AS_IT_IS: Final = "\b"  # click's mark of a paragraph that is not wrapped


def main(folder: Path) -> None:
    """Write all pages; their date is $SOURCE_DATE_EPOCH, or now."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, summary, context in _commands():
        (folder / f"{name}.1").write_text(_page(name, summary, context), encoding="utf-8")


def _commands() -> Iterator[tuple[str, str, click.Context]]:
    """Yield the page name, the line in the list of commands, and the context of each command."""
    top = group.make_context("iotide", [], resilient_parsing=True)
    yield "iotide", "online I/O monitoring for HPC", top
    for name, entry in COMMANDS.items():
        yield from _below(f"iotide-{name}", entry.summary, group.get_command(top, name), name, top)


def _below(
    page: str, summary: str, command: click.Command | None, name: str, parent: click.Context
) -> Iterator[tuple[str, str, click.Context]]:
    if command is None or command.hidden:
        return
    context = click.Context(command, parent=parent, info_name=name)
    yield page, summary, context
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            if (sub := command.get_command(context, each)) is not None:
                yield from _below(f"{page}-{each}", sub.get_short_help_str(_LONGEST), sub, each, context)


def _page(name: str, summary: str, context: click.Context) -> str:
    command = context.command
    about, status = _parted(inspect.cleandoc(command.help or ""))
    date = time.strftime("%Y-%m-%d", time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))))
    lines = [
        f'.TH "{name.upper()}" 1 "{date}" "iotide {__version__}" "iotide"',
        ".SH NAME",
        f"{_text(name)} \\- {_text(_uncapitalised(summary))}",
        ".SH SYNOPSIS",
        f".B {_text(context.command_path)}",
        _text(" ".join(command.collect_usage_pieces(context))),
        ".SH DESCRIPTION",
        *about,
    ]
    for title, records in _options(context).items():
        lines += [".SH OPTIONS" if title == "Options" else f".SS {_text(title)}"]
        for option, description in records:
            lines += [".TP", f".B {_text(option)}", _text(description)]
    if isinstance(command, click.Group):
        lines += [".SH COMMANDS"]
        for each in command.list_commands(context):
            sub = None if command is group else command.get_command(context, each)
            description = sub.get_short_help_str(_LONGEST) if sub else COMMANDS[each].summary
            lines += [".TP", f".BR {_text(f'{name}-{each}')} (1)", _text(description)]
    if status:
        lines += [".SH EXIT STATUS", *status]
    if command is not group:
        lines += [".SH SEE ALSO", ".BR iotide (1)"]
    return "\n".join(lines) + "\n"


def _parted(help_text: str) -> tuple[list[str], list[str]]:
    """Return the lines of the description, and those of the exit status."""
    about: list[str] = []
    status: list[str] = []
    for paragraph in help_text.split("\n\n"):
        if paragraph.startswith(_EXIT_STATUS):
            status += [_text(paragraph.removeprefix(_EXIT_STATUS).strip().replace("\n", " "))]
        elif paragraph.startswith(_AS_IT_IS):
            lines = paragraph.split("\n")[1:]
            about += [".PP"]
            if lines[0].endswith(":"):
                about += [_text(lines.pop(0))]
            about += [".nf", *(_text(f"    {line.strip()}") for line in lines), ".fi"]
        else:
            about += [".PP", _text(paragraph.replace("\n", " "))]
    return about, status


def _options(context: click.Context) -> dict[str, list[tuple[str, str]]]:
    """Return the options by section of the help, the unnamed section first."""
    sections: dict[str, list[tuple[str, str]]] = {"Options": []}
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None:
            sections.setdefault(getattr(parameter, "section", "Options"), []).append(record)
    return sections


def _uncapitalised(summary: str) -> str:
    return f"{summary[:1].lower()}{summary[1:]}".rstrip(".")


def _text(text: str) -> str:
    """Escape characters with a meaning in roff."""
    escaped = text.translate(_ROFF)
    return "\n".join(f"\\&{line}" if line.startswith(".") else line for line in escaped.split("\n"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
