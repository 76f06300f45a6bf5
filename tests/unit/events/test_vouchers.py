"""Vouchers: only the holder of the key can state facts about a job."""

from __future__ import annotations

import base64

from hypothesis import given
from hypothesis import strategies as st
from iotide.events.network.vouchers import Voucher, read_voucher

SECRET = b"0123456789abcdef0123456789abcdef01234567"
TEXT = st.text(st.characters(codec="utf-8"), max_size=30)


@given(TEXT, TEXT, TEXT)
def test_voucher_is_read_back_with_its_key_alone(job: str, user: str, account: str) -> None:
    voucher = Voucher(job, user, account)
    text = voucher.text(SECRET)
    assert read_voucher(text, SECRET) == voucher
    assert read_voucher(text, SECRET[::-1]) is None


@given(st.data())
def test_changed_voucher_proves_nothing(data: st.DataObject) -> None:
    packed = bytearray(base64.urlsafe_b64decode(Voucher("4711", "alice", "sea").text(SECRET)))
    at = data.draw(st.integers(0, len(packed) - 1))
    packed[at] ^= data.draw(st.integers(1, 255))
    assert read_voucher(base64.urlsafe_b64encode(packed).decode(), SECRET) is None


@given(st.text(max_size=200) | st.binary(max_size=200).map(lambda some: base64.urlsafe_b64encode(some).decode()))
def test_any_other_text_is_no_voucher(text: str) -> None:
    assert read_voucher(text, SECRET) is None


def test_facts_do_not_run_into_each_other() -> None:
    assert Voucher("a", "bc", "d").text(SECRET) != Voucher("ab", "c", "d").text(SECRET)
    assert read_voucher("A" * 100_000, SECRET) is None
