"""`./stackwars doctor --pack=FOLDER`: one archive with which a machine without a network checks its device.

It has this program and its packages for one Python, but not NumPy and SciPy, which come with JAX: such a machine has an
interpreter with the frameworks that are to be checked.
"""

from __future__ import annotations

import re
import tarfile
import tempfile
from pathlib import Path
from typing import Final

from suite.environments import ROOT, locks, say, uv
from suite.errors import UserError
from suite.sets.files import check_writable

PACKAGES = ("cyclopts", "docker", "jinja2", "msgspec", "polars", "pyarrow", "rich")  # what `suite.cli` imports
THEIRS = ("numpy", "scipy", "pandas")  # the machine's own, or not needed there
SOURCE = ("suite", "presets", "reports", "docker", "docs/published", "examples")
# What a check doesn't load: a half of pyarrow, and what is right at sizes that it doesn't ask.
UNUSED = re.compile(
    r"pyarrow/(include|src|tests|.*(flight|_s3|_encryption))|golden/(odd|small|full)|/__pycache__|\.pyc$"
)
BYTES_MAX = 60 * 10**6
PRESET: Final = 9  # of xz: 57.7 MB in 249 s on a core of a Zen 3; preset 1 takes 21 s, and gives 72.3 MB
NAME = "stackwars-device"
SCRIPT = """#!/bin/sh
# ./check.sh cuda   (or tpu, or cpu). PYTHON names another interpreter than python3.
cd "$(dirname "$0")" || exit 1
python=$(command -v "${PYTHON:-python3}") || { echo "There is no ${PYTHON:-python3}." >&2; exit 1; }
unset PYTHONHOME PYTHONPATH
"$python" -c "import numpy, scipy" || { echo "$python needs NumPy and SciPy." >&2; exit 1; }
PYTHONPATH=site:. exec "$python" -m suite.cli doctor --device="${1:-cuda}" --python="$python"
"""


def pack(folder: Path, python: str | None) -> Path:
    """Writes the archive for a Python like 3.12, by default the one that runs here. Returns its path."""
    version = python or locks.pythons_named(locks.newest(locks.ORCHESTRATOR, "cpu").text)[0]
    if not re.fullmatch(r"3\.\d+", version):
        raise UserError(f"--python={version}: with --pack it is the version of that machine's Python, like 3.12.")
    check_writable(folder, "--pack")
    archive = folder / f"{NAME}-py{version}.tar.xz"
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        site = Path(scratch) / "site"
        install(site, version)
        (script := Path(scratch) / "check.sh").write_text(SCRIPT, encoding="utf-8")
        script.chmod(0o755)
        say("Packing takes some minutes")
        with tarfile.open(archive, "w:xz", preset=PRESET) as packed:
            packed.add(site, f"{NAME}/site", filter=used)
            packed.add(script, f"{NAME}/check.sh")
            for name in SOURCE:
                packed.add(ROOT / name, f"{NAME}/{name}", filter=used)
    size = archive.stat().st_size
    # Python unpacks it, because a small image has no xz.
    say(f"{archive}: {size / 1e6:.1f} MB. There: python3 -m tarfile -e {archive.name} && sh {NAME}/check.sh cuda")
    if size > BYTES_MAX:
        raise UserError(f"{archive} has over {BYTES_MAX / 1e6:.0f} MB.")
    return archive


def install(site: Path, version: str) -> None:
    """Installs the orchestrator's packages, as locked, into a folder for another machine's Python."""
    lock = locks.newest(locks.ORCHESTRATOR, "cpu").path
    platform = ["--python-version", version, "--python-platform", f"x86_64-manylinux_{uv.GLIBC}", "--only-binary=:all:"]
    left_out = site.with_name("theirs")
    left_out.write_text("".join(f"{name} ; python_version < '3'\n" for name in THEIRS), encoding="utf-8")
    where = ["--target", str(site), "--constraint", str(lock), "--override", str(left_out)]
    command = [uv.find_uv(), "pip", "install", "--quiet", *platform, *where, *PACKAGES]
    uv.run(command, f"The packages for Python {version} can't be had.")


def used(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if UNUSED.search(member.name) else member
