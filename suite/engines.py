"""Which engine a run gets, and the engine of each attempt."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from docker import DockerClient

from suite import environments, images
from suite.case import Attempt
from suite.errors import UserError, unknown
from suite.launch.container import Container
from suite.launch.engine import Engine
from suite.launch.local import Local
from suite.stacks.catalog import environment_of

AUTO, LOCAL, DOCKER = "auto", "local", "docker"


@dataclass(frozen=True, slots=True)
class Choice:
    """The engine of a run: its name, why in one line, and the client of a container engine."""

    name: str
    why: str
    client: DockerClient | None = None


def choose(asked: str, names: Iterable[str], target: str, python: str | None, *, build: bool) -> Choice:
    """`local`, `docker`, or for `auto` docker where an engine answers and images are there or can be built.

    `names` are the environments of the run; `build` False is a dry run. Raises UserError where what was
    asked can't be had; `auto` then says why it is local.
    """
    if asked not in (AUTO, LOCAL, DOCKER):
        raise unknown("engine", asked, (AUTO, LOCAL, DOCKER))
    if python is not None:
        check_interpreter(asked, python)
        return Choice(LOCAL, f"Engine: local, with {python} (not pinned by any lock).")
    if asked == LOCAL:
        return Choice(LOCAL, "Engine: local.")
    try:
        return containers(sorted(set(names)), target, build)
    except UserError as refused:
        if asked == DOCKER:
            raise
        return Choice(LOCAL, f"Engine: local. {str(refused).splitlines()[0]}")


def containers(names: list[str], target: str, build: bool) -> Choice:
    """Docker, with every image that these environments need. Raises UserError for whatever is missing."""
    if environments.ORCHESTRATOR in names:
        raise UserError("The fake stack has no image: it runs with --engine=local alone.")
    client = images.connect()
    locked = [name for name in names if environments.lock_sha256(name, target)]
    missing = [name for name in locked if images.find(client, name, target) is None]
    if build:
        for name in missing:
            images.build(client, name, target)
    rest = f"; to be built: {', '.join(missing)}" if missing and not build else ""
    return Choice(DOCKER, f"Engine: docker {client.version()['Version']}{rest}.", client)


def check_interpreter(asked: str, python: str) -> None:
    """Raises UserError unless it is an interpreter, for the local engine."""
    if asked == DOCKER:
        raise UserError("--python is for the local engine: an image has its own interpreter.")
    try:
        done = subprocess.run([python, "-c", "import numpy"], capture_output=True, text=True, check=False)
    except OSError as broken:
        raise UserError(f"--python={python} can't be run: {broken.strerror}.") from broken
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or [f"it exited {done.returncode}"]
        raise UserError(f"--python={python} is no Python with NumPy: {last[0]}")


def lacks(client: DockerClient, target: str) -> str | None:
    """What the engine needs to hand on this target's devices, and hasn't; None where all is there."""
    if target != "cuda":
        return None
    about = client.info()
    devices = [str(device.get("ID")) for device in about.get("DiscoveredDevices") or ()]  # CDI
    if "nvidia" in about.get("Runtimes", {}) or any(device.startswith("nvidia.com/gpu") for device in devices):
        return None
    return "Docker has no NVIDIA runtime here; install the NVIDIA Container Toolkit, or use --engine=local"


def provider(
    choice: Choice, names: Iterable[str], target: str, set_id: str, python: str | None
) -> Callable[[Attempt], Engine]:
    """The engine of each attempt. Local environments are made when one first needs them; images are there."""
    ready: dict[str, Engine] = {}
    if choice.client is not None:
        for name in set(names):
            image = images.find(choice.client, name, target)
            if image is not None:  # without a lock there is none, and its cases are unsupported
                lock = environments.lock_sha256(name, target)
                ready[name] = Container(choice.client, image, lock, target, set_id)

    def engine(attempt: Attempt) -> Engine:
        name = environment_of(attempt.case.stack, attempt.case.variant)
        if name not in ready:
            if python is not None:
                ready[name] = Local(Path(python))
            else:
                made = environments.ensure(name, target)
                ready[name] = Local(made.python, made.lock_sha256)
        return ready[name]

    return engine
