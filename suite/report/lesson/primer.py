"""The two documents' own examples beside what they published: products of 3000 x 3000, SELU of 3000 x 3000 and 10^6."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from suite import units
from suite.errors import COMMAND, UserError
from suite.results import Results
from suite.results.stack_figures import StackFigures

PRIMER = "https://sineeli.github.io/2025/12/20/jax-series-1"
HOST, DEVICE = "host", "device"
JAX_101 = "https://github.com/jax-ml/jax/blob/0c139de8fbd58c18bcf2ed0206682ecc81e100ee/docs/jax-101/02-jitting.ipynb"


@dataclass(frozen=True, slots=True)
class Published:
    """A figure that a document has: what was run on what, and where its result was in the end."""

    example: str
    stack: str
    hardware: str
    ends: str
    seconds: float
    page: str

    def line(self) -> list[str]:
        """As a line of the table."""
        taken = units.seconds(self.seconds)
        place = f"[{self.page.rpartition('/')[2]}]({self.page})"
        both = ("", taken) if self.ends == HOST else (taken, "")
        return [TITLES[self.example], f"`{self.stack}`", self.hardware, *both, place]


# As they stand there: `%timeit`, mean of seven runs (JAX 101: best of five). Neither names its CPU, GPU or TPU.
PUBLISHED = (
    Published("product", "jax_eager", "CPU", DEVICE, 332e-3, PRIMER),
    Published("product", "tf_eager", "CPU", DEVICE, 350e-3, PRIMER),
    Published("product", "torch_eager", "CPU", DEVICE, 345e-3, PRIMER),
    Published("product", "jax_eager", "GPU", HOST, 12.5e-3, PRIMER),
    Published("product", "tf_eager", "GPU", HOST, 13.2e-3, PRIMER),
    Published("product", "torch_eager", "GPU", HOST, 12.8e-3, PRIMER),
    Published("product", "jax_eager", "TPU", HOST, 8.45e-3, PRIMER),
    Published("product", "jax_eager", "TPU", DEVICE, 2.12e-3, PRIMER),
    Published("selu", "jax_eager", "TPU", DEVICE, 15.2e-3, PRIMER),
    Published("selu", "jax_jit", "TPU", DEVICE, 1.85e-3, PRIMER),
    Published("selu 10^6", "jax_eager", "not said", DEVICE, 7.9e-3, JAX_101),
    Published("selu 10^6", "jax_jit", "not said", DEVICE, 1.6e-3, JAX_101),
)

TITLES = {"product": "product of 3000 × 3000", "selu": "SELU of 3000 × 3000", "selu 10^6": "SELU of 10^6"}

# Which of our questions they are: workload and n.
EXAMPLES: Mapping[tuple[str, int], str] = {
    ("gemm", 3000): "product",
    ("selu", 3000): "selu",
    ("selu", 1000): "selu 10^6",
}


@dataclass(frozen=True, slots=True)
class Timed:
    """One example on one stack, here: the middle over processes, with its interval, and with the copy to the host."""

    example: str
    stack: str
    seconds: float
    low: float | None
    high: float | None
    to_host: float | None

    def line(self) -> list[str]:
        """As a line of the table."""
        taken = f"{units.seconds(self.seconds)} {units.interval(self.low, self.high, units.time_unit([self.seconds]))}"
        copied = units.seconds(self.to_host) if self.to_host is not None else ""
        return [TITLES[self.example], f"`{self.stack}`", "this machine", taken.strip(), copied, ""]

    def to_json(self) -> dict[str, Any]:
        """As it is kept."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Timed:
        """The inverse."""
        return cls(**fields)


def timed_of(results: Results) -> tuple[Timed, ...]:
    """The examples of a set. Raises UserError for one that has none, or not all."""
    found = []
    for comparison in results.analysis().comparisons:
        case = comparison.head.case
        example = EXAMPLES.get((case.workload, case.dims.get("n", 0)))
        if example and case.pass_ == "forward":
            found += [timed(example, each) for each in comparison.stacks if each.counts]
    if lacking := set(EXAMPLES.values()) - {each.example for each in found}:
        raise UserError(
            f"{results.path} doesn't have the primer's examples ({', '.join(sorted(lacking))}): "
            f"`{COMMAND} run --preset=primer` makes such a set."
        )
    return tuple(found)


def timed(example: str, figures: StackFigures) -> Timed:
    """One stack's."""
    median = figures.median
    return Timed(example, figures.stack, median.value, median.low, median.high, figures.fetch)
