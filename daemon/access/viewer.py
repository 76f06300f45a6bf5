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
    projects: frozenset[str] = frozenset()
    """Projects whose jobs the viewer may see."""
    sees_all: bool = False
    """Access to jobs of all users, and to data about several jobs."""
    may_read: bool = True
    may_scrape: bool = False
    may_operate: bool = False

    def sees(self, user: str, project: str = "") -> bool:
        """Return whether the viewer may see a job.

        Args:
            user: user of the job.
            project: its project, vouched for by its nodes; "" if there is none.
        """
        is_own = bool(user) and self.user == user
        return self.sees_all or (self.may_read and (is_own or (bool(project) and project in self.projects)))


ANYONE: Final = Viewer("", sees_all=True, may_scrape=True, may_operate=True)
"""The viewer without authentication."""

viewer: ContextVar[Viewer] = ContextVar("viewer", default=ANYONE)
"""The viewer of the current request; set by the middleware and read by job look-ups."""


def viewer_of(principal: Principal, *, own: bool, projects: frozenset[str] = frozenset()) -> Viewer:
    """Return the viewer for a listed principal. ``own``: users only see their own jobs and those of ``projects``."""
    operates, reads = principal.allows("operate"), principal.allows("read")
    return Viewer(
        principal.name,
        principal.user,
        projects,
        sees_all=operates or (reads and not own),
        may_read=reads,
        may_scrape=principal.allows("metrics"),
        may_operate=operates,
    )


def viewer_of_user(user: str, *, is_operator: bool, own: bool, projects: frozenset[str] = frozenset()) -> Viewer:
    """Return the viewer for a user of this machine, as identified by the system."""
    sees_all = is_operator or not own
    return Viewer(user, user, projects, sees_all=sees_all, may_scrape=sees_all, may_operate=is_operator)
