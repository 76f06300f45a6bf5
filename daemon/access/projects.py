"""Members of projects, and the project of each job, as vouched for by its nodes. Files are reread when they change."""

from __future__ import annotations

import grp
import logging
import re
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from ...events import ConfigError
from ...events.files import read_toml
from ...events.network.curve import read_pair
from ...events.network.vouchers import read_voucher
from ...events.network.wire import Hello
from ..jobs.job_ids import clean_job
from ..settings_checks import validation_text

if TYPE_CHECKING:
    from ..jobs.job_table import JobTable

_log = logging.getLogger(__name__)
_GROUPS_S: Final = 60.0
"""Interval at which the members of Unix groups are read again, s."""


class Project(BaseModel):
    """The members of a project."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    users: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    """Unix groups of the aggregator's machine, all of whose listed members are members."""


_FILE: Final = TypeAdapter(dict[str, Project])


class Projects:
    """The members of all projects, and the key of vouchers.

    Args:
        members: TOML file with a table per project.
        key: file with the key of the vouchers.
        count: called with the reason for each refused voucher.

    Raises:
        ConfigError: a file cannot be used.
    """

    def __init__(self, members: Path, key: Path, count: Callable[[str], None]) -> None:
        self._members, self._key, self._count = members, key, count
        self._marks = self._marks_now()
        self._secret = read_pair(key).secret
        self._listed = read_projects(members)
        self._of_user = _by_user(self._listed)
        self._groups_until_s = time.monotonic() + _GROUPS_S

    def of(self, user: str) -> frozenset[str]:
        """Return the projects of a user."""
        return self._of_user.get(user, frozenset()) if user else frozenset()

    def renew(self) -> None:
        """Read changed files, and groups once a minute. May take as long as the name service. Errors are logged."""
        if (marks := self._marks_now()) != self._marks:
            self._marks = marks
            try:
                self._listed, self._secret = read_projects(self._members), read_pair(self._key).secret
            except ConfigError as error:
                _log.error("%s; the earlier projects stay in use", error)
            else:
                _log.warning("%s was read again: it lists %d projects", self._members, len(self._listed))
        elif time.monotonic() < self._groups_until_s:
            return
        self._of_user = _by_user(self._listed)
        self._groups_until_s = time.monotonic() + _GROUPS_S

    def note(self, jobs: JobTable, hello: Hello) -> None:
        """Note the project of a stream's job. The stream's HELLO must have a voucher for this job and its user.

        Args:
            jobs: the jobs, with that of the stream.
            hello: introduction of the stream.
        """
        if not hello.voucher:
            return
        info, proved = hello.info, read_voucher(hello.voucher, self._secret)
        if proved is None:
            self._count("voucher")
            return
        job = clean_job(info.job)
        if not re.fullmatch(f"{re.escape(clean_job(proved.job))}(@{re.escape(proved.user)})*", job):
            return  # a collector sends the voucher of its job with all its streams
        session = jobs.get(job)
        if info.user != proved.user or (session is not None and session.user != proved.user):
            self._count("voucher")
        elif session is not None and proved.user and proved.account:
            jobs.projects[job] = proved.account

    def _marks_now(self) -> list[tuple[int, int, int] | None]:
        return [_mark(path) for path in (self._members, self._key)]


def read_projects(path: Path) -> dict[str, Project]:
    """Read the members of projects.

    Raises:
        ConfigError: the file cannot be read or is invalid; the text names the place.
    """
    try:
        return _FILE.validate_python(read_toml(path))
    except ValidationError as error:
        raise ConfigError(f"{path}: {validation_text(error)}") from None


def _by_user(listed: Mapping[str, Project]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for name, project in listed.items():
        for user in project.users.union(*(_members_of(group, name) for group in sorted(project.groups))):
            found.setdefault(user, set()).add(name)
    return {user: frozenset(names) for user, names in found.items()}


def _members_of(group: str, project: str) -> list[str]:
    try:
        return grp.getgrnam(group).gr_mem
    except KeyError:
        _log.warning("access.projects: project %s names the Unix group %s, which does not exist here", project, group)
        return []


def _mark(path: Path) -> tuple[int, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
