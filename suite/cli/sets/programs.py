"""`./stackwars ir`: lists the programs that the cases of a set hand to their compilers, or compares two of them."""

from __future__ import annotations

import tempfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from suite import results
from suite.answers.programs import TYPES, counts
from suite.answers.show import parts
from suite.case import Outcome, Purpose
from suite.cli.sets.naming import named
from suite.cli.terminal.output import print_json, print_table, print_tables
from suite.cli.values import LATEST, Json, Several
from suite.environments import venv
from suite.errors import COMMAND, UserError, check_known
from suite.ir import files
from suite.ir.findings import StackPrograms, findings
from suite.ir.summary import Program
from suite.launch.attempt import run_reader
from suite.launch.local import Local
from suite.machine.facts import usable_cores
from suite.page.report import report
from suite.page.sections.section import AnswerSection
from suite.page.tables import markdown, told
from suite.protocol import Protocol
from suite.results.questions.programs import programs_of, stack_programs
from suite.run.reading import newer_pythons
from suite.sets import json_file
from suite.sets.files import gunzipped
from suite.sets.rows import Row, accepted
from suite.stacks.catalog import READER

ANSWERS = ("programs", "differences")


def ir(case: Several = (), *, set: str = LATEST, json: Json = False, markdown: bool = False) -> None:
    """Lists the cases that have programs, or compares two of them. Raises UserError for options that exclude each
    other.

    :param case: a case's name, or a .mlir file of your own; give two, which are compared
    :param set: a result set
    :param markdown: print the programs of every question as Markdown
    """
    if len(case) not in (0, 2):
        raise UserError("Give two cases, whose programs are compared, or none.")
    if json and (case or markdown):
        raise UserError("--json lists the cases of a set: it goes only with --set.")
    if case:
        rows = {} if all(map(is_file, case)) else program_rows(results.load(named(set)))
        compare(*(read_file(name) if is_file(name) else case_programs(name, rows) for name in case))
        return
    loaded = results.load(named(set))
    rows = program_rows(loaded)
    if markdown:
        print(as_markdown(loaded))
    elif json:
        print_json({"cases": [case_json(name, row) for name, row in rows.items()]})
    else:
        lines = [[name, counted(row)] for name, row in rows.items()]
        print_table("Cases whose programs are kept", ["case", "programs"], lines)
        print(f"`{COMMAND} ir CASE CASE` compares two of them.")


def program_rows(loaded: results.Results) -> dict[str, Row]:
    """Returns {case: row} of the processes that were to keep programs. Raises UserError if the set has none."""
    kept = [row for row in accepted(loaded.rows) if row["purpose"] == Purpose.IR]
    several = {row["case_name"] for row in kept if sum(other["case_name"] == row["case_name"] for other in kept) > 1}
    rows = {row["case_name"] + f"-{row['threads']}cores" * (row["case_name"] in several): row for row in kept}
    if not rows:
        raise without_programs(loaded.path)
    return rows


def without_programs(folder: Path) -> UserError:
    return UserError(
        f"{folder} has kept no programs: `{COMMAND} run --purpose=ir` or a timed run with --ir=on keeps them."
    )


def is_file(case: str) -> bool:
    return case.removesuffix(".gz").endswith(".mlir")


def program_of(name: str) -> bytes:
    """Returns the program in a file, uncompressed. Raises UserError if the file can't be read."""
    path = Path(name)
    try:
        return b"".join(gunzipped(path)) if name.endswith(".gz") else path.read_bytes()
    except (OSError, EOFError, zlib.error) as broken:
        raise UserError(f"{name} can't be read: {getattr(broken, 'strerror', None) or broken}.") from None


def read_file(name: str) -> StackPrograms:
    """Returns the program in a file, as the Python of JAX's environment reads it. Raises UserError if it can't."""
    text = program_of(name)
    reader = venv.ensure(READER)
    newer = newer_pythons("cpu", reader.lock.pins.get("jax", ""))
    hint = f"if a newer JAX made it, reading it needs Python {newer} here" if newer else ""
    with tempfile.TemporaryDirectory(prefix="stack-wars-") as place:
        folder = Path(place) / "ir"
        folder.mkdir()
        (folder / files.GIVEN).write_bytes(text)
        try:
            engine, limits, cpus = Local(reader.python), Protocol(), usable_cores()
            summary = run_reader(
                "suite.ir.analyse", folder, files.SUMMARY, engine=engine, protocol=limits, cpus=cpus, hint=hint
            )
            programs = json_file.decoded(tuple[Program, ...], summary.encode(), "its summary")
        except UserError as refused:
            raise UserError(f"{name} {refused}") from None
    stem = Path(name).name
    return StackPrograms(stem if len(stem) <= 32 else f"{stem[:15]}…{stem[-16:]}", programs)


def counted(row: Row) -> str:
    """Returns how many programs a row has, or why it has none, or not all of them."""
    kept = stack_programs(row)
    if not kept.programs:
        return f"{row['outcome']}: {row['reason']}"
    return f"{len(kept.programs)}; {kept.unread}" if kept.unread else str(len(kept.programs))


def case_json(name: str, row: Row) -> dict[str, Any]:
    kept = len(programs_of(row))
    return {"case": name, "programs": kept, "outcome": row["outcome"], "reason": row["reason"]}


def case_programs(name: str, rows: dict[str, Row]) -> StackPrograms:
    """Returns a case's programs. Raises UserError for a case that has none."""
    check_known("case with programs", name, rows, of="The result set")
    if rows[name]["outcome"] != Outcome.OK:
        raise UserError(f"{name} has no programs: {rows[name]['outcome']}: {rows[name]['reason']}.")
    return stack_programs(rows[name])


def compare(a: StackPrograms, b: StackPrograms) -> None:
    """Prints counts, regions and operations of two programs side by side, then the differences in sentences."""
    for side in (a, b):
        if side.step.contents is None:
            raise UserError(f"{side.stack} generates code, which can't be compared with a program for XLA.")
    if a.stack == b.stack:
        a, b = replace(a, stack=f"{a.stack} (1)"), replace(b, stack=f"{b.stack} (2)")
    print_tables(told(part) for part in parts(pl.DataFrame([*counts((a, b))], schema=TYPES), "part", "stack", ["told"]))
    differences = findings(a, b)
    for side in (a, b):
        if side.unread:
            print(f"{side.stack}: {side.unread}")
    for finding in differences:
        print(f"- {finding.text}")
    if not differences:
        print("The two programs have equal counts.")


def as_markdown(loaded: results.Results) -> str:
    """Returns the programs of every question of a set as Markdown, for a page of the documentation."""
    made = report(loaded)
    shown = [each for each in made.sections if isinstance(each, AnswerSection) and each.name in ANSWERS]
    return "\n".join([f"Versions: {made.versions}.\n", *(markdown(table) for each in shown for table in each.whole())])
