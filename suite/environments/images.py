"""Builds, lists and removes Docker images: one for each environment of a target, tagged with the digest of its lock.

An image holds only the environment. The source is mounted when a container runs, so an image stays valid when the
source changes. An image of a changed lock gets another tag.
"""

from __future__ import annotations

import datetime
import os
import re
import tarfile
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import docker
from docker import DockerClient
from docker.errors import APIError, BuildError, DockerException, ImageNotFound

from suite.environments import ROOT, say
from suite.environments.checkout import project_address, revision
from suite.environments.locks import Lock, names, newest, owner, variants
from suite.environments.uv import link_folders, remedy, wheel_source
from suite.errors import UserError, unknown

FOLDER = ROOT / "docker"
WHEELHOUSE = FOLDER / "wheelhouse"
MAKER = {"dangling": True, "label": "stackwars.stage=maker"}  # finds what the stage `maker` of the Dockerfiles leaves
DEBIAN = {"3.11": "bookworm", "3.13": "trixie"}  # the release of each Python, in the bases that `base-image` makes
# Variables that say where a site gets packages. The engine keeps the values of proxies out of every layer.
PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
PASSED_ON = ("PIP_INDEX_URL", "UV_DEFAULT_INDEX", *PROXIES, *map(str.lower, PROXIES))
PING_SECONDS = 5
BUILD_SECONDS = 1800  # the longest silence of the engine, as when it commits a layer of some GB
LOG_LINES = 15


@dataclass(frozen=True, slots=True)
class Image:
    """A built image, as `./stackwars images` lists it."""

    tag: str
    target: str
    environment: str
    size_bytes: int
    lock_sha256: str
    created: datetime.datetime
    current: bool  # made from the environment's newest lock


def connect() -> DockerClient:
    """Returns a client of the engine that the docker command would use. Raises UserError if that engine doesn't answer
    or isn't on this machine."""
    host = os.environ.get("DOCKER_HOST") or docker.ContextAPI.get_current_context().Host
    if not str(host).startswith("unix://"):
        raise UserError(
            f"Docker's engine at {host} isn't on this machine. Containers mount files of this machine, so the engine "
            "must run here."
        )
    try:
        docker.DockerClient(base_url=host, timeout=PING_SECONDS).ping()
        return docker.DockerClient(base_url=host)
    except DockerException as failed:
        denied = "; this user may not use it (group docker)" if "Permission" in str(failed) else ""
        raise UserError(f"No Docker engine answers at {host}{denied}.") from failed


def tag(lock: Lock) -> str:
    """Returns an image's tag, like `stackwars/cpu-jax:0e3406135f4a`, which ends with the first digits of the lock's
    sha256. Raises UserError if there is no lock."""
    target, digest = lock.target, lock.sha256
    if digest is None:
        raise unknown("locked environment", lock.name, [*names(target), *variants(target)], of=f"Target {target}")
    return f"stackwars/{target}-{lock.name.partition('@')[0]}:{digest[:12]}"


def find(client: DockerClient, lock: Lock) -> str | None:
    """Returns the id, `sha256:…`, of the image made from a lock; None if it isn't built."""
    try:
        image = client.images.get(tag(lock))
    except ImageNotFound:
        return None
    # The tag has only the first digits of the digest, and somebody could make another lock with the same first digits.
    return str(image.id) if image.labels.get("stackwars.lock") == lock.sha256 else None


def own_base(python: str) -> str:
    return f"stackwars/base:{DEBIAN.get(python, python)}"


def choose_base(client: DockerClient, wanted: str | None, python: str) -> str:
    """Returns the base image for a Python: `wanted` (`--base`), else the one made by `base-image`, else the official
    one. Raises UserError if no official image is pinned for that Python."""
    if wanted:
        return wanted
    try:
        client.images.get(own_base(python))
    except ImageNotFound:
        return official_base(python)
    return own_base(python)


def official_base(python: str) -> str:
    file = FOLDER / "base-images"
    lines = [line.split() for line in file.read_text(encoding="ascii").splitlines() if not line.startswith("#")]
    known = dict(filter(None, lines))
    if python not in known:
        raise UserError(
            f"{file} has no image with Python {python}, only with {', '.join(known)}: add one, or give --base."
        )
    return known[python]


def build(client: DockerClient, lock: Lock, base: str | None = None) -> str:
    """Builds the image of a lock's environment, and returns its id. Raises UserError with the end of the engine's
    log."""
    name, python = tag(lock), lock.python
    started, wheels = time.monotonic(), wheels_of(lock)
    base = choose_base(client, base, python)
    say(f"Building image {name} on {base.partition('@')[0]} ... ", end="")
    arguments = {
        "BASE_IMAGE": base,
        "ENVIRONMENT": owner(lock.name, lock.target),
        "PYTHON": f"python{python}",
        # A build in a container can't read this machine's folders of wheels: what it needs of them is in the context.
        "WHEELS": " ".join(["--find-links", "/build/wheelhouse"] if wheels else wheel_source(lock.path, links=())),
        "LOCK_SHA256": lock.sha256,
        "REVISION": revision(),
        "SOURCE": project_address(),
    } | {variable: os.environ[variable] for variable in PASSED_ON if os.environ.get(variable)}
    log: list[str] = []
    try:
        events = client.api.build(
            fileobj=context(lock, wheels),
            custom_context=True,
            dockerfile=f"{lock.target}/Dockerfile",
            tag=name,
            buildargs=arguments,
            network_mode=network(client),
            rm=True,
            forcerm=True,
            decode=True,
            timeout=BUILD_SECONDS,
        )
        follow(events, log)
        image = client.images.get(name)
    except (DockerException, OSError) as broken:
        say("failed")
        raise UserError(failure(name, base, [*log, str(broken)])) from broken
    except BaseException:
        say("failed")
        raise
    finally:
        with suppress(DockerException, OSError):  # if the engine is gone, that was reported above
            prune_stages(client)
    say(f"{time.monotonic() - started:.1f} s, {image.attrs['Size'] / 1e6:.0f} MB")
    return str(image.id)


def follow(events: Iterable[dict[str, Any]], log: list[str]) -> None:
    """Follows a build to its end, and adds the engine's messages to `log`. Raises BuildError if the build fails: an
    older image with the same tag must not be taken for the new one."""
    for event in events:
        log += str(event.get("stream") or "").splitlines()
        if "error" in event:
            raise BuildError(str(event["error"]), iter(()))


def failure(name: str, base: str, log: list[str]) -> str:
    words = "\n".join(line for line in log if line.strip())
    last = "\n".join(words.splitlines()[-LOG_LINES:])
    advice = remedy(words)
    if re.search(r"pull access denied|manifest unknown|registry|no such host|failed to resolve|dial tcp", words):
        advice = f"{base} can't be pulled here: `sudo make base-image` makes a base from this machine's Debian mirror."
    return f"The image {name} could not be built.\n{last}\n{advice}"


def wheels_of(lock: Lock) -> list[Path]:
    """Returns the wheels that a lock pins in docker/wheelhouse, UV_FIND_LINKS or PIP_FIND_LINKS: each name once."""
    text = lock.text.replace("_", "-").lower()
    pins = set(re.findall(r"^([\w.-]+==[^\s;]+)", text, re.MULTILINE))
    folders = [WHEELHOUSE, *(Path(folder) for folder in link_folders() if "://" not in folder)]
    wheels = [wheel for folder in reversed(folders) for wheel in folder.glob("*.whl") if pinned_as(wheel) in pins]
    return sorted({wheel.name: wheel for wheel in wheels}.values())


def pinned_as(wheel: Path) -> str:
    """Returns a wheel's package and version as a lock writes them, like `torch==2.13.0+cpu`."""
    name, version, *_ = wheel.name.split("-")
    return f"{name.replace('_', '-')}=={version}".lower()


def context(lock: Lock, wheels: list[Path]) -> IO[bytes]:
    """Returns the build context as a tar file: docker/ without the locks of other environments, and the wheels."""
    names = ("image.sh", f"{lock.target}/Dockerfile", "locks/orchestrator.txt", "wheelhouse/.gitignore")
    files = {name: FOLDER / name for name in names} | {f"wheelhouse/{wheel.name}": wheel for wheel in wheels}
    # Under the name that the Dockerfile reads, wherever the lock is: a set has locks of its own.
    files[f"locks/{lock.target}/{owner(lock.name, lock.target)}.txt"] = lock.path
    stream = tempfile.TemporaryFile()  # noqa: SIM115  # stays open, since the engine reads it later
    with tarfile.open(fileobj=stream, mode="w", dereference=True) as archive:
        for name, file in files.items():
            archive.add(file, arcname=name, filter=anonymous)
    stream.seek(0)
    return stream


def anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Returns a tar entry without owner and time, so that equal files give equal layers in every checkout."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    entry.mode = 0o755 if entry.mode & 0o100 else 0o644
    return entry


def network(client: DockerClient) -> str:
    """Returns the network of a build's commands: the host's if the engine has no bridge."""
    drivers = {network.attrs.get("Driver") for network in client.networks.list()}
    return "default" if "bridge" in drivers else "host"


def built(client: DockerClient) -> Iterator[Image]:
    for image in sorted(client.images.list(filters={"label": "stackwars.lock"}), key=lambda image: str(image.tags)):
        labels = image.labels
        target, environment = labels["stackwars.target"], labels["stackwars.environment"]
        created = datetime.datetime.fromisoformat(re.sub(r"\.\d+", "", image.attrs["Created"]))
        current = newest(environment, target).sha256 == labels["stackwars.lock"]
        for name in image.tags or [str(image.short_id)]:
            yield Image(name, target, environment, image.attrs["Size"], labels["stackwars.lock"], created, current)


def prune(client: DockerClient) -> list[Image]:
    prune_stages(client)
    removed = []
    for image in [image for image in built(client) if not image.current]:
        try:
            client.images.remove(image.tag)
        except APIError as refused:
            say(f"{image.tag} stays: {refused.explanation}")
        else:
            removed.append(image)
    return removed


def prune_stages(client: DockerClient) -> None:
    """Removes the images that the first stages of builds leave behind. They have a label of their own, so images of
    other programs stay."""
    client.images.prune(filters=MAKER)
