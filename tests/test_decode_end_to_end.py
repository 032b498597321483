"""A loop over calls on real frameworks: every stack against the golden files, every wrong decoder wrong, and one
program for all positions."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest

from suite import protocol, results
from suite.ir.findings import StackPrograms
from suite.results.questions.programs import programs_of
from tests.mutations import DECODE_MUTANTS, make_mutant
from tests.runs import TOGETHER, UNWARMED, Asked, Lanes, of

pytestmark = pytest.mark.stacks
WRITTEN = ("jax_jit", "torch_eager", "tf_graph")  # one stack of each dialect
LEFT = ("jax_eager", "torch_inductor", "torch_xla", "torchax_jit", "tf_eager", "tf_xla")
COMPILED = ("jax_jit", "torch_inductor", "torch_xla", "torchax_jit", "tf_xla")
ABSTRACT = ("jax_jit", "torchax_jit", "tf_xla", "torch_eager", "torch_xla")


def mutants(folder: Path, names: Iterable[str]) -> list[str]:
    return [make_mutant(name, folder, DECODE_MUTANTS).name for name in names]


DECODE = ("--workload=decode", "--pass=forward")
# Each on one dialect, in turn; benchmarks/mutants.py has all of them on all.
WRONG = {f"wrong decoders of {stack}": (stack, [*DECODE_MUTANTS][i :: len(WRITTEN)]) for i, stack in enumerate(WRITTEN)}
RUNS = {
    "decode odd": Asked(0.5, (*DECODE, "--size=odd", *of(WRITTEN)), module=TOGETHER),
    "decode left": Asked(3, (*DECODE, "--size=tiny", *of(LEFT)), module=TOGETHER, release=True),
    "decode bf16": Asked(1, (*DECODE, "--size=tiny", "--precision=bf16", *of(WRITTEN)), module=UNWARMED, release=True),
    "decode programs": Asked(
        1.5, (*DECODE, "--size=tiny", "--purpose=ir", *of(COMPILED)), module=UNWARMED, release=True
    ),
    "decode shapes": Asked(
        1, (*DECODE, "--size=tiny", "--purpose=ir", "--abstract", *of(ABSTRACT)), module=UNWARMED, release=True
    ),
} | {
    name: Asked(
        0.5,
        ("--pass=forward", "--size=tiny", *of([stack])),
        partial(mutants, names=names),
        module=TOGETHER,
        release=stack != "torch_eager",
    )
    for name, (stack, names) in WRONG.items()
}


@pytest.mark.parametrize(("run", "stacks"), [("decode odd", WRITTEN), ("decode left", LEFT)])
def test_stacks_compute_a_token_at_a_time_what_the_whole_sequence_gives(
    run: str, stacks: Iterable[str], runs: Lanes
) -> None:
    rows = results.load(runs[run].folder).rows
    assert [(row["stack"], row["outcome"], row["reason"]) for row in rows if row["outcome"] != "ok"] == []
    assert {row["stack"] for row in rows} == set(stacks)
    assert all(0 < row["relative_error"] < protocol.MODEL_TOLERANCE["f32"] for row in rows)
    silent = {"recompiled", "fallback_ops", "graph_breaks"}
    assert [(row["stack"], row["flags"]) for row in rows if silent & set(row["flags"])] == []
    # Eager JAX compiles its operations; PyTorch/XLA an empty cache, a call, and the scores put together.
    most = {"torch_inductor": 1, "tf_graph": 1, "tf_xla": 1, "torch_xla": 3}
    assert [row["stack"] for row in rows if (row["compiles_first"] or 0) > most.get(row["stack"], 99)] == []


@pytest.mark.runs("decode bf16")
def test_mixed_precision_is_mixed_in_each_call(runs: Lanes) -> None:
    rows = results.load(runs["decode bf16"].folder).rows
    assert {row["stack"]: (row["outcome"], row["reason"]) for row in rows} == dict.fromkeys(WRITTEN, ("ok", None))
    assert all(1e-4 < row["relative_error"] < protocol.MODEL_TOLERANCE["bf16"] for row in rows)


@pytest.mark.parametrize(("run", "names"), [(name, names) for name, (_, names) in WRONG.items()])
def test_every_wrong_decoder_ends_as_wrong(runs: Lanes, run: str, names: list[str]) -> None:
    rows = results.load(runs[run].folder).rows
    assert len(rows) == len(names)
    assert [(row["case_name"], row["outcome"]) for row in rows if row["outcome"] != "wrong"] == []


CACHE_BYTES = 4 * 2 * 2 * 2 * 2 * 13 * 16 + 4  # at tiny: layers, keys and values, batch, heads, rows; and the position


@pytest.mark.runs("decode programs")
def test_all_positions_are_one_program_that_writes_the_cache_in_place(runs: Lanes) -> None:
    for row in results.load(runs["decode programs"].folder).rows:
        programs = StackPrograms(row["stack"], programs_of(row))
        assert [program.steps for program in programs.large] == [("first",)], (row["case_name"], row["reason"])
        if row["stack"] != "torch_inductor":
            assert programs.contents.aliased_bytes in (CACHE_BYTES, CACHE_BYTES + 4), row[
                "case_name"
            ]  # 64-bit position


@pytest.mark.runs("decode shapes")
def test_a_call_on_shapes_is_the_program_or_is_refused_with_the_reason(runs: Lanes) -> None:
    rows = {row["stack"]: row for row in results.load(runs["decode shapes"].folder).rows}
    assert rows["torch_xla"]["outcome"] == "unsupported" and "many calls" in rows["torch_xla"]["reason"]
    weights = rows["jax_jit"]["floor_parameters_bytes"]
    for stack in ABSTRACT[:-1]:
        assert rows[stack]["outcome"] == "ok", rows[stack]["reason"]
        assert weights < rows[stack]["program_argument_bytes"] < 1.3 * weights, stack
