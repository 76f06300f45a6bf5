"""Makes C wrappers for the functions of a library from a signature file. Needs the standard library alone.

The format is in docs/preload-signatures.md. `signature` reads files, `emit` writes C, `build` runs the compiler, and
`sources` says what a library was built from.
"""
