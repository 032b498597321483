"""The examples of the primer, measured here and published elsewhere: a product of 3000 × 3000, SELU of 3000 × 3000 and
of 10^6 numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from suite import units
from suite.errors import COMMAND, UserError
from suite.results import Results
from suite.results.case_row import CaseRow
from suite.results.documents.figures import documents


@dataclass(frozen=True, slots=True)
class Published:
    """A published time of an example. `ends` says where the result was when the clock stopped, `page` is the document's
    address."""

    example: str
    stack: str
    hardware: str
    ends: str
    seconds: float
    page: str

    def line(self) -> list[str]:
        taken = units.seconds(self.seconds)
        place = f"[{self.page.rpartition('/')[2]}]({self.page})"
        both = ("", taken) if self.ends == "host" else (taken, "")
        return [TITLES[self.example], f"`{self.stack}`", self.hardware, *both, place]


TITLES = {"product": "product of 3000 × 3000", "selu": "SELU of 3000 × 3000", "selu 10^6": "SELU of 10^6"}

# The question of this suite that asks each example: (workload, n).
EXAMPLES: Mapping[tuple[str, int], str] = {
    ("gemm", 3000): "product",
    ("selu", 3000): "selu",
    ("selu", 1000): "selu 10^6",
}


def published() -> tuple[Published, ...]:
    """Returns the examples' published times, from docs/published/."""
    return tuple(
        Published(example, time.stack, time.device, time.ends, time.seconds, document.url)
        for question, example in EXAMPLES.items()
        for document in documents()
        for time in document.times
        if (time.workload, time.dims.get("n", 0)) == question
    )


@dataclass(frozen=True, slots=True)
class ExampleTime:
    """The time of one example on one stack, measured here: the mean over processes with its interval, and the time with
    the copy to the host."""

    example: str
    stack: str
    seconds: float
    low: float | None
    high: float | None
    to_host: float | None

    def line(self) -> list[str]:
        taken = f"{units.seconds(self.seconds)} {units.interval(self.low, self.high, units.time_unit([self.seconds]))}"
        copied = units.seconds(self.to_host) if self.to_host is not None else ""
        return [TITLES[self.example], f"`{self.stack}`", "this machine", taken.strip(), copied, ""]


def example_times(results: Results) -> tuple[ExampleTime, ...]:
    """Returns the times of a set's examples. Raises UserError for a set without all of them."""
    times = []
    for comparison in results.analysis().comparisons:
        case = comparison.head.case
        example = EXAMPLES.get((case.workload, case.dims.get("n", 0)))
        if example and case.pass_ == "forward":
            times += [example_time(example, stack) for stack in comparison.counting]
    if lacking := set(EXAMPLES.values()) - {time.example for time in times}:
        raise UserError(
            f"{results.path} doesn't have the primer's examples ({', '.join(sorted(lacking))}): "
            f"`{COMMAND} run --preset=primer` makes such a set."
        )
    return tuple(times)


def example_time(example: str, figures: CaseRow) -> ExampleTime:
    ends = figures.median_seconds_low, figures.median_seconds_high
    return ExampleTime(example, figures.stack, figures.steady, *ends, figures.fetch_seconds)
