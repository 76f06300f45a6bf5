"""Bound of a node's collector: users, and the users that own subordinate ids."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest
from iotide.cli.collect.node_refusals import UserBound


def test_users_are_admitted_up_to_the_bound(tmp_path: Path) -> None:
    bound = UserBound(2, tmp_path / "subuid")
    assert bound.objection(1000, []) == bound.objection(1000, [1001]) == ""
    assert bound.objection(1000, [1001, 1002]) == "--max-users 2 is reached"


def test_subordinate_ids_count_for_their_owner_so_that_others_find_room(tmp_path: Path) -> None:
    """A user of rootless containers has 65,536 ids, and could use up the bound with a process of each."""
    subuid = tmp_path / "subuid"
    subuid.write_text("# comment\n1000:100000:65536\nroot:165536:65536\nno such user:300000:10\n5:x:9\n7:9:0\n\n")
    bound = UserBound(16, subuid)
    assert bound.objection(100_001, [1000]) == ""
    told = "user {} and the subordinate ids of that user have 2 of --max-users 16"
    assert bound.objection(100_002, [1000, 100_001]) == told.format(1000)
    assert bound.objection(1000, [100_000, 165_535]) == told.format(1000)
    assert bound.objection(165_536, [100_000, 100_001]) == ""
    assert bound.objection(231_071, [0, 165_536]) == told.format(0)
    assert bound.objection(231_072, [100_000, 100_001]) == ""
    assert bound.objection(300_009, [300_000, 300_001]) == told.format(300_000)


def test_owner_is_looked_up_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory service may take seconds, and the collector of all users waits meanwhile."""
    asked: list[str] = []

    def slow(name: str) -> pwd.struct_passwd:
        asked.append(name)
        raise KeyError(name)

    monkeypatch.setattr(pwd, "getpwnam", slow)
    (tmp_path / "subuid").write_text("ada:100000:65536\n")
    bound = UserBound(16, tmp_path / "subuid")
    assert bound.objection(100_001, [100_002, 100_003])
    assert bound.objection(100_004, [100_002, 100_003])
    assert asked == ["ada"]


def test_changed_ranges_are_read_again_and_lost_ones_forgotten(tmp_path: Path) -> None:
    subuid = tmp_path / "subuid"
    bound = UserBound(8, subuid)
    assert bound.objection(101, [100]) == ""
    subuid.write_text("1000:100:2\n")
    assert bound.objection(101, [100])
    subuid.write_text("1000:100:1\n")
    os.utime(subuid, ns=(0, 0))
    assert bound.objection(101, [100]) == ""
    subuid.write_text("1000:100:2\n")
    assert bound.objection(101, [100])
    subuid.unlink()
    assert bound.objection(101, [100]) == ""


def test_unreadable_file_of_ranges_keeps_the_bound(tmp_path: Path) -> None:
    bound = UserBound(8, tmp_path)  # a folder
    assert bound.objection(101, [100]) == ""
    assert bound.objection(101, range(8)) == "--max-users 8 is reached"
