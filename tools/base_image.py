"""Makes base images like Docker's official Python images, for sites that can't reach a registry of images. This is
`make base-image`.

debootstrap installs Debian in a folder, which becomes the image. Each Debian release has one Python: 12 has 3.11, 13
has 3.13. Packages come from the Debian mirror that this machine uses. The image gets this machine's CA certificates,
which builds need behind a proxy that inspects TLS.
"""

from __future__ import annotations

import os
import re
import shutil
import ssl
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from docker import DockerClient

from suite.cli.app import run_tool
from suite.cli.values import Names
from suite.environments import say
from suite.environments.images import DEBIAN, connect, own_base
from suite.errors import UserError, unknown
from suite.machine import facts

# PyTorch/XLA needs libpython, which the official image has.
PACKAGES = ("ca-certificates", "python{0}-venv", "libpython{0}")
# debootstrap doesn't find out by itself that python3-distutils provides what python3.11-venv depends on.
PACKAGES_TOO = {"3.11": ("python3-distutils",)}
CA_BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
# Folders that no program needs at run time; device files come from the engine.
CACHES, DOCUMENTS = ("var/cache/apt", "var/lib/apt/lists", "var/log"), ("doc", "man", "info", "locale")
LEFT_OUT = (*CACHES, *(f"usr/share/{name}" for name in DOCUMENTS), "debootstrap", "dev")


def make(client: DockerClient, python: str, mirror: str | None, say: Callable[[str], None]) -> str:
    """Makes the base image with this Python, like `3.13`, and imports it into Docker's engine. Returns its tag. Raises
    UserError, which says what to do, if that isn't possible here."""
    if python not in DEBIAN:
        raise unknown("Debian release with Python", python, DEBIAN)
    if os.geteuid() != 0:
        raise UserError("debootstrap makes a root file system, which needs root: sudo make base-image")
    if shutil.which("debootstrap") is None:
        raise UserError("debootstrap isn't installed: apt-get install debootstrap.")
    mirror, tag = mirror or host_mirror(), own_base(python)
    with tempfile.TemporaryDirectory(prefix="stackwars-base-") as folder:
        root = Path(folder) / "root"
        say(f"Debian {DEBIAN[python]} from {mirror} by debootstrap ...")
        debootstrap(root, mirror, python)
        trust_as_here(root)
        archive = Path(folder) / "root.tar"
        left_out = [f"--exclude=./{name}/*" for name in LEFT_OUT]
        run(["tar", "--numeric-owner", *left_out, "-C", str(root), "-cf", str(archive), "."])
        repository, _, version = tag.partition(":")
        changes = [f"ENV SSL_CERT_FILE={CA_BUNDLE}", f"ENV PIP_CERT={CA_BUNDLE}", f'CMD ["python{python}"]']
        client.api.import_image_from_file(str(archive), repository=repository, tag=version, changes=changes)
    return tag


def debootstrap(root: Path, mirror: str, python: str) -> None:
    """Installs Debian's smallest system with Python in the folder `root`. Raises UserError with the end of
    debootstrap's log."""
    packages = [package.format(python) for package in PACKAGES] + [*PACKAGES_TOO.get(python, ())]
    try:
        run(["debootstrap", "--variant=minbase", f"--include={','.join(packages)}", DEBIAN[python], str(root), mirror])
    except UserError as failed:
        log = facts.read(str(root / "debootstrap" / "debootstrap.log")) or ""
        raise UserError("\n".join([str(failed), *log.splitlines()[-5:]])) from None


def trust_as_here(root: Path) -> None:
    """Replaces the CA certificates in the system under `root` by this machine's."""
    paths = (os.environ.get("SSL_CERT_FILE"), ssl.get_default_verify_paths().cafile, CA_BUNDLE)
    bundle = next((Path(path) for path in paths if path and Path(path).is_file()), None)
    if bundle is not None:
        (root / CA_BUNDLE.lstrip("/")).write_bytes(bundle.read_bytes())


def host_mirror(etc: Path = Path("/etc/apt")) -> str:
    """Returns the Debian mirror in this machine's package sources. Raises UserError if there is none."""
    if "ID=debian" in (facts.read("/etc/os-release") or "").splitlines():
        files = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]
        for line in "\n".join(facts.read(str(file)) or "" for file in files).splitlines():
            mirror = re.match(r"(?:deb\s+(?:\[.*?\]\s*)?|URIs:\s*)(\S+/debian/?)(?:\s|$)", line)
            if mirror:
                return mirror[1]
    raise UserError("This machine's package sources name no Debian mirror: give one with --mirror=URL.")


def run(command: list[str]) -> None:
    """Runs a program. Raises UserError with its last line if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:] or ["no message"]
        raise UserError(f"{command[0]} exited {done.returncode}: {last[0]}")


def base_image(*, mirror: str | None = None, python: Names = tuple(DEBIAN)) -> None:
    """Makes base images by debootstrap, for sites that reach no registry, and prints their tags. Needs root.

    :param mirror: a Debian mirror (default: the one that this machine uses)
    :param python: the image's Python: 3.11 (Debian 12) or 3.13 (Debian 13)
    """
    client = connect()
    for version in python:
        print(make(client, version, mirror, say))


if __name__ == "__main__":
    run_tool("tools.base_image", base_image)
