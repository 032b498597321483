"""`python -m suite.extras.judge.inside`: runs in the sandbox, beside judged code, which may change anything here."""

from __future__ import annotations

import gc
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any


class Calls:
    """The calls of one function. It knows nothing that judged code may not know."""

    def __init__(self, told: dict[str, Any]) -> None:
        """Imports the framework, but nothing that is judged."""
        from suite.stacks.catalog import adapter_class
        from suite.stacks.threads import thread_environ

        os.sched_setaffinity(0, told["cpus"])
        os.environ.update(thread_environ(told["case"]["threads"]))  # before NumPy is imported
        from suite.case import Case

        self.case = Case.from_json(told["case"])
        self.kind = adapter_class(self.case.stack)
        os.environ.update(self.kind.environ(self.case, os.environ["TMPDIR"]))
        from suite.workloads.questions.question import load

        question, file = map(Path, told["files"])
        self.question = replace(load(question), folder=file)
        self.adapter = self.kind(self.case, self.question)
        self.adapter.device()
        self.built: dict[str, int] | None = None
        self.held: list[Any] = []

    def prepare(self, dims: dict[str, int], slots: int) -> dict[str, Any]:
        """Makes the function for these dims, and places for the inputs of so many calls."""
        import numpy as np

        from suite.workloads.tensors import stored_as

        if self.built != dims:
            self.adapter = self.kind(replace(self.case, dims=dims), self.question)
            self.adapter.device()
            self.adapter.build()
            self.built = dims
        self.held.clear()
        tensors = self.adapter.tensors.batch.items()
        self.slots = [
            self.adapter.place([], ((name, np.zeros(of.shape, stored_as(of.dtype))) for name, of in tensors))
            for _ in range(slots)
        ]
        gc.collect()
        gc.disable()
        return {"slots": [{name: located(leaf)[1] for name, leaf in batch.items()} for _, batch in self.slots]}

    def run(self, count: int) -> dict[str, Any]:
        """Calls the function on the first `count` places. Returns what forms its results have, and of each call the
        form and the addresses."""
        from suite.workloads import trees

        self.held.clear()
        forms: dict[Any, int] = {}
        calls = []
        for state, batch in self.slots[:count]:
            _, outputs = self.adapter.step(state, batch)
            self.adapter.wait(state, outputs)
            named = [(name, *located(leaf)) for name, leaf in trees.leaves(outputs)]
            self.held.append(named)
            form = tuple((name, kind, shape) for name, _, _, kind, shape in named)
            calls.append([forms.setdefault(form, len(forms)), *(address for _, _, address, _, _ in named)])
        return {"forms": list(forms), "calls": calls}


def located(leaf: Any) -> tuple[Any, int, str, tuple[int, ...]]:
    """Returns an array whole in memory, with its address, type and shape."""
    if hasattr(leaf, "data_ptr"):  # PyTorch's
        leaf = leaf.detach().resolve_conj().resolve_neg().contiguous()
        return leaf, leaf.data_ptr(), str(leaf.dtype).removeprefix("torch."), tuple(leaf.shape)
    array = sys.modules["numpy"].asarray(leaf, order="C")
    return array, array.__array_interface__["data"][0], array.dtype.name, array.shape


def main() -> None:
    orders, answers = os.fdopen(os.dup(0), "rb"), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    calls: Calls | None = None
    failed = ""
    for line in orders:
        order = json.loads(line)
        answer: dict[str, Any] = {"error": failed}
        try:
            if "case" in order:
                calls = Calls(order)
                continue
            if calls is not None:
                answer = calls.run(order["run"]) if "run" in order else calls.prepare(**order)
        except Exception as error:  # noqa: BLE001 - somebody's code raises anything
            answer = {"error": f"{type(error).__name__}: {error}"}
            if calls is None:
                failed = answer["error"]
                continue
        os.write(answers, json.dumps(answer).encode() + b"\n")


if __name__ == "__main__":
    main()
