"""The section "Reproduce": the commands that make a result set again."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from suite.errors import COMMAND
from suite.report.sections.section import Context, Section
from suite.report.sections.whole_set.facts import Fact
from suite.sets.plan import REVISION, PlanFile

REVISION_MAX = 1000  # characters of inputs/revision.txt that are read


@dataclass(frozen=True, slots=True)
class Recipe:
    """The commands that make a result set again (`steps`), the command that renders its page, and the facts that it was
    made from: revision, seed, locks."""

    steps: tuple[str, ...]
    render: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class ReproduceSection(Section):
    """The recipe; None for a bare Parquet file, which doesn't say how it was made."""

    recipe: Recipe | None

    name = "reproduce"
    nav = "Reproduce"
    heading = "Reproduce this result set"
    grows = False

    @classmethod
    def of(cls, context: Context) -> ReproduceSection:
        """Returns the section, which every page has."""
        return cls(recipe(context.results.plan_file, *source(context.results.path / "inputs")))

    @property
    def answer(self) -> str:
        """Returns the command that measures the set again."""
        if self.recipe is None:
            return "Unknown: a bare Parquet file doesn't say how it was made."
        return f"Measured by: {self.recipe.steps[-1]}"


def source(inputs: Path) -> tuple[str, bool]:
    """Returns (source revision, whether the source was modified), as the set's folder `inputs` has them."""
    revision, diff = inputs / "revision.txt", inputs / "diff.patch"
    text = ""
    if revision.is_file():
        with revision.open(encoding="utf-8", errors="replace") as file:
            text = file.read(REVISION_MAX)
    return text, diff.is_file() and diff.stat().st_size > 0


def recipe(file: PlanFile | None, revision: str, modified: bool) -> Recipe | None:
    """Returns the commands that make a set again: they check out the source, apply the changes that were made to it,
    and run. None without a plan."""
    if file is None:
        return None
    clean = next(iter(revision.split()), "")
    steps = [f"git checkout {clean}"] if REVISION.fullmatch(clean) else []
    folder = shlex.quote(f"results/{file.plan.set_id}")
    if modified:
        steps.append(f"git apply {folder}/inputs/diff.patch")
    # A command of `invoke` is of a revision that doesn't have `COMMAND`.
    steps += ["make setup", file.command if file.command.startswith(COMMAND) else f".venv/bin/{file.command}"]
    facts = [
        Fact("source revision", revision.strip() or "unknown"),
        Fact("source modified", "yes, by inputs/diff.patch: read it before you apply it" if modified else "no"),
        Fact("seed", str(file.plan.seed)),
        *(Fact(f"lock file {name}", digest or "none") for name, digest in sorted(file.locks.items())),
    ]
    return Recipe(tuple(steps), f"{COMMAND} report --set={folder}", tuple(facts))
