"""Images: one for each environment of a target, named after its lock, built by the engine from docker/.

An image holds the environment alone. The project's source is mounted when a container runs, so no
change of the source makes an image stale; a changed lock is another tag.
"""

from __future__ import annotations

import datetime
import os
import re
import shutil
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

from suite.environments import ROOT, base_image, say
from suite.environments.checkout import git
from suite.environments.locks import lock_path, lock_sha256, names, owner, python_of, variants
from suite.environments.uv import link_folders, remedy, wheel_source
from suite.errors import COMMAND, UserError, unknown

FOLDER = ROOT / "docker"
WHEELHOUSE = FOLDER / "wheelhouse"
MAKER = {"dangling": True, "label": "stackwars.stage=maker"}
# How a site says where packages come from. Proxies are the engine's own arguments: no layer keeps them.
PASSED_ON = (
    "PIP_INDEX_URL",
    "UV_DEFAULT_INDEX",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
)
PING_SECONDS = 5
BUILD_SECONDS = 1800  # the engine says nothing while it commits a layer of some GB
LOG_LINES = 15


@dataclass(frozen=True, slots=True)
class Image:
    """One built image as `./stackwars images` lists it."""

    tag: str
    target: str
    environment: str
    size_bytes: int
    lock_sha256: str
    created: datetime.datetime
    current: bool  # of the lock as it is now


def connect() -> DockerClient:
    """The engine that the docker command would talk to. Raises UserError if none answers here."""
    host = os.environ.get("DOCKER_HOST") or docker.ContextAPI.get_current_context().Host
    if not str(host).startswith("unix://"):
        raise UserError(f"Docker's engine at {host} isn't on this machine, whose files containers have to mount.")
    try:
        docker.DockerClient(base_url=host, timeout=PING_SECONDS).ping()
        return docker.DockerClient(base_url=host)
    except DockerException as failed:
        denied = "; this user may not use it (group docker)" if "Permission" in str(failed) else ""
        raise UserError(f"No Docker engine answers at {host}{denied}.") from failed


def tag(environment: str, target: str) -> str:
    """`stackwars/cpu-jax:0e3406135f4a`: the first digits of the lock's sha256. Raises UserError without a lock."""
    digest = lock_sha256(environment, target)
    if digest is None:
        raise unknown(f"lock on {target} for environment", environment, [*names(target), *variants(target)])
    return f"stackwars/{target}-{environment.partition('@')[0]}:{digest[:12]}"


def find(client: DockerClient, environment: str, target: str) -> str | None:
    """The id of the image of the lock in use, `sha256:…`; None where it isn't built."""
    try:
        image = client.images.get(tag(environment, target))
    except ImageNotFound:
        return None
    # All digits: the tag has a few of them, and another's lock can be made to have the same.
    return str(image.id) if image.labels.get("stackwars.lock") == lock_sha256(environment, target) else None


def choose_base(client: DockerClient, asked: str | None, python: str) -> str:
    """`--base`, else the site's own base of a Python if it was made, else the official image pinned by digest.

    Raises UserError for a Python that none is pinned of.
    """
    if asked:
        return asked
    try:
        client.images.get(base_image.tag_of(python))
    except ImageNotFound:
        return official_base(python)
    return base_image.tag_of(python)


def official_base(python: str) -> str:
    """By docker/base-images. Raises UserError for a Python that it doesn't have."""
    file = FOLDER / "base-images"
    lines = [line.split() for line in file.read_text(encoding="ascii").splitlines() if not line.startswith("#")]
    known = dict(filter(None, lines))
    if python not in known:
        raise UserError(
            f"{file} pins no image with Python {python}, only with {', '.join(known)}: add one, or say --base."
        )
    return known[python]


def build(client: DockerClient, environment: str, target: str, base: str | None = None) -> str:
    """Build the image of an environment; its id. Raises UserError with the end of the engine's log."""
    name = tag(environment, target)
    started, wheels, python = time.monotonic(), fill_wheelhouse(environment, target), python_of(environment, target)
    base = choose_base(client, base, python)
    # One line in two halves, as for a local environment.
    say(f"Building image {name} on {base.partition('@')[0]} ... ", end="")
    arguments = {
        "BASE_IMAGE": base,
        "ENVIRONMENT": owner(environment, target),
        "PYTHON": f"python{python}",
        "WHEELS": " ".join(["--find-links", "/build/wheelhouse"] if wheels else index(environment, target)),
        "LOCK_SHA256": lock_sha256(environment, target),
        "REVISION": git("rev-parse", "HEAD").strip(),
        "SOURCE": public_address(git("remote", "get-url", "origin").strip()),
    } | {variable: os.environ[variable] for variable in PASSED_ON if os.environ.get(variable)}
    log: list[str] = []
    try:
        events = client.api.build(
            fileobj=context(environment, target, wheels),
            custom_context=True,
            dockerfile=f"{target}/Dockerfile",
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
        with suppress(DockerException, OSError):  # an engine that is gone has had its say above
            prune_stages(client)
    say(f"{time.monotonic() - started:.1f} s, {image.attrs['Size'] / 1e6:.0f} MB")
    return str(image.id)


def follow(events: Iterable[dict[str, Any]], log: list[str]) -> None:
    """Collect what the engine prints. Raises BuildError: an older image of the same tag may well be there."""
    for event in events:
        log += str(event.get("stream") or "").splitlines()
        if "error" in event:
            raise BuildError(str(event["error"]), iter(()))


def index(environment: str, target: str) -> list[str]:
    """uv's options for a lock whose wheels come from an index of their own; a folder outside can't be reached."""
    return wheel_source(lock_path(environment, target), links=())


def failure(name: str, base: str, log: list[str]) -> str:
    """What happened and what to do, from the last lines of a build's log."""
    words = "\n".join(line for line in log if line.strip())
    last = "\n".join(words.splitlines()[-LOG_LINES:])
    advice = remedy(words)
    if re.search(r"pull access denied|manifest unknown|registry|no such host|failed to resolve|dial tcp", words):
        advice = f"{base} can't be had here: `{COMMAND} base-image` makes a base from this machine's Debian mirror."
    return f"The image {name} could not be built.\n{last}\n{advice}"


def fill_wheelhouse(environment: str, target: str) -> list[Path]:
    """Wheels of the lock that folders of PIP_FIND_LINKS hold, put into docker/wheelhouse; all of the lock's there."""
    pins = {pin.lower() for pin in re.findall(r"^([\w.-]+==[^\s;]+)", lock_text(environment, target), re.MULTILINE)}
    for folder in link_folders():
        for wheel in Path(folder).glob("*.whl") if "://" not in folder else ():
            kept = WHEELHOUSE / wheel.name
            if pinned_as(wheel) in pins and not kept.exists():
                shutil.copyfile(wheel, kept)
    return sorted(wheel for wheel in WHEELHOUSE.glob("*.whl") if pinned_as(wheel) in pins)


def pinned_as(wheel: Path) -> str:
    """How a lock names this wheel: `torch==2.13.0+cpu`."""
    name, version, *_ = wheel.name.split("-")
    return f"{name.replace('_', '-')}=={version}".lower()


def lock_text(environment: str, target: str) -> str:
    """The lock, whose package names are written with dashes."""
    return lock_path(environment, target).read_text(encoding="utf-8").replace("_", "-")


def context(environment: str, target: str, wheels: list[Path]) -> IO[bytes]:
    """The build context: docker/ without the locks and wheels of other environments, as a tar file."""
    lock = lock_path(environment, target)
    files = [
        FOLDER / "image.sh",
        FOLDER / target / "Dockerfile",
        FOLDER / "locks" / "orchestrator.txt",
        WHEELHOUSE / ".gitignore",
        *wheels,
    ]
    stream = tempfile.TemporaryFile()  # noqa: SIM115  # the engine reads it to its end
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for file in files:
            archive.add(file, arcname=str(file.relative_to(FOLDER)), filter=anonymous)
        # Where the Dockerfile looks for it, whichever lock it is: a set's own lies in that set.
        archive.add(lock, arcname=f"locks/{target}/{owner(environment, target)}.txt", filter=anonymous)
    stream.seek(0)
    return stream


def anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """The same entry whoever owns the checkout and whenever it was made: else every build would be another."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    entry.mtime = 0
    entry.mode = 0o755 if entry.mode & 0o100 else 0o644
    return entry


def network(client: DockerClient) -> str:
    """The network of a build's commands: the host's where the engine has no bridge."""
    drivers = {found.attrs.get("Driver") for found in client.networks.list()}
    return "default" if "bridge" in drivers else "host"


def built(client: DockerClient) -> Iterator[Image]:
    """Every image of ours, by name."""
    for image in sorted(client.images.list(filters={"label": "stackwars.lock"}), key=lambda image: str(image.tags)):
        labels = image.labels
        target, environment = labels["stackwars.target"], labels["stackwars.environment"]
        created = datetime.datetime.fromisoformat(re.sub(r"\.\d+", "", image.attrs["Created"]))
        current = lock_sha256(environment, target) == labels["stackwars.lock"]
        for name in image.tags or [str(image.short_id)]:
            yield Image(name, target, environment, image.attrs["Size"], labels["stackwars.lock"], created, current)


def prune(client: DockerClient) -> list[Image]:
    """Remove images of locks that aren't the current ones; returns them."""
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
    """Remove what the first stages of builds have left; nobody else's images carry that label."""
    client.images.prune(filters=MAKER)


def public_address(remote: str) -> str:
    """A git remote as an address for everybody: no password, and nothing that is a path of this machine."""
    found = re.fullmatch(r"(https?://)(?:[^@/]*@)?(.+)", remote)
    return found[1] + found[2] if found else ""
