"""Blocks of many similar texts, deflated together."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from itertools import accumulate
from typing import Annotated, Final

import msgspec

from .blocks import MAX_PIECE

MAX_BUNDLE: Final = 1 << 18
"""Maximum size of a bundle of several texts, bytes. Deflate's window is an eighth of it."""
_LEVEL: Final = 7
"""Takes a third of the time of the highest level, for a thirtieth more bytes."""
_Count = Annotated[int, msgspec.Meta(ge=0, lt=2**32)]
_MAX_FOR_NOTHING: Final = 64
_MIN_BYTES: Final = 8
"""Minimum bytes of a block per text beyond the first 64. A small file then cannot claim very many texts."""


class _Payload(msgspec.Struct, array_like=True, frozen=True):
    numbers: list[_Count]
    lengths: list[_Count]
    data: bytes


_decoder = msgspec.msgpack.Decoder(_Payload)
_encoder = msgspec.msgpack.Encoder()


def encode_bundle(texts: Sequence[bytes], numbers: Sequence[int] = ()) -> bytes:
    """Encode texts, each optionally with a number, as the payload of a block."""
    whole, lengths = b"".join(texts), [len(text) for text in texts]
    payload = _encoder.encode(_Payload(list(numbers), lengths, zlib.compress(whole, _LEVEL)))
    if len(texts) > _max_texts(payload):
        payload = _encoder.encode(_Payload(list(numbers), lengths, zlib.compress(whole, 0)))
    return payload


def numbers_of(payload: bytes) -> list[int]:
    """Return the numbers of a bundle's texts without decompressing the texts.

    Raises:
        ValueError: there is not one number per text, or there are too many texts.
        msgspec.MsgspecError: the payload is malformed.
    """
    found = _decode_payload(payload)
    if len(found.numbers) != len(found.lengths):
        raise ValueError(f"{len(found.numbers)} numbers of {len(found.lengths)} pieces")
    return found.numbers


def decode_bundle(payload: bytes) -> list[bytes]:
    """Return the texts of a bundle.

    Raises:
        ValueError: the texts are longer than declared or allowed; no more memory is used.
        msgspec.MsgspecError, zlib.error: the payload is malformed.
    """
    found = _decode_payload(payload)
    length = sum(found.lengths)
    if length > (MAX_BUNDLE if len(found.lengths) > 1 else MAX_PIECE):
        raise ValueError(f"a bundle of {length} bytes")
    reader = zlib.decompressobj()
    whole = reader.decompress(found.data, length + 1)
    if len(whole) != length or not reader.eof:
        raise ValueError(f"a bundle that does not have its {length} bytes")
    if len(found.lengths) == 1:
        return [whole]
    ends = list(accumulate(found.lengths))
    return [whole[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def _decode_payload(payload: bytes) -> _Payload:
    found = _decoder.decode(payload)
    if len(found.lengths) > _max_texts(payload):
        raise ValueError(f"{len(found.lengths)} texts in {len(payload)} bytes")
    return found


def _max_texts(payload: bytes) -> int:
    return _MAX_FOR_NOTHING + len(payload) // _MIN_BYTES
