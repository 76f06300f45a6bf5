"""Archives on a disk that accepts no writes."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from iotide.daemon.archiving.archives import Archives, ArchiveSettings
from iotide.events import ConfigError
from support.servers.sinks import RememberingSink
from support.system.small_file_systems import small_room


def test_read_only_folder_of_archives_is_an_error_of_the_start(tmp_path: Path) -> None:
    with small_room(tmp_path / "small", 64 << 10) as room:
        subprocess.run(["mount", "-o", "remount,ro", str(room)], check=True)
        archives = Archives(RememberingSink(), ArchiveSettings(folder=room), lambda info: info.job)
        with pytest.raises(ConfigError, match=rf"archive.folder = {room}: .*Read-only file system.*another folder"):
            archives.prepare()
        archives.close()
