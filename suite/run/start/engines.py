"""Chooses the engine of a run, and says what this machine lacks for a stack."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from suite.environments import pythons, revisions, venv
from suite.environments.locks import ORCHESTRATOR, Locks, impossible, newest
from suite.environments.revisions import Revision
from suite.errors import COMMAND, UserError, check_known
from suite.launch.engine import Engine, ProcessRequest, worker_environment
from suite.launch.local import Local
from suite.launch.process import Exit
from suite.machine import compiler, devices
from suite.stacks.catalog import IMPORTS, OF_OPTIMIZERS, STACKS, Stack, environment_of

if TYPE_CHECKING:  # Docker's SDK takes a tenth of a second to import
    from docker import DockerClient

SOCKET = Path("/var/run/docker.sock")  # where Docker's engine answers, unless the user's settings name another place
SETTINGS = ("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG")
AUTO, LOCAL, DOCKER = "auto", "local", "docker"
CURRENT = "current"  # of --python: what `python` starts here
FIND = "import importlib.util, sys; print(*(name for name in sys.argv[1:] if not importlib.util.find_spec(name)))"


@dataclass(frozen=True, slots=True)
class Choice:
    """The engine of a run: its name, one line about why, and the client of a container engine."""

    name: str
    why: str
    client: DockerClient | None = None


def choose(wanted: str, names: Iterable[str], locks: Locks, python: str | None, *, build: bool) -> Choice:
    """Returns the engine `local` or `docker`; for `auto`, docker if it answers and has or can build the images of the
    environments `names`. With `build` False nothing is built.

    Raises UserError if `docker` is wanted and can't be used; for `auto` the choice is then local and says why.
    """
    check_known("engine", wanted, (AUTO, LOCAL, DOCKER))
    if python is not None:
        return Choice(LOCAL, f"Engine: local, with {python} (not pinned by any lock).")
    if wanted == LOCAL:
        return Choice(LOCAL, "Engine: local.")
    try:
        return containers(sorted(set(names)), locks, build)
    except UserError as refused:
        if wanted == DOCKER:
            raise
        return Choice(LOCAL, f"Engine: local. {str(refused).splitlines()[0]}")


def containers(names: list[str], locks: Locks, build: bool) -> Choice:
    """Returns the engine `docker`; with `build`, builds the images that these environments lack. Raises UserError if
    Docker doesn't answer or an image can't be built."""
    if ORCHESTRATOR in names:
        raise UserError("This program's own environment has no image: its stacks run with --engine=local alone.")
    settings = Path(os.environ.get("HOME", "/"), ".docker")
    if not (SOCKET.exists() or settings.exists() or any(map(os.environ.get, SETTINGS))):
        raise UserError(f"No Docker engine answers at unix://{SOCKET}.")
    from suite.environments import images

    client = images.connect()
    locked = [lock for lock in map(locks.of, names) if lock.exists]
    missing = [lock for lock in locked if images.find(client, lock) is None]
    for lock in missing if build else ():
        images.build(client, lock)
    rest = f"; to be built: {', '.join(lock.name for lock in missing)}" if missing and not build else ""
    return Choice(DOCKER, f"Engine: docker {client.version()['Version']}{rest}.", client)


def interpreter(python: str, engine: str) -> str:
    """Returns the path of the user's own interpreter, as a shell would find it.

    Raises UserError if it can't be run or has no NumPy, or if the engine is `docker`, whose images have interpreters.
    """
    if engine == DOCKER:
        raise UserError("--python is for the local engine: an image has its own interpreter.")
    program = shutil.which("python" if python == CURRENT else python)
    if program is None:
        raise UserError(f"--python={python} can't be run: no such program.")
    path = str(Path(program).absolute())  # not resolved: a virtual environment's python is a link out of it
    try:
        environ = worker_environment(os.environ)  # as its workers will be started
        done = subprocess.run([path, "-c", "import numpy"], capture_output=True, text=True, check=False, env=environ)
    except OSError as broken:
        raise UserError(f"--python={python} can't be run: {broken.strerror}.") from broken
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:] or [f"it exited {done.returncode}"]
        raise UserError(f"--python={python} is no Python with NumPy: {last[0]}")
    return path


def lacking(python: str, stacks: Iterable[str]) -> dict[str, str]:
    """Returns {stack: a package that it needs and the user's own interpreter lacks}, without those that lack none."""
    imports = {name: IMPORTS.get(STACKS[name].environment, ()) for name in stacks}
    needs = {name: tuple(each for each in of if each != OF_OPTIMIZERS) for name, of in imports.items()}
    needs |= {name: (*needs[name], "keras") for name in needs if STACKS[name].dialect == "keras"}
    packages = sorted({package for packages in needs.values() for package in packages})
    done = subprocess.run([python, "-c", FIND, *packages], capture_output=True, text=True, check=True)
    missing = done.stdout.split()
    first = {name: next((package for package in needs[name] if package in missing), "") for name in needs}
    return {name: package for name, package in first.items() if package}


def absent(
    stack: Stack,
    variant: str,
    target: str,
    locks: Locks | None = None,
    engine: Choice | None = None,
    python: str | None = None,
) -> str | None:
    """Returns what this machine lacks for a stack, as the reason in its rows; None if nothing. `locks` are the run's;
    the default is the newest lock from which this machine can make the environment."""
    missing = devices.missing().get(target)
    if missing:
        return missing
    pinned = python is None and stack.environment != ORCHESTRATOR
    if pinned and (reason := unlocked(stack, variant, target)):
        return reason
    if engine is not None and engine.client is not None:
        return lacks(engine.client, target)  # an image brings its own Python and compiler
    name = environment_of(stack.name, variant)
    if pinned:
        lock = locks.of(name) if locks else venv.fit(name, target)
        if venv.status(lock) != "ready" and (interpreter := pythons.lacking(name, target)):
            return interpreter
    if "C++ compiler" in stack.needs and compiler.find() is None:
        return f"no C++ compiler that Inductor takes was found (CXX, else g++); `{COMMAND} doctor` says how to get one"
    return None


def unlocked(stack: Stack, variant: str, target: str) -> str | None:
    name = environment_of(stack.name, variant)
    if stack.environment != ORCHESTRATOR and not newest(name, target).exists:
        return f"there is no lock for environment {name} on {target}"
    return impossible(name)


def lacks(client: DockerClient, target: str) -> str | None:
    if target != "cuda":
        return None
    info = client.info()
    devices = [str(device.get("ID")) for device in info.get("DiscoveredDevices") or ()]  # CDI
    if "nvidia" in info.get("Runtimes", {}) or any(device.startswith("nvidia.com/gpu") for device in devices):
        return None
    return "Docker has no NVIDIA runtime here; install the NVIDIA Container Toolkit, or use --engine=local"


class Revised(Engine):
    """Runs the processes of one revision, which find its tree, by another engine."""

    def __init__(self, engine: Engine, revision: Revision) -> None:
        self.engine, self.columns = engine, engine.columns
        self.variables, self.reads = revisions.variables(revision), [revision.folder] if revision.folder else []

    def warm_up(self, code: str) -> None:
        self.engine.warm_up(code)

    def launch(self, request: ProcessRequest) -> Exit:
        variables, reads = {**request.variables, **self.variables}, [*request.reads, *self.reads]
        return self.engine.launch(replace(request, variables=variables, reads=reads))


def provider(choice: Choice, locks: Locks, set_id: str, python: str | None) -> Callable[[str], Engine]:
    """Returns a function that gives the engine of each environment. A local environment is made when it is first
    needed; images exist already."""

    @cache
    def engine(name: str) -> Engine:
        revision = revisions.of(name)
        return Revised(plain(name, revision), revision) if revision else plain(name)

    def plain(name: str, revision: Revision | None = None) -> Engine:
        lock = locks.of(name)
        if choice.client is not None:  # a local process never runs beside containers
            from suite.environments import images
            from suite.launch.container import Container

            image = images.find(choice.client, lock)
            if image is None:
                raise UserError(
                    f"There is no image of environment {name} for {locks.target}. `{COMMAND} build` makes it."
                )
            return Container(choice.client, image, lock.sha256, locks.target, set_id)
        if python is not None:
            return Local(Path(python))
        if revision and revision.install:
            return Local(revisions.installed(revision, lock), lock.sha256)
        return Local(venv.made(lock).python, lock.sha256)

    return engine
