"""The section "Reproduce": the commands that make a result set again."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from suite.errors import COMMAND, COMMANDS
from suite.report.sections.section import Context, Section
from suite.sets.plan import REVISION, PlanFile

REVISION_MAX = 1000  # characters of inputs/revision.txt that are read


@dataclass(frozen=True, slots=True)
class ReproduceSection(Section):
    """The plan and the source of a set; a bare Parquet file has no plan, and doesn't say how it was made."""

    file: PlanFile | None
    revision: str
    is_modified: bool

    name = "reproduce"
    nav = "Reproduce"
    heading = "Reproduce this result set"
    grows = False

    @classmethod
    def of(cls, context: Context) -> ReproduceSection:
        return cls(context.results.plan_file, *source(context.results.path / "inputs"))

    @property
    def answer(self) -> str:
        if self.file is None:
            return "Unknown: a bare Parquet file doesn't say how it was made."
        return f"Measured by: {self.steps[-1]}"

    @property
    def steps(self) -> Sequence[str]:
        """The commands that check out the source, apply the changes that were made to it, and run; none without a
        plan."""
        return steps(self.file, self.revision, self.is_modified) if self.file else ()

    @property
    def facts(self) -> Mapping[str, str]:
        """What the set was made from: revision, seed, locks."""
        if self.file is None:
            return {}
        return {
            "source revision": self.revision.strip() or "unknown",
            "source modified": "yes, by inputs/diff.patch: read it before you apply it" if self.is_modified else "no",
            "seed": str(self.file.plan.seed),
            **{f"lock file {name}": digest or "none" for name, digest in sorted(self.file.locks.items())},
        }


def source(inputs: Path) -> tuple[str, bool]:
    """Returns (source revision, whether the source was modified), as the set's folder `inputs` has them."""
    revision, diff = inputs / "revision.txt", inputs / "diff.patch"
    text = ""
    if revision.is_file():
        with revision.open(encoding="utf-8", errors="replace") as file:
            text = file.read(REVISION_MAX)
    return text, diff.is_file() and diff.stat().st_size > 0


def steps(file: PlanFile, revision: str, is_modified: bool) -> list[str]:
    """Returns the commands that make a set again."""
    clean = next(iter(revision.split()), "")
    checkout = [f"git checkout {clean}"] if REVISION.fullmatch(clean) else []
    patch = f"{shlex.quote(f'results/{file.plan.set_id}')}/inputs/diff.patch"
    program, _, rest = file.command.partition(" ")
    # A command of `invoke` is of a revision that doesn't have `COMMAND`; a wheel's is typed so in a checkout.
    run = f"{COMMAND} {rest}" if program in COMMANDS else f".venv/bin/{file.command}"
    return [*checkout, *([f"git apply {patch}"] if is_modified else []), "make setup", run]
