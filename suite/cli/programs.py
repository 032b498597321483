"""`invoke ir`: what the cases of a set hand to their compilers, listed, held against each other, or as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from suite import results
from suite.case import Outcome, Purpose
from suite.cli.console import print_table
from suite.errors import UserError, unknown
from suite.ir.findings import Handed, findings
from suite.report.programs import Table, both, program_section
from suite.report.render import environment
from suite.results import programs
from suite.results.rows import Row, accepted


def tell_programs(path: Path, cases: Sequence[str], as_markdown: bool) -> None:
    """Without cases a list of those that have programs; two are compared. Raises UserError for anything else."""
    loaded = results.load(path)
    rows = {row["case_name"]: row for row in accepted(loaded.rows) if row["purpose"] == Purpose.IR}
    if not rows:
        raise UserError(f"{path}: nothing of this set was kept as its compiler got it. `invoke run --purpose=ir`, or "
                        "--ir=on beside times, keeps it.")  # fmt: skip
    if as_markdown:
        print(markdown(loaded))
    elif not cases:
        print_table("Cases whose programs are kept", ["case", "programs"],
                    [[name, counted(row)] for name, row in rows.items()])  # fmt: skip
        print("Two of them are compared by `invoke ir --case=… --case=…`.")
    elif len(cases) != 2:
        raise UserError("--case is given twice: what two cases hand to their compilers is compared.")
    else:
        compare(*(handed(name, rows) for name in cases))


def counted(row: Row) -> str:
    """How many, or why none."""
    found = programs.programs_of(row)
    return str(len(found)) if found else f"{row['outcome']}: {row['reason']}"


def handed(name: str, rows: dict[str, Row]) -> Handed:
    """A case's programs. Raises UserError for a case that has none."""
    if name not in rows:
        raise unknown("case whose programs were asked for", name, rows)
    if rows[name]["outcome"] != Outcome.OK:
        raise UserError(f"{name} has no programs: {rows[name]['outcome']}: {rows[name]['reason']}.")
    return programs.handed(rows[name])


def compare(a: Handed, b: Handed) -> None:
    """Counts, regions and operations side by side, then what differs."""
    for each in (a, b):
        if each.step.contents is None:
            raise UserError(f"{each.stack} generates code: that isn't compared with a program of XLA's.")
    if a.stack == b.stack:
        a, b = replace(a, stack=f"{a.stack} (1)"), replace(b, stack=f"{b.stack} (2)")
    for title, table in both(a, b):
        print_side_by_side(title, table)
    found = findings(a, b)
    for finding in found:
        print(f"- {finding.text}")
    if not found:
        print("The two programs don't differ in anything that is counted.")


def print_side_by_side(title: str, table: Table) -> None:
    """One table."""
    print_table(title, ["", *table.stacks], [[name, *cells] for name, cells in table.rows])
    print()


def markdown(loaded: results.Results) -> str:
    """Every question of a set, as a page of documentation."""
    analysis = loaded.analysis()
    versions: dict[str, str] = {}
    for row in analysis.rows:
        versions |= {name: number for name, number in row.mapping("versions").items() if name != "python"}
    return environment().get_template("programs.md.j2").render(
        sections=[program_section(question) for question in analysis.programs], versions=versions)  # fmt: skip
