"""Split a signature file into its parts: header lines, statements, and each statement's attributes."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .model import SignatureError

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')
_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|(?:^|(?<=\s))#.*')


@dataclass
class Block:
    """A line without indentation, with its continuation lines. line: its number, from 1."""

    line: int
    text: str
    attributes: list[tuple[int, str]] = field(default_factory=list)


def without_comment(line: str) -> str:
    """Return a line without its comment.

    A comment begins with a # at the start or after white space, outside quotes.
    """
    return _COMMENT.sub(lambda found: "" if found.group().startswith("#") else found.group(), line).rstrip()


def blocks_of(text: str, path: str) -> list[Block]:
    """Split the text of a file.

    Raises:
        SignatureError: Attributes without a statement, or an unclosed parenthesis.
    """
    blocks: list[Block] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = without_comment(raw)
        if not line.strip():
            continue
        last = blocks[-1] if blocks else None
        if last and not last.attributes and _open(last.text):
            last.text += " " + line.strip()
        elif last and last.attributes and _open(last.attributes[-1][1]):
            begun, so_far = last.attributes[-1]
            last.attributes[-1] = (begun, so_far + " " + line.strip())
        elif not line[0].isspace():
            blocks.append(Block(number, line.strip()))
        elif last:
            last.attributes.append((number, line.strip()))
        else:
            raise SignatureError(path, number, "expected a line of the head or a statement ahead of attributes")
    for block in blocks:
        _check_block(block, path)
    return blocks


def _check_block(block: Block, path: str) -> None:
    for number, part in [(block.line, block.text), *block.attributes]:
        if "#" in _QUOTED.sub("", part):
            raise SignatureError(path, number, "expected white space before the # of a comment")
        if _open(part):
            raise SignatureError(path, number, "expected ')', found the end of the statement")


def _open(text: str) -> bool:
    depth = 0
    for character in _QUOTED.sub("", text):
        depth += (character in "([{") - (character in ")]}")
    return depth > 0


def split_top(text: str, separator: str) -> list[str]:
    """Split at a character outside brackets."""
    parts, depth, begin = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if character == separator and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return [*parts, text[begin:]]
