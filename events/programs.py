"""Display names of processes (their program, and for interpreters the script), and of files that differ in numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_INTERPRETERS: Final = re.compile(
    r"(?:python|pypy|perl|ruby|lua|php)[\d.]*|(?:ba|da|k|z)?sh|node|julia|Rscript|java|tclsh[\d.]*"
)
_MODULE: Final = ("-m", "-jar")
_LONGEST: Final = 64
_NUMBER: Final = re.compile(r"(\d+)")
_ENDING: Final = re.compile(r"\.[A-Za-z]\w{0,4}$")


def program_name(command: str) -> str:
    """Return the name of a command line's program without its folder. For interpreters it includes their script.

    >>> program_name("/usr/bin/python3 web.py 8080"), program_name("/bin/sh -c 'cat x | sort'"), program_name("")
    ('python3 web.py', 'sh', '')
    """
    words = command.split(None, 3)
    if not words:
        return ""
    name = _base(words[0])
    if len(words) > 1 and _INTERPRETERS.fullmatch(name):
        if not words[1].startswith("-"):
            name = f"{name} {_base(words[1])}"
        elif words[1] in _MODULE and len(words) > 2:
            name = f"{name} {words[1]} {_base(words[2])}"
    return name[:_LONGEST]


@lru_cache(maxsize=4096)
def is_interpreter(command: str) -> bool:
    """Return whether the program of a command line is an interpreter.

    >>> is_interpreter("/usr/bin/python3.11 web.py"), is_interpreter("./web")
    (True, False)
    """
    words = command.split(None, 1)
    return bool(words) and _INTERPRETERS.fullmatch(_base(words[0])) is not None


def _base(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2] or path


def class_name(path: str) -> str:
    """Return a path with ``#`` for numbers, except in an extension such as ``.h5``.

    >>> class_name("/scratch/run7/out.0017.h5"), class_name("/proc/4711/maps")
    ('/scratch/run#/out.#.h5', '/proc/#/maps')
    """
    ending = _ENDING.search(path)
    cut = ending.start() if ending else len(path)
    return _NUMBER.sub("#", path[:cut]) + path[cut:]


def common_pattern(paths: Sequence[str]) -> str:
    """Return paths that differ only in numbers as one. It has ``#`` for the numbers that differ.

    >>> common_pattern(["/run7/t1.h5", "/run7/t22.h5"]), common_pattern(["/run7/x"])
    ('/run7/t#.h5', '/run7/x')
    """
    parts = [_NUMBER.split(path) for path in paths]
    if len({len(each) for each in parts}) != 1:
        return class_name(paths[0])
    return "".join(same.pop() if len(same := set(each)) == 1 else "#" for each in zip(*parts, strict=True))
