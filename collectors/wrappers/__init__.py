"""Generate C wrappers for the functions of a library from a signature file. Needs only the standard library.

docs/preload-signatures.md defines the format. `signature` reads files, `emit` writes C, `build` runs the compiler, and
`sources` identifies the sources of a library.
"""
