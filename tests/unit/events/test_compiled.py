"""Compiled helpers: used only if built from the sources beside them; otherwise reported."""

from __future__ import annotations

import ctypes
import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from iotide.events.compiled import HELPERS, SYMBOL, digest_of, load, path_of, problem_of
from support.system.users import ALICE, as_user, need_root
from support.tracing.programs import need

FUNCTIONS = {"answer": (ctypes.c_int, [])}
SOURCE = '#include "below/size.h"\n__attribute__((visibility("default"))) int answer(void) { return SIZE; }\n'


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A helper with one source and one header, built from them."""
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "size.h").write_text("#define SIZE 42\n")
    (tmp_path / "helper.c").write_text(SOURCE)
    digest = tmp_path / "below" / "digest.c"
    digest.write_text(f'const char *const {SYMBOL} = "{digest_of(tmp_path)}";\n')
    compile_at(tmp_path, "helper.c", str(digest))
    return tmp_path / "libhelper.so"


def compile_at(folder: Path, *sources: str) -> None:
    subprocess.run([need("gcc"), "-shared", "-fPIC", "-o", "libhelper.so", *sources], cwd=folder, check=True)


def test_helper_of_the_sources_beside_it_is_loaded(built: Path) -> None:
    library = load(str(built), FUNCTIONS)
    assert library is not None
    assert library.answer() == 42
    assert problem_of(str(built)) == ""


@pytest.mark.parametrize("name", ["helper.c", "below/size.h"])
def test_helper_of_other_sources_is_told_and_not_loaded(
    built: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = built.parent / name
    path.write_text(path.read_text() + "/* changed */\n")
    assert load(str(built), FUNCTIONS) is None
    (record,) = caplog.records
    assert "it was built from other sources" in record.getMessage()
    assert "pip install" in record.getMessage()


def test_limit_of_open_files_is_told_instead_of_a_compiler(built: Path, caplog: pytest.LogCaptureFixture) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
    try:
        assert load(str(built), FUNCTIONS) is None
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    (record,) = caplog.records
    assert "the limit of 0 open files is too small (ulimit -n)" in record.getMessage()
    assert "compiler" not in record.getMessage()


def test_helper_without_a_digest_is_an_old_one(built: Path) -> None:
    compile_at(built.parent, "helper.c")
    assert load(str(built), FUNCTIONS) is None
    assert "an old one" in problem_of(str(built))


@need_root
def test_helper_in_a_folder_of_another_user_is_told_and_not_loaded(built: Path) -> None:
    def result() -> list[object]:
        return [load(str(built), FUNCTIONS), problem_of(str(built))]

    built.parent.chmod(0o700)
    library, problem = as_user(ALICE, result)
    assert library is None
    assert "cannot be loaded" in problem


@need_root
def test_helper_of_sources_of_another_user_is_told_and_not_loaded(built: Path) -> None:
    def result() -> list[object]:
        return [load(path, FUNCTIONS), problem_of(path)]

    with tempfile.TemporaryDirectory(dir="/tmp") as open_to_all:
        Path(open_to_all).chmod(0o755)
        path = shutil.copy(built, open_to_all)
        Path(path).chmod(0o755)
        source = Path(shutil.copy(built.parent / "helper.c", open_to_all))
        source.chmod(0o600)
        library, problem = as_user(ALICE, result)
    assert library is None
    assert "Permission denied" in problem


def test_helper_that_was_not_built_is_no_news(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = str(tmp_path / "libhelper.so")
    assert load(path, FUNCTIONS) is None
    assert (problem_of(path), caplog.records) == ("it was not built", [])


def test_helper_without_sources_beside_it_is_taken_as_it_was_installed(built: Path) -> None:
    (built.parent / "helper.c").unlink()
    assert load(str(built), FUNCTIONS) is not None


@pytest.mark.parametrize("name", HELPERS)
def test_iotides_own_helpers_are_those_of_their_sources(name: str) -> None:
    path = path_of(name)
    assert problem_of(str(path)) == ""
    assert list(path.parent.glob("*.c"))
