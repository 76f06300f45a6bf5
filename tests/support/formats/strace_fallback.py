"""The strace source without its compiled helper."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import numpy as np
from support.formats.parsing import Stream

USERS = ("line", "arguments", "unfinished_calls", "texts")


@contextmanager
def without_native() -> Iterator[None]:
    """Parsers created inside the block do not use the compiled helper, as if it was not built."""
    patches = [mock.patch(f"iotide.collectors.sources.strace.{user}.native", return_value=None) for user in USERS]
    for patch in patches:
        patch.start()
    try:
        yield
    finally:
        for patch in patches:
            patch.stop()


def assert_same(ours: dict[str, Stream], theirs: dict[str, Stream]) -> None:
    """Compare streams, their batches and their definitions."""
    assert list(ours) == list(theirs)
    for stream, other in zip(ours.values(), theirs.values(), strict=True):
        assert (stream.info, len(stream.batches)) == (other.info, len(other.batches))
        for batch, fallback in zip(stream.batches, other.batches, strict=True):
            for name, column in batch.columns().items():
                np.testing.assert_array_equal(column, fallback.columns()[name], err_msg=name)
        names, others = stream.definitions, other.definitions
        assert (names.string_count, names.file_count) == (others.string_count, others.file_count)
        assert [names.string(at) for at in range(names.string_count + 1)] == [
            others.string(at) for at in range(names.string_count + 1)
        ]
        assert [names.file(at) for at in range(names.file_count + 1)] == [
            others.file(at) for at in range(names.file_count + 1)
        ]
