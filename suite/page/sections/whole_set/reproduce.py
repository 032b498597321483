"""The section "Reproduce": the commands that make a result set again."""

from __future__ import annotations

import shlex
from pathlib import Path

from suite.errors import COMMAND, COMMANDS
from suite.page.sections.section import Context, Section
from suite.sets.plan import REVISION, PlanFile

REVISION_MAX = 1000  # characters of inputs/revision.txt that are read


def reproduce(context: Context) -> Section:
    """A bare Parquet file has no plan, and doesn't say how it was made."""
    results = context.frame.results
    file, (revision, is_modified) = results.plan_file, source(results.path / "inputs")
    if file is None:
        answer, shown = "Unknown: a bare Parquet file doesn't say how it was made.", {}
    else:
        commands = steps(file, revision, is_modified)
        answer, shown = (
            f"Measured by: {commands[-1]}",
            {"steps": commands, "facts": made_from(file, revision, is_modified)},
        )
    return Section("reproduce", "Reproduce", answer, heading="Reproduce this result set", shown=shown)


def made_from(file: PlanFile, revision: str, is_modified: bool) -> dict[str, str]:
    return {
        "source revision": revision.strip() or "unknown",
        "source modified": "yes, by inputs/diff.patch: read it before you apply it" if is_modified else "no",
        "seed": str(file.plan.seed),
        **{f"lock file {name}": digest or "none" for name, digest in sorted(file.locks.items())},
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
    """Returns the commands that check out the source, apply the changes that were made to it, and run."""
    clean = next(iter(revision.split()), "")
    checkout = [f"git checkout {clean}"] if REVISION.fullmatch(clean) else []
    patch = f"{shlex.quote(f'results/{file.plan.set_id}')}/inputs/diff.patch"
    program, _, rest = file.command.partition(" ")
    # A command of `invoke` is of a revision that doesn't have `COMMAND`; a wheel's is typed so in a checkout.
    run = f"{COMMAND} {rest}" if program in COMMANDS else f".venv/bin/{file.command}"
    return [*checkout, *([f"git apply {patch}"] if is_modified else []), "make setup", run]
