"""``iotide preload extract``: a first signature file from a library's headers."""

from __future__ import annotations

import sys
from pathlib import Path

import click

_LAYERS = ("OTHER", "POSIX", "STDIO", "MPIIO", "HDF5", "NETCDF", "PNETCDF")
_HELP = """Print a signature file with the functions that HEADERs declare.

Every function becomes a statement of kind OTHER with its machine types; add its kind and the roles of its parameters
by hand, see docs/preload-signatures.md. Needs libclang: pip install 'iotide[extract]'.

\b
Examples:
  iotide preload extract --library zlib --anchor gzopen --prefix gz /usr/include/zlib.h > zlib.sig
  iotide preload extract --library hdf5 --layer HDF5 --anchor H5open --prefix H5 --known hdf5.sig \\
      -I hdf5-1.14/include hdf5-1.14/include/hdf5.h >> hdf5.sig

Exit status: 0 printed, 1 the headers cannot be read, 2 bad usage.
"""


@click.command("extract", help=_HELP)
@click.argument(
    "headers",
    metavar="HEADER...",
    nargs=-1,
    required=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
)
@click.option("--library", required=True, metavar="NAME", help="Name of the library, as in libiotide_NAME.so.")
@click.option("--anchor", required=True, metavar="SYMBOL", help="A function that every copy of the library defines.")
@click.option("--layer", default="OTHER", show_default=True, type=click.Choice(_LAYERS), help="Layer of its calls.")
@click.option(
    "-I",
    "include",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Include folder; functions declared in it count, too.",
)
@click.option("-D", "define", multiple=True, metavar="NAME[=VALUE]", help="A macro definition.")
@click.option(
    "--prefix", "prefixes", multiple=True, metavar="TEXT", help="Only functions whose names have this prefix."
)
@click.option(
    "--known",
    "known_files",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="A signature file whose functions are left out.",
)
def command(
    headers: tuple[Path, ...],
    library: str,
    anchor: str,
    layer: str,
    include: tuple[Path, ...],
    define: tuple[str, ...],
    prefixes: tuple[str, ...],
    known_files: tuple[Path, ...],
) -> None:
    """Run the command."""
    from ...collectors.wrappers.headers import HeaderError, extract, known, render
    from ...events.files import read_text

    try:
        texts = [read_text(path, errors="replace") for path in known_files]
    except OSError as error:
        raise click.UsageError(f"--known {error.filename}: {error.strerror}") from None
    without = {name for text in texts for name in known(text)}
    try:
        found = extract(headers, include=include, define=define, prefixes=prefixes)
    except HeaderError as error:
        click.echo(f"iotide: {error}", err=True)
        sys.exit(1)
    for line in render(found, library=library, layer=layer, anchor=anchor, without=without):
        click.echo(line)
