"""Records what a probe observes: the class of each aspect, its figures, and the lines of code that were run."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from suite.stacks.base import Adapter
from suite.worker.events import Events
from suite.worker.timing.clock import quiet_collector, settle

WORDS_MAX = 200  # characters of a framework's own words
COUNTED = dict.fromkeys(("traces", "compiles", "graph_breaks", "fallback_ops"), "count")  # units by figure
Figure = float | Sequence[float] | None


@dataclass(frozen=True, slots=True)
class WatchedAction:
    """The result of one action, its seconds, and what the framework counted meanwhile (None: it doesn't count). If the
    action raised, `error` is the exception's type and `words` the first line of its text."""

    value: Any
    seconds: float
    counted: Mapping[str, float | None]
    error: str = ""
    words: str = ""


class Recorder:
    """Watches actions of one stack, and writes each answer of a probe at once: a later action may end the process."""

    def __init__(self, stack: Adapter, events: Events) -> None:
        self.stack, self.spec, self.events = stack, stack.workload.spec, events
        self.answers: list[dict[str, Any]] = []
        # A framework has a million objects: collecting garbage among them before each action would take longer than
        # all actions.
        settle()

    def watch(self, action: Callable[[], Any]) -> WatchedAction:
        """Runs an action until its result is computed. Whatever the framework raises is an answer."""
        before = self.stack.counters()
        value, error, words = None, "", ""
        with quiet_collector():
            start = perf_counter()
            try:
                value = action()
                self.stack.wait(None, value)
            except Exception as raised:  # any exception is the probe's answer
                error, words = type(raised).__name__, first_line(raised)
            seconds = perf_counter() - start
        after = self.stack.counters()
        counted = {name: minus(after[name], before[name]) for name in COUNTED}
        return WatchedAction(value, seconds, counted, error, words)

    def seconds(self, action: Callable[[], Any], times: int) -> list[float]:
        """Returns the seconds that each of `times` calls of an action takes until its result is computed. An exception
        is the probe's own fault and is raised, because the action has been run before."""
        taken = []
        with quiet_collector():
            for _ in range(times):
                start = perf_counter()
                self.stack.wait(None, action())
                taken.append(perf_counter() - start)
        return taken

    def record(
        self,
        aspect: str,
        code: Callable[..., Any] | None,
        seen: WatchedAction | None = None,
        words: str = "",
        **figures: Figure,
    ) -> None:
        """Records one aspect's answer: its class by the spec's classifier, or the exception's type; `code` is what ran.

        `words` are shown beside the class: a text that was printed, or a value that isn't a number.
        """
        if seen is not None:
            figures = {"seconds": seen.seconds, **seen.counted, **figures}
        known = {name: value for name, value in figures.items() if value is not None}
        class_ = f"raises: {seen.error}" if seen and seen.error else self.spec.classify(aspect, known)
        self.write(aspect, class_, words or (seen.words if seen else ""), code)
        for name, value in known.items():
            values = [float(number) for number in value] if isinstance(value, Sequence) else [float(value)]
            unit = self.spec.FIGURES[name][0] if name in self.spec.FIGURES else COUNTED[name]
            self.events.write("metric", name=f"{aspect} {name}", unit=unit, kind="behaviour", values=values)

    def lacks(self, aspect: str, reason: str) -> None:
        self.write(aspect, "unsupported", reason, None)

    def write(self, aspect: str, class_: str, words: str, code: Callable[..., Any] | None) -> None:
        stack = self.stack.case.stack
        self.answers.append(
            {
                "probe": self.spec.TITLE,
                "aspect": aspect,
                "title": self.spec.ASPECTS[aspect],
                "class": class_,
                "words": words[:WORDS_MAX],
                "code": textwrap.dedent(inspect.getsource(code)) if code else "",
                "documented": expected(self.spec, "DOCUMENTED", aspect, stack),
                "primer": expected(self.spec, "PRIMER", aspect, stack),
            }
        )
        self.events.facts(behaviour=self.answers)

    def close(self) -> None:
        """Raises RuntimeError unless each aspect was recorded exactly once. If one were missing, the report's grid
        would have an empty cell."""
        recorded = [answer["aspect"] for answer in self.answers]
        if sorted(recorded) != sorted(self.spec.ASPECTS):
            raise RuntimeError(
                f"{self.stack.case.workload} has recorded {', '.join(recorded)}; its spec's aspects are "
                f"{', '.join(self.spec.ASPECTS)}"
            )


def expected(spec: Any, name: str, aspect: str, stack: str) -> dict[str, str] | None:
    """Returns the class that a spec's table `name` has for an aspect on a stack, and the page that says so; None if the
    table has none."""
    entry = getattr(spec, name, {}).get(aspect, {}).get(stack)
    return {"class": entry[0], "page": entry[1]} if entry else None


def first_line(raised: BaseException) -> str:
    """Returns the first line of an exception's text that isn't empty; the last line if the first ends with a colon and
    only announces the message, as TensorFlow's does."""
    lines = [line.strip() for line in str(raised).splitlines() if line.strip()]
    if not lines:
        return ""
    return lines[-1] if lines[0].endswith(":") else lines[0]


def minus(after: float | None, before: float | None) -> float | None:
    return None if after is None else after - (before or 0.0)
