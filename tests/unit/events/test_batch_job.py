"""Lists of nodes in Slurm's format."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.events.batch_job import nodes_in


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ()),
        ("n1", ("n1",)),
        ("n[1-3]", ("n1", "n2", "n3")),
        ("n[08-11,20]", ("n08", "n09", "n10", "n11", "n20")),
        ("rack[1-2]node[3-4]", ("rack1node3", "rack1node4", "rack2node3", "rack2node4")),
        ("a[1,3]-ib,login.site", ("a1-ib", "a3-ib", "login.site")),
        ("n[3-1]", ()),
        ("n[x]", ()),
    ],
)
def test_names_in_a_list(text: str, names: tuple[str, ...]) -> None:
    assert nodes_in(text) == names


def test_list_is_bounded() -> None:
    assert len(nodes_in("n[1-999999999],m[1-9]")) == 100_000
    assert len(nodes_in("n[1-99999]m[1-99999]k[1-99999]")) == 100_000


@given(st.text(alphabet="n-[],0123456789. ", max_size=60))
def test_no_text_breaks_it(text: str) -> None:
    assert len(nodes_in(text)) <= 100_000
