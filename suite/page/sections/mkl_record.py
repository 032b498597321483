"""What was recorded of MKL's path: whose products ran on its default path, and who leads with its path for Intel's
processors. What a set didn't record is answered by the project's own sets, of the same processor and versions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from suite import results, units
from suite.case import Case, Outcome, Purpose, stack_name
from suite.results.analysis import Analysis, Comparison
from suite.sets.listing import OWN
from suite.sets.parquet import read_rows
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row
from suite.stacks.kernels import MKL_DEFAULT
from suite.stacks.torch.mkl_path import KNOB

Build = tuple[frozenset[tuple[str, str]], str]  # whose libraries a process ran: versions, stack

# A question's file doesn't say whether it multiplies matrices. With fewer operations a byte it waits for memory anyway.
OPERATIONS_LEAST = 16
READ = (
    *("purpose", "outcome", "workload", "pass", "stack", "variant", "implementation", "comparison_id", "kernels"),
    *("versions", "environment_facts"),
)
PROCESSOR = ("cpu_model", "cpu_family_model_stepping", "cores_usable")


def slowed(comparison: Comparison, analysis: Analysis, machine: Mapping[str, Any]) -> dict[str, str]:
    """Returns the stacks of a question whose products MKL runs on its default path, each with where that was recorded:
    empty for on this question itself."""
    known = [*timed(analysis.counted, comparison.id)]
    rows, ours = {row.stack_name: row for row in known}, recorded(analysis.counted)
    found = {stack.stack: "" for stack in comparison.timed if f"MKL {MKL_DEFAULT}" in stack.kernels}
    for stack in comparison.timed:
        row = rows.get(stack.stack)
        if row is None or stack.kernels or has_other_path(row) or not any(map(has_products, known)):
            continue
        name = ours.get(build(row))
        where = elsewhere(build(row), machine) if name is None else name and f"{name} of this set"
        found |= {build(row)[1]: where} if where else {}
    return found


def timed(rows: Iterable[Row], comparison_id: str) -> Iterable[Row]:
    return (
        row
        for row in rows
        if row["comparison_id"] == comparison_id and row["purpose"] == Purpose.TIMED and row["outcome"] == Outcome.OK
    )


def has_products(row: Row) -> bool:
    flops, moved = (row.number(column) or 0.0 for column in ("flops", "bytes_floor"))
    return flops > 0 and (not row["implementation"] or flops >= OPERATIONS_LEAST * moved)


def has_other_path(row: Row) -> bool:
    return KNOB.name in (row.mapping("environment_facts").get("tuned") or ())


def build(row: Row) -> Build:
    """Python's release isn't among the versions: it brings no library that multiplies."""
    versions = frozenset(each for each in row.mapping("versions").items() if each[0] != "python")
    return versions, stack_name(row["stack"], row["variant"], "")


def recorded(rows: Iterable[Row]) -> dict[Build, str]:
    """Returns a question on which each build was seen on MKL's default path; empty for one that was seen without."""
    found: dict[Build, str] = {}
    for row in rows:
        if row["purpose"] == Purpose.EXPLAIN and row.kernels:
            name = f"{row['workload']} {row['pass']}" if f"MKL {MKL_DEFAULT}" in row.kernels else ""
            found[build(row)] = found.get(build(row)) or name
    return found


@cache
def own_sets(of: tuple[str, ...]) -> tuple[tuple[Path, list[Row]], ...]:
    """Returns folder and rows of the project's own sets of a processor; none outside a checkout."""
    stores = (ResultSet.open(path.parent) for path in sorted(OWN.glob("*/plan.json")))
    alike = (each for each in stores if processor(each.machine) == of)
    return tuple((each.folder, read_rows(each.results_path, READ, trusted=True)) for each in alike)


@cache
def analysis_of(folder: Path) -> Analysis:
    return results.load(folder).analysis()


def processor(machine: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(machine.get(fact)) for fact in PROCESSOR)


def elsewhere(wanted: Build, machine: Mapping[str, Any]) -> str:
    """Returns where an own set of this processor recorded MKL's default path of a build; empty if none did."""
    for folder, rows in own_sets(processor(machine)):
        if name := recorded(rows).get(wanted):
            return f"{name} of set {digits(folder)}, with this processor and versions"
    return ""


def digits(folder: Path) -> str:
    return folder.name.rpartition(".")[2][:12]


def measured(case: Case, analysis: Analysis, machine: Mapping[str, Any]) -> str:
    """Returns who leads a question if MKL takes its path for Intel's processors, as the tuned track of this set or of
    an own one has it, of this processor and versions; empty if none has. `case` is the stack's on the tuned track."""
    ours = {build(row) for row in analysis.counted if row.stack_name.partition(":")[0] == case.stack_name}
    if any(map(has_other_path, timed(analysis.counted, case.comparison_id))):
        return led(case, analysis, "this set")
    for folder, rows in own_sets(processor(machine)):
        tuned = map(build, filter(has_other_path, timed(rows, case.comparison_id)))
        if ours & {*tuned}:
            return led(case, analysis_of(folder), f"set {digits(folder)}")
    return ""


def led(case: Case, analysis: Analysis, of: str) -> str:
    """Returns `with MKL's path for Intel's processors (the tuned track of set …) torch_eager leads ffn train: jax_jit
    is 0.881× [0.848, 0.915] as fast`, of the fastest other stack."""
    [comparison] = [each for each in analysis.comparisons if each.id == case.comparison_id]
    every = analysis.pairing.over(case.stack_name)
    over = [speedup for (question, _), speedup in every.items() if question == comparison.id]
    if not over:
        return ""
    next_, leaders = max(over, key=lambda each: each.ratio.value), comparison.leaders
    shares = "shares the lead on" if case.stack_name in leaders else "doesn't lead"
    leads = "leads" if leaders == (case.stack_name,) else shares
    return (
        f"with MKL's path for Intel's processors (the tuned track of {of}) {case.stack_name} {leads} {case.workload} "
        f"{case.pass_}: {next_.stack} is {units.estimate(next_.ratio.value, next_.ratio.low, next_.ratio.high)} as fast"
    )
