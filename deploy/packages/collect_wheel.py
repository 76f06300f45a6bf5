"""Makes the wheel for nodes out of the whole one: the same files under another name, and only what collectors import.

usage: collect_wheel.py WHEEL FOLDER

An extra can add what a package needs, but take nothing away: so it is a package of its own. Both have the folder
`iotide`, and one environment has one of them.
"""

import base64
import hashlib
import re
import sys
import zipfile
from pathlib import Path

NAME = "iotide-collect"
NEEDED = {"click", "msgpack", "msgspec", "numpy", "pydantic", "pyzmq"}
"""What `collect`, `slurm`, `keys` and `doctor` import; a test runs them without the rest."""
SUMMARY = "Collectors of iotide for the nodes of a cluster, without what analyses"


def metadata_for_nodes(text: str) -> str:
    """Returns the metadata of the package for nodes; versions are those of the whole one."""
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
    """Writes the wheel for nodes into a folder; the same wheel gives the same bytes."""
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
