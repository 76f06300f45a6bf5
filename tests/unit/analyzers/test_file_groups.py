"""Classification of a program's data files: a table of paths, files that always count, and its use by all parts."""

from __future__ import annotations

import ast
from pathlib import Path

import iotide
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iotide.analyzers.file_groups import CHANNEL, DATA, READS, SYSTEM, WRITES, CountRule, copies_files
from iotide.analyzers.layers.settings import LayersSettings
from iotide.analyzers.pipeline.numbering import JobNames, StreamNames
from iotide.analyzers.settings import DetectSettings
from iotide.analyzers.totals import Totals
from iotide.events import Definitions, FileInfo, FileType, Kind, make_batch
from iotide.events.schema import file_type_of

MODULE = "/scratch/project/module.py"
ROOT = Path(iotide.__file__).parent
THE_MACHINES = """
/bin/sh /usr/bin/perl /lib/x86_64-linux-gnu/libc.so.6 /usr/lib/locale/locale-archive /etc/ld.so.cache
/etc/passwd /proc/self/maps /sys/devices/system/cpu/online /run/systemd/resolve/resolv.conf
/var/cache/fontconfig/a.cache-7 /usr/lib/python3.11/os.py /usr/share/perl/5.36.0/strict.pm
/usr/share/zoneinfo/UTC /usr/lib/jvm/java-17/lib/modules
/home/me/venv/lib/python3.11/site-packages/numpy/__init__.py /home/me/venv/pyvenv.cfg
/home/me/venv/lib64/python3.11/x.cfg
/home/me/.local/lib/python3.11/site-packages/sklearn/datasets/data/iris.csv
/home/me/.pyenv/versions/3.11.7/lib/python3.11/re.py /home/me/job/tool/__pycache__/tool.cpython-311.pyc
/home/me/job/tool.py /home/me/job/fast.cpython-311-x86_64-linux-gnu.so /home/me/miniconda3/lib/libz.so.1.2.13
/home/me/miniconda3/envs/sim/etc/fonts/fonts.conf /home/me/miniconda3/share/terminfo/x
/home/me/perl5/lib/perl5/JSON/PP.pm /home/me/R/lib/R/library/base/R/base.rdb
/home/me/app/node_modules/left-pad/index.js /home/me/jdk-21/lib/modules /home/me/app/app.jar
/home/me/.cache/matplotlib/fontlist-v390.json /home/me/.julia/compiled/v1.10/A/a.ji
/opt/conda/lib/python3.11/os.py /opt/intel/oneapi/mpi/2021.9/etc/tuning.dat /opt/tool/bin/tool
/opt/tool/share/locale/de/x /usr/local/lib/libhdf5.so.200 /usr/local/bin/tool /usr/local/etc/tool.conf
/usr/local/share/man/man1/tool.1 /nix/store/abc-glibc/lib/libc.so.6
/spack/opt/spack/linux/gcc/hdf5-1.14/share/x /var/lib/dpkg/status
/apps/software/Python/3.11/lib/python3.11/json/__init__.py /tmp/ompi.n1.0/jf.1/1/0/x
/dev/shm/vader_segment.n1.7
/home/me/.pyenv/version /home/me/.pyenv/pyenv.d/exec/pip-rehash.bash /home/me/.nvm/alias/default
/home/me/.rustup/settings.toml /home/me/.rbenv/version /home/me/.asdf/plugins/x/bin/list-all
/usr /etc /proc /home/me/venv/lib/python3.11/site-packages /home/me/venv/lib/python3.11 /home/me/.pyenv
/home/me/job/__pycache__ /home/me/app/node_modules /opt/tool/lib /home/me/miniconda3/lib
""".split()  # noqa: SIM905
DATA_PLACES = """
/scratch/out.h5 /home/me/in.csv /tmp/x data/in.bin in.bin /data/lib/a.bin /home/me/share/a.bin
/dev/shm/stage.bin /opt/data/set.bin /opt/data/2024/set.bin /usr/local/share/weather/grid.nc /usr/local/data/x
/usr/src/linux/main.c /home/me/venv/data/set.csv /home/me/venv/results.npy /home/me/miniconda3/data.csv
/home/me/envs/run1/out.nc /var/lib/mysql/ibdata1 /var/lib/postgresql/15/main/base/1/2 /var/spool/job/1
/var/tmp/x /var/log/app.log /home/me/model.pth /home/me/model.pt /run/user/1000/scratch.bin
/run/media/me/disk/a.nc /srv/x /mnt/x /cvmfs/exp/cond.db /home/me/.cache/huggingface/hub/model.bin
/home/me/usr/x /home/me/etc/x /home/me/notes.so.txt /home/me/sofa /root/x.python /home/me/.julia/data/x.jls
/home/me/lib/set.bin /home/me/bin/x.dat /home/me /scratch /opt /opt/data /home/me/envs/run1 /home/me/lib
/home/me/pyenv/x /home/me/.cargo.bin /home/me/my.pyenv
""".split()  # noqa: SIM905
paths = st.sampled_from(THE_MACHINES + DATA_PLACES) | st.text(max_size=60)
kinds = st.sampled_from(list(FileType))


@pytest.mark.parametrize("path", THE_MACHINES)
def test_system_file_is_left_out_of_reads(path: str) -> None:
    assert CountRule().group(path, file_type_of(path)) == SYSTEM
    assert CountRule().left_out(path, file_type_of(path)) & READS


@pytest.mark.parametrize("path", DATA_PLACES)
def test_data_counts_in_any_folder(path: str) -> None:
    assert CountRule().group(path, file_type_of(path)) == DATA
    assert CountRule().left_out(path, file_type_of(path)) == 0


@pytest.mark.parametrize("path", THE_MACHINES)
def test_writes_to_files_count_but_for_caches_and_what_software_keeps_for_itself(path: str) -> None:
    own = path.startswith(("/proc/", "/sys/")) or any(
        name in f"{path}/" for name in ("__pycache__/", "ompi.", "vader_segment")
    )
    own |= path == "/proc"
    assert bool(CountRule().left_out(path, file_type_of(path)) & WRITES) == own


@pytest.mark.parametrize(
    "path",
    ["pipe:[7]", "socket:[7]", "TCP:[1->2]", "/dev/null", "/dev/pts/3", "anon_inode:[eventfd]", "/memfd:a (deleted)"],
)
def test_channels_are_left_out_both_ways_until_everything_counts(path: str) -> None:
    kind = file_type_of(path)
    assert CountRule().group(path, kind) == CHANNEL
    assert CountRule().left_out(path, kind) == CountRule("files").left_out(path, kind) == READS | WRITES
    assert CountRule("everything").left_out(path, kind) == 0


@given(paths, kinds)
def test_counted_files_grow_from_data_to_files_to_everything(path: str, kind: FileType) -> None:
    data, files, everything = (CountRule(count).left_out(path, kind) for count in ("data", "files", "everything"))
    assert everything == 0
    assert files in (0, READS | WRITES)
    assert data | files == data
    if CountRule().group(path, kind) == DATA and kind in (FileType.UNKNOWN, FileType.REGULAR):
        assert data == 0


@given(paths)
def test_a_file_without_a_known_path_or_a_named_place_counts(path: str) -> None:
    assert CountRule().left_out("", FileType.UNKNOWN) == 0
    assert CountRule(data_paths=(path[:5],)).left_out(path, FileType.REGULAR) == 0
    named = CountRule(system_paths=("/scratch/software/",))
    assert named.left_out("/scratch/software/x", FileType.REGULAR) == READS | WRITES


def test_a_job_decides_once_a_file_and_its_tables_tell_what_counts_and_what_does_not() -> None:
    names = JobNames(10, 10, CountRule())
    for path in ("/scratch/a", "/usr/lib/x.py", "pipe:[1]", "/home/m/__pycache__/x.pyc"):
        names.file(FileInfo(path, file_type_of(path)))
    assert names.left_out.tolist() == [0, 0, READS, READS | WRITES, READS | WRITES]
    totals = Totals()
    file, kind = np.repeat(np.arange(5), 2), np.tile([Kind.READ, Kind.WRITE], 5)
    moved = 10 ** np.arange(10)
    totals.update(make_batch(10, {"file": file, "kind": kind, "bytes": moved, "call": kind}), names.left_out)
    rows = {row.number: (row.bytes_read, row.bytes_written) for row in totals.files(left_out=names.left_out)}
    assert rows == {0: (1, 10), 1: (100, 1000), 2: (0, 10**5)}
    assert [(row.number, row.calls, row.bytes) for row in totals.calls()] == [
        (Kind.WRITE, 5, 101_010),
        (Kind.READ, 5, 101),
    ]
    left = totals.not_counted(names.left_out, names.groups)
    assert left == {DATA: (0, 0), CHANNEL: (10**6, 10**7), SYSTEM: (10**4 + 10**8, 10**9)}
    counted = sum(sum(row) for row in rows.values()) + sum(sum(row) for row in left.values())
    assert counted == totals.bytes_read + totals.bytes_written


def test_layers_and_signal_ask_the_same_rule() -> None:
    layers = LayersSettings(data_paths=("/usr/a",)).with_paths(("/usr/b",), ("/x",))
    assert layers.rule == CountRule(data_paths=("/usr/a", "/usr/b"), system_paths=("/x",))
    assert DetectSettings(count="files", data_paths=("/usr/b",)).rule == CountRule("files", ("/usr/b",))


@pytest.mark.slow
def test_no_other_module_knows_the_places_of_software() -> None:
    """A module that contains ``site-packages`` has its own rule for files of the operating system."""
    knowing = [
        path.relative_to(ROOT).as_posix()
        for part in ("analyzers", "daemon", "clients", "cli", "events", "results", "archive")
        for path in (ROOT / part).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "site-packages" in node.value
    ]
    assert set(knowing) == {"analyzers/file_groups.py"}


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
