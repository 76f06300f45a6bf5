"""HTTP parameters accept any float and integer, or are rejected with the reason."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from fuzz.targets_http import Asked

VALUES = ("inf", "-inf", "nan", "1e308", "-1e308", "1e19", "-1", "0", "9223372036854775808", "x", "")


@pytest.fixture(scope="module")
def asked() -> Iterator[Asked]:
    with closing(Asked()) as made:
        yield made


@pytest.mark.slow
def test_no_value_of_a_parameter_breaks_an_answer(asked: Asked) -> None:
    tried = 0
    for path, operations in asked.paths.items():
        for parameter in operations["get"].get("parameters", []):
            if parameter["in"] == "query":
                for value in VALUES:
                    target = path.replace("{job}", "job").replace("{other}", "job")
                    status, _ = asked.answer("GET", f"{target}?{parameter['name']}={value}".encode())
                    assert status < 500, (target, parameter["name"], value)
                    tried += 1
    assert tried > 100
