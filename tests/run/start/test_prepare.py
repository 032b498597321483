"""How a run begins: what is written before anything runs, and when a set may be completed."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from suite.environments.locks import NOT_ON_ARM
from suite.errors import UserError
from suite.machine import facts
from suite.plan import layout, preset
from suite.plan.planning import Selection
from suite.run.start import engines
from suite.run.start.prepare import prepare
from suite.run.start.reopen import reopen
from suite.run.start.reproduce import prepare_reproduction
from suite.run.start.run import Run, create, needed, runner
from suite.sets.result_set import ResultSet, write_json
from suite.stacks import catalog
from tests.scenes import FAKE, FAKE_ADAPTER, SCENARIOS

SELECTION = Selection(workloads=("gemm",), stacks=("numpy", "jax_jit"), passes=("forward",), threads=(1,))
TINY = preset.load("tiny")


def prepared(**changes: Any) -> Run:
    """Two stacks on a tiny product, on the local engine."""
    return prepare(TINY, dataclasses.replace(SELECTION, **changes), engine=engines.LOCAL)


def test_the_plan_and_what_it_takes_to_run_it_again_are_kept(tmp_path: Path) -> None:
    run = prepared()
    store = create(run, TINY.path, ["run", "--preset=tiny"], tmp_path)
    file = ResultSet.open(store.folder).plan_file
    assert (file.command, file.target, file.engine) == ("./stackwars run --preset=tiny", "cpu", "local")
    assert file.plan == run.plan
    assert file.units == {"gemm": "rows"}
    assert set(file.locks) == {"numpy", "jax"}
    assert all(store.lock_copy(name).is_file() for name in file.locks)
    kept = {path.name for path in (store.folder / "inputs").iterdir()}
    assert {"tiny.toml", "revision.txt", "diff.patch"} <= kept
    assert store.machine["machine_id"] == facts.machine_id()
    assert not (tmp_path / "latest").exists(), "nothing was measured yet"


def test_a_stack_without_wheels_for_the_processor_is_unsupported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    run = prepared(stacks=("numpy", "torch_xla"))
    reasons = {planned.case.stack: planned.unsupported for planned in run.plan.cases}
    assert reasons == {"numpy": None, "torch_xla": NOT_ON_ARM["torch_xla"]}
    assert needed(run.plan) == ["numpy"]


def test_workloads_and_stacks_from_outside_are_kept_whole(tmp_path: Path) -> None:
    asked = Selection(workloads=("story",), stacks=("fake",), sizes=("calm",), threads=(1,))
    catalog.add([FAKE])
    run = prepare(TINY, asked, engine=engines.LOCAL, workload_paths=[SCENARIOS])
    store = create(run, TINY.path, ["run"], tmp_path)
    assert (store.folder / "inputs" / "workloads" / "story" / "spec.py").is_file()
    assert (store.folder / "inputs" / "stacks" / "fake_adapter.py").read_text() == FAKE_ADAPTER.read_text()
    del catalog.STACKS["fake"]
    reopened, again = reopen(store.folder)
    assert catalog.STACKS["fake"].file == FAKE_ADAPTER
    assert again.plan == run.plan
    assert again.workloads["story"].folder == run.workloads["story"].folder
    assert reopened.plan_file == store.plan_file


def test_a_set_s_own_stack_is_never_run_from_it(tmp_path: Path) -> None:
    asked = Selection(workloads=("story",), stacks=("fake",), sizes=("calm",), threads=(1,))
    catalog.add([FAKE])
    run = prepare(TINY, asked, engine=engines.LOCAL, workload_paths=[SCENARIOS])
    store = create(run, TINY.path, ["run"], tmp_path)
    del catalog.STACKS["fake"]
    with pytest.raises(UserError, match=r"the stack fake .*Read it in inputs/stacks, then --stack-path"):
        prepare_reproduction(store, engines.LOCAL, [SCENARIOS])
    assert "fake" not in catalog.STACKS
    catalog.add([FAKE])
    assert prepare_reproduction(store, engines.LOCAL, [SCENARIOS]).plan.cases == run.plan.cases


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"machine_id": "another"}, "begun on another machine"),
        ({"locks": {"numpy": "0" * 64}}, "another lock of environment 'numpy'"),
        ({"schema_version": 2}, "schema version 2; this program reads"),
    ],
)
def test_what_can_t_be_paired_is_not_completed(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    store = create(prepared(), TINY.path, ["run"], tmp_path)
    fields = json.loads((store.folder / "plan.json").read_text()) | changes
    write_json(store.folder / "plan.json", fields)
    with pytest.raises(UserError, match=said):
        reopen(store.folder)


def test_a_question_that_was_edited_is_neither_resumed_nor_measured_on(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    text = "from suite.ask import normal\ndef inputs():\n return {'x': normal(4)}\ndef numpy_a(x):\n return x + x\n"
    file.write_text(text)
    asked = Selection(workloads=("mine",), stacks=("numpy",), threads=(1,))
    run = prepare(
        dataclasses.replace(TINY, questions=(preset.Question("mine", "forward", "asked"),)),
        asked,
        engine=engines.LOCAL,
        workload_paths=[file],
    )
    store = create(run, TINY.path, ["run"], tmp_path / "results")
    measuring = runner(store, run)
    (attempt,) = layout.block(run.plan, 1)
    for edited in (text.replace("(4)", "(400)"), text.replace("x + x", "x * 2"), f"{text}def ("):
        file.write_text(edited)
        with pytest.raises(UserError, match=r"mine\.py was changed since the run began"):
            measuring.prepare(attempt)
        with pytest.raises(UserError, match=r"mine\.py (was changed since the run began|can't be loaded)"):
            reopen(store.folder)
    file.write_text(f"# A comment changes nothing.\n{text}")
    reopen(store.folder)


def test_nothing_selected_is_a_mistake() -> None:
    nothing = dataclasses.replace(TINY, questions=())
    with pytest.raises(UserError, match="Nothing is selected"):
        prepare(nothing, Selection(threads=(1,)), engine=engines.LOCAL)


def test_another_processor_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = create(prepared(), TINY.path, ["run"], tmp_path)
    monkeypatch.setattr(facts, "cache_sizes", lambda: {"L3 Unified": "1K"})
    with pytest.raises(UserError, match="they differ in: caches "):
        reopen(store.folder)
