"""Makes C wrappers for the functions of a library from a signature file. Needs the standard library alone.

The format is in docs/preload-signatures.md. `signature` reads files, `emit` writes C, `build` runs the compiler.
"""

from __future__ import annotations

from .build import BuildError, compile_library, generate, hooks_of
from .model import SignatureError, SignatureFile, Statement
from .printing import format_file
from .signature import parse, read

__all__ = [
    "BuildError",
    "SignatureError",
    "SignatureFile",
    "Statement",
    "compile_library",
    "format_file",
    "generate",
    "hooks_of",
    "parse",
    "read",
]
