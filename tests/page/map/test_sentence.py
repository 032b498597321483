"""The first sentence claims what the map shows, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite import results
from suite.page.map.controls import PageMap
from suite.results.analysis import Analysis
from tests.page import synthetic
from tests.results.rows import rows_of

STACKS = ("numpy", "jax_jit", "torch_inductor", "tf_xla", "tf_graph", "torch_xla")


def analysed(times: dict[int, dict[str, float]], baseline: str = "numpy") -> Analysis:
    """Sizes of gemm, each with its stacks' seconds, in three calm blocks."""
    rows = [
        row
        for n, of in times.items()
        for row in rows_of({stack: [t, 1.005 * t, 0.995 * t] for stack, t in of.items()}, dims={"n": n})
    ]
    return results.Results(Path("wins"), None, rows, [], {}).analysis(baseline)


def test_those_who_lead_are_named_with_their_question_and_ratio() -> None:
    times = {
        64: {"numpy": 0.02, "jax_jit": 0.0100, "tf_xla": 0.0101, "tf_graph": 0.03},
        65: {"numpy": 1.0, "jax_jit": 3.0},
    }
    assert PageMap(analysed(times)).sentence == (
        "jax_jit and tf_xla share the lead on gemm forward (n = 64) (1.98 to 2.00× numpy); numpy leads gemm forward "
        "(n = 65)."
    )


def test_many_who_lead_together_are_counted() -> None:
    near = {stack: 0.01 * (1 + place / 1000) for place, stack in enumerate(STACKS)}
    assert PageMap(analysed({64: near})).sentence == "None of six stacks is shown to be faster on gemm forward."
    behind = near | {"tf_graph": 0.02}
    assert PageMap(analysed({64: behind})).sentence == "Five stacks, numpy among them, share the lead on gemm forward."
    faster = near | {"numpy": 0.02}
    assert PageMap(analysed({64: faster})).sentence.startswith(
        "Five stacks share the lead on gemm forward (1.99 to 2.00×"
    )


def test_of_many_questions_it_is_counted_who_leads() -> None:
    wins = {2: "torch_inductor", 3: "torch_inductor", 4: "tf_xla"}
    times = {}
    for number in range(8):
        times[64 + number] = dict.fromkeys(STACKS, 0.002) | {wins.get(number, "jax_jit"): 0.001}
    said = PageMap(analysed(times)).sentence
    first, second, third = said.split("; ")
    assert first == "jax_jit leads 5 of 8 questions alone (2.00× numpy)"
    assert (second, third) == ("torch_inductor leads 2 alone", "tf_xla leads 1 alone.")
    assert len(said.split()) <= 40


def test_one_block_decides_nothing(tmp_path: Path) -> None:
    made = PageMap(results.load(synthetic.write(tmp_path / "set", blocks=1)).analysis())
    assert made.sentence.startswith("One block decides nothing: jax_jit has the lowest median on ")
    assert not any(square.leads for row in made.shown.rows for square in row.squares)


def test_a_set_without_times_says_so(loaded: results.Results) -> None:
    rows = [row | {"outcome": "error", "reason": "x", "synced_seconds": None} for row in loaded.rows]
    analysis = results.Results(loaded.path, loaded.plan_file, rows, [], {}).analysis()
    assert PageMap(analysis).sentence == "No question has two stacks with times that count."


@pytest.mark.parametrize("baseline", ["torch_eager", "jax_jit"])
def test_it_says_what_the_frames_show(loaded: results.Results, baseline: str) -> None:
    made = PageMap(loaded.analysis(baseline))
    for row in made.shown.rows:
        leading = [stack for stack, square in zip(made.shown.columns, row.squares, strict=True) if square.leads]
        assert leading and all(stack in made.sentence for stack in leading[:1]) and row.name in made.sentence
