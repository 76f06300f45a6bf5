"""Reports on stores to mapped files."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from iotide.analyzers.file_groups import READS, WRITES
from iotide.analyzers.mapped_stores import mapped_stores
from iotide.analyzers.totals import Totals
from iotide.events import Flag, Kind, make_batch

ROWS = st.lists(
    st.tuples(
        st.sampled_from([Kind.OTHER, Kind.SYNC]),
        st.sampled_from([Flag.BLOCKING, Flag.STORES, Flag.STORES | Flag.FAILED, Flag.STORES | Flag.BLOCKING]),
        st.integers(0, 2**45),
        st.integers(0, 1),
        st.integers(0, 4),
    ),
    min_size=1,
    max_size=20,
)
LEFT_OUT = np.array([0, READS, WRITES, READS | WRITES], np.uint8)


@given(ROWS, st.integers(0, 20))
def test_mappings_and_what_was_to_be_written_back_are_summed_apart(
    rows: list[tuple[Kind, Flag, int, int, int]], cut: int
) -> None:
    kind, flags, requested, depth, file = (np.array([row[column] for row in rows]) for column in range(5))
    batch = make_batch(len(rows), {"kind": kind, "flags": flags, "requested": requested, "depth": depth, "file": file})
    mapped = flushed = 0
    for kind_, flags_, requested_, depth_, file_ in rows:
        counts = file_ > 3 or not LEFT_OUT[file_] & WRITES
        if flags_ & Flag.STORES and not flags_ & Flag.FAILED and not depth_ and counts:
            mapped += requested_ if kind_ != Kind.SYNC else 0
            flushed += requested_ if kind_ == Kind.SYNC else 0
    assert mapped_stores(batch, LEFT_OUT) == (mapped, flushed)
    totals = Totals()
    for part in (slice(None, cut), slice(cut, None)):
        totals.update(batch.select(part), LEFT_OUT)
    assert (totals.mapped, totals.flushed) == (mapped, flushed)
    assert totals.bytes_written == 0
