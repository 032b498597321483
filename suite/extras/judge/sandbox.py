"""Runs judged code in a process of its own, which is stopped except while it is asked.

Inputs are written into that process's memory, and results read from it, while it is stopped. So it can neither know
values before its call, nor change a result after it, nor compute anything while others are timed. Of what it says, only
results are believed, after they are compared.
"""

from __future__ import annotations

import functools
import json
import math
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suite.case import Case
from suite.errors import UserError
from suite.extras.judge.call import Got
from suite.extras.judge.freezer import freezer
from suite.launch.container import USER_ID
from suite.launch.engine import ALLOCATOR_VARIABLES, ROOT, worker_environment
from suite.launch.supervisor.spawn import PR_SET_PDEATHSIG, prctl
from suite.launch.supervisor.tree import PAGE_BYTES, resident_bytes
from suite.machine import processes
from suite.workloads.tensors import DTYPES, itemsize

ANSWER_BYTES_MAX = 2**26
RESULT_BYTES_MAX = 2**32
CHANNEL_SECONDS = 30.0  # the limit
RAM_BYTES = os.sysconf("SC_PHYS_PAGES") * PAGE_BYTES
MEMORY_SHARE_MAX = 0.4  # of the machine's, for one side
TYPES = (*DTYPES, "uint64")
PROCESSES_MAX = 4096  # as of a container; threads count
SYSTEM = ("/usr", "/lib", "/lib64", "/bin", "/sbin", "/etc/ld.so.cache", "/etc/alternatives", "/sys/devices/system",
          "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")  # fmt: skip
NAMESPACES = ("--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child")
NO_RIGHTS = ("setpriv", "--pdeathsig=KILL", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all")


class Caught(Exception):
    """What judged code did, in words, and what that makes of it: `wrong` or `cheats`."""

    def __init__(self, word: str, reason: str) -> None:
        super().__init__(reason)
        self.word = word


@functools.cache
def confinement() -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Returns the words before a command that starts it in new namespaces, those that take its rights, and why that
    can't be done here; without such a reason it can."""
    user = () if os.getuid() == 0 else ("--user", "--map-root-user")
    drop = NO_RIGHTS if user else (*NO_RIGHTS, f"--reuid={USER_ID}", f"--regid={USER_ID}", "--clear-groups")
    with tempfile.TemporaryDirectory() as root:
        try:
            words = view(root, [*SYSTEM], ("unshare", *user, *NAMESPACES), [*drop, "true"])
            done = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        except OSError as refused:
            return (), (), f"{refused.filename}: {refused.strerror}"
    if done.returncode:
        return (), (), (done.stderr.strip().splitlines() or [f"unshare exited {done.returncode}"])[-1]
    return ("unshare", *user, *NAMESPACES), drop, ""


def view(root: str, paths: Sequence[str], namespaces: Sequence[str], command: Sequence[str]) -> list[str]:
    seen = [path for path in dict.fromkeys(paths) if Path(path).exists()]
    return [*namespaces, "sh", str(Path(__file__).with_name("view.sh")), root, *seen, "--", *command]


def ends_with_parent() -> None:
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def of_python(python: Path) -> list[str]:
    """Returns the folders that an interpreter needs: of its virtual environment, and of each link on the way to it."""
    found = [python.parents[1]]
    while python.is_symlink():
        python = python.parent / python.readlink()
        found.append(python.parents[1])
    return [str(path) for path in (*found, python.resolve().parents[1]) if str(path) not in ("/", "/usr")]


class Sandbox:
    """One process of judged code. `reads` are the files that it may read."""

    def __init__(self, python: Path, case: Case, files: Sequence[Path], reads: Sequence[Path]) -> None:
        """Starts it. `files` are the question, and the file from which the case's function is taken: if that is the
        question itself, it is trusted, and what it does wrong is a UserError."""
        self.files = files
        namespaces, drop, _ = confinement()
        self.folder = Path(tempfile.mkdtemp(prefix="stack-wars-judge-"))
        command = [*drop, str(python), "-m", "suite.extras.judge.inside"]
        if namespaces:
            paths = [*SYSTEM, *of_python(python), str(ROOT / "suite"), *map(str, (*files, *reads))]
            command = view(str(self.folder), paths, namespaces, command)
        own = {"HOME": "/tmp", "TMPDIR": "/tmp", "USER": "judged", "PYTHONDONTWRITEBYTECODE": "1"}
        own |= ALLOCATOR_VARIABLES[case.allocator]
        # The shell waits until the process is in its group.
        waiting = f'read _; ulimit -u {PROCESSES_MAX}; echo 1000 > /proc/self/oom_score_adj; exec "$@"'
        self.process = subprocess.Popen(
            ["sh", "-c", waiting, "sh", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=worker_environment(os.environ) | own,
            start_new_session=True,
            preexec_fn=ends_with_parent,  # noqa: PLW1509 - one call of the kernel, and no threads here need a lock
            cwd="/",
        )
        assert self.process.stdin is not None and self.process.stdout is not None
        self.orders, self.answers = self.process.stdin.fileno(), self.process.stdout.fileno()
        self.memory, self.result_bytes_max = -1, RESULT_BYTES_MAX
        self.freezer = freezer(self.process.pid)
        self.send({"start": "now"})
        self.send({"case": case.to_json(), "files": [*map(str, files)], "cpus": sorted(os.sched_getaffinity(0))})

    def caught(self, word: str, reason: str) -> Exception:
        """Returns the exception for what it did."""
        if self.files[0] == self.files[1]:
            return UserError(f"{self.files[0]} can't be judged, since its own function fails: {reason}.")
        return Caught(word, reason)

    @contextmanager
    def told(self) -> Iterator[None]:
        """Refuses an answer that honest code doesn't give: of another form, or with memory that isn't there."""
        try:
            yield
        except (OSError, OverflowError, TypeError, ValueError, LookupError, AttributeError, RecursionError):
            raise self.caught("cheats", "it answered what only code that changes the judge's own can answer") from None

    def send(self, order: Mapping[str, Any]) -> None:
        with suppress(BrokenPipeError):  # it has ended, as its answer will say
            os.write(self.orders, json.dumps(order).encode() + b"\n")

    def ask(self, order: Mapping[str, Any], limit: float) -> tuple[float, dict[str, Any]]:
        """Returns the seconds from before it runs until it is stopped again, by this process's clock, and its answer.
        Raises Caught."""
        if select.select([self.answers], [], [], 0)[0] and self.process.poll() is None:
            raise self.caught("cheats", "it wrote to the judge before it was asked")
        self.send(order)
        start = time.perf_counter()
        self.freezer.thaw()
        line = self.line(start + limit)
        try:
            self.freezer.freeze()
        except TimeoutError as hangs:
            raise self.caught("cheats", str(hangs)) from None
        took = time.perf_counter() - start
        with self.told():
            answer = dict(json.loads(line))
        if "error" in answer:
            raise self.caught("wrong", f"it raised {str(answer['error'])[:300]}")
        if (held := resident_bytes(self.freezer.pids())) > MEMORY_SHARE_MAX * RAM_BYTES:
            raise self.caught("cheats", f"it holds {held / 2**30:.1f} GiB, which the other side may lack")
        return took, answer

    def line(self, until: float) -> bytes:
        """Waits for a line."""
        line = bytearray()
        while not line.endswith(b"\n"):
            if not select.select([self.answers], [], [], max(0.0, until - time.perf_counter()))[0]:
                raise self.caught("wrong", "it didn't answer in time")
            part = os.read(self.answers, 2**20)
            line += part
            if not part:
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(1.0)
                raise self.caught("wrong", f"its process ended ({self.process.returncode})")
            if len(line) > ANSWER_BYTES_MAX:
                raise self.caught("cheats", "its answer has no end")
        return bytes(line)

    def prepare(self, dims: Mapping[str, int], slots: int, limit: float) -> None:
        """Makes the function for these dims, and places for so many calls' inputs. Raises Caught."""
        _, answer = self.ask({"dims": dict(dims), "slots": slots}, limit)
        with self.told():
            self.places: list[dict[str, int]] = list(answer["slots"])
            if self.memory < 0:
                pid = processes.children(self.process.pid)[0] if confinement()[0] else self.process.pid
                self.memory = os.open(f"/proc/{pid}/mem", os.O_RDWR | os.O_CLOEXEC)

    def put(self, calls: Sequence[Mapping[str, bytes]]) -> None:
        """Writes the inputs of calls to their places. Raises Caught."""
        self.inputs = calls
        with self.told():
            for call, place in zip(calls, self.places, strict=False):
                for name, data in call.items():
                    self.move(os.pwritev, place[name], memoryview(bytearray(data)))

    def channel(self, times: int) -> float:
        """Returns the least seconds of calling nothing at all. Raises Caught."""
        return min(self.ask({"run": 0}, CHANNEL_SECONDS)[0] for _ in range(times))

    def call(self, count: int, chosen: Sequence[int], limit: float) -> tuple[float, list[Got]]:
        """Calls the function on the first `count` places. Returns the seconds, and the `chosen` calls' results as they
        were when the time ended. Raises Caught, also where such a call has changed its inputs."""
        seconds, answer = self.ask({"run": count}, limit)
        results = []
        for place in chosen:
            with self.told():
                form, *addresses = answer["calls"][place]
                leaves = zip(answer["forms"][form], addresses, strict=True)
                results.append([(str(name), self.array(kind, shape, at)) for (name, kind, shape), at in leaves])
                now = {
                    name: self.read(self.places[place][name], len(data)) for name, data in self.inputs[place].items()
                }
            if changed := [name for name, data in self.inputs[place].items() if now[name] != data]:
                raise self.caught("wrong", f"it changes its input {changed[0]}")
        return seconds, results

    def array(self, kind: str, shape: Sequence[int], address: int) -> NDArray[Any]:
        size = math.prod(shape) * (itemsize(kind) if kind in TYPES else 2 * RESULT_BYTES_MAX)
        if not 0 <= size <= self.result_bytes_max:
            raise self.caught("wrong", f"a result has the type {str(kind)[:40]} and the shape {str(shape)[:80]}")
        held = self.read(address, size)
        if kind == "bfloat16":
            return (np.frombuffer(held, np.uint16).astype(np.uint32) << 16).view(np.float32).reshape(shape)
        return np.frombuffer(held, np.dtype(kind)).reshape(shape)

    def read(self, address: int, size: int) -> bytearray:
        held = bytearray(size)
        self.move(os.preadv, address, memoryview(held))
        return held

    def move(self, by: Callable[[int, list[memoryview], int], int], address: int, held: memoryview) -> None:
        """Copies from or to its memory; the kernel copies at most 2 GiB at once."""
        done = 0
        while done < len(held):
            if (count := by(self.memory, [held[done:]], address + done)) < 1:
                raise ValueError(address)
            done += count

    def close(self) -> None:
        """Ends it and all that it started."""
        self.freezer.end()
        self.process.kill()
        with self.process:  # closes its pipes, which others may hold open, and waits
            pass
        if self.memory >= 0:
            os.close(self.memory)
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
