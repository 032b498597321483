"""The stacks of the sweep: one process for each environment, which computes question after question."""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from suite.environments import venv
from suite.stacks.threads import thread_environ
from tools.sweep.questions import Array, Question

ENVIRONMENTS = ("jax", "torchax", "torch", "torch_xla", "tensorflow")
RUNNER = Path(__file__).with_name("runner.py")
SECONDS_MAX = 300.0  # for one answer, compiling included


class Refused(Exception):
    """A stack doesn't compute a question: it says so, or its process ended."""


@dataclass
class Environment:
    """The process of an environment. It is started again after a question that ends it."""

    name: str
    stacks: tuple[str, ...] = ()
    process: subprocess.Popen[str] | None = None
    refused: dict[tuple[str, str, str], str] = field(default_factory=dict)  # by stack, text and type

    def start(self) -> None:
        lock = venv.fit(self.name, "cpu")
        self.process = subprocess.Popen(
            [venv.made(lock).python, RUNNER, self.name],
            env=os.environ | thread_environ(1) | {"JAX_PLATFORMS": "cpu"},
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self.stacks = tuple(json.loads(self.line()))

    def line(self) -> str:
        """Returns the process's next line. Raises Refused if it has ended, or doesn't answer: then it is ended."""
        assert self.process is not None and self.process.stdout is not None
        ready, _, _ = select.select([self.process.stdout], [], [], SECONDS_MAX)
        line = self.process.stdout.readline() if ready else ""
        if not line:
            self.process.kill()
            code, self.process = self.process.wait(), None
            raise Refused(f"the process ended with {code}" if ready else f"no answer within {SECONDS_MAX:g} s")
        return line

    def answer(self, stack: str, question: Question, x: Array, y: Array) -> Array:
        """Returns a stack's answer. Raises Refused; a question that a stack refuses once isn't asked again."""
        key = stack, question.text, question.dtype
        if key in self.refused:
            raise Refused(self.refused[key])
        if self.process is None:
            self.start()
        assert self.process is not None and self.process.stdin is not None
        sides = {name: base64.b64encode(side.tobytes()).decode() for name, side in (("x", x), ("y", y))}
        asked: dict[str, Any] = {"stack": stack, "text": question.text, "dtype": question.dtype, **sides}
        print(json.dumps(asked), file=self.process.stdin, flush=True)
        found = json.loads(self.line())
        if "refused" in found:
            self.refused[key] = found["refused"]
            raise Refused(found["refused"])
        array = np.frombuffer(base64.b64decode(found["bytes"]), found["type"])
        return array if array.size == x.size else np.full(x.shape, array[0])

    def end(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
