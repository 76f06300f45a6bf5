"""The layers of the tracer's C core: includes follow the documented order of layers, downwards only."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from iotide.collectors.sources.preload.records.ring_layout import BOUNDS, HEADER
from iotide.collectors.wrappers.sources import CORE, CORE_FOLDERS
from iotide.events.losses import DETAILS, LAST_CHARACTERS, REASONS
from support.places import ROOT

FOLDER = ROOT / "collectors/preload"

LAYERS = (
    ("", ("ring",)),
    ("base", ("types",)),
    ("base", ("sanitizer", "hash", "environment", "symbol_lookup")),
    ("base", ("raw_syscall",)),
    ("base", ("user_text", "sockets")),
    ("state", ("state",)),
    ("state", ("region", "thread_memory", "library_copies", "clock")),
    ("state", ("locks",)),
    ("state", ("path_buffers",)),
    ("state", ("filters",)),
    ("tables", ("definitions", "operation_numbers", "streams")),
    ("tables", ("path_cache",)),
    ("tables", ("handle_map",)),
    ("tables", ("descriptors",)),
    ("recording", ("collector_wait",)),
    ("recording", ("session",)),
    ("recording", ("record",)),
    ("recording", ("pace",)),
    ("recording", ("process", "seccomp")),
    ("", ("tracer",)),
    ("recording", ("characters", "program_inspection")),
    ("", ("parameter_words",)),
)
"""Folder and files of each layer, from the lowest on. Files may include those of their own layer (without a cycle) and
of layers below. The folder "" has the headers that generated and users' wrappers include."""
TOP = len(LAYERS)
WRAPPERS = {path.stem for path in (FOLDER / "libc").glob("*.[ch]")} | {"posix", "stdio"}
"""Above all layers: they export names that libc and the runtimes of compilers look up."""
RANK = {name: rank for rank, (_, names) in enumerate(LAYERS) for name in names} | dict.fromkeys(WRAPPERS, TOP)
RANK["layer"] = TOP + 1  # of the layer libraries: it calls the functions that the core wraps
LONGEST = 400
"""Lines of a file."""


def code_of(text: str) -> str:
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def sources() -> dict[str, str]:
    """The core's files by name, without comments."""
    return {path.name: code_of(path.read_text()) for path in core_paths()}


def core_paths() -> list[Path]:
    folders = [FOLDER, *(FOLDER / name for name in CORE_FOLDERS)]
    return [path for folder in folders for path in folder.glob("*.[ch]")] + [
        FOLDER / f"hooks/{name}.h" for name in CORE
    ]


def included(code: str) -> set[str]:
    names = {Path(name).stem for name in re.findall(r'#include "([^"]+)"', code)}
    return {name for name in names if not name.startswith("sites_")}


def upward(files: dict[str, str]) -> list[str]:
    """Includes of a higher layer, of a wrapper by a layer, or in a cycle."""
    graph: dict[str, set[str]] = {}
    for name, code in files.items():
        graph.setdefault(Path(name).stem, set()).update(included(code) - {Path(name).stem})
    found = [f"{name} -> {other}" for name in graph for other in graph[name] if RANK[other] > RANK[name]]
    return sorted(found) + circle(graph)


def definers(files: dict[str, str]) -> dict[str, str]:
    """Functions by name, each with the file (without its suffix) that defines it."""
    found: dict[str, set[str]] = {}
    for name, code in files.items():
        for function in re.findall(r"^(?!typedef|#)[\w][^\n;={}]*?\b(\w+)\([^;{}]*\)\s*\{", code, re.M):
            found.setdefault(function, set()).add(Path(name).stem)
    return {function: next(iter(stems)) for function, stems in found.items() if len(stems) == 1}


def users(files: dict[str, str]) -> dict[str, set[str]]:
    """Files by the files whose functions they call, including inline functions of headers, independent of includes."""
    known, graph = definers(files), dict[str, set[str]]()
    for name, code in files.items():
        stem = Path(name).stem
        called = {known[word] for word in re.findall(r"\b(\w+)\(", code) if word in known}
        graph.setdefault(stem, set()).update(called - {stem})
    return graph


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Files in a cycle or above one."""
    done: set[str] = set()
    while ready := {name for name in graph if name not in done and graph[name] <= done}:
        done |= ready
    return sorted(graph.keys() - done)


def called_upward(files: dict[str, str]) -> list[str]:
    """Calls of a higher layer, and files that call each other in a cycle."""
    graph = users(files)
    calls = [f"{name} calls {other}" for name in graph for other in graph[name] if RANK[other] > RANK[name]]
    return sorted(calls) + circle(graph)


def externals(files: dict[str, str]) -> list[str]:
    return [name for name, code in files.items() if name.endswith(".c") and re.search(r"^\s*extern\b", code, re.M)]


def declared(code: str) -> set[str]:
    """Functions that a header declares for the core only; exported ones may be used by layers' and users' libraries."""
    return set(re.findall(r"^(?!(?:extern )?EXPORT)[^\n#]*?\b(iotide_\w+)(?:\([^{}]*?\))?;", code, re.M))


def unused(files: dict[str, str]) -> list[str]:
    """Functions that a private header declares and no other file of the core uses."""
    found = []
    for name, code in files.items():
        stem = Path(name).stem
        if name.endswith(".h") and f"{stem}.c" in files:
            others = "\n".join(text for other, text in files.items() if Path(other).stem != stem)
            words = {word for word in declared(code) if len(re.findall(rf"\b{word}\b", code)) == 1}  # no macro uses it
            found += [f"{name}: {word}" for word in words if not re.search(rf"\b{word}\b", others)]
    return found


def test_each_file_has_a_layer() -> None:
    assert {Path(name).stem for name in sources()} == set(RANK)


def test_each_file_is_in_the_folder_of_its_layer() -> None:
    expected = {name: folder for folder, names in LAYERS for name in names} | dict.fromkeys(WRAPPERS, "libc")
    expected |= {"layer": ""} | dict.fromkeys(CORE, "hooks")
    paths = [path.relative_to(FOLDER) for path in core_paths()]
    assert {path.stem: str(path.parent).strip(".") for path in paths} == expected
    order = [folder for folder, _ in LAYERS if folder]
    assert list(dict.fromkeys(order)) == [*CORE_FOLDERS[:-1]]
    assert order == sorted(order, key=CORE_FOLDERS.index)


def test_includes_go_down() -> None:
    assert upward(sources()) == []


def test_calls_go_down() -> None:
    assert called_upward(sources()) == []


@pytest.mark.parametrize("name", ["hdf5", "mpiio", "netcdf", "pnetcdf"])
def test_hooks_of_a_library_call_each_other_in_no_circle(name: str) -> None:
    files = {path.name: code_of(path.read_text()) for path in (FOLDER / "hooks").glob(f"{name}*.[ch]")}
    assert files
    assert circle(users(files)) == []
    include = {Path(file).stem: {Path(name).stem for name in files} & included(code) for file, code in files.items()}
    assert circle({stem: others - {stem} for stem, others in include.items()}) == []


def test_no_file_is_long() -> None:
    lines = {path.name: path.read_text().count("\n") for path in core_paths()}
    assert {name: count for name, count in lines.items() if count > LONGEST} == {}


def test_shared_functions_are_declared_in_headers() -> None:
    assert externals(sources()) == []


@pytest.mark.slow
def test_no_declaration_is_unused() -> None:
    assert unused(sources()) == []


def test_a_file_includes_its_own_header() -> None:
    files = sources()
    own = [name for name in files if name.endswith(".c") and f"{name[:-2]}.h" in files]
    assert [name for name in own if f'/{name[:-2]}.h"' not in files[name]] == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "added", "found"),
    [
        ("clock.c", '#include "recording/session.h"', upward),
        ("thread_memory.c", '#include "libc/libc.h"', upward),
        ("clock.c", "int ask(void) { return syscall(1); }", called_upward),
        ("types.h", "static inline int now(void) { return iotide_read_clock(); }", called_upward),
        ("thread_memory.h", '#include "state/library_copies.h"\n', None),
        ("clock.c", "extern int iotide_anything;", externals),
        ("record.h", "void iotide_nobody_calls(void);", unused),
    ],
)
def test_a_fault_is_found(name: str, added: str, found: Callable[[dict[str, str]], list[str]] | None) -> None:
    files = sources()
    files[name] = f"{added}\n{files[name]}"
    if found:
        assert found(files)
    else:
        files["library_copies.h"] = f'#include "state/thread_memory.h"\n{files["library_copies.h"]}'
        assert upward(files)


def test_each_bound_has_a_place_a_sentence_and_a_row_in_the_documents() -> None:
    listed = re.findall(r"^ *BOUND_(\w+),", (FOLDER / "ring.h").read_text(), re.M)
    assert [name.lower() for name in listed] == list(BOUNDS)
    assert len(BOUNDS) <= HEADER["bounds_met"].shape[0]
    assert {name for name in REASONS if name.startswith(DETAILS)} == {DETAILS + name for name in BOUNDS} | {
        LAST_CHARACTERS
    }
    documented = (FOLDER.parents[1] / "docs/preload.md").read_text()
    assert [name for name in BOUNDS if f"| `{DETAILS}{name}` |" not in documented] == []


def test_each_bound_is_counted_somewhere() -> None:
    code = "".join(code_of(path.read_text()) for path in [*core_paths(), *FOLDER.glob("hooks/*.[ch]")])
    assert [name for name in BOUNDS if not re.search(rf"_count_overflow\(BOUND_{name.upper()}\)", code)] == []
