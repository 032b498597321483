"""Frames of a map: no cell, over whichever baseline, shows a stack to be faster than one that is framed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from suite.page.map.controls import PageMap
from suite.page.sections.timed.headlines import headlines
from suite.results import Results
from suite.results.analysis import Analysis, analyse
from suite.results.baselines import rebased
from suite.results.shown import only
from tests.plan_files import plan_file
from tests.results.rows import rows_of

Pair = tuple[str, str]  # (question, stack)


def restless(seed: int) -> Analysis:
    """Six stacks on two questions. Paces, first runs and steps to host memory differ little, and vary each in its own
    way, so that many pairs are decided in one family and undecided in another."""
    random = np.random.default_rng(seed)
    stacks = {stack: 0.01 * 1.08**place for place, stack in enumerate(STACKS)}
    rows = []
    for n in (64, 65):
        for row in rows_of({stack: [pace] * 4 for stack, pace in stacks.items()}, dims={"n": n}):
            noise = 1 + 3 * STACKS.index(row["stack"]) % 4
            steady, first, host = (stacks[row["stack"]] * np.exp(random.normal(0, 0.03 * noise, 3))).tolist()
            rows.append(row | {"synced_seconds": [steady], "first_seconds": 9 * first, "fetch_seconds": [host]})
    return analyse(rows, plan_file(), plan_file().plan.protocol, "jax_jit", None)


STACKS = ("torch_eager", "numpy", "jax_jit", "torchax_jit", "tf_xla", "tf_graph")


def cells(shown: PageMap, metric: str) -> Iterator[tuple[str, Pair, str, bool]]:
    """(baseline, (question, stack), kind, framed) of all cells by a metric, over each baseline."""
    for baseline, chosen in shown.data["metrics"][metric]["maps"].items():
        for question, of_question in chosen["cells"].items():
            for stack, cell in of_question.items():
                kind, *classes = cell["css"].split()
                yield baseline, (question, stack), kind, "leads" in classes


@pytest.mark.parametrize("metric", ["steady", "first", "host"])
def test_no_cell_over_any_baseline_contradicts_a_frame(metric: str) -> None:
    contested = 0
    for seed in range(8):
        shown = PageMap(restless(seed))
        seen = [*cells(shown, metric)]
        slower = {at for _, at, kind, _ in seen if kind == "slower"}
        slower |= {(question, over) for over, (question, _), kind, _ in seen if kind == "faster"}
        framed = {at for _, at, _, is_framed in seen if is_framed}
        assert not framed & slower
        assert {question for question, _ in framed} == {*shown.data["questions"]}, "each question has a frame"
        for baseline in shown.baselines:  # a choice of the baseline doesn't move a frame
            assert framed == {at for over, at, _, is_framed in seen if is_framed and over == baseline}
        own = {at for over, at, kind, _ in seen if over == "jax_jit" and kind not in ("slower", "baseline")}
        contested += len(own & slower)
    assert contested > 8, "over the set's own baseline alone these could have been framed"


def test_a_page_over_one_baseline_has_no_frame_that_its_cells_contradict(loaded: Results) -> None:
    for analysis in (only(loaded.analysis(), ("jax*", "torch*")), only(restless(1), (), ("*64*",))):
        seen = [*cells(PageMap(analysis), "steady")]
        assert {over for over, *_ in seen} == {analysis.baseline}
        faster = {question for _, (question, _), kind, _ in seen if kind == "faster"}
        for _, (question, stack), kind, is_framed in seen:
            assert not (is_framed and (kind == "slower" or (stack == analysis.baseline and question in faster)))
        assert any(is_framed for *_, is_framed in seen)


# By its restless processes numpy has the lowest median, though it isn't shown to be faster than anybody; jax_jit isn't
# slower than numpy, but slower than tf_xla.
RESTLESS = {
    "numpy": [0.0080, 0.0118, 0.0092, 0.0112, 0.0085, 0.0101],
    "tf_xla": [0.0100, 0.01001, 0.00999, 0.0100, 0.01002, 0.00998],
    "jax_jit": [0.0105, 0.01051, 0.01049, 0.0105, 0.01052, 0.01048],
}


def test_no_frame_is_around_a_stack_that_is_slower_than_one_that_is_not_the_baseline() -> None:
    analysis = analyse(rows_of(RESTLESS), plan_file(), plan_file().plan.protocol, "numpy", None)
    [own] = headlines(analysis)
    assert own.lowest == "numpy" and {*own.rivals} == {"tf_xla"}
    seen = [*cells(PageMap(analysis), "steady")]
    assert ("tf_xla", "jax_jit", "slower") in {(over, stack, kind) for over, (_, stack), kind, _ in seen}
    assert {(over, stack) for over, (_, stack), _, is_framed in seen if is_framed} == {
        (over, stack) for over in RESTLESS for stack in ("numpy", "tf_xla")
    }


def test_frames_are_among_those_of_the_answer_over_the_chosen_baseline(loaded: Results) -> None:
    analysis = loaded.analysis()
    shown = PageMap(analysis)
    by_baseline = {baseline: headlines(rebased(analysis, baseline)) for baseline in shown.baselines}
    framed = 0
    for baseline, (question, stack), _, is_framed in cells(shown, "steady"):
        answer = by_baseline[baseline][[*shown.data["questions"]].index(question)]
        assert not is_framed or stack in (answer.lowest, *answer.rivals)
        framed += is_framed
    assert framed >= 3 * len(shown.baselines)
    for metric in ("memory", "steps"):
        assert not any(is_framed for *_, is_framed in cells(shown, metric)), "there are no verdicts"
