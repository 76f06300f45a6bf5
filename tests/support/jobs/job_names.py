"""Names of jobs that a user may choose, with all that has a meaning in addresses, paths and documents."""

from __future__ import annotations

from typing import Final

from hypothesis import strategies as st
from iotide.events.network.job_addresses import RESULTS

ODD_NAMES: Final = (
    "a/b", "/", "//", "..", ".", "a/../b", "../../metrics", "a/./b", "a//b", "/a", "a/", "?x=1", "#", "%2F", "a%2Fb",
    "%", "   ", "\"'<b>&amp;</b>", "\\N \\\\x", "a\\b", "läuf 🜚/ü", "a/dfg", "a/layers", "dfg", "layers", "jobs/a",
    "{job}", "x" * 200, "a@http://h", "a;b=1", "~", "a\n\tb",
)  # fmt: skip
_PARTS: Final = ("", ".", "..", "jobs", "api", "%2F", "%2e%2e", "a", *sorted(RESULTS))
job_names: Final = st.one_of(
    st.sampled_from(ODD_NAMES),
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=300),
    st.text(alphabet="/.%?#\\ a\"'&;:@=2Fe", min_size=1, max_size=12),
    st.lists(st.sampled_from(_PARTS), min_size=1, max_size=4).map("/".join).filter(bool),
)
