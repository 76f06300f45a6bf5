"""Write the C of one signature file. It has the wrappers, and the header for hand-written code beside them."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from pathlib import PurePath
from typing import Final

from .model import SignatureFile, Statement
from .plan import specification
from .wrapper import FREQUENT, Wrapper, moves_stream, signature_of

_FIRST_SPACE: Final = 64
"""Spaces below are those of layers; libraries of the layer OTHER have their own spaces."""

_PREPARE: Final = """\
/* Before a fork: each child would do it, and write to a page for each. */
__attribute__((constructor(102))) static void prepare_(void) {{
{calls}
}}
"""

_OUT_OF_LINE: Final = """\
/* Not in each wrapper: a library may have a thousand, and its calls take longer than this one. */
static __attribute__((noinline)) void leave_(struct iotide_span span, struct iotide_site *site, int error,
                                             const struct iotide_facts *facts, const uint64_t *words,
                                             unsigned int count) {
    iotide_leave(span, site, *facts, words, count);
    errno = error;
}
"""


def wrappers_name(file: SignatureFile) -> str:
    """Return the name of the C file."""
    return f"wrappers_{file.library}.c"


def sites_name(file: SignatureFile) -> str:
    """Return the name of the header."""
    return f"sites_{file.library}.h"


def emit_sites(file: SignatureFile) -> str:
    """Return the header: types, prototypes, the sites of custom functions."""
    guard = f"IOTIDE_SITES_{file.library.upper()}_H"
    parts = [
        _banner(file, "What C beside the generated wrappers uses."),
        f"#ifndef {guard}\n#define {guard}\n",
        "\n".join(
            [
                *([] if file.is_libc else ['#include "layer.h"']),
                '#include "parameter_words.h"',
                "",
                "#include <stdarg.h>",
                *[f"#include {name}" for name in file.includes],
            ]
        ),
        _types(file),
        _space(file),
        "" if file.is_libc else _library(file),
        "" if file.is_libc else _prototypes(file.statements),
        "\n".join(
            f'extern __attribute__((visibility("hidden"))) struct iotide_site SITE({symbol});'
            for statement in file.statements
            if statement.custom
            for symbol in statement.symbols
        ),
        "#endif",
    ]
    return "\n".join(part for part in (row.rstrip("\n") + "\n" for row in parts) if part.strip())


def emit_wrappers(file: SignatureFile, hooks: str = "") -> str:
    """Return the wrappers. hooks: include name of the header that expressions need; empty: none."""
    generated = [statement for statement in file.statements if not statement.custom]
    symbols = [symbol for statement in file.statements for symbol in statement.symbols]
    gates = {} if file.is_libc else {symbol: place for place, symbol in enumerate(symbols, 1)}
    parts = [
        _banner(file, "The wrappers."),
        f'#include "{sites_name(file)}"',
        f'#include "{hooks}"' if hooks else "",
        '#include "recording/characters.h"' if any(moves_stream(file, each) for each in generated) else "",
        '#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* programs may call them all the same */'
        if file.is_libc
        else "",
        _prototypes(generated, undefine=True) if file.is_libc else _library_definition(file),
        *[
            _site(file, statement, symbol, gates.get(symbol, 0))
            for statement in file.statements
            for symbol in statement.symbols
        ],
        _prepared(symbols) if file.is_libc else _OUT_OF_LINE,
        _descriptor_helper(file),
    ]
    text = "\n".join(part + ("" if part.startswith("/*") else "\n") for part in parts if part)
    for statement in generated:
        wrapper = Wrapper(file, statement)
        for symbol in statement.symbols:
            text += f"\n/* {PurePath(file.path).name}:{statement.line} */\n{wrapper.text(symbol, gates.get(symbol, 0))}"
    return text


def _prepared(symbols: Sequence[str]) -> str:
    calls = [f"    iotide_prepare(&SITE({symbol}));" for symbol in symbols if symbol in FREQUENT]
    return _PREPARE.format(calls="\n".join(calls)) if calls else ""


def _banner(file: SignatureFile, what: str) -> str:
    return f"/* Made from {PurePath(file.path).name}. {what} */\n"


def _types(file: SignatureFile) -> str:
    rows = [f"typedef struct {name} {name};" for name in file.opaque]
    for name, text in file.types.items():
        if text == "opaque":
            rows.append(f"typedef struct {name} {name};")
        elif "(*" in text:
            rows.append(f"typedef {text.replace('(*', f'(*{name}', 1)};")
        elif match := re.fullmatch(r"([^\[{]+)((?:\[[^\]]*\])+)", text):
            rows.append(f"typedef {match.group(1).strip()} {name}{match.group(2)};")
        else:
            rows.append(f"typedef {text}{'' if text.endswith('*') else ' '}{name};")
    return "\n".join(rows)


def _space(file: SignatureFile) -> str:
    if file.is_libc:
        return f"#define SPACE_{file.library} LAYER_{file.layer}"
    number = _FIRST_SPACE + zlib.crc32(file.library.encode()) % (1 << 31)
    space = f"LAYER_{file.layer}" if file.layer != "OTHER" else f"{number}u"
    return f"#define SPACE_{file.library} iotide_copy_space(&iotide_library_{file.library}, {space}, caller)"


def _library(file: SignatureFile) -> str:
    name = f"iotide_library_{file.library}"
    return "\n".join(
        [
            f'extern __attribute__((visibility("hidden"))) const struct iotide_library {name};',
            "#undef REAL",
            f"#define REAL(symbol) PROVIDED(&{name}, symbol, caller)",
            "#define HELPER(symbol) \\",
            "    ({ \\",
            "        static struct iotide_helper_cache answers_; \\",
            "        (__typeof__(&symbol))(iotide_helper \\",
            f"            ? iotide_cached_helper(&{name}, &answers_, #symbol, caller) : NULL); \\",
            "    })",
            "#define LACKS(symbol) \\",
            "    (iotide_helper ? !HELPER(symbol) : !iotide_resolve_without_core(#symbol, caller))",
        ]
    )


def _library_definition(file: SignatureFile) -> str:
    count = 1 + sum(len(statement.symbols) for statement in file.statements)
    return "\n".join(
        [
            f"static struct iotide_gate gates_[{count}];",
            f"const struct iotide_library iotide_library_{file.library} = {{",
            f'    "{file.anchor}", iotide_next_symbol, gates_, {count}',
            "};",
            "#define GATED(symbol, gate) ((__typeof__(&symbol))gates_[gate].real)",
        ]
    )


def _prototypes(statements: tuple[Statement, ...] | list[Statement], *, undefine: bool = False) -> str:
    rows = []
    for statement in statements:
        for symbol in statement.symbols:
            if undefine:
                rows.append(f"#undef {symbol}")
            rows.append(f"{signature_of(statement, symbol)};")
    return "\n".join(rows)


def _site(file: SignatureFile, statement: Statement, symbol: str, gate: int) -> str:
    text = specification(statement, grouped=bool(file.handle_group), datatypes=bool(file.datatype))
    spec = text.replace("\\", "\\\\").replace('"', '\\"')
    linkage = "" if statement.custom else "static "
    place = "FORK_WRITTEN " if file.is_libc and symbol in FREQUENT else ""
    return "\n".join(
        [
            f"{linkage}{place}struct iotide_site SITE({symbol}) = {{",
            f"    .layer = LAYER_{file.layer},",
            f"    .kind = KIND_{statement.kind},",
            f"    .class = CLASS_{statement.group.upper()},",
            *([f"    .gate = {gate},"] if gate else []),
            f'    SITE_TEXT("{symbol}", "{spec}"),',
            "};",
        ]
    )


def _descriptor_helper(file: SignatureFile) -> str:
    used = any(
        statement.with_roles("stream") or statement.result_role == "stream"
        for statement in file.statements
        if not statement.custom
    )
    if not used:
        return ""
    asked = "REAL(fileno)(stream)" if "fileno" in file.symbols() else "fileno(stream)"
    return "\n".join(
        [
            "static inline int iotide_descriptor(FILE *stream) {",
            "    int error = errno;",
            f"    int descriptor = stream ? {asked} : -1;",
            "    errno = error;",
            "    return descriptor;",
            "}",
        ]
    )
