"""A Python module is code for an interpreter, and data for tar: the program decides."""

from __future__ import annotations

import numpy as np
import pytest
from iotide.analyzers.copied_code import copies_files
from iotide.analyzers.file_groups import DATA, SYSTEM
from iotide.analyzers.pipeline.numbering import JobNames, StreamNames
from iotide.events import Definitions, FileInfo, FileType, make_batch

MODULE = "/scratch/project/module.py"


@pytest.mark.parametrize(
    "command", ["tar -c .", "/bin/cp a b", "git-upload-pack x", "/usr/bin/rsync --server", "toybox cp"]
)
def test_programs_that_copy_files(command: str) -> None:
    assert copies_files(command)


@pytest.mark.parametrize("command", ["python3 cp.py", "", "busybox", "lmp -in cp", "targz", "/opt/tar/bin/solver"])
def test_other_programs(command: str) -> None:
    assert not copies_files(command)


def test_group_of_code_depends_on_the_program() -> None:
    job = JobNames(10, 10)
    groups = {}
    for command in ("python3 run.py", "tar -cf a.tar project", "cp -r project to"):
        translator = StreamNames(job, command)
        paths = (MODULE, "/usr/lib/python3/os.py", "/scratch/data.bin")
        translator.define(Definitions([], [(at, FileInfo(path, FileType.REGULAR)) for at, path in enumerate(paths, 1)]))
        numbers = translator.translate(make_batch(3, {"file": np.array([1, 2, 3])})).file
        groups[command.split()[0]] = job.groups[numbers].tolist()
        assert [job.files[number].path for number in numbers.tolist()] == list(paths)
    assert groups == {
        "python3": [SYSTEM, SYSTEM, DATA], "tar": [DATA, SYSTEM, DATA], "cp": [DATA, SYSTEM, DATA],
    }  # fmt: skip
    assert len(job.files) == 5  # the unknown file, three paths, and the module a second time
