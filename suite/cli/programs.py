"""`./stackwars ir`: what the cases of a set hand to their compilers, listed, compared, or as Markdown."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from suite import results
from suite.archive.naming import named
from suite.case import Outcome, Purpose
from suite.cli.console import print_table
from suite.cli.output import print_json
from suite.environments import venv
from suite.errors import COMMAND, UserError, unknown
from suite.ir import files, summary
from suite.ir.findings import Handed, findings
from suite.launch.attempt import run_reader
from suite.launch.local import Local
from suite.machine.facts import usable_cores
from suite.protocol import Protocol
from suite.report.formats.render import environment
from suite.report.sections.programs import Table, both, program_section
from suite.results.questions import programs
from suite.results.store.files import gunzipped
from suite.results.store.rows import Row, accepted


def tell_programs(name: str, cases: Sequence[str], *, as_markdown: bool, as_json: bool = False) -> None:
    """Without cases a list of those that have programs; two are compared. Raises UserError for anything else."""
    if len(cases) not in (0, 2):
        raise UserError("--case is given twice: what two cases hand to their compilers is compared.")
    if as_json and (cases or as_markdown):
        raise UserError("--json lists the cases; two of them are compared in words. It goes with --set alone.")
    if cases:
        rows = {} if all(map(is_file, cases)) else kept_in(results.load(named(name)))
        compare(*(given(name) if is_file(name) else handed(name, rows) for name in cases))
        return
    loaded = results.load(named(name))
    rows = kept_in(loaded)
    if as_markdown:
        print(markdown(loaded))
        return
    if as_json:
        print_json({"cases": [case_json(name, row) for name, row in rows.items()]})
        return
    print_table(
        "Cases whose programs are kept", ["case", "programs"], [[name, counted(row)] for name, row in rows.items()]
    )
    print(f"Two of them are compared by `{COMMAND} ir --case=… --case=…`.")


def kept_in(loaded: results.Results) -> dict[str, Row]:
    """{case: its row} of a set. Raises UserError where no programs were asked for."""
    rows = {row["case_name"]: row for row in accepted(loaded.rows) if row["purpose"] == Purpose.IR}
    if not rows:
        raise UserError(
            f"{loaded.path}: nothing of this set was kept as its compiler got it. "
            f"`{COMMAND} run --purpose=ir`, or --ir=on beside times, keeps it."
        )
    return rows


def is_file(case: str) -> bool:
    """Whether StableHLO of somebody's own is meant."""
    return case.removesuffix(".gz").endswith(".mlir")


def given(name: str) -> Handed:
    """A file's program, compressed or not. Raises UserError where it can't be read."""
    try:
        text = b"".join(gunzipped(Path(name))) if name.endswith(".gz") else Path(name).read_bytes()
    except (OSError, EOFError, zlib.error) as broken:
        raise UserError(f"{name} can't be read: {getattr(broken, 'strerror', None) or broken}.") from None
    reader = Local(venv.ensure("jax").python)
    with tempfile.TemporaryDirectory(prefix="stack-wars-") as place:
        folder = Path(place) / "ir"
        folder.mkdir()
        (folder / files.GIVEN).write_bytes(text)
        try:
            told = run_reader(
                "suite.ir.analyse", folder, files.SUMMARY, engine=reader, protocol=Protocol(), cpus=usable_cores()
            )
        except UserError as refused:
            raise UserError(f"{name} {refused}") from None
    stem = Path(name).name
    return Handed(stem if len(stem) <= 32 else f"{stem[:15]}…{stem[-16:]}", tuple(summary.read(told)))


def counted(row: Row) -> str:
    """How many, or why none."""
    found = programs.programs_of(row)
    return str(len(found)) if found else f"{row['outcome']}: {row['reason']}"


def case_json(name: str, row: Row) -> dict[str, Any]:
    """One case of the list."""
    return {
        "case": name,
        "programs": len(programs.programs_of(row)),
        "outcome": row["outcome"],
        "reason": row["reason"],
    }


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
    return (
        environment()
        .get_template("programs.md.j2")
        .render(sections=[program_section(question) for question in analysis.programs], versions=versions)
    )
