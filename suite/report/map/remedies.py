"""What a reader can do about a case: the command that runs it again, and what would help a case that failed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from suite.case import CUSTOM, OUT_OF_MEMORY, Case, Outcome, Purpose, bytes_text, dims_text
from suite.errors import COMMAND, UserError
from suite.plan.preset import Preset, load, names
from suite.protocol import Protocol
from suite.report.sections.sentences import counted
from suite.results import Results
from suite.results.analysis import Comparison
from suite.results.outcomes import Cell, is_absent
from suite.results.store.plan_file import PlanFile
from suite.results.store.rows import IMPLAUSIBLE, NOT_RUN, Row

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
PRESET = re.compile(r"'--preset=([^']*)'| --preset=(\S+)")  # in a command whose words are quoted for a shell
QUICK, ASK = "quick", "ask"  # the presets of a run that names none, and of a question file
BY_REPEATS = (
    "blocks",
    "blocks_max",
    "noisy_retries",
    "costly_blocks",
    "disturbed_retries",
)  # constants that --repeats sets
BY_OPTIONS = (*BY_REPEATS, "sampling", "timeout_seconds", "compile_timeout_seconds", "ir", "profile")
FLAGS = ("explain", "abstract")  # constants that an option can only switch on


@dataclass(frozen=True, slots=True)
class HowMade:
    """How a set was made: `preset` and further `options` of the commands that run a cell of it again, as (name, value),
    and the set's `protocol`. `cores` are those that the set's processes had. `unlike` are the constants of the protocol
    that these options don't give again."""

    preset: str
    options: tuple[tuple[str, str], ...]
    protocol: Protocol
    twin: bool
    cores: tuple[int, ...]
    unlike: tuple[str, ...]

    @classmethod
    def of(cls, results: Results) -> HowMade | None:
        """Returns how a set was made; None for a set without its plan."""
        file = results.plan_file
        if file is None:
            return None
        name, preset = preset_of(file, results.path)
        ours, theirs = file.plan.protocol, preset.protocol
        options = [("preset", name)]
        options += [("purpose", Purpose.TIMED)] if preset.purpose is not Purpose.TIMED else []
        options += [("engine", file.engine), ("sampling", ours.sampling)]
        if ours.timeout_seconds != theirs.timeout_seconds:
            options.append(("timeout", f"{ours.timeout_seconds:.12g}s"))
        options += [
            (kind, "on" if getattr(ours, kind) else "off")
            for kind in ("ir", "profile")
            if getattr(ours, kind) != getattr(theirs, kind)
        ]
        options += [(flag, "") for flag in FLAGS if getattr(ours, flag) and not getattr(theirs, flag)]
        options += [("python", file.python)] if file.python else []
        options += [("workload-path", path) for path in file.workload_paths]
        options += [("stack-path", path) for path in file.stack_paths]
        return cls(
            preset=name,
            options=tuple(options),
            protocol=ours,
            twin=file.plan.twin,
            cores=file.cores,
            unlike=tuple(unlike(ours, theirs)),
        )


def preset_of(file: PlanFile, folder: Path) -> tuple[str, Preset]:
    """Returns the preset that a set at `folder` was made with, and its name or path. A preset of the user's own is the
    set's copy of it. A set whose command names no preset has the first one with the same protocol, else `quick`."""
    given = next((quoted or plain for quoted, plain in PRESET.findall(file.command)), "")
    copy = folder / "inputs" / Path(given).name
    if given.endswith(".toml") and copy.is_file():
        try:
            return f"results/{file.plan.set_id}/inputs/{copy.name}", load(str(copy))
        except UserError:  # a preset of another version: `unlike` says what today's options don't give
            return QUICK, load(QUICK)
    words = file.command.split()
    if given in names() or words[1:2] in (["run"], ["ask"]):
        asked = any(word.endswith(".py") and not word.startswith("-") for word in words)
        name = given if given in names() else ASK if asked else QUICK
        return name, load(name)
    alike = (name for name in names() if not [*unlike(file.plan.protocol, load(name).protocol)])
    name = next(alike, QUICK)
    return name, load(name)


def unlike(ours: Protocol, theirs: Protocol) -> Iterator[str]:
    """Yields the constants of a set's protocol, `seconds_min = 2.0`, in which a preset's differs, and which no option
    sets."""
    for field in fields(Protocol):
        value = getattr(ours, field.name)
        switched_on = field.name in FLAGS and value
        if field.name not in BY_OPTIONS and not switched_on and value != getattr(theirs, field.name):
            yield f"{field.name} = {value}"
    if ours.compile_timeout_seconds not in (theirs.compile_timeout_seconds, ours.timeout_seconds):
        yield f"compile_timeout_seconds = {ours.compile_timeout_seconds}"


@dataclass(frozen=True, slots=True)
class CellRecipe:
    """The command that runs a cell again, and what it runs in plain words. If it runs `beside` the baseline, the page
    puts the baseline that a reader chooses between `start` and `rest`."""

    start: str
    rest: str
    stack: str
    baseline: str
    beside: bool
    about: tuple[str, ...]

    @property
    def compared(self) -> str:
        """Returns the part of the command that names the baseline."""
        other = f" --stack={self.baseline}" if self.baseline != self.stack else ""
        return f"{other} --baseline={self.baseline}"

    @property
    def company(self) -> str:
        """Returns what runs beside the stack: ` and the baseline torch_eager`, or ` alone`."""
        return " alone" if self.baseline == self.stack else f" and the baseline {self.baseline}"

    @property
    def command(self) -> str:
        """Returns the whole command."""
        return f"{self.start}{self.compared}{self.rest}"


def remedy(cell: Cell, case: Case) -> str:
    """Returns what would help a case that didn't end `ok`; empty for one that did."""
    if cell.outcome in OUT_OF_MEMORY:
        limit = case.limit_memory_bytes
        more = f"a limit over {bytes_text(limit)} (--limit-memory)" if limit else "a machine with more memory"
        return f"A smaller size, or {more}; a run with --purpose=memory finds the largest size."
    if cell.outcome == Outcome.UNSUPPORTED and is_absent(cell.reason):
        return "Another machine may run it; the command doctor says what this one lacks, and how to get it."
    return REMEDIES.get(cell.outcome, "")


def cell_recipe(rows: Sequence[Row], cell: Cell, comparison: Comparison, made_by: HowMade) -> CellRecipe:
    """Returns how to run a cell again: beside the comparison's baseline, or alone if the case failed. `rows` are those
    of its processes."""
    case = rows[0].case
    blocks = len({row["block"] for row in rows})
    rest = [*options(case, blocks), *made_by.options]
    return CellRecipe(
        start=f"{COMMAND} run --stack={shlex.quote(case.stack_name)}",
        rest="".join(f" --{name}={shlex.quote(value)}" if value else f" --{name}" for name, value in rest),
        stack=case.stack_name,
        baseline=case.stack_name if cell.failed else comparison.baseline,
        beside=not cell.failed,
        about=tuple(about(case, comparison, made_by, blocks)),
    )


def options(case: Case, blocks: int) -> list[tuple[str, str]]:
    """Returns the options that select this case alone, and its number of blocks. The dims stand beside a size's name,
    since the preset may ask the question with several dims, and another version may give the name other dims."""
    chosen = [("workload", case.workload)]
    chosen += [("size", case.size)] if case.size != CUSTOM else []
    chosen += [("dims", dims_text(case.dims))] if case.dims else []
    chosen += [("pass", case.pass_), ("precision", case.precision), ("track", case.track), ("target", case.target)]
    chosen += [("allocator", case.allocator)]
    chosen += [("cache", case.cache)] if case.cache != "cold" else []
    chosen += [("limit-memory", bytes_text(case.limit_memory_bytes))] if case.limit_memory_bytes else []
    return [*chosen, ("repeats", str(blocks))]


def about(case: Case, comparison: Comparison, made_by: HowMade, blocks: int) -> Iterator[str]:
    """Yields what to know of a cell's command, a sentence each."""
    yield f"It runs as many blocks as here ({blocks}), adds none, and runs none again for noise."
    if made_by.twin and made_by.protocol.baseline_replicates > 1:
        times = made_by.protocol.baseline_replicates
        yield f"The baseline runs {times} times in each block, which gives the noise floor."
    if made_by.protocol.sampling == "rounds" and len(comparison.cells) > 2:
        yield f"In the set, {len(comparison.cells)} stacks took turns on this question; here fewer do."
    if case.cache == "warm":
        yield "The case with cold caches runs, too, since it fills the caches of this one."
    cores = made_by.cores if len(made_by.cores) == case.threads else range(case.threads)
    yield (
        f"Each process here had {counted(case.threads, 'core')}: on a machine with more, put "
        f"taskset -c {','.join(map(str, cores))} before the command."
    )
    yield "Packages are those of the checkout's locks, which may be newer than the set's."
    if made_by.unlike:
        yield f"No option sets these constants of the set's protocol: {', '.join(made_by.unlike)}."
