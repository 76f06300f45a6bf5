"""The user of an HTTP request, and what this user may see."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from .principals import Principal


@dataclass(frozen=True, slots=True)
class Viewer:
    """The user of a request."""

    name: str
    user: str = ""
    sees_all: bool = False
    """Access to jobs of all users, and to data about several jobs."""
    may_read: bool = True
    may_scrape: bool = False
    may_operate: bool = False

    def sees(self, user: str) -> bool:
        """Return whether the viewer may see the jobs of a user."""
        return self.sees_all or (self.may_read and bool(user) and self.user == user)


ANYONE: Final = Viewer("", sees_all=True, may_scrape=True, may_operate=True)
"""The viewer without authentication."""

viewer: ContextVar[Viewer] = ContextVar("viewer", default=ANYONE)
"""The viewer of the current request; set by the middleware and read by job look-ups."""


def viewer_of(principal: Principal, *, own: bool) -> Viewer:
    """Return the viewer for a listed principal; ``own``: users only see their own jobs."""
    operates, reads = principal.allows("operate"), principal.allows("read")
    return Viewer(
        principal.name,
        principal.user,
        sees_all=operates or (reads and not own),
        may_read=reads,
        may_scrape=principal.allows("metrics"),
        may_operate=operates,
    )


def viewer_of_user(user: str, *, is_operator: bool, own: bool) -> Viewer:
    """Return the viewer for a user of this machine, as identified by the system."""
    sees_all = is_operator or not own
    return Viewer(user, user, sees_all=sees_all, may_scrape=sees_all, may_operate=is_operator)
