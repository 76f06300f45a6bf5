"""Query parameters that several routes share, and the refusal of unknown ones."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Final

from fastapi import Depends, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

JobCount = Annotated[int, Query(ge=1, le=10_000)]
"""Maximum number of jobs, the latest active first."""
Moment = Annotated[float | None, Query(ge=0, lt=2**33)]
"""Unix time, s."""
TopCount = Annotated[int, Query(ge=1, le=1000)]


def refuse_unknown_parameters(request: Request) -> None:
    """Refuse a parameter that the route does not have, or that is given twice: one of the values would be ignored.

    Raises:
        RequestValidationError: the query has such parameters.
    """
    route = request.scope["route"]
    known = sorted(each.alias for each in route.dependant.query_params) if isinstance(route, APIRoute) else []
    problems: list[dict[str, Any]] = []
    for name, count in Counter(name for name, _ in request.query_params.multi_items()).items():
        if name not in known:
            problems.append({"loc": ("query", name), "msg": f"unknown; known are: {', '.join(known) or 'none'}"})
        elif count > 1:
            problems.append({"loc": ("query", name), "msg": f"given {count} times"})
    if problems:
        raise RequestValidationError(problems)


NO_UNKNOWN_PARAMETERS: Final = [Depends(refuse_unknown_parameters)]
"""Dependencies of all routes but those of probes, pages and files of pages: others may add parameters to these."""
