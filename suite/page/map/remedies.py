"""What a reader can do about a case: the command that runs it again, and what would help a case that failed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from suite.answers.sentences import counted
from suite.case import CUSTOM, OUT_OF_MEMORY, Case, Outcome, bytes_text, dims_text
from suite.errors import COMMAND
from suite.results.analysis import Comparison
from suite.results.case_row import CaseRow
from suite.results.outcomes import is_absent
from suite.sets.plan import PlanFile
from suite.sets.rows import IMPLAUSIBLE, NOT_RUN, Row

READ_LOG = "Run it alone by the command below, and read its log: the last lines say where it stopped."
REMEDIES = {
    Outcome.TIMEOUT: "More time, by --timeout=1h, say; or a smaller size.",
    Outcome.UNSUPPORTED: "Another stack of the row: this one can't do what was asked.",
    Outcome.WRONG: "No other machine or setting helps: the result is wrong, by the error that the section Equivalence "
    "shows. Please report it to the framework, or to this project.",
    Outcome.DIFFER: "A `reference`, or a third implementation, says which one is right.",
    Outcome.ERROR: READ_LOG,
    Outcome.CRASHED: READ_LOG,
    IMPLAUSIBLE: "No other machine or setting helps: the work can't have been done in this time.",
    NOT_RUN: "Complete the set: the notice above says how.",
}
WRONG_FUNCTION = (
    "The reason says what differs. If the function is meant to compute the same as the others, the stack is wrong: "
    "please report it to the framework, or to this project. If it isn't, change the function."
)
# The options of a set's command that a cell's command keeps: what they set holds for every case.
KEPT = ("preset", "purpose", "sampling", "timeout", "ir", "profile", "explain", "abstract")


def options_of(file: PlanFile) -> list[str]:
    """Returns the options of a command that makes a part of a set again, from its plan."""
    python = [f"--python={file.python}"] if file.python else []
    paths = [f"--workload-path={path}" for path in file.workload_paths]
    return [
        *kept(file),
        f"--engine={file.engine}",
        *python,
        *paths,
        *(f"--stack-path={path}" for path in file.stack_paths),
    ]


def kept(file: PlanFile) -> Iterator[str]:
    """Yields the options that hold for every case of a set; none for an older set, whose plan doesn't have them."""
    given = {name: value for name, _, value in (word.removeprefix("--").partition("=") for word in file.options)}
    if "file" in given:
        given.setdefault("preset", "ask")  # a question file's own, which `--file` would choose
    for name in KEPT:
        if name in given:
            value = given[name]
            if name == "preset" and value.endswith(".toml"):  # a preset of the user's own: the set's copy of it
                value = f"results/{file.plan.set_id}/inputs/{Path(value).name}"
            yield f"--{name}={value}" if value else f"--{name}"


@dataclass(frozen=True, slots=True)
class CellRecipe:
    """The command that runs a cell again, and what it runs in plain words: `company` is what runs beside the stack, and
    `compared` the part of the command that names the baseline. If that is `beside` it, the page puts the baseline that
    a reader chooses in place of both. `reproduce` is the command that runs the whole set's plan again elsewhere; empty
    for a set that compares revisions."""

    start: str
    compared: str
    rest: str
    company: str
    beside: bool
    about: tuple[str, ...]
    reproduce: str

    @property
    def command(self) -> str:
        return f"{self.start}{self.compared}{self.rest}"


def remedy(cell: CaseRow, case: Case) -> str:
    """Returns what would help a case that didn't end `ok`; empty for one that did."""
    if cell.outcome in OUT_OF_MEMORY:
        limit = case.limit_memory_bytes
        more = f"a limit over {bytes_text(limit)} (--limit-memory)" if limit else "a machine with more memory"
        return f"A smaller size, or {more}; a run with --purpose=memory finds the largest size."
    if cell.outcome == Outcome.UNSUPPORTED and is_absent(cell.reason):
        return "Another machine may run it; the command doctor says what this one lacks, and how to get it."
    if cell.outcome == Outcome.WRONG and case.implementation:  # of a file
        return WRONG_FUNCTION
    return REMEDIES.get(cell.outcome, "")


def cell_recipe(rows: Sequence[Row], cell: CaseRow, comparison: Comparison, file: PlanFile) -> CellRecipe:
    """Returns how to run a cell again: beside the comparison's baseline, or alone if the case failed. `rows` are those
    of its processes. Of a set that compares revisions there is no other way than all of it, in their repository."""
    if file.revisions:
        return CellRecipe(file.command, "", "", " and all others of the set", beside=False, about=(), reproduce="")
    case, blocks = rows[0].case, len({row["block"] for row in rows})
    baseline = case.stack_name if cell.failed else comparison.baseline
    is_alone = baseline == case.stack_name
    return CellRecipe(
        start=f"{COMMAND} run --stack={shlex.quote(case.stack_name)}",
        compared=f"{'' if is_alone else f' --stack={baseline}'} --baseline={baseline}",
        rest=f" {shlex.join([*options(case, blocks), *options_of(file)])}",
        company=" alone" if is_alone else f" and the baseline {baseline}",
        beside=not cell.failed,
        about=tuple(about(case, comparison, file, blocks)),
        reproduce=f"{COMMAND} reproduce --set={shlex.quote(file.plan.set_id)}",
    )


def options(case: Case, blocks: int) -> list[str]:
    """Returns the options that select this case alone, and its number of blocks. The dims stand beside a size's name,
    since the preset may ask the question with several dims, and another version may give the name other dims."""
    return [
        f"--workload={case.workload}",
        *([f"--size={case.size}"] if case.size != CUSTOM else []),
        *([f"--dims={dims_text(case.dims)}"] if case.dims else []),
        f"--pass={case.pass_}",
        f"--precision={case.precision}",
        f"--track={case.track}",
        f"--target={case.target}",
        f"--allocator={case.allocator}",
        *([f"--cache={case.cache}"] if case.cache != "cold" else []),
        *([f"--limit-memory={bytes_text(case.limit_memory_bytes)}"] if case.limit_memory_bytes else []),
        f"--repeats={blocks}",
    ]


def about(case: Case, comparison: Comparison, file: PlanFile, blocks: int) -> Iterator[str]:
    yield f"It runs as many blocks as here ({blocks}), adds none, and runs none again for noise."
    protocol = file.plan.protocol
    if file.plan.twin and protocol.baseline_replicates > 1:
        yield f"The baseline runs {protocol.baseline_replicates} times in each block, which gives the noise floor."
    if protocol.sampling == "rounds" and len(comparison.cases) > 2:
        yield f"In the set, {len(comparison.cases)} stacks took turns on this question; here fewer do."
    if case.cache == "warm":
        yield "The case with cold caches runs, too, since it fills the caches of this one."
    cores = file.cores[: case.threads] if len(file.cores) >= case.threads else range(case.threads)
    yield (
        f"Each process here had {counted(case.threads, 'core')}: on a machine with more, put "
        f"taskset -c {','.join(map(str, cores))} before the command."
    )
    yield "Packages are those of the checkout's locks, which may be newer than the set's."
    if not file.options:
        yield "The set's plan is older and doesn't have the options of its run: preset and protocol are the default's."
