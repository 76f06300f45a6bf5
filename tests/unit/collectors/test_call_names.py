"""The name of a call has one meaning in all sources."""

from __future__ import annotations

import pytest
from iotide.collectors.call_classes import classify
from iotide.collectors.wrappers.signature import read
from support.places import ROOT

SIGNATURES = ROOT / "collectors" / "preload" / "signatures"


@pytest.mark.parametrize("library", ["posix", "stdio"])
def test_calls_known_by_name_have_the_layer_and_kind_that_the_tracer_gives_them(library: str) -> None:
    file = read(SIGNATURES / f"{library}.sig")
    told = {call.shown: (file.layer, call.kind) for call in file.statements}
    assert {name: tuple(word.name for word in classify(name)) for name in told} == told
