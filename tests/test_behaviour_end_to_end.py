"""Every probe on every stack: no cell is empty or an error, and classes are as the frameworks document them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from suite import results
from suite.case import Outcome
from suite.results.questions.behaviour import Observation, observations
from suite.sets.rows import accepted
from suite.workloads.catalog import find
from tests.runs import FEW as DIALECTS
from tests.runs import REST as FURTHER
from tests.runs import TOGETHER, Asked, Lanes

pytestmark = [pytest.mark.stacks, pytest.mark.newest]
PROBES = {name: workload for name, workload in find().items() if workload.is_probe}
ALONE = ("numpy", "jax_jit")  # a process each, as `invoke run` has it
SLOW_TO_IMPORT, OTHERS = ("torch_xla", "torchax_jit"), ("jax_eager", "tf_*")
# Minutes that say little of the probes, not asked here: of Inductor's compiler, and of imports in further processes.
COSTLY = {"torch_inductor": {"control_flow_scale", "numerics"}, "torch_xla": {"prealloc"}, "torchax_jit": {"prealloc"}}


def asked_of(*stacks: str) -> tuple[str, ...]:
    """The options of a run: these stacks, and every probe that none of them takes minutes for."""
    probes = PROBES.keys() - {probe for stack in stacks for probe in COSTLY.get(stack, ())}
    return (*(f"--workload={name}" for name in sorted(probes)), *(f"--stack={stack}" for stack in stacks))


FEW = {"probes-alone": Asked(1, asked_of(*ALONE)), "probes-eager": Asked(0.5, asked_of("torch_eager"), module=TOGETHER)}
REST = {
    "probes-torch": Asked(4, asked_of(*SLOW_TO_IMPORT), module=TOGETHER, release=True),
    "probes-inductor": Asked(3, asked_of("torch_inductor"), module=TOGETHER, release=True),
    "probes-others": Asked(2.5, asked_of(*OTHERS), module=TOGETHER, release=True),
}
RUNS = FEW | REST
OF_FEW = {*ALONE, "torch_eager"}
Cell = tuple[str, str, str]

# What a page says in general and this build of the framework does otherwise: shown on the page with both, and here.
KNOWN_OTHERWISE: dict[Cell, str] = {
    ("prng", "compiled_stream", "tf_xla"): "differ"  # tf.random.set_seed promises the same; XLA ignores TF's seeds
}


@cache
def cells_of(*folders: Path) -> dict[Cell, Observation]:
    """Every cell, by (probe, aspect, stack)."""
    rows = [row for folder in folders for row in accepted(results.load(folder).rows)]
    return {(cell.row.text("workload"), cell.aspect, cell.stack): cell for cell in observations(rows)}


@pytest.fixture(
    params=[
        pytest.param((FEW, OF_FEW), marks=pytest.mark.runs(*FEW), id="few"),
        pytest.param((REST, {*DIALECTS, *FURTHER} - OF_FEW), marks=pytest.mark.runs(*REST), id="rest"),
    ]
)
def asked(request: pytest.FixtureRequest) -> tuple[dict[str, Asked], set[str]]:
    """Some runs, and their stacks."""
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def cells(asked: tuple[dict[str, Asked], set[str]], runs: Lanes) -> dict[Cell, Observation]:
    return cells_of(*(runs[name].folder for name in asked[0]))


def test_every_process_ends_as_a_result(asked: tuple[dict[str, Asked], set[str]], runs: Lanes) -> None:
    for name in asked[0]:
        assert runs[name].code == 0, runs[name].log
        rows = accepted(results.load(runs[name].folder).rows)
        told = {row["case_name"]: (row.outcome, row["reason"]) for row in rows}
        bad = {case: end for case, end in told.items() if end[0] not in (Outcome.OK, Outcome.UNSUPPORTED)}
        assert not bad


def test_no_cell_is_empty(asked: tuple[dict[str, Asked], set[str]], cells: dict[Cell, Observation]) -> None:
    wanted = {
        (probe, aspect, stack)
        for probe, workload in PROBES.items()
        for aspect in workload.spec.ASPECTS
        for stack in asked[1]
        if probe not in COSTLY.get(stack, ())
    }
    assert wanted <= cells.keys()
    assert {cell for cell, answer in cells.items() if answer.class_ in ("error", "crashed", "")} == set()


def test_every_class_is_one_that_the_spec_explains(cells: dict[Cell, Observation]) -> None:
    for (probe, aspect, stack), answer in cells.items():
        explained = {*PROBES[probe].spec.CLASSES, "unsupported"}
        told = answer.class_.startswith("raises: ") or (aspect == "digest" and len(answer.class_) == 12)
        assert answer.class_ in explained or told, (probe, aspect, stack, answer)


def test_each_answer_quotes_the_code_that_ran(cells: dict[Cell, Observation]) -> None:
    silent = {cell for cell, answer in cells.items() if answer.class_ != "unsupported" and "def " not in answer.code}
    assert silent == set()


def test_what_frameworks_document_is_what_they_do(
    asked: tuple[dict[str, Asked], set[str]], cells: dict[Cell, Observation]
) -> None:
    otherwise = {cell: answer.class_ for cell, answer in cells.items() if answer.is_otherwise}
    assert otherwise == {cell: class_ for cell, class_ in KNOWN_OTHERWISE.items() if cell[2] in asked[1]}
