"""Divides a step's time among categories that mean the same on every stack."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

LARGEST = 10  # operations that a profile lists one by one


class Category(StrEnum):
    """What a step's time is spent on, in the order in which tables show it."""

    PRODUCTS = "matrix products"
    CONVOLUTIONS = "convolutions"
    ATTENTION = "attention"
    NORMS = "norms"
    ELEMENTWISE = "elementwise and reductions"
    OPTIMIZER = "optimizer"
    COPIES = "copies and layout"
    COMPILE = "compile"
    HOST = "host overhead"
    UNATTRIBUTED = "unattributed"


Rules = Sequence[tuple[str, str]]  # (pattern, category): the first pattern that a name matches decides


@dataclass(frozen=True, slots=True)
class Span:
    """One operation on one thread; `begin` and `end` are in seconds of the trace's clock. `in_flight`: the thread only
    began the operation, and other threads, which the trace doesn't show, run it."""

    thread: str
    name: str
    begin: float
    end: float
    category: str
    in_flight: bool = False


@dataclass(frozen=True, slots=True)
class Profile:
    """The time of one profiled step in seconds, by category. `plain_seconds` is the time of a step without a profiler,
    and `told_by` the profiler, by whose own clock it took `span_seconds`, from the first operation's begin to the last
    one's end. The fields are those of the stored JSON."""

    told_by: str
    seconds: float
    plain_seconds: float
    categories: Mapping[str, float]
    largest: tuple[tuple[str, str, float], ...]  # (category, name, seconds)
    span_seconds: float | None = None  # older sets have none

    @property
    def attributed(self) -> float:
        """Returns the share of the step's time that has a category."""
        return 1.0 - self.categories.get(Category.UNATTRIBUTED, 0.0) / self.seconds if self.seconds else 0.0


def by_rules(name: str, rules: Rules, otherwise: str = "") -> str:
    return next((category for pattern, category in rules if re.search(pattern, name)), otherwise)


def profile(recorded_by: str, spans: Iterable[Span], steps: int, seconds: float, plain_seconds: float) -> Profile:
    """Returns the profile of one step, as the mean of `steps` steps that took `seconds` together. Time in which no
    operation runs counts as host overhead."""
    outermost = outer(spans)
    by_name = shares(outermost)
    taken: dict[str, float] = defaultdict(float)
    for (category, _), time in by_name.items():
        taken[category] += time
    taken[Category.HOST] += max(0.0, seconds - sum(taken.values()))
    largest = sorted(by_name.items(), key=lambda name_and_seconds: -name_and_seconds[1])[:LARGEST]
    return Profile(
        told_by=recorded_by,
        seconds=seconds / steps,
        plain_seconds=plain_seconds,
        categories={name: taken[name] / steps for name in Category if taken[name] > 0.0},
        largest=tuple((category, name, total / steps) for (category, name), total in largest),
        span_seconds=(max(s.end for s in outermost) - min(s.begin for s in outermost)) / steps if outermost else None,
    )


def outer(spans: Iterable[Span]) -> list[Span]:
    """Returns the spans that have a category and don't lie inside another such span of their thread. The span of an
    operation contains the spans of its parts."""
    threads: dict[str, list[Span]] = {}
    for span in spans:
        if span.category and span.end > span.begin:
            threads.setdefault(span.thread, []).append(span)
    outermost: list[Span] = []
    for of_thread in threads.values():
        last = float("-inf")
        for span in sorted(of_thread, key=lambda span: (span.begin, -span.end)):
            if span.end > last:
                outermost.append(dataclasses.replace(span, begin=max(span.begin, last)))
                last = span.end
    return outermost


def in_flight(begun: Iterable[Span], ended: Iterable[tuple[float, str]]) -> Iterator[Span]:
    """Yields a span for each operation that other threads still run after the thread that began it has gone on.

    A trace has only the end of such an operation: `ended` has (time, name). In XLA these operations are Eigen's
    products and copies into another layout.
    """
    last: dict[str, Span] = {}
    events = [(span.begin, span.name, span) for span in begun] + [(at, name, None) for at, name in ended]
    for at, name, span in sorted(events, key=lambda event: event[0]):
        if span is not None:
            last[name] = span
        elif name in last and at > last[name].end:
            first = last.pop(name)
            yield dataclasses.replace(first, thread=f"{first.thread} {name}", begin=first.end, end=at, in_flight=True)


def shares(spans: Sequence[Span]) -> dict[tuple[str, str], float]:
    """Returns {(category, name): seconds}. Operations that run at the same time share that time equally. Operations in
    flight get only the time in which no other operation runs, because the trace records their end late."""
    changes = sorted(
        [(span.begin, 1, span.in_flight, span.category, span.name) for span in spans]
        + [(span.end, -1, span.in_flight, span.category, span.name) for span in spans]
    )
    seen: Counter[tuple[str, str]] = Counter()
    in_flight: Counter[tuple[str, str]] = Counter()
    taken: dict[tuple[str, str], float] = defaultdict(float)
    before = 0.0
    for at, change, is_in_flight, category, name in changes:
        running = seen or in_flight
        for category_and_name, count in running.items():
            taken[category_and_name] += (at - before) * count / running.total()
        group = in_flight if is_in_flight else seen
        group[category, name] += change
        if not group[category, name]:
            del group[category, name]
        before = at
    return taken
