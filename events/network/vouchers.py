"""Vouchers. A node's root vouches to the aggregator for the user and the account of a job.

The collector of a job runs as the job's user, so its own statement of the account proves nothing. A voucher is made
with a key that only root of the nodes and the aggregator can read.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from typing import Final

import msgspec

from .malformed import MALFORMED

VARIABLE: Final = "IOTIDE_VOUCHER"
"""Environment variable by which a collector gets the voucher of its job."""
_PURPOSE: Final = b"iotide voucher 1"
_LONGEST: Final = 4096
"""Maximum length of a voucher, characters."""


class Voucher(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The facts that a voucher proves."""

    job: str
    user: str
    account: str

    def text(self, secret: bytes) -> str:
        """Return the voucher as text, made with a key."""
        content = msgspec.msgpack.encode(self)
        return base64.urlsafe_b64encode(_code(secret, content) + content).decode()


def read_voucher(text: str, secret: bytes) -> Voucher | None:
    """Return the facts of a voucher; None if it was not made with this key."""
    if len(text) > _LONGEST:
        return None
    try:
        packed = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        return None
    code, content = packed[: hashlib.sha256().digest_size], packed[hashlib.sha256().digest_size :]
    if not hmac.compare_digest(code, _code(secret, content)):
        return None
    try:
        return msgspec.msgpack.decode(content, type=Voucher)
    except MALFORMED:
        return None


def _code(secret: bytes, content: bytes) -> bytes:
    return hmac.digest(hashlib.sha256(_PURPOSE + secret).digest(), content, "sha256")
