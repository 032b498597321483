"""The section "Peak memory": the peaks of timed processes, question by question."""

from __future__ import annotations

from dataclasses import replace

from suite import results, units
from suite.report.page import Report, report
from suite.report.sections.timed.peaks import NOT_ASKED, PeaksRow, PeaksSection
from suite.results.store.rows import accepted
from tests.report.parts import part

NUMPY, EAGER, JIT = 100.0 * 2**20, 300.0 * 2**20, 200.0 * 2**20


def row(question: str, **peaks: float) -> PeaksRow:
    """A question with the peaks of some stacks."""
    return PeaksRow(question, f"c-{question}", peaks)


def test_a_peak_is_the_greatest_of_the_timed_processes_that_count(made: Report, loaded: results.Results) -> None:
    section = part(made, PeaksSection)
    ffn = next(row for row in section.rows if row.question == "ffn train")
    rows = [r for r in accepted(loaded.rows) if r["workload"] == "ffn" and r["stack"] == "jax_jit"]
    assert ffn.peaks["jax_jit"] == max(r["host_peak_step_bytes"] - r["host_file_bytes"] for r in rows)
    selu = next(row for row in section.rows if row.question == "selu forward")
    assert "torch_inductor" not in selu.peaks, "its results are wrong"
    wrong = next(c for c in loaded.analysis().comparisons if c.name == "selu forward").of("torch_inductor")
    assert wrong and not wrong.counts and wrong.peak_bytes
    shown = f"wrong result, {units.quantity(wrong.peak_bytes)}"
    assert selu.words("torch_inductor") == shown, "as in the question's table and behind the cell"
    assert selu.words("torch_xla") == "unsupported"
    (table,) = section.tables()
    place = table.heads.index("jax_jit")
    assert next(line for line in table.lines if line[0] == "ffn train")[place] == units.quantity(ffn.peaks["jax_jit"])
    assert not section.console()


def test_the_answer_names_the_stacks_that_lead_most_often() -> None:
    section = PeaksSection(
        (
            row("a", numpy=NUMPY, jax_jit=JIT, torch_eager=EAGER),
            row("b", numpy=NUMPY + 2**20, jax_jit=JIT, torch_eager=EAGER),
            row("c", jax_jit=JIT, torch_eager=EAGER - 2**20),
        ),
        ("numpy", "jax_jit", "torch_eager"),
    )
    assert section.answer == (
        "Lowest peak: numpy on 2 of 3 questions (100 MiB to 101 MiB). "
        "Highest: torch_eager on 3 of 3 questions (299 MiB to 300 MiB)."
    )
    assert [line[1] for line in section.tables()[0].lines] == ["100 MiB", "101 MiB", NOT_ASKED]
    two = replace(section, rows=(row("a", numpy=NUMPY, jax_jit=JIT), row("b", numpy=EAGER, jax_jit=JIT)))
    assert two.answer == (
        "Lowest peak: numpy and jax_jit on 1 of 2 questions each (100 MiB to 200 MiB). "
        "Highest: numpy and jax_jit on 1 of 2 questions each (200 MiB to 300 MiB)."
    )


def test_columns_are_in_the_order_of_the_map(made: Report) -> None:
    overview = made.overview
    assert overview and part(made, PeaksSection).stacks == overview.shown.columns


def test_what_ended_processes_held_is_told_apart_from_the_step(loaded: results.Results) -> None:
    """The cgroup saw 1 GiB more than the process in the third block, which isn't gated."""
    more = 2.0**30
    rows = [
        row | {"cgroup_anonymous_bytes": row["host_peak_step_bytes"] - row["host_file_bytes"] + more}
        if (row["workload"], row["stack"], row["block"]) == ("ffn", "tf_xla", 3)
        else row
        for row in loaded.rows
    ]
    section = part(report(replace(loaded, rows=rows)), PeaksSection)
    ffn = next(row for row in section.rows if row.question == "ffn train")
    assert ffn.ended == {"tf_xla": more}
    assert ffn.words("tf_xla") == units.quantity(ffn.peaks["tf_xla"]) and ffn.in_ended("jax_jit") == ""
    whole = units.quantity(ffn.peaks["tf_xla"])
    assert section.answer.endswith(
        f" Most in ended processes, such as compilers: 1.00 GiB of the {whole} of tf_xla on ffn train."
    )
    (table,) = section.tables()
    line = next(line for line in table.lines if line[0] == "ffn train")
    assert line[table.heads.index("tf_xla")] == f"{whole}, 1.00 GiB ended"
    assert not part(report(loaded), PeaksSection).splits
