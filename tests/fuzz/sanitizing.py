"""The compiled helpers with address and undefined-behaviour sanitizers, in place of the installed ones."""

from __future__ import annotations

import subprocess
from importlib import import_module
from pathlib import Path
from unittest import mock

from iotide.events.compiled import HELPERS, SYMBOL, digest_of, path_of

_USERS = {
    "archive": ("archive.native_library",),
    "records": ("collectors.sources.preload.records.plain", "collectors.sources.preload.records.packing"),
    "strace": ("collectors.sources.strace.native_library",),
    "kernel traces": ("collectors.sources.kernel_traces.lexing.native_library",),
}
_CHECKS = ["-O1", "-g", "-fPIC", "-shared", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]


def build(folder: Path) -> None:
    """Compile the helpers that parse external input."""
    for name in _USERS:
        sources = path_of(name).parent
        # not beside the library, because its sources are there
        digest = folder / name.replace(" ", "_") / "digest" / "digest.c"
        digest.parent.mkdir(parents=True, exist_ok=True)
        digest.write_text(f'const char *const {SYMBOL} = "{digest_of(sources)}";\n')
        command = ["gcc", "-std=gnu11", *_CHECKS, "-o", _library(folder, name), *sorted(sources.glob("*.c")), digest]
        subprocess.run([str(word) for word in command], check=True)


def environment() -> dict[str, str]:
    """Return the environment of a process that loads them."""
    command = ["gcc", "-print-file-name=libasan.so"]
    runtime = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return {"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"}


def use(folder: Path) -> None:
    """Let this process use them; call before any is loaded."""
    assert set(_USERS) <= set(HELPERS)
    for name, users in _USERS.items():
        for user in users:
            mock.patch.object(import_module(f"iotide.{user}"), "_PATH", str(_library(folder, name))).start()


def _library(folder: Path, name: str) -> Path:
    return folder / name.replace(" ", "_") / "lib.so"
