"""Create the wheel for nodes from the full wheel: a subset of its files under another name.

The subset contains the modules that collectors import.

usage: collect_wheel.py WHEEL FOLDER

It is a separate package, because an extra can only add dependencies to a package and cannot remove any. Both packages
contain the folder `iotide`, so one environment can have only one of them.
"""

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path

NAME = "iotide-collect"
NEEDED = {"click", "msgpack", "msgspec", "numpy", "pydantic", "pyzmq"}
"""Modules that `collect`, `slurm`, `keys` and `doctor` import; a test runs these commands with only these modules."""
SUMMARY = "Collectors of iotide for the nodes of a cluster, without what analyses"


def metadata_for_nodes(text: str) -> str:
    """Return the metadata of the package for nodes; its versions are those of the full package."""
    head, _, rest = text.partition("\n\n")
    kept = []
    for line in head.splitlines():
        field, _, value = line.partition(": ")
        needed = re.match(r"[A-Za-z0-9._-]+", value)
        if field == "Provides-Extra" or (
            field == "Requires-Dist" and (needed is None or needed[0].lower() not in NEEDED or "extra ==" in value)
        ):
            continue
        kept.append({"Name": f"Name: {NAME}", "Summary": f"Summary: {SUMMARY}"}.get(field, line))
    return "\n".join(kept) + "\n\n" + rest


def convert(whole: Path, folder: Path) -> Path:
    """Write the wheel for nodes into a folder; the same wheel results in the same bytes."""
    made = folder / whole.name.replace("iotide-", f"{NAME.replace('-', '_')}-", 1)
    records = []
    with zipfile.ZipFile(whole) as source, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as target:
        for entry in source.infolist():
            content = source.read(entry)
            entry.filename = re.sub(r"^iotide-(?=[^/]+\.dist-info/)", f"{NAME.replace('-', '_')}-", entry.filename)
            if entry.filename.endswith(".dist-info/RECORD"):
                record = entry
                continue
            if entry.filename.endswith(".dist-info/METADATA"):
                content = metadata_for_nodes(content.decode()).encode()
            target.writestr(entry, content, zipfile.ZIP_DEFLATED)
            if not entry.is_dir():
                check = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                records.append(f"{entry.filename},sha256={check},{len(content)}\n")
        target.writestr(record, "".join(records) + f"{record.filename},,\n", zipfile.ZIP_DEFLATED)
    return made


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
