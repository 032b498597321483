"""`./stackwars predict`: what it refuses, what it plans, and the programs of a set."""

from __future__ import annotations

import gzip
import json
import shlex
from dataclasses import asdict
from pathlib import Path

import pytest

from suite.case import Attempt, Planned, Purpose
from suite.cli.measure import predict
from suite.cli.measure.predict import PredictOptions, prediction_instead
from suite.cli.options import RunOptions
from suite.cli.sets.programs import program_of
from suite.cli.terminal.progress import listener
from suite.environments import venv
from suite.environments.locks import Lock
from suite.errors import UserError
from suite.guard.held import held_by_all
from suite.ir import files
from suite.launch.process import Exit
from suite.machine import noise
from suite.plan import layout
from suite.plan.durations import COMPILE_SECONDS, attempt_seconds, plan_seconds
from suite.predict.answer import CompileAnswer
from suite.predict.devices import Device, find
from suite.results import load
from suite.run import frontier
from suite.run.predictions import Compiler
from suite.run.runner import Runner
from suite.run.session import Session
from suite.run.start.prepare import prepare
from suite.run.start.run import Run
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row
from tests.plan_files import plan_file
from tests.predict.answers import answer, compiled, prediction
from tests.results.rows import attempt_of, row_of
from tests.run.test_predictions import ENDED, STEP, captured
from tests.typed import parsed

MODULE = "module { func.func @main() { return } }"
MADE = venv.Environment(Path("/python"), Lock("predict", "predict", Path("lock")))


def test_a_device_is_of_its_target_and_the_default_is_the_target_s_first() -> None:
    assert [device.name for device in PredictOptions().devices] == ["v6e-1"]
    assert [device.name for device in PredictOptions(target="cuda").devices] == ["h100"]
    both = PredictOptions(device=("v6e-1", "h200", "v6e-1")).devices
    assert [device.name for device in both] == ["v6e-1", "h200"]
    with pytest.raises(UserError, match="v6e-1 is a device of --target=tpu"):
        _ = PredictOptions(target="cuda", device=("v6e-1",)).devices


def planned_of(options: PredictOptions) -> Run:
    return prepare(options.chosen_preset(), options.selection([0]), engine="local", build=False, **options.prepared)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"set": "a", "program": "b"}, "choose one"),
        ({"program": "b", "workload": ("gpt2",)}, "leave out --workload"),
        ({"set": "a", "preset": "large"}, "leave out --preset"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(UserError, match=said):
        PredictOptions(**options).check()  # type: ignore[arg-type]


def test_an_unknown_device_is_refused_before_anything_is_made() -> None:
    with pytest.raises(UserError, match="Did you mean 'h200'"):
        predict.predict(options=PredictOptions(device=("h20",)))


def test_the_plan_captures_on_the_cpu_and_predicts_for_each_device() -> None:
    options = PredictOptions(device=("v6e-1", "h100"), workload=("gpt2",), size=("tiny",))
    asked = planned_of(options)
    by_purpose: dict[Purpose, list[str]] = {}
    for attempt in layout.runnable(asked.plan):
        by_purpose.setdefault(attempt.purpose, []).append(f"{attempt.case.device} {attempt.case.stack}")
    xla = ["jax_jit", "torch_xla", "torchax_jit", "tf_xla"]
    assert {purpose: sorted(places) for purpose, places in by_purpose.items()} == {
        Purpose.IR: sorted(f"cpu {stack}" for stack in (*xla, "torch_eager")),
        Purpose.PREDICT: sorted(
            [f"v6e-1 {stack}" for stack in xla]
            + [f"h100 {stack}" for stack in (*xla, "torch_eager") if stack != "torch_xla"]
        ),
    }
    kept = layout.outside(asked.plan, Purpose.IR)
    captures = sum(attempt_seconds(attempt, asked.workloads, asked.plan.protocol) for attempt in kept)
    assert plan_seconds(asked.plan, asked.workloads) == pytest.approx(captures + 8 * COMPILE_SECONDS)
    refused = [planned for planned in asked.plan.predictions if planned.unsupported]
    assert [planned.unsupported for planned in refused] == [
        (
            "PyTorch, eager doesn't run on tpu: there its code runs on torch_xla, torchax_jit, torch_tpu_eager, "
            "torch_tpu_fused, torch_tpu_compiled"
        ),
        "PyTorch/XLA doesn't run on cuda: there its code runs on torch_eager, torch_inductor, torchax_jit",
    ]


def test_stacks_without_a_program_are_unsupported_with_the_reason() -> None:
    stacks = ("jax_eager", "torch_eager", "torch_inductor")
    options = PredictOptions(target="cuda", workload=("gpt2",), size=("tiny",), stack=stacks)
    asked = planned_of(options)
    eager, followed, inductor = (planned.unsupported for planned in asked.plan.predictions)
    assert eager == "JAX, op by op runs operation by operation: it hands no whole step to a compiler"
    assert followed is None, "its allocations are followed"
    assert inductor and inductor.startswith("PyTorch, torch.compile generates kernels on the device")


def test_a_batch_must_be_divisible_among_chips() -> None:
    options = PredictOptions(
        device=("v6e-4",), workload=("gpt2",), size=("tiny",), dims=("batch=2", "batch=8"), stack=("jax_jit",)
    )
    asked = planned_of(options)
    reasons = {planned.case.dims["batch"]: planned.unsupported for planned in asked.plan.predictions}
    assert reasons == {2: "a batch of 2 can't be split among 4 chips", 8: None}


def test_a_machine_without_the_accelerator_names_the_command_with_the_same_options() -> None:
    options = RunOptions(target="tpu", preset="large", workload=("gpt2",), precision=("bf16",), repeats=2, force=True)
    command = prediction_instead(options)
    assert command == "./stackwars predict --workload=gpt2 --precision=bf16 --preset=large"
    typed = shlex.split(command)[2:]
    assert parsed(["predict", *typed])[1] == PredictOptions(
        target="tpu", preset="large", workload=("gpt2",), precision=("bf16",)
    )


def test_a_program_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        program_of(str(tmp_path / "none.mlir"))
    cut = tmp_path / "cut.mlir.gz"
    cut.write_bytes(b"\x1f\x8b\x08\x00")
    with pytest.raises(UserError, match="isn't a whole gzip file"):
        program_of(str(cut))


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Compilers that say that everything fits, without any environment. The list gets the devices that were asked."""
    asked: list[str] = []

    def compile_(
        self: Compiler, device: Device, program: bytes, folder: Path, **_: object
    ) -> tuple[CompileAnswer, Exit]:
        asked.append(device.name)
        return answer(compiled(argument=2**30, peak=2**31)), ENDED

    monkeypatch.setattr(Compiler, "compile", compile_)
    monkeypatch.setattr(venv, "ensure", lambda *_: MADE)
    return asked


@pytest.mark.parametrize("what", ["a new run", "a set"])
def test_beside_another_run_nothing_is_installed_before_the_refusal(
    what: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made: list[str] = []
    monkeypatch.setattr(venv, "ensure", lambda *names: made.append(names[0]))
    options = PredictOptions(workload=("gpt2",), size=("tiny",), stack=("jax_jit",), results=str(tmp_path))
    if what == "a set":
        store = ResultSet.create(tmp_path / "a-set", plan_file())
        row = captured(store)
        store.write_attempt(row.attempt_name, row)
        store.commit()
        options = PredictOptions(set=str(store.folder))
    with held_by_all(noise.LOCK, "Another run", "…"), pytest.raises(UserError, match="Another run is going on here"):
        predict.predict(options=options)
    assert made == []


def test_a_file_is_compiled_and_nothing_is_kept(
    told: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.mlir"
    file.write_text(MODULE)
    assert predict.predict(options=PredictOptions(program=str(file), device=("v6e-1", "a100"))) == 0
    assert told == ["v6e-1", "a100"]
    shown = capsys.readouterr().out
    assert "v6e-1" in shown and "2.00 GiB" in shown and "1.00 GiB" in shown
    predict.predict(options=PredictOptions(program=str(file), json=True))
    (device,) = json.loads(capsys.readouterr().out)["devices"]
    assert (device["device"], device["outcome"], device["compiled"]["needed_bytes"]) == ("v6e-1", "ok", 2**31)
    assert not [*tmp_path.glob("20*")]


def test_a_set_gets_a_row_for_each_of_its_programs_and_devices(
    told: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ResultSet.create(tmp_path / "a-set", plan_file())
    row = captured(store)
    case = row.case
    store = ResultSet.create(tmp_path / "b-set", plan_file(cases=(Planned(case),), baseline="jax_jit"))
    row = captured(store)
    store.write_attempt(row.attempt_name, row)
    store.commit()
    options = PredictOptions(set=str(store.folder), device=("v6e-1", "h100"), force=True)
    assert predict.predict(options=options) == 0
    assert sorted(told) == ["h100", "v6e-1"], "compiled side by side, in no certain order"
    rows = [row for row in load(store.folder).rows if row["purpose"] == "predict"]
    assert {(row["device"], row["outcome"], row["provenance"]) for row in rows} == {
        ("v6e-1", "ok", "predicted"),
        ("h100", "ok", "predicted"),
    }
    assert "Predicted" in (store.folder / "report.html").read_text(encoding="utf-8")
    assert not ResultSet(store.folder).problems(), "the manifest is of all that is there"
    assert predict.predict(options=options) == 0, "asked again, nothing is compiled again"
    assert len(told) == 2


def test_a_damaged_and_a_changed_program_of_a_set_leave_the_others_their_verdict(
    told: list[str], tmp_path: Path
) -> None:
    stacks = ("jax_jit", "tf_xla", "torchax_jit", "torch_xla")
    cases = tuple(Planned(attempt_of(stack).case) for stack in stacks)
    store = ResultSet.create(tmp_path / "a-set", plan_file(cases=cases, baseline="jax_jit"))
    kept = {stack: captured(store, stack=stack) for stack in stacks}
    for row in kept.values():
        store.write_attempt(row.attempt_name, row)
    store.commit()
    cut, changed = (store.program_path(kept[stack].attempt_name, STEP.name) for stack in ("tf_xla", "torchax_jit"))
    cut.write_bytes(cut.read_bytes()[:-9])
    changed.write_bytes(gzip.compress(MODULE.encode()))
    assert predict.predict(options=PredictOptions(set=str(store.folder), device=("v6e-1",), force=True)) == 3
    rows = {row["stack"]: row for row in load(store.folder).rows if row["purpose"] == "predict"}
    assert {stack: row["outcome"] for stack, row in rows.items()} == dict.fromkeys(stacks, "ok") | {
        "tf_xla": "error",
        "torchax_jit": "error",
    }
    assert "isn't a whole gzip file" in rows["tf_xla"]["reason"]
    assert "was changed after its set was whole" in rows["torchax_jit"]["reason"]
    assert told == ["v6e-1", "v6e-1"]


@pytest.mark.parametrize("which", ["the program", "the compiler's program"])
def test_a_program_that_was_changed_stays_refused_for_the_next_device(
    which: str, told: list[str], tmp_path: Path
) -> None:
    """What a prediction adds to the set doesn't vouch for a file that was changed before it."""
    case = attempt_of("jax_jit").case
    store = ResultSet.create(tmp_path / "a-set", plan_file(cases=(Planned(case),), baseline="jax_jit"))
    row = captured(store)
    program = store.program_path(row.attempt_name, STEP.name)
    optimized = program.with_name(f"{STEP.name}{files.OPTIMIZED}.gz")
    optimized.write_bytes(gzip.compress(b"HloModule step\n"))
    store.write_attempt(row.attempt_name, row)
    store.commit()
    changed = program if which == "the program" else optimized
    changed.write_bytes(gzip.compress(MODULE.encode()))
    for device in ("v6e-1", "h100"):
        assert predict.predict(options=PredictOptions(set=str(store.folder), device=(device,), force=True)) == 3
        (verdict,) = (row for row in load(store.folder).rows if row["device"] == device)
        assert verdict["outcome"] == "error" and "was changed after its set was whole" in verdict["reason"]
        assert store.problems() == [f"{changed.relative_to(store.folder)} was changed"]
    assert not told


def test_a_search_compiles_until_the_largest_that_fits_is_known(
    monkeypatch: pytest.MonkeyPatch, told: list[str], tmp_path: Path
) -> None:
    """Each size's program is captured once, by the fake process of a runner, and compiled for both devices."""
    options = PredictOptions(
        device=("v5e-1", "v6e-1"), workload=("gpt2",), size=("tiny",), stack=("jax_jit",), vary="batch", tolerance="10%"
    )
    planned = planned_of(options)
    assert [each.case.dims["batch"] for each in planned.plan.cases] == [1]
    captures: list[int] = []
    compiles: dict[str, list[int]] = {"v5e-1": [], "v6e-1": []}

    def run(attempt: Attempt, again: bool) -> Row:
        batch = attempt.case.dims["batch"]
        if attempt.purpose is Purpose.IR:
            captures.append(batch)
            row = row_of(attempt, **dict.fromkeys(("first_seconds", "second_seconds")))
            runner.captured[attempt.case.case_id] = row
            return row
        compiles[attempt.case.device].append(batch)
        needed = 2**30 + batch * 2**28
        fits = needed <= find(attempt.case.device).chip.memory_bytes
        kept = json.dumps(asdict(prediction(compiled(peak=needed))))
        return row_of(attempt, outcome="ok" if fits else "oom_compile", prediction=kept if fits else None)

    store = ResultSet.create(tmp_path / "a-set", plan_file(cases=planned.plan.cases))
    runner = Runner(planned.plan, store, planned.workloads, predict.unneeded, "a-machine", [0])
    frontier.search(runner, run, Purpose.PREDICT)
    # 16 GiB less 1 GiB are 60 batches of 256 MiB, 32 GiB less 1 GiB are 124.
    assert max(batch for batch in compiles["v5e-1"] if batch <= 60) >= 55 and max(compiles["v5e-1"]) > 60
    assert max(batch for batch in compiles["v6e-1"] if batch <= 124) >= 113 and max(compiles["v6e-1"]) > 124
    assert len(captures) == len(set(captures)), "a size's program is captured once"
    assert set(captures) == {batch for batches in compiles.values() for batch in batches}


def test_a_search_for_an_accelerator_starts_no_memory_process(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    options = PredictOptions(workload=("gpt2",), size=("tiny",), stack=("jax_jit",), vary="batch")
    planned = planned_of(options)
    searched: list[Purpose] = []
    monkeypatch.setattr(frontier, "search", lambda runner, run, purpose, again: searched.append(purpose))
    monkeypatch.setattr(Session, "outside", lambda *_: None)
    store = ResultSet.create(tmp_path / "a-set", plan_file(cases=planned.plan.cases))
    runner = Runner(planned.plan, store, planned.workloads, predict.unneeded, "a-machine", [0])
    Session(runner, listener()).run()
    assert searched == [Purpose.PREDICT]


def test_a_set_without_programs_names_the_command_that_keeps_them(told: list[str], tmp_path: Path) -> None:
    store = ResultSet.create(tmp_path / "a-set", plan_file())
    with pytest.raises(UserError, match="run --purpose=ir"):
        predict.predict(options=PredictOptions(set=str(store.folder)))
    (store.folder / "begun-here").write_text("1\n")
    with pytest.raises(UserError, match="wasn't begun here"):
        predict.predict(options=PredictOptions(set=str(store.folder)))


def test_the_known_devices_are_those_of_the_help() -> None:
    for name in ("v6e-1", "v5e-1", "h100", "h200", "a100"):
        assert find(name).name == name
