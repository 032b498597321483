"""The peaks of timed processes, question by question."""

from __future__ import annotations

from dataclasses import replace

from suite import results, units
from suite.answers.show import parts, rows_of
from suite.page.report import Report, report
from suite.sets.rows import Row, accepted
from tests.answers.asking import answered
from tests.page.parts import found
from tests.results.rows import rows_of as rows_with

MIB = 2.0**20


def of(peaks: dict[str, dict[str, float]]) -> list[Row]:
    """Questions, each with the peaks of some stacks in MiB."""
    return [
        row | {"host_peak_build_bytes": size * MIB, "host_peak_step_bytes": size * MIB, "host_file_bytes": 0}
        for place, (_, stacks) in enumerate(peaks.items())
        for stack, size in stacks.items()
        for row in rows_with({stack: [0.01] * 2}, dims={"n": 64 + place})
    ]


def test_a_peak_is_the_greatest_of_the_timed_processes_that_count(made: Report, loaded: results.Results) -> None:
    table = found(made, "peaks").table
    lines = {(line["question"], line["stack"]): line for line in table.iter_rows(named=True)}
    rows = [r for r in accepted(loaded.rows) if r["workload"] == "ffn" and r["stack"] == "jax_jit"]
    most = max(r["host_peak_step_bytes"] - r["host_file_bytes"] for r in rows)
    assert lines["ffn train", "jax_jit"]["peak_bytes"] == most
    assert lines["selu forward", "torch_inductor"]["ended"].startswith("wrong result"), "and its peak stands beside it"
    assert lines["selu forward", "torch_inductor"]["peak_bytes"]
    assert (lines["selu forward", "torch_xla"]["peak_bytes"], lines["selu forward", "torch_xla"]["ended"]) == (
        None,
        "unsupported",
    )
    (shown,) = parts(table, across="stack")
    overview = made.overview
    assert overview and tuple(head.title for head in shown.heads[1:]) == overview.shown.columns, "as on the map"
    (line,) = [line for line in rows_of(shown) if line[0] == "ffn train"]
    assert units.quantity(most) in line


def test_the_answer_names_the_stacks_that_lead_most_often() -> None:
    answer = answered(
        "peaks",
        of(
            {
                "a": {"numpy": 100, "jax_jit": 200, "tf_xla": 300},
                "b": {"numpy": 101, "jax_jit": 200, "tf_xla": 300},
                "c": {"jax_jit": 200, "tf_xla": 299},
            }
        ),
        "tf_xla",
    )
    assert "numpy on 2 of 3 questions (100 MiB to 101 MiB)" in answer.sentence
    assert "tf_xla on 3 of 3 questions (299 MiB to 300 MiB)." in answer.sentence
    tied = answered("peaks", of({"a": {"numpy": 100, "jax_jit": 200}, "b": {"numpy": 300, "jax_jit": 200}}), "numpy")
    assert (
        "numpy and jax_jit on 1 of 2 questions each" in tied.sentence or "jax_jit and numpy on 1 of 2" in tied.sentence
    )


def test_what_ended_processes_held_is_told_apart_from_the_step(loaded: results.Results) -> None:
    """The cgroup saw 1 GiB more than the process in the third block, which isn't gated."""
    more = 2.0**30
    rows = [
        row | {"cgroup_anonymous_bytes": row["host_peak_step_bytes"] - row["host_file_bytes"] + more}
        if (row["workload"], row["stack"], row["block"]) == ("ffn", "tf_xla", 3)
        else row
        for row in loaded.rows
    ]
    answer = found(report(replace(loaded, rows=rows)), "peaks")
    ended = answer.table.drop_nulls("ended_bytes")
    assert ended.select("question", "stack", "ended_bytes").rows() == [("ffn train", "tf_xla", more)]
    assert "1.00 GiB, of the" in answer.sentence and "of tf_xla on ffn train" in answer.sentence
    assert not found(report(loaded), "peaks").table["ended_bytes"].drop_nulls().len()
