"""MkDocs hook that inserts the help of all commands into a page with a mark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import click
from iotide.cli.main import group

_MARK: Final = "{{ help of all commands }}"
_WIDTH: Final = 96


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace the mark by one section per command."""
    if _MARK not in markdown:
        return markdown
    top = group.make_context("iotide", [], resilient_parsing=True)
    return markdown.replace(_MARK, "\n".join(_sections(group, top)))


def _sections(command: click.Command, context: click.Context) -> Iterator[str]:
    context.terminal_width = context.max_content_width = _WIDTH
    yield f"## {context.command_path}\n\n```text\n{command.get_help(context)}\n```\n"
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            sub = command.get_command(context, name)
            if sub is not None and not sub.hidden:
                yield from _sections(sub, click.Context(sub, parent=context, info_name=name))
