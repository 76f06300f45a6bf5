"""The state file: each job is stored separately, so that damage affects only the damaged jobs."""

from __future__ import annotations

import struct
import tempfile
import zlib
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.analyzers.pipeline.snapshots import SnapshotError
from iotide.daemon.jobs.job_table import Card
from iotide.daemon.state.state_file import StateFile, StateWriter, is_state_file

END = struct.Struct("<QQI12s")
DOCUMENTS = {f"job {number}": bytes([number]) * 300 + b"end" for number in range(4)}


def card(name: str) -> Card:
    return Card("running", "u", 1.5, f'{{"job":"{name}"}}'.encode(), {"names:files": 3.0})


def written(path: Path) -> Path:
    with path.open("wb") as file:
        writer = StateWriter(file)
        for name, document in DOCUMENTS.items():
            writer.add_job(name, document, card(name))
        writer.finish(b"all the rest")
    return path


def test_written_state_is_restored(tmp_path: Path) -> None:
    path = written(tmp_path / "state")
    assert is_state_file(path)
    file = StateFile(path)
    assert {name: file.job(name) for name in file.jobs} == DOCUMENTS
    assert {name: kept.card for name, kept in file.jobs.items()} == {name: card(name) for name in DOCUMENTS}
    assert file.rest() == b"all the rest"
    assert not list(file.damaged())
    file.close()


def test_jobs_are_copied_from_a_file_whose_place_another_one_took(tmp_path: Path) -> None:
    source = StateFile(written(tmp_path / "state"))
    with (tmp_path / "next").open("wb") as target:
        writer = StateWriter(target)
        for name in ("job 2", "job 0"):
            writer.copy_job(name, source)
        writer.finish(b"rest")
    (tmp_path / "next").replace(tmp_path / "state")
    copy = StateFile(tmp_path / "state")
    assert {name: copy.job(name) for name in copy.jobs} == {name: DOCUMENTS[name] for name in ("job 2", "job 0")}
    assert source.job("job 1") == DOCUMENTS["job 1"]
    assert not list(copy.damaged())
    source.close()
    copy.close()


@given(st.data())
def test_damage_costs_the_jobs_that_it_hits(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder) / "state")
        content = bytearray(path.read_bytes())
        at = data.draw(st.integers(0, len(content) - 1))
        content[at] ^= data.draw(st.integers(1, 255))
        path.write_bytes(content)
        try:
            file = StateFile(path)
        except SnapshotError:
            return  # its header, end or index
        damaged = set(file.damaged())
        assert len(damaged) <= 1
        for name in set(DOCUMENTS) - damaged:
            assert file.job(name) == DOCUMENTS[name]
        for name in damaged:
            with pytest.raises(SnapshotError):
                file.job(name)
        file.close()


@given(st.data())
def test_file_that_is_cut_off_anywhere_is_none(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder) / "state")
        content = path.read_bytes()
        path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
        with pytest.raises(SnapshotError):
            StateFile(path)


@pytest.mark.parametrize("field", ["at", "size"])
@pytest.mark.parametrize("value", [-1, 2**40, 2**62])
def test_index_that_names_what_is_not_in_the_file_is_refused(tmp_path: Path, field: str, value: int) -> None:
    path = tmp_path / "jobs.state"
    with path.open("wb") as file:
        StateWriter(file).finish(b"the rest")
    with closing(StateFile(path)) as state:
        assert state.rest() == b"the rest"
    data = path.read_bytes()
    at, size, _, last = END.unpack(data[-END.size :])
    rest, jobs = msgspec.msgpack.decode(zlib.decompress(data[at : at + size]))
    rest[("at", "size").index(field)] = value
    index = zlib.compress(msgspec.msgpack.encode([rest, jobs]))
    path.write_bytes(data[:at] + index + END.pack(at, len(index), zlib.crc32(index), last))
    with pytest.raises(SnapshotError, match="refers to data beyond the file"):
        StateFile(path)
