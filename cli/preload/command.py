"""``iotide preload``: the tracing libraries, and building more of them from signature files."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from .extract import command as extract

if TYPE_CHECKING:
    from ...collectors.wrappers.model import SignatureFile

_FILE = click.Path(path_type=Path, dir_okay=False)
_HELP = """List the libraries that trace programs, and build more of them.

A signature file lists the functions of a library and the meaning of their parameters. `iotide preload build` makes a
library from it, for `iotide run --library`. docs/preload-signatures.md describes the format, docs/examples/zlib.sig
is an example.

Exit status: 0 done, 1 a library could not be built, 2 bad usage or an invalid signature file (with file and line).
"""


@click.group("preload", help=_HELP)
def command() -> None:
    """Group the sub-commands."""


command.add_command(extract)


def _fail(message: object, status: int) -> NoReturn:
    click.echo(f"iotide: {message}", err=True)
    sys.exit(status)


def _read(path: Path) -> SignatureFile:
    from ...collectors.wrappers.model import SignatureError
    from ...collectors.wrappers.signature import read

    try:
        return read(path)
    except SignatureError as error:
        _fail(error, 2)


def _plural(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


@command.command("list", short_help="List the libraries and the number of functions that they trace.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def list_libraries(as_json: bool) -> None:
    """List the libraries, their layers, and the number of functions of each class that they trace."""
    from .signature_summaries import libraries

    rows = libraries()
    if as_json:
        click.echo(json.dumps({"libraries": rows}, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("library", "layer", "functions", "by class"):
        table.add_column(title, justify="right" if title == "functions" else "left")
    for row in rows:
        classes = ", ".join(f"{name} {count}" for name, count in row["classes"].items())
        built = row["file"] if row["built"] else f"{row['file']} (not built)"
        table.add_row(built, row["layer"], str(row["functions"]), classes)
    Console(highlight=False, soft_wrap=True).print(table)


@command.command("build")
@click.argument("file", metavar="FILE.sig", type=_FILE)
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, file_okay=False), default=Path(), metavar="DIR",
    help="Folder for the library. Default: the working directory.",
)  # fmt: skip
@click.option(
    "--c", "c_folder", type=click.Path(path_type=Path, file_okay=False), metavar="DIR",
    help="Folder in which to keep the generated C files.",
)  # fmt: skip
def build(file: Path, output: Path, c_folder: Path | None) -> None:
    """Build the library of a signature file.

    Needs a C compiler: that of the variable CC, or cc, gcc or clang.

    Exit status: 0 built, 1 the compiler is missing or failed, 2 the file is invalid.
    """
    from ...collectors.wrappers.build import BuildError, compile_library

    described = _read(file)
    try:
        if c_folder:
            library = compile_library(file, output, scratch=c_folder)
        else:
            with tempfile.TemporaryDirectory(prefix="iotide-") as scratch:
                library = compile_library(file, output, scratch=Path(scratch))
    except (BuildError, OSError) as error:
        _fail(error, 1)
    counted = _plural(len(described.symbols()), "function")
    click.echo(f"{library}: {counted} of {described.library}, layer {described.layer}")
    click.echo(f"trace with it: iotide run --library {library} -- CMD", err=True)


@command.command("check", short_help="List the contents of a signature file and likely omissions.")
@click.argument("file", metavar="FILE.sig", type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def check(file: Path, as_json: bool) -> None:
    """Read a signature file and list its contents and likely omissions.

    Exit status: 0 valid, 2 invalid; with file, line and expected content.
    """
    from .signature_summaries import count_classes, likely_omissions

    described = _read(file)
    notes = likely_omissions(described)
    classes = count_classes([described])
    if as_json:
        document = {
            "library": described.library, "layer": described.layer, "functions": len(described.symbols()),
            "classes": classes, "notes": [{"line": line, "note": note} for line, note in notes],
        }  # fmt: skip
        click.echo(json.dumps(document, indent=2))
        return
    for line, note in notes:
        click.echo(f"{file}:{line}: {note}")
    listed = ", ".join(f"{name} {count}" for name, count in classes.items())
    counted = _plural(len(described.symbols()), "function")
    click.echo(f"{file}: {counted} of {described.library}, layer {described.layer}: {listed}")


@command.command("coverage", short_help="Count the traced functions, in comparison with other tracers.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def coverage(as_json: bool) -> None:
    """Count the traced functions by layer, in comparison with Recorder and Darshan."""
    from .signature_summaries import PEERS, coverage_by_layer

    rows = coverage_by_layer()
    if as_json:
        sources = {peer.name: peer.source for peer in PEERS}
        click.echo(json.dumps({"layers": rows, "sources": sources}, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("layer")
    for title in ("iotide", *[peer.name for peer in PEERS]):
        table.add_column(title, justify="right")
    for row in rows:
        table.add_row(row["layer"], str(row["iotide"]), *[str(row[peer.name] or "-") for peer in PEERS])
    console = Console(highlight=False, soft_wrap=True)
    console.print(table)
    for peer in PEERS:
        console.print(f"{peer.name}: {peer.source}")
