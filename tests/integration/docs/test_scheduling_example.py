"""The policy of docs/scheduling.md, simulated as written."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from click.testing import CliRunner
from iotide.cli.main import group
from iotide.scheduling.named_policies import POLICIES
from support.places import ROOT


def test_documented_policy_is_simulated_beside_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs/scheduling.md").read_text(), re.DOTALL | re.MULTILINE)
    defined: dict[str, Any] = {}
    exec(compile(code, "docs/scheduling.md", "exec"), defined)
    monkeypatch.setitem(POLICIES, "shortest-period", defined["shortest_period"])  # type: ignore[arg-type]
    words = ["simulate", "--class", "3x10", "--class", "3x100", "--jitter", "0.1", "--duration", "2000", "--json"]
    done = CliRunner().invoke(group, [*words, "--policy", "shortest-period", "--policy", "fair-share"])
    assert done.exit_code == 0, done.output
    own, fair = json.loads(done.stdout)["policies"]
    assert own["policy"] == "shortest-period"
    slowdowns = [[job["io_slowdown"] for job in each["jobs"] if job["kind"] == "10 s"] for each in (own, fair)]
    assert max(slowdowns[0]) < min(slowdowns[1])
