"""The metrics of a member are those in the documentation."""

from __future__ import annotations

import re
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

from iotide.daemon.cluster.http_serving import MemberMetrics
from support.places import ROOT


def test_every_metric_of_a_member_is_documented_and_no_other() -> None:
    member = SimpleNamespace(
        members={},
        not_ready=str,
        read_s=0.0,
        workers=SimpleNamespace(serving={}, waiting={}),
        settings=SimpleNamespace(cluster=SimpleNamespace(partitions=8)),
        gateway=SimpleNamespace(routes=SimpleNamespace(streams=0, peers=0)),
        counters=Counter[str](),
    )
    made = MemberMetrics(cast("Any", member)).text().decode()
    names = set(re.findall(r"^# TYPE (iotide_\w+) (?:gauge|counter)$", made, re.MULTILINE))
    text = (ROOT / "docs" / "metrics.md").read_text()
    assert names == set(re.findall(r"^\| `(iotide_cluster_\w+)`", text, re.MULTILINE))
