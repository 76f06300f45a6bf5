"""Help whose options are listed in named groups."""

from __future__ import annotations

from typing import Any, Final

import click

_REST: Final = "Options"


class SectionOption(click.Option):
    """An option with the name of its section in the help."""

    def __init__(self, *arguments: Any, section: str = _REST, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.section = section


class SectionCommand(click.Command):
    """A command that lists its options by section, in the order of first use. Options without a section come last."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one definition list per section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx) if isinstance(parameter, click.Option) else None
            if record is not None:
                sections.setdefault(getattr(parameter, "section", _REST), []).append(record)
        rest = sections.pop(_REST, None)
        for name, records in [*sections.items(), *([(_REST, rest)] if rest else [])]:
            with formatter.section(name):
                formatter.write_dl(records)
