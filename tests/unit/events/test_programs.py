"""Names of processes."""

from __future__ import annotations

import pytest
from iotide.events.programs import program_name


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/usr/bin/tar -cf - /home", "tar"),
        ("/usr/bin/python3.11 ./run/web.py 8080", "python3.11 web.py"),
        ("python -m http.server 8000", "python -m http.server"),
        ("/bin/bash /usr/lib/x/start.sh -v", "bash start.sh"),
        ("/bin/sh -c cat x | sort", "sh"),
        ("python3", "python3"),
        ("java -jar /opt/app.jar --port 1", "java -jar app.jar"),
        ("postgres: walwriter ", "postgres:"),
        ("/", "/"),
        ("", ""),
        ("   ", ""),
        ("x" * 500, "x" * 64),
    ],
)
def test_a_process_is_called_by_its_program_and_an_interpreter_by_what_it_runs(command: str, name: str) -> None:
    assert program_name(command) == name
