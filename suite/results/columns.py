"""All columns of answers: how they are called, and how their values are written. Their names are those in JSON and in a
notebook's frame.

A column `x` with `x_low` and `x_high` beside it has an interval; `x_note` has small print of each value, `x_item` what
it counts. Times are in seconds, sizes in bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import polars as pl

from suite import units
from suite.order import natural
from suite.units import Unit

UnitOf = Callable[..., Unit]  # of values and, for a column with `x_item`, of what it counts


@dataclass(frozen=True)
class Column:
    """A column's title with its small print; one without a title is for programs alone. Numbers have a `unit`, the same
    for all columns `with_` the same word in a table, or a way to `write` them."""

    title: str
    note: str = ""
    unit: UnitOf | None = None
    with_: str = ""
    write: Callable[..., str] | None = None  # of a value and, for one with an interval, of its ends
    tags: str = ""  # its values are shown as tags: verdicts, outcomes, classes, warnings, flags; or as code or a link
    words: str = "{}"  # how a value reads without its column's head
    behind: bool = False  # where stacks stand side by side, a click on their cell opens it
    # Of a stack on a question: which tables have it (`timing` and `clocks` on the page, `console`, `data` in JSON), and
    # how its value follows from the stack's processes (suite/results/frame.py).
    tables: str = ""
    of: pl.Expr | None = None

    @property
    def is_number(self) -> bool:
        return self.unit is not None or self.write is not None


def shown_in(table: str) -> tuple[str, ...]:
    """Returns the columns of a table of a question's stacks."""
    return tuple(name for name, column in COLUMNS.items() if table in column.tables.split())


def seconds(title: str, note: str = "", with_: str = "", tables: str = "", of: pl.Expr | None = None) -> Column:
    return Column(title, note, units.time_unit, with_, tables=tables, of=of)


def size(title: str, note: str = "", tables: str = "") -> Column:
    return Column(title, note, units.byte_unit, tables=tables)


def count(title: str, note: str = "", tables: str = "", of: pl.Expr | None = None) -> Column:
    return Column(title, note, write=units.short, tables=tables, of=of)


def whole(title: str, note: str = "") -> Column:
    return Column(title, note, write="{:,}".format)


def sized(value: int | str) -> str:
    """Returns a size: a number, or several dims in words."""
    return value if isinstance(value, str) else f"{value:,}"


def flop(values: Iterable[float | None]) -> Unit:
    """The unit of operations a second."""
    return units.rate_unit(values, "FLOP")


def in_order(name: str) -> pl.Expr:
    """Returns what a table is sorted by for the names in a column to be in their order for people."""
    return pl.col(name).map_elements(natural, return_dtype=pl.String)


def names_in(column: pl.Expr) -> pl.Expr:
    """Returns the different names of a group as one text."""
    return column.filter(column != "").unique().sort().str.join(", ")


def compiled() -> pl.Expr:
    """Returns how often first, second and steady calls compiled, at most: `1 / 0 / 0`."""
    counts = [pl.max(f"compiles_{call}").cast(pl.Int64).cast(pl.String) for call in ("first", "second", "steady")]
    words = pl.concat_str([each.fill_null(units.UNKNOWN) for each in counts], separator=" / ")
    return pl.when(pl.any_horizontal(each.is_not_null() for each in counts)).then(words)


STEADY, SYNCED, DISPATCH = pl.col("samples").explode(), pl.col("synced"), pl.col("dispatch")

# Words whose titles are their names.
WORDS = (
    *("question", "sweep", "value", "baseline", "clock", "ended", "phase", "blocks", "record"),
    *("what", "of", "fact", "reading", "limit", "block", "run", "throttled", "reasons", "eager", "compiled"),
    *("native", "unified"),
    *("source", "category", "operation", "tensor", "why_none", "compiler", "published"),
    *("why_they_differ", "published_in", "told", "beside", "difference", "figure", "alone"),
)

COLUMNS = {
    **{name: Column(name.replace("_", " ").capitalize()) for name in WORDS},
    "size": Column("Size", write=sized),
    "by": Column("Setting"),
    "stack": Column("Stack", tables="timing clocks console data"),
    "outcome": Column("Result", tags="outcome", tables="data"),
    "reason": Column("Reason", behind=True, tables="data"),
    "flags": Column("Flags", tags="flag", tables="data"),
    "text": Column("Text", tags="code"),
    # The machine, the software, and the noise
    "found": Column("In this set"),
    "within": Column("Within it?", tags="outcome"),
    "shard": Column("Of part"),
    "counted": Column("Counted?", tags="outcome"),
    "canary_before_seconds": seconds("Canary before", with_="canary"),
    "canary_after_seconds": seconds("Canary after", with_="canary"),
    "drift": Column("Drift", write=units.percent),
    "steal_share": Column("Stolen time", write=units.percent),
    "load_before": Column("Load", "before", write=units.digits),
    "load_after": Column("Load", "after", write=units.digits),
    "mhz_before": Column("Clock", "before, MHz", write=units.digits),
    "mhz_after": Column("Clock", "after, MHz", write=units.digits),
    "started_at": Column("Started", "UTC"),
    "before_outcome": Column("First set", "ended", tags="outcome"),
    "after_outcome": Column("Second set", "ended", tags="outcome"),
    "before_seconds": seconds("First set", with_="step"),
    "after_seconds": seconds("Second set", with_="step"),
    # One step
    "median_seconds": seconds("Median", with_="step", tables="timing console data"),
    "judged": Column("Verdict", tags="verdict", tables="timing console"),  # or how a stack without a time ended
    "speedup": Column("Speedup", write=units.ratio, tables="timing console data"),
    "first_seconds": seconds("First run", tables="timing console data"),
    "second_seconds": seconds("Second run", tables="timing data"),
    "average_seconds": seconds("Average", "steady state", with_="step", tables="timing data"),
    "p5_seconds": seconds("p5", with_="step", tables="timing", of=STEADY.quantile(0.05, "linear")),
    "p95_seconds": seconds("p95", with_="step", tables="timing", of=STEADY.quantile(0.95, "linear")),
    "outliers": count("Outliers", tables="timing", of=pl.sum("outliers")),
    "verdict": Column("Verdict", tags="verdict", tables="data"),
    "verdict_in_set": Column("", tables="data"),
    "verdict_reason": Column("", tables="data"),
    "leads": Column("", tables="data"),
    "best_speedup": Column("", tables="data"),
    "two_modes": Column("", tables="data"),
    "best_seconds": Column("", tables="data"),
    "spread": Column("", tables="data"),
    "dispatch_seconds": seconds("Dispatch", with_="step", tables="clocks"),
    "synced_median_seconds": seconds("Synced", with_="step", tables="clocks"),
    "pipelined_seconds": seconds("Pipelined", with_="step", tables="clocks"),
    "fetch_seconds": seconds("Fetch", with_="step", tables="clocks"),
    "early": Column(
        "Still to compute when the call returns",
        "share of the synced time",
        write=units.percent,
        of=(1 - DISPATCH / SYNCED).clip(0).median(),
    ),
    "gain": Column(
        "Pipelining gains",
        "synced / pipelined",
        write=units.ratio,
        of=(SYNCED / pl.col("pipelined")).filter(pl.col("pipelined") > 0).median(),
    ),
    "copies": Column("", of=(pl.col("fetch") - SYNCED).drop_nulls()),
    "copy_seconds": seconds("Copy to host adds"),
    "items": Column("", of=pl.median("items")),
    "items_per_second": Column("Throughput", unit=units.rate_unit, tables="clocks"),
    "efficiency": Column("Share of the limit", write=units.percent, tables="clocks"),
    "compile_seconds": seconds("Compile time", tables="clocks"),
    "compilations": Column("Compilations", "in first / second / steady runs", tables="clocks", of=compiled()),
    "graph_breaks": count("Graph breaks", tables="clocks", of=pl.max("graph_breaks")),
    "cores": count("Cores had", "least of all processes", tables="clocks", of=pl.min("cores")),
    "page_faults": count("Page faults", "a step", tables="clocks", of=pl.median("page_faults")),
    "peak_bytes": size("Peak memory", tables="clocks console data"),
    "relative_error": Column("Worst error", "relative", write=units.magnitude, tables="clocks console"),
    "kernels": Column("Kernels", "library and instructions, most first", tables="clocks data"),
    "turns": Column("", of=pl.sum("turns")),
    "slow_turns": Column("", of=pl.sum("slow_turns")),
    "result_types": Column("", of=names_in(pl.col("result_types").explode())),
    "precision_observed": Column("Precision observed", of=names_in(pl.col("precision"))),
    # Eager and compiled
    "eager_median_seconds": seconds("Eager", "median", with_="step"),
    "compiled_median_seconds": seconds("Compiled", "median", with_="step"),
    "eager_first_seconds": seconds("Eager", "first run", with_="first"),
    "compiled_first_seconds": seconds("Compiled", "first run", with_="first"),
    "pays_off_after_steps": count("Pays off after", "steps"),
    "native_median_seconds": seconds("Native", "median", with_="step"),
    "unified_median_seconds": seconds("Unified", "median", with_="step"),
    "native_first_seconds": seconds("Native", "first run", with_="first"),
    "unified_first_seconds": seconds("Unified", "first run", with_="first"),
    # Means and totals
    "over": Column("Over"),
    "mean": Column("Mean", write=units.ratio),
    "answered": count("Answered"),
    "questions": count("Of", "questions"),
    "lacks": Column("Lacks"),
    "least": Column("Lowest", write=units.ratio),
    "least_on": Column("on"),
    "greatest": Column("Highest", write=units.ratio),
    "greatest_on": Column("on"),
    **{
        f"total_{steps}_seconds": seconds(f"{steps:,} step{'s' * (steps > 1)}") for steps in (1, 10, 100, 1_000, 10_000)
    },
    "course": Column("Against the baseline"),
    "step": Column("Step", write=units.steps),
    "why": Column("Why undecided"),
    # Published elsewhere
    "published_seconds": seconds("Published"),
    "device": Column("On"),
    "ends": Column("Clock ends"),
    "least_seconds": seconds("Its chip needs at least"),
    "possible": Column("As a whole step"),
    "measured_seconds": seconds("Measured here"),
    "url": Column("Address"),
    # Roofline
    "flops_per_second": Column("Reached", unit=flop),
    "flops_per_byte": count("FLOP a byte"),
    "bound": Column("Limited by"),
    # Memory and time by parts
    "recorded_by": Column("Source"),
    "held_bytes": size("All tensors"),
    "bytes": size("Bytes"),
    "categories": Column("By category"),
    "largest": Column("The largest"),
    "longest": Column("The longest"),
    "step_seconds": seconds("Step", with_="step"),
    "profiled_seconds": seconds("Profiled", with_="step"),
    "cost": Column("Profiler's cost", write=units.percent),
    "seconds": seconds("Time"),
    "share": Column("Share", write=units.percent),
    "unknown_seconds": seconds("Of no known operation", with_="step"),
    "ended_bytes": Column("Ended", unit=units.byte_unit, words="{} ended"),
    # Memory by sizes
    "fits": Column("Fits", tags="outcome"),
    "of_limit": Column("Of the limit", write=units.percent, words="{} of the limit"),
    "times_floor": Column("Over the floor", write=units.digits, words="{} × the floor"),
    "floor_bytes": Column("Floor", unit=units.byte_unit, words="floor {}"),
    "unmeasured": Column("Judged"),
    "largest_size": whole("Fits"),
    "failed_size": whole("Doesn't fit"),
    "failed_in": Column("In phase"),
    "predicted_size": whole("Predicted to fit"),
    "processes": whole("Processes run"),
    "fixed_bytes": size("Memory without items"),
    "item_bytes": size("Memory of the first item"),
    "curve_error": Column("Curve's largest error", write=units.percent),
    "curve_since": whole("Curve holds from"),
    # Predictions
    "chip": Column("Device"),
    "asked": Column("Question"),
    "prediction": Column("Predicted", tags="outcome"),
    "needed_bytes": size("Needs"),
    "of_device": Column("Of the device", write=units.percent),
    "argument_bytes": size("Arguments"),
    "output_bytes": size("Results"),
    "aliased_bytes": size("In place"),
    "temporary_bytes": size("Temporaries"),
    "planned_peak_bytes": size("Peak", "as planned"),
    "copied_bytes": size("Without overwriting"),
    "flops": Column("FLOP", write="{:.3g}".format),
    "operations": whole("Operations"),
    "fusions": whole("Fusions"),
    "bound_seconds": seconds("Least time"),
    "bound_by": Column("Set by"),
    "collectives": Column("Between chips"),
    "number": whole("Number"),
    "vary": Column("Dim"),
    "compiled_sizes": whole("Compiled", "sizes"),
    "workload": Column("Model"),
    # Programs
    "quantity": Column("Counted"),
    "counts_of_both": Column("Counts"),
    "first_count": Column("The first"),
    "second_count": Column("The second"),
    # Probes
    "aspect_title": Column("Aspect"),
    "class": Column("Class", tags="class"),
    "differs": Column("Differs", tags="warning"),
    "words": Column("In the framework's words", behind=True),
    "documented": Column("Documented", behind=True),
    "documented_page": Column("Documented at", tags="link", behind=True),
    "primer": Column("The primer", behind=True),
    "primer_page": Column("The primer at", tags="link", behind=True),
    "figures": Column("Figures", behind=True),
    "in_words": Column("Median and range"),
    "unit": Column(""),
    "values": Column(""),
    "code": Column("Code", tags="code", behind=True),
}
