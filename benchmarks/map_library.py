"""Gets the drawing library of the map, as its authors published it, into ``openclaw_memory/map/assets``.

    python -m benchmarks.map_library

npm fetches the package; only the two files are taken whose hashes stand here.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import tarfile
import tempfile
from pathlib import Path

PACKAGE = "d3@7.9.0"
#: SHA-512 of the package, as npm states it.
INTEGRITY = "sha512-e1U46jVP+w7Iut8Jt8ri1YsPOvFpg46k+K8TpCb0P+zjCkjkPnV7WzfDJzMHy1LnA+wj5pLT1wjO901gLXeEhA=="
#: Our name of each file: where it lies in the package, and its SHA-256.
FILES = {
    "d3.min.js": ("package/dist/d3.min.js", "f2094bbf6141b359722c4fe454eb6c4b0f0e42cc10cc7af921fc158fceb86539"),
    "d3.LICENSE.txt": ("package/LICENSE", "3e6849627f74ff73c257a3ae1efb574015d94fc1035c05ec3c15805165efcbc4"),
}
ASSETS = Path(__file__).parents[1] / "openclaw_memory" / "map" / "assets"


def main() -> None:
    """Write the files.  Raises ``SystemExit`` where a hash is another one."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        [archive] = Path(folder).glob("*.tgz")
        digest = base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode("ascii")
        if f"sha512-{digest}" != INTEGRITY:
            raise SystemExit(f"{PACKAGE}: is not the package whose hash stands in {Path(__file__).name}")
        with tarfile.open(archive) as members:
            for name, (member, wanted) in FILES.items():
                found = members.extractfile(member)
                data = b"" if found is None else found.read()
                if hashlib.sha256(data).hexdigest() != wanted:
                    raise SystemExit(f"{PACKAGE}: {member} is not the file whose hash stands in {Path(__file__).name}")
                (ASSETS / name).write_bytes(data)


if __name__ == "__main__":
    main()
