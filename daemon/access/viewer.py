"""Who asks over HTTP, and what that one sees."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from .principals import Principal


@dataclass(frozen=True, slots=True)
class Viewer:
    """One who asks."""

    name: str
    user: str = ""
    sees_all: bool = False
    """Jobs of all users, and what concerns several jobs."""
    may_read: bool = True
    may_scrape: bool = False
    may_operate: bool = False

    def sees(self, user: str) -> bool:
        """Tells whether this one sees the jobs of a user."""
        return self.sees_all or (self.may_read and bool(user) and self.user == user)


ANYONE: Final = Viewer("", sees_all=True, may_scrape=True, may_operate=True)
"""Where nobody is asked."""

viewer: ContextVar[Viewer] = ContextVar("viewer", default=ANYONE)
"""Who asks, while a request is answered; the middleware sets it, and what looks for jobs reads it."""


def viewer_of(principal: Principal, *, own: bool) -> Viewer:
    """Returns what one of the list of principals sees; ``own``: users see their own jobs alone."""
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
    """Returns what a user of this machine sees, whom the system has named."""
    sees_all = is_operator or not own
    return Viewer(user, user, sees_all=sees_all, may_scrape=sees_all, may_operate=is_operator)
