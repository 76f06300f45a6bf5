"""Options that a reload applies, one by one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from iotide.daemon.access.settings import AccessSettings
from iotide.daemon.notify.notify_settings import NotifySettings
from iotide.daemon.reloading import RELOADABLE, apply_reloadable, compare
from iotide.daemon.settings import AggregatorSettings
from pydantic import BaseModel

BEFORE = AggregatorSettings()


def options_of(model: BaseModel, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from options_of(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def test_same_settings_differ_in_nothing() -> None:
    assert compare(BEFORE, AggregatorSettings()) == ((), ())


def test_options_are_told_by_name_and_apart() -> None:
    now = BEFORE.model_copy(
        update={
            "retain_s": 1.0,
            "log_level": "debug",
            "notify": NotifySettings(webhooks=["http://127.0.0.1:1"], timeout_s=5.0),
            "access": AccessSettings(operators=("root",)),
            "detect": BEFORE.detect.model_copy(update={"mode": "write"}),
        }
    )
    found = compare(BEFORE, now)
    assert found.applied == ("access.operators", "log_level", "notify.timeout_s", "notify.webhooks")
    assert found.pending == ("detect.mode", "retain_s")
    after = apply_reloadable(BEFORE, now)
    assert compare(BEFORE, after) == (found.applied, ())
    assert compare(after, now) == ((), found.pending)


def test_applied_options_are_the_documented_ones() -> None:
    """Each name in `RELOADED` is an option, and each of them is applied."""
    names = [name for name, _ in options_of(BEFORE)]
    for each in RELOADABLE:
        assert any(f"{name}.".startswith(f"{each}.") for name in names), each
