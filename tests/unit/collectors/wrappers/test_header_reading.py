"""Conversion of a header's prototypes to statements of a signature file."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from iotide.cli.preload.extract import command
from iotide.collectors.wrappers.headers import HeaderError, extract, known, render

HEADER = """
#include <stdint.h>
#include <stdio.h>
#include <stdarg.h>
typedef int64_t tide_id;
typedef tide_id tide_file;
typedef unsigned long long tide_size;
typedef enum { TIDE_UNSET = -1, TIDE_LOW, TIDE_HIGH, TIDE_SLACK, TIDE_OTHER = 90 } tide_state;
enum colour { RED = 3, BLUE = 5 };
typedef struct { int year; char name[8]; } tide_info;
typedef struct tide_hidden *tide_handle;
typedef int (*tide_visit)(int, void *);
extern tide_file tide_open(const char *name, unsigned flags, tide_state state, enum colour c);
extern long tide_read(tide_file file, void *into, const tide_size dims[], tide_size *got, const char *const *names);
extern int tide_walk(tide_handle handle, tide_visit visit, tide_info *info, FILE *log, int (*plain)(void));
extern int tide_say(const char *format, ...);
extern int tide_vsay(const char *format, va_list rest);
extern int tide_copy(tide_info info);
extern tide_handle tide_of(int result, float, _Bool b);
extern void tide_end(void);
extern int other_end(void);
#ifdef TIDE_PARALLEL
extern int tide_parallel(int);
#endif
int tide_open_twice(int), tide_end_of(int);
"""


@pytest.fixture
def header(tmp_path: Path) -> Path:
    path = tmp_path / "tide.h"
    path.write_text(HEADER)
    return path


def statements(header: Path, **options: list[str]) -> list[str]:
    found = extract([header], prefixes=["tide_"], **options)
    return list(render(found, library="tide", layer="OTHER", anchor="tide_open"))


def test_types_are_machine_types_and_enumerations_show_their_values(header: Path) -> None:
    lines = statements(header)
    state = "tide_state state: enum{TIDE_LOW/TIDE_HIGH/TIDE_SLACK}"
    assert f"OTHER tide_file tide_open(const char *name, unsigned int flags, {state}, unsigned int c)" in lines
    arrays = "const tide_size *dims, tide_size *got, const char *const *names"
    assert f"OTHER long tide_read(tide_file file, void *into, {arrays})" in lines
    assert "OTHER int tide_walk(void *handle, void *visit, void *info, FILE *log, void *plain)" in lines
    assert "OTHER int tide_vsay(const char *format, va_list rest)" in lines
    assert "OTHER void tide_end(void)" in lines
    assert {line for line in lines if line.startswith("type ")} == {
        "type tide_file = int64_t",
        "type tide_size = unsigned long long",
        "type tide_state = int",
    }


def test_unwrappable_function_is_a_comment_with_the_reason(header: Path) -> None:
    lines = statements(header)
    assert "# left out, variadic: int tide_say(const char *format)" in lines
    assert "# left out, tide_info by value: int tide_copy(tide_info info)" in lines


def test_names_that_are_missing_or_taken_are_replaced(header: Path) -> None:
    assert "OTHER void *tide_of(int the_result, float argument1, _Bool b)" in statements(header)


def test_only_the_prefix_and_the_defined_parts_count(header: Path) -> None:
    plain, parallel = statements(header), statements(header, define=["TIDE_PARALLEL"])
    assert set(parallel) - set(plain) == {"OTHER int tide_parallel(int argument0)"}
    assert not any("other_end" in line for line in plain)


def test_functions_of_included_headers_count_only_when_their_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "top").mkdir()
    (tmp_path / "below" / "below.h").write_text("int tide_below(void);\n")
    top = tmp_path / "top" / "top.h"
    top.write_text('#include "../below/below.h"\nint tide_top(void);\n')
    assert [one.name for one in extract([top]).prototypes] == ["tide_top"]
    assert [one.name for one in extract([top], include=[tmp_path / "below"]).prototypes] == ["tide_below", "tide_top"]


def test_a_broken_header_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.h"
    path.write_text("int tide_open(unknown_t);\nint 3;\n")
    with pytest.raises(HeaderError, match=r"broken\.h:1:15: error"):
        extract([path])


def test_the_command_prints_what_a_known_file_lacks(header: Path, tmp_path: Path) -> None:
    options = [str(header), "--library", "tide", "--anchor", "tide_open", "--prefix", "tide_"]
    first = CliRunner().invoke(command, options)
    assert first.exit_code == 0
    assert "library tide\nlayer OTHER\nanchor tide_open\n" in first.output
    old = tmp_path / "tide.sig"
    old.write_text(first.output)
    header.write_text(HEADER + "int tide_new(tide_size size);\n")
    second = CliRunner().invoke(command, [*options, "--known", str(old)])
    assert [line for line in second.output.splitlines() if line.startswith(("OTHER", "type"))] == [
        "type tide_size = unsigned long long",
        "OTHER int tide_new(tide_size size)",
    ]


def test_the_command_fails_on_a_broken_header(tmp_path: Path) -> None:
    path = tmp_path / "broken.h"
    path.write_text("int 3;\n")
    answer = CliRunner().invoke(command, [str(path), "--library", "tide", "--anchor", "tide_open"])
    assert answer.exit_code == 1
    assert "clang cannot read the headers" in answer.output


def test_statements_of_every_shape_are_known() -> None:
    text = """# OTHER int not_this(void)
CREATE hid_t H5Fopen(const char *filename: path, unsigned flags: hex, hid_t fapl_id) -> handle
    bytes = helper(x)
OTHER void *tide_of(int a)
READ unsigned long long tide_read(void)
"""
    assert known(text) == {"H5Fopen", "tide_of", "tide_read"}
