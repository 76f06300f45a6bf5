"""Libraries in paths that LD_PRELOAD cannot contain."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.collectors.tracer.preload_environment import preloadable_path
from iotide.events import UnavailableError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def library_in(folder: Path, name: str = "libiotide_preload.so") -> Path:
    folder.mkdir(parents=True)
    library = folder / name
    library.write_bytes(b"\x7fELF")
    return library


def test_path_without_spaces_stays(tmp_path: Path, cache: Path) -> None:
    library = library_in(tmp_path / "lib")
    assert preloadable_path(library) == str(library)
    assert not cache.exists()


@pytest.mark.parametrize("folder", ["a folder", "a:b", "tab\there", "new\nline"])
def test_path_with_spaces_or_colons_has_a_link(tmp_path: Path, cache: Path, folder: str) -> None:
    library = library_in(tmp_path / folder, "lib of mine.so")
    link = Path(preloadable_path(library))
    assert link.is_relative_to(cache)
    assert link.resolve() == library
    before = link.lstat()
    assert preloadable_path(library) == str(link)
    assert link.lstat().st_ino == before.st_ino  # it was not created again


@given(st.sets(st.text("ab :_\t-", min_size=1, max_size=6), min_size=2))
def test_different_libraries_have_different_links(names: set[str]) -> None:
    links = {preloadable_path(Path("/some where", name)) for name in names}
    assert len(links) == len(names)
    assert not any(character.isspace() or character == ":" for link in links for character in link)


def test_link_that_leads_elsewhere_is_made_again(tmp_path: Path) -> None:
    library = library_in(tmp_path / "a folder")
    link = Path(preloadable_path(library))
    link.unlink()
    link.symlink_to("/nowhere")
    assert preloadable_path(library) == str(link)
    assert link.resolve() == library


def test_folders_that_others_may_change_are_not_used(
    tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    folder = cache / "iotide" / "libraries"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    link = preloadable_path(library_in(tmp_path / "a folder"))
    assert link.startswith(str(tmp_path / f"iotide-libraries-{os.geteuid()}"))


def test_links_of_another_user_are_not_followed(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    (cache / "iotide").mkdir(parents=True)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (cache / "iotide" / "libraries").symlink_to(elsewhere)
    link = preloadable_path(library_in(tmp_path / "a folder"))
    assert not link.startswith(str(cache))
    assert not list(elsewhere.iterdir())


def test_path_that_no_folder_helps_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iotide.collectors.tracer.preload_environment._folders", lambda: iter(()))
    with pytest.raises(UnavailableError, match="a space or a colon"):
        preloadable_path(library_in(tmp_path / "a folder"))
