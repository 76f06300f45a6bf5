"""One-line definition of a graph: ``call+site:1 by rank where path=$SCRATCH/* call=read*,write*``."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Mapping as Table
from dataclasses import dataclass
from typing import Final

from .cases import DEFAULT_CASE, CaseName, parse_case
from .expression_errors import check_length
from .filters import Filter
from .mapping import DEFAULT_MAPPING, Mapping

_FORM: Final = re.compile(
    r"(?P<mapping>.*?)(?:(?:^|\s)by\s+(?P<case>\S+))?\s*(?:(?:^|\s)where(?:\s+(?P<filter>.*))?)?", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class GraphDefinition:
    """A mapping, a case and a filter.

    Attributes:
        mapping: definition of an activity.
        case: definition of a sequence of events.
        filter: selection of events.
    """

    mapping: Mapping
    case: CaseName
    filter: Filter

    @classmethod
    def parse(
        cls, text: str = "", *, sites: Table[str, str] | None = None, read: Callable[[str], str] | None = None
    ) -> GraphDefinition:
        """Parse ``MAPPING by CASE where FILTER``; missing parts have defaults.

        Args:
            text: declaration; "" is ``call+dirs:2 by stream``.
            sites: folders by site variable.
            read: function that returns the text of a file of rules.

        Raises:
            ConfigError: a part is invalid; the text shows where.
        """
        check_length("view", text)
        found = _FORM.fullmatch(text.strip())
        mapping, case, chosen = found.group("mapping", "case", "filter") if found else (text, None, None)
        return cls(
            Mapping.parse(mapping.strip() or DEFAULT_MAPPING, sites=sites, read=read),
            parse_case(case or DEFAULT_CASE),
            Filter.parse(chosen or "", sites),
        )

    @property
    def text(self) -> str:
        """Declaration; parsing it gives an equal definition."""
        chosen = f" where {self.filter.text}" if self.filter.text else ""
        return f"{self.mapping.text} by {self.case}{chosen}"
