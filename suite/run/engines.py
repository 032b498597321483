"""Which engine a run gets, what it lacks for a stack, and the engine of each attempt."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from docker import DockerClient

from suite.case import Attempt
from suite.environments import images, pythons, venv
from suite.environments.locks import ORCHESTRATOR, lock_sha256
from suite.errors import COMMAND, UserError, unknown
from suite.launch.container import Container
from suite.launch.engine import Engine
from suite.launch.local import Local
from suite.machine import compiler, devices
from suite.stacks.catalog import Stack, environment_of

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
    if ORCHESTRATOR in names:
        raise UserError("The fake stack has no image: it runs with --engine=local alone.")
    client = images.connect()
    locked = [name for name in names if lock_sha256(name, target)]
    missing = [name for name in locked if images.find(client, name, target) is None]
    if build:
        for name in missing:
            images.build(client, name, target)
    rest = f"; to be built: {', '.join(missing)}" if missing and not build else ""
    return Choice(DOCKER, f"Engine: docker {client.version()['Version']}{rest}.", client)


def interpreter(python: str, engine: str) -> str:
    """The path of an interpreter of the user's own, as a shell would find it.

    Raises UserError if it is none, or if an `engine` is asked for that has its own.
    """
    if engine == DOCKER:
        raise UserError("--python is for the local engine: an image has its own interpreter.")
    found = shutil.which(python)
    if found is None:
        raise UserError(f"--python={python} can't be run: no such program.")
    path = str(Path(found).absolute())  # not resolved: a virtual environment's python is a link out of it
    try:
        done = subprocess.run([path, "-c", "import numpy"], capture_output=True, text=True, check=False)
    except OSError as broken:
        raise UserError(f"--python={python} can't be run: {broken.strerror}.") from broken
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or [f"it exited {done.returncode}"]
        raise UserError(f"--python={python} is no Python with NumPy: {last[0]}")
    return path


def absent(
    stack: Stack, variant: str, target: str, engine: Choice | None = None, python: str | None = None
) -> str | None:
    """What this machine lacks for a stack, as the reason in its rows; None where all is there."""
    missing = devices.missing().get(target)
    if missing:
        return missing
    pinned = python is None and stack.environment != ORCHESTRATOR
    if pinned and (lock := unlocked(stack, variant, target)):
        return lock
    if engine is not None and engine.client is not None:
        return lacks(engine.client, target)  # an image brings its own Python and compiler
    name = environment_of(stack.name, variant)
    if pinned and venv.status(name, target) != "ready" and (interpreter := pythons.lacking(name, target)):
        return interpreter
    if "C++ compiler" in stack.needs and compiler.find() is None:
        return f"no C++ compiler that Inductor takes was found (CXX, else g++); `{COMMAND} doctor` says how to get one"
    return None


def unlocked(stack: Stack, variant: str, target: str) -> str | None:
    """What a stack lacks on any machine of a target: a lock."""
    name = environment_of(stack.name, variant)
    if stack.environment != ORCHESTRATOR and lock_sha256(name, target) is None:
        return f"there is no lock for environment {name} on {target}"
    return None


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
                lock = lock_sha256(name, target)
                ready[name] = Container(choice.client, image, lock, target, set_id)

    def engine(attempt: Attempt) -> Engine:
        name = environment_of(attempt.case.stack, attempt.case.variant)
        if name not in ready:
            if choice.client is not None:  # never beside containers without one
                raise UserError(f"There is no image of environment {name} for {target}. `{COMMAND} build` makes it.")
            if python is not None:
                ready[name] = Local(Path(python))
            else:
                made = venv.ensure(name, target)
                ready[name] = Local(made.python, made.lock_sha256)
        return ready[name]

    return engine
