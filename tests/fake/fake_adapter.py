"""A system that sleeps, fails and hangs as its dialect file says, so that tests drive every outcome."""

from __future__ import annotations

import numpy as np

from suite.stacks import base
from suite.stacks.catalog import Stack
from suite.stacks.knobs import Knob

STACK = Stack(
    "fake",
    "a system that does as its scene says",
    "fake",
    "orchestrator",  # this program's own: no framework is needed
    targets=("cpu",),
    precisions=("f32", "bf16"),
    compile_cache=True,
    compiler="the story",
    estimate_seconds=0.5,
)


class Adapter(base.Adapter):
    """The dialect file's `Scenario(case)` supplies the behaviour; here is only the plumbing."""

    knobs = (Knob("told to hurry", "so that tests can run the tuned track", ("cpu",)),)
    count = 0  # steps so far

    def device(self):
        return self.scenario("device") or {"device": "fake"}

    def scenario(self, hook, *arguments):
        """Call the scenario's method of this name, if it has one."""
        if not hasattr(self, "story"):
            self.story = self.workload.dialect("fake").Scenario(self.case)
        method = getattr(self.story, hook, None)
        return method(*arguments) if method else None

    def matmul(self, a, b):
        product = self.scenario("matmul", a, b)
        return a @ b if product is None else product

    def build(self, abstract=False):
        self.scenario("build")

    def place(self, parameters, batch, moments=True):
        self.scenario("place")
        return dict(parameters), dict(batch)

    def put(self, value):
        return np.array(value)

    def step(self, state, batch):
        self.count += 1
        self.scenario("step", self.count)
        return state, (state, batch)

    def wait(self, state, outputs):
        self.scenario("wait", self.count)

    family = "fake"

    def fetch(self, array):
        return np.array(array, dtype=np.float32)

    def results(self, outputs):
        return self.fetch(self.scenario("fetch", *outputs))

    def result_types(self, outputs):
        return {}

    def read(self, what, state, batch):
        return self.scenario("read", what, state, batch) or {}

    def update(self, parameters, gradients):
        return {}

    def programs(self, caches):
        return self.scenario("programs", caches) or ()

    def counters(self):
        return self.scenario("counters", self.count) or super().counters()
