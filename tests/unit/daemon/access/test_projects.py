"""Members of projects: the file, Unix groups, and the project of a job by its voucher."""

from __future__ import annotations

import grp
import os
from collections import Counter
from pathlib import Path

import pytest
from iotide.daemon.access.projects import Projects, read_projects
from iotide.daemon.access.settings import AccessSettings
from iotide.daemon.access.viewer import viewer_of_user
from iotide.daemon.jobs.job_table import JobTable
from iotide.daemon.jobs.session import JobSession
from iotide.daemon.settings import AggregatorSettings
from iotide.events import ConfigError, StreamInfo
from iotide.events.network.curve import make_keys, read_pair
from iotide.events.network.vouchers import Voucher
from iotide.events.network.wire import Hello

SETTINGS = AggregatorSettings()


class Known:
    """A list of projects with a key, and a table with the job 4711 of alice."""

    def __init__(self, folder: Path, text: str = '[sea]\nusers = ["alice", "bob"]\n') -> None:
        self.path = folder / "projects.toml"
        self.path.write_text(text)
        self.key = make_keys(folder, "vouching")[1]
        self.refused: Counter[str] = Counter()
        self.projects = Projects(self.path, self.key, lambda where: self.refused.update([where]))
        self.jobs = JobTable()
        self.begin("4711", "alice")

    def begin(self, job: str, user: str) -> None:
        self.jobs[job] = JobSession(job, SETTINGS, 0.0)
        self.jobs[job].user = user

    def hello(self, voucher: str, job: str = "4711", user: str = "alice") -> dict[str, str]:
        info = StreamInfo(job=job, source="test", user=user)
        self.projects.note(self.jobs, Hello(collector="c", stream="s", info=info, voucher=voucher))
        return self.jobs.projects

    def voucher(self, job: str = "4711", user: str = "alice", account: str = "sea") -> str:
        return Voucher(job, user, account).text(read_pair(self.key).secret)


@pytest.fixture
def known(tmp_path: Path) -> Known:
    return Known(tmp_path)


def test_job_belongs_to_the_account_that_its_node_vouches_for(known: Known) -> None:
    assert known.hello(known.voucher()) == {"4711": "sea"}
    assert not known.refused


def test_voucher_of_another_job_or_user_gives_no_project(known: Known) -> None:
    known.begin("5000", "mallory")
    assert known.hello(known.voucher(job="4711", user="alice"), "5000", "mallory") == {}
    assert not known.refused  # a collector sends its voucher with the streams of other jobs, too
    assert known.hello(known.voucher(job="5000", user="alice"), "5000", "mallory") == {}
    assert known.hello(known.voucher(job="5000", user="alice"), "5000", "alice") == {}  # the job is mallory's
    assert known.hello(known.voucher()[:-4] + "AAAA") == {}
    assert known.hello("sea") == {}
    assert known.refused == {"voucher": 4}


def test_job_whose_id_another_user_took_keeps_its_project(known: Known) -> None:
    known.begin("4711@bob", "bob")
    assert known.hello(known.voucher(user="bob"), "4711@bob", "bob") == {"4711@bob": "sea"}


def test_project_ends_with_its_job(known: Known) -> None:
    known.hello(known.voucher())
    del known.jobs["4711"]
    assert known.jobs.projects == {}
    known.begin("4711", "alice")
    known.hello(known.voucher())
    known.begin("4711", "mallory")
    assert known.jobs.projects == {}


def test_changed_list_is_read_and_an_unusable_one_is_not(known: Known, caplog: pytest.LogCaptureFixture) -> None:
    assert (known.projects.of("bob"), known.projects.of("eve"), known.projects.of("")) == ({"sea"}, set(), set())
    replaced(known.path, '[sea]\nusers = ["alice"]\n[sky]\nusers = ["eve", "alice"]\n')
    known.projects.renew()
    assert [known.projects.of(user) for user in ("alice", "bob", "eve")] == [{"sea", "sky"}, set(), {"sky"}]
    replaced(known.path, "[sea\n")
    known.projects.renew()
    assert known.projects.of("eve") == {"sky"}
    assert "the earlier projects stay in use" in caplog.text


def test_members_of_unix_groups_are_members(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    group = next((each for each in grp.getgrall() if each.gr_mem), None)
    name, members = ("nobody-has-this", []) if group is None else (group.gr_name, group.gr_mem)
    known = Known(tmp_path, f'[sea]\nusers = ["alice"]\ngroups = ["{name}", "no-such-group"]\n')
    assert [known.projects.of(user) for user in ("alice", *members)] == [{"sea"}] * (1 + len(members))
    assert "project sea names the Unix group no-such-group, which does not exist here" in caplog.text


@pytest.mark.parametrize("text", ["[sea]\nuser = ['a']\n", "sea = 1\n", "[sea]\nusers = 'alice'\n", "[", "\0"])
def test_list_with_mistakes_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "projects.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=str(path)):
        read_projects(path)


def test_settings_name_what_is_missing() -> None:
    with pytest.raises(ConfigError, match=r"needs access\.projects.*access\.vouching"):
        AccessSettings(visibility="project", projects=Path("p"))


def test_member_of_a_project_sees_its_jobs_and_no_others() -> None:
    viewer = viewer_of_user("bob", is_operator=False, own=True, projects=frozenset({"sea"}))
    assert [viewer.sees("alice", project) for project in ("sea", "sky", "")] == [True, False, False]
    assert [viewer.sees(user) for user in ("bob", "alice", "")] == [True, False, False]
    assert not viewer_of_user("", is_operator=False, own=True).sees("", "")


def replaced(path: Path, text: str) -> None:
    beside = path.with_suffix(".new")
    beside.write_text(text)
    os.replace(beside, path)  # noqa: PTH105
