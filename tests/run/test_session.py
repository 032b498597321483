"""Every outcome, every flag, resuming, noise: the pipeline on a stack that does as it is told."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from suite import results
from suite.case import Attempt, Flag, Purpose
from suite.cli.measure.answer import explained
from suite.launch.local import Local
from suite.machine import facts, noise
from suite.plan import layout
from suite.results.outcomes import exit_code
from suite.run import sudden
from suite.run.runner import Runner
from suite.run.session import Session
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row, accepted, metrics_json
from suite.stacks.names import attempt_name
from suite.verdicts.speedups import Pairing
from suite.workloads.catalog import load
from tests.launch.programs import wait_for
from tests.pipeline import Heard, make_plan, make_session, run_scenes
from tests.results.rows import ratios, row_of
from tests.scenes import SCENARIOS

MIB = 2**20


def test_known_sleeps_come_back_as_first_second_steady(tmp_path: Path) -> None:
    row = run_scenes(tmp_path, "calm")["calm"]
    assert row["outcome"] == "ok", row["reason"]
    assert row["first_seconds"] >= 0.060 and row["second_seconds"] >= 0.030
    assert 200e-6 <= min(row["synced_seconds"]) < 0.030 <= row["second_seconds"]
    assert all(d <= s for d, s in zip(row["dispatch_seconds"], row["synced_seconds"], strict=True))
    assert len(row["pipelined_seconds"]) == len(row["fetch_seconds"]) == 10
    assert (row["compiles_first"], row["compiles_second"], row["compiles_steady"]) == (0, 0, 0)
    assert row["relative_error"] < 1e-6
    assert row["host_peak_build_bytes"] > MIB
    assert row["weights_sha256"]


@pytest.mark.parametrize(
    ("scene", "outcome", "words"),
    [
        ("segfault", "crashed", "signal 11"),
        ("silent", "error", "without results"),
        ("garbage", "error", "events.jsonl"),
        ("raise", "error", "the story ends here"),
        ("oom", "oom_host", "MemoryError"),
        ("unsupported", "unsupported", "refuses this scene"),
        ("wrong", "wrong", "forward output"),
        ("flood", "ok", ""),
    ],
)
def test_every_ending_is_a_row_with_its_reason(tmp_path: Path, scene: str, outcome: str, words: str) -> None:
    row = run_scenes(tmp_path, scene)[scene]
    assert row["outcome"] == outcome
    assert words in (row["reason"] or "")
    assert exit_code([row]) == {"crashed": 3, "error": 3, "wrong": 3, "unsupported": 4}.get(outcome, 0)
    assert (tmp_path / "latest").exists() == (outcome != "unsupported")


@pytest.mark.parametrize(
    ("scene", "flag"), [("recompile", "recompiled"), ("break", "graph_breaks"), ("fallback", "fallback_ops")]
)
def test_nothing_falls_back_in_silence(tmp_path: Path, scene: str, flag: str) -> None:
    assert flag in run_scenes(tmp_path, scene)[scene]["flags"]


def test_a_drifting_stack_has_no_steady_state(tmp_path: Path) -> None:
    row = run_scenes(tmp_path, "drift")["drift"]
    assert Flag.NO_STEADY_STATE in row["flags"]
    assert len(row["synced_seconds"]) == 60, "samples were doubled up to the maximum"


def test_hanging_and_forking_workers_end_at_the_limit_with_their_children(tmp_path: Path) -> None:
    rows = run_scenes(tmp_path, "hang", "fork", compile_timeout_seconds=2.0)  # starting may last longer
    assert {row["outcome"] for row in rows.values()} == {"timeout"}
    assert all(row["phase"] == "second" for row in rows.values())
    assert not processes_with(str(tmp_path))


def test_the_memory_limit_is_an_outcome(tmp_path: Path) -> None:
    row = run_scenes(tmp_path, "allocate", limit=300 * MIB)["allocate"]
    assert row["outcome"] == "oom_host"
    assert "300 MiB" in row["reason"]


def test_a_wrong_stack_leaves_every_ratio_and_is_not_run_again(tmp_path: Path) -> None:
    plan = make_plan(("calm", "wrong"), ("fake", "fake@slow"), blocks=2, blocks_max=2)
    rows = make_session(tmp_path / "set", plan).run()
    wrong = [row for row in rows if row["size"] == "wrong"]
    assert {row["outcome"] for row in wrong} == {"wrong"}
    assert {row["provenance"] for row in wrong if row["block"] == 2} == {"inferred"}
    assert all(row["inferred_from"] for row in wrong if row["block"] == 2)
    found = ratios(rows, "fake", plan.protocol)
    assert [(c.name.split("-")[1], c.stack) for c in found] == [("calm", "fake@slow")]
    assert found[0].ratio.value < 0.8, "the slow variant sleeps twice as long"


def without_reference(folder: Path, **asked: Any) -> Session:
    """A session of two blocks of a scene that no float64 reference and no golden file knows."""
    session = make_session(folder / "set", make_plan(("calm",), blocks=2, blocks_max=2, **asked))
    story = shutil.copytree(SCENARIOS / "story", folder / "story")
    spec = (story / "spec.py").read_text()
    (story / "spec.py").write_text(spec[: spec.index("def reference")])
    (story / "oracle.py").touch()
    session.runner.workloads["story"] = load(story)
    return session


class Later(Heard):
    """Dialects that pass after the first row, with another output."""

    def __init__(self, session: Session, dialects: tuple[str, ...]) -> None:
        super().__init__()
        self.session, self.dialects = session, dialects

    def attempt_ends(self, row: Row) -> None:
        super().attempt_ends(row)
        if len(self.rows) > 1:
            return
        other = [
            metric | {"values": [2.0 * value for value in metric["values"]]}
            for metric in row.metrics
            if metric["kind"] == "digest"
        ]
        for dialect in self.dialects:
            peer = Row(row | {"case_id": dialect, "dialect": dialect, "metrics": metrics_json(other)})
            self.session.runner.agreement.remember(peer)


def test_what_one_dialect_alone_says_is_unverified_from_the_first_row_on(tmp_path: Path) -> None:
    rows = without_reference(tmp_path).run()
    assert [row["outcome"] for row in rows] == ["ok", "ok"]
    assert all(Flag.UNVERIFIED in row["flags"] for row in rows)


def test_a_stack_that_ran_first_is_wrong_once_the_dialects_after_it_agree(tmp_path: Path) -> None:
    session = without_reference(tmp_path)
    session.listener = Later(session, ("torch", "tf"))
    first, contradicted, second = session.run()
    assert (first["outcome"], contradicted["outcome"], second["outcome"]) == ("wrong", "wrong", "wrong")
    assert contradicted["provenance"] == "inferred"
    assert contradicted["reason"].endswith("against tf and torch, which agree")
    assert not any(Flag.UNVERIFIED in row["flags"] for row in (contradicted, second))


def test_what_differs_without_a_majority_differs_in_every_replicate_and_block(tmp_path: Path) -> None:
    session = without_reference(tmp_path, twin=True)
    session.listener = Later(session, ("torch",))
    rows = session.run()
    assert {(row["block"], row["replicate"]) for row in rows} == {(1, 1), (1, 2), (2, 1), (2, 2)}
    for kept in (rows, results.load(tmp_path / "set").rows):  # results.parquet has it, too
        assert {row["outcome"] for row in kept} == {"differ"} and len({row["reason"] for row in kept}) == 1
    assert all(row["synced_seconds"] for row in rows), "their times are shown"
    [line, *_] = explained(exit_code(rows), rows, tmp_path, tmp_path)
    assert line == "Exit code 3: 1 of 1 cases differ."


def test_the_twin_runs_in_every_block_and_is_no_comparison(tmp_path: Path) -> None:
    plan = make_plan(("calm",), ("fake", "fake@slow"), twin=True, blocks=2, blocks_max=2)
    rows = make_session(tmp_path / "set", plan).run()
    assert len(rows) == 6
    assert len(Pairing.of(rows, plan.protocol, "").twins()) == 1
    assert {c.stack for c in ratios(rows, "fake", plan.protocol)} == {"fake@slow"}


def test_a_warm_case_is_primed_in_a_process_of_its_own(tmp_path: Path) -> None:
    plan = make_plan(("calm",), caches=("cold", "warm"))
    rows = make_session(tmp_path / "set", plan).run()
    assert sorted((row["cache"], row["purpose"]) for row in rows) == [
        ("cold", "timed"),
        ("warm", "prime"),
        ("warm", "timed"),
    ]
    prime, warm = (row for row in sorted(rows, key=lambda r: r["position"]) if row["cache"] == "warm")
    assert (prime["purpose"], warm["position"]) == ("prime", prime["position"] + 1)
    assert prime["synced_seconds"] is None
    assert not (tmp_path / "set" / "caches").exists()


def test_interrupted_and_resumed_is_whole_without_duplicates(tmp_path: Path) -> None:
    plan = make_plan(("calm",), ("fake", "fake@slow"), blocks=2, blocks_max=2)
    with pytest.raises(KeyboardInterrupt):
        make_session(tmp_path / "set", plan, Heard(interrupt_after=3)).run()
    assert not (tmp_path / "set" / "manifest.json").exists()
    rows = make_session(tmp_path / "set", plan).run()
    assert [row["block"] for row in rows if Flag.INCOMPLETE_BLOCK in row["flags"]] == [2], "kept, flagged"
    counted = accepted(rows)
    assert sorted((row["block"], row["stack"], row["variant"]) for row in counted) == [
        (1, "fake", ""),
        (1, "fake", "slow"),
        (2, "fake", ""),
        (2, "fake", "slow"),
    ]
    keys = [(r["case_id"], r["block"], r["replicate"], r["purpose"], r["retry"]) for r in rows]
    assert len(keys) == len(set(keys))
    assert ResultSet.open(tmp_path / "set").problems() == []


def test_a_truncated_attempt_is_named_set_aside_and_run_again(tmp_path: Path) -> None:
    plan = make_plan(("calm", "raise"))
    make_session(tmp_path / "set", plan).run()
    victim = next((tmp_path / "set" / "attempts").glob("*calm*.parquet"))
    victim.write_bytes(victim.read_bytes()[:100])
    heard = Heard()
    rows = make_session(tmp_path / "set", plan, heard).run()
    assert [row["size"] for row in heard.rows] == ["calm"]
    assert any(victim.name in note for note in heard.notes)
    assert (tmp_path / "set" / "attempts" / "damaged" / victim.name).exists()
    assert len(accepted(rows)) == 2


def test_again_runs_the_named_outcomes_and_the_last_counts(tmp_path: Path) -> None:
    plan = make_plan(("calm", "raise"))
    make_session(tmp_path / "set", plan).run()
    heard = Heard()
    rows = make_session(tmp_path / "set", plan, heard, frozenset({"error"})).run()
    assert [row["size"] for row in heard.rows] == ["raise"]
    assert heard.counted == [(1, 1)], "what the set has isn't counted again"
    assert len(rows) == 3
    assert max(row["retry"] for row in accepted(rows)) == 2


def test_a_noisy_block_is_run_again_and_the_rejected_one_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = iter([0.1, 0.2, 0.1, 0.1])
    monkeypatch.setattr(noise, "canary", lambda threads: next(calls))
    plan = make_plan(("calm",), noisy_retries=2, canary_drift_max=0.05)
    heard = Heard()
    rows = make_session(tmp_path / "set", plan, heard).run()
    assert [(row["retry"], Flag.REJECTED_BLOCK in row["flags"]) for row in rows] == [(1, True), (2, False)]
    assert [row["retry"] for row in accepted(rows)] == [2]
    assert heard.counted == [(1, 1), (2, 2)]
    assert any("noisy" in note for note in heard.notes)


ORCHESTRATOR = """
import sys
from pathlib import Path
from tests.pipeline import make_plan, make_session
make_session(Path(sys.argv[1]), make_plan(("calm", "hang"), blocks=1)).run()
"""


def test_kill_dash_nine_takes_the_workers_along_and_resume_completes(tmp_path: Path) -> None:
    folder = tmp_path / "set"
    orchestrator = subprocess.Popen([sys.executable, "-c", ORCHESTRATOR, str(folder)], cwd=SCENARIOS.parents[1])
    try:
        wait_for(lambda: [*folder.glob("logs/*hang*/events.jsonl")])
    finally:
        os.kill(orchestrator.pid, signal.SIGKILL)
        orchestrator.wait()
    wait_for(lambda: not processes_with(str(folder)))  # no worker outlives the orchestrator
    shutil.copytree(folder, tmp_path / "oom")
    plan = make_plan(("calm", "hang"), blocks=1, compile_timeout_seconds=2.0)
    rows = make_session(folder, plan).run()
    assert sorted((row["size"], row["outcome"]) for row in accepted(rows)) == [("calm", "ok"), ("hang", "timeout")]
    # The kernel killed for memory meanwhile, for the second time: what ran then isn't run again, unless asked for.
    mark = tmp_path / "oom" / sudden.NAME
    told = json.loads(mark.read_text()) | {"kills": -1}
    mark.write_text(json.dumps(told))
    shutil.copytree(tmp_path / "oom", tmp_path / "once")
    mark.write_text(json.dumps(told | {"ends": {Attempt.from_json(told["attempt"]).case.case_id: 1}}))
    shutil.copytree(tmp_path / "oom", tmp_path / "again")
    rows = make_session(tmp_path / "once", plan).run()
    assert sorted((row["size"], row["outcome"]) for row in accepted(rows)) == [("calm", "ok"), ("hang", "timeout")]
    rows = make_session(tmp_path / "oom", plan).run()
    ends = {row["size"]: (row["outcome"], row["provenance"], row["reason"]) for row in accepted(rows)}
    assert ends["hang"][:2] == ("oom_host", "inferred")
    assert sudden.REASON in ends["hang"][2]
    assert not mark.exists()
    rows = make_session(tmp_path / "again", plan, again=frozenset({"oom_host"})).run()
    assert sorted((row["size"], row["outcome"]) for row in accepted(rows)) == [("calm", "ok"), ("hang", "timeout")]


def test_load_gives_frames_and_ratios(tmp_path: Path) -> None:
    plan = make_plan(("calm",), ("fake", "fake@slow"), blocks=2, blocks_max=2)
    make_session(tmp_path / "set", plan).run()
    loaded = results.load(tmp_path / "set")
    assert len(loaded.frame) == 4
    assert list(loaded.ratios()["stack"]) == ["fake@slow"]
    assert loaded.ratios("fake@slow")["value"][0] > 1.2
    assert results.load(tmp_path / "set" / "results.parquet").ratios("fake")["value"][0] < 0.8


def processes_with(text: str) -> list[int]:
    """Processes whose command line holds a text."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue  # ended meanwhile
        if text in line and int(path.parent.name) != os.getpid():
            found.append(int(path.parent.name))
    return found


# --- explain ---


def test_after_the_blocks_a_process_for_each_case_tells_its_kernels(tmp_path: Path) -> None:
    plan = make_plan(("verbose", "calm"), blocks=2, blocks_max=2, explain=True)
    heard = Heard()
    rows = make_session(tmp_path / "set", plan, heard).run()
    told = [row for row in rows if row["purpose"] == "explain"]
    assert [row["purpose"] for row in heard.rows] == ["timed"] * 4 + ["explain"] * 2
    assert {row["size"]: row.kernels for row in told} == {"verbose": "oneDNN avx512_core", "calm": ""}
    assert [row["outcome"] for row in told] == ["ok", "ok"]
    assert all(row["synced_seconds"] is None and row["first_seconds"] is None for row in told), "nothing is timed"
    assert all(row["relative_error"] is None and row["flags"] == [] for row in told)
    assert exit_code(rows) == 0


def test_a_resumed_run_explains_what_is_left(tmp_path: Path) -> None:
    plan = make_plan(("verbose", "calm"), explain=True)
    with pytest.raises(KeyboardInterrupt):
        make_session(tmp_path / "set", plan, Heard(interrupt_after=3)).run()
    heard = Heard()
    rows = make_session(tmp_path / "set", plan, heard).run()
    assert [row["purpose"] for row in heard.rows] == ["explain"]
    assert sorted(row["size"] for row in rows if row["purpose"] == "explain") == ["calm", "verbose"]


def test_a_case_that_can_t_run_has_nothing_to_explain(tmp_path: Path) -> None:
    rows = make_session(tmp_path / "set", make_plan(("wrong",), explain=True)).run()
    assert [(row["purpose"], row["outcome"], row["provenance"]) for row in rows] == [
        ("explain", "wrong", "inferred"),
        ("timed", "wrong", "measured"),
    ]


class Disturbing(Runner):
    """Flags the first runs of some stacks as disturbed, and runs nothing."""

    times: dict[str, int]

    def run(self, attempt: Attempt, again: bool = False) -> Row:
        left = self.times.get(attempt.case.stack_name, 0)
        self.times[attempt.case.stack_name] = left - 1
        row = row_of(attempt, flags=["disturbed"] if left > 0 else [])
        self.store.write_attempt(attempt_name(attempt), row)
        return row


def disturbed_run(tmp_path: Path, times: dict[str, int], **options: Any) -> tuple[list[Row], Heard]:
    """One block of three stacks of which some are disturbed so many times."""
    plan = make_plan(("calm",), ("fake", "fake@one", "fake@two"), **options)
    heard = Heard()
    session = make_session(tmp_path / "set", plan, heard)
    runner = session.runner
    session.runner = Disturbing(plan, runner.store, runner.workloads, runner.engines, runner.machine_id, runner.cores)
    session.runner.times = times
    return session.run(), heard


def test_a_disturbed_process_is_measured_again_beside_a_baseline_of_its_own(tmp_path: Path) -> None:
    rows, heard = disturbed_run(tmp_path, {"fake@two": 1}, twin=True, disturbed_retries=2)
    assert [(row["variant"], row["replicate"]) for row in heard.rows[4:]] == [("", 3), ("two", 1)]
    assert len(rows) == 6, "not the whole block"
    assert heard.counted == [(1, 4), (2, 4), (3, 4), (4, 4), (5, 6), (6, 6)]
    (counted,) = [row for row in accepted(rows) if row["variant"] == "two"]
    assert counted["flags"] == [] and counted["retry"] == 2
    assert any(note.endswith(": 1.") for note in heard.notes)


def test_a_process_that_stays_disturbed_ends_flagged(tmp_path: Path) -> None:
    rows, heard = disturbed_run(tmp_path, {"fake@one": 9}, disturbed_retries=2)
    assert [row["variant"] for row in heard.rows[3:]] == ["one", "one"]
    (counted,) = [row for row in accepted(rows) if row["variant"] == "one"]
    assert "disturbed" in counted["flags"] and counted["retry"] == 3


def test_a_baseline_that_was_disturbed_is_measured_again_itself(tmp_path: Path) -> None:
    rows, heard = disturbed_run(tmp_path, {"fake": 1}, twin=True, disturbed_retries=1)
    assert {row["variant"] for row in heard.rows[4:]} == {""}
    assert {row["replicate"] for row in accepted(rows) if row["variant"] == "" and not row["flags"]} >= {1, 2}


def test_a_check_runs_its_processes_at_once_and_each_has_its_row(tmp_path: Path) -> None:
    scenes = ("calm", "slow", "wrong", "raise")
    heard = Heard()
    rows = make_session(tmp_path / "set", make_plan(scenes, ("fake", "fake@slow"), at_once=True), heard).run()
    found = {(row["size"], row.stack_name): row["outcome"] for row in rows}
    assert found == {
        (scene, stack): {"wrong": "wrong", "raise": "error"}.get(scene, "ok")
        for scene in scenes
        for stack in ("fake", "fake@slow")
    }
    assert not any(Flag.DISTURBED in row["flags"] for row in rows), "that would say nothing"


def test_a_check_starts_first_what_takes_longest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = make_session(tmp_path / "set", make_plan(("calm",), at_once=True))
    [attempt] = layout.block(session.runner.plan, 1)
    attempts = [replace(attempt, case=replace(attempt.case, stack=stack)) for stack in ("numpy", "torch_inductor")]
    order: list[str] = []
    monkeypatch.setattr(session, "at_once", lambda pairs, _: order.extend(it.case.stack for it, _ in pairs))
    session.processes(attempts)
    assert order == ["torch_inductor", "numpy"]


def test_processes_that_only_name_libraries_run_at_once_and_those_that_explain_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = []
    for asked in ({"kernels": True}, {"explain": True}):
        session = make_session(tmp_path / "-".join(asked), make_plan(("calm",), ("fake", "fake@slow"), **asked))
        monkeypatch.setattr(session, "at_once", lambda pairs, most: counts.append((len(pairs), most)))
        session.outside(Purpose.EXPLAIN)
    assert counts == [(2, min(2, len(facts.usable_cores())))]


@pytest.mark.parametrize(("at_once", "imports"), [(False, ["import numpy"]), (True, [])])
def test_only_for_times_packages_are_imported_beforehand(tmp_path: Path, at_once: bool, imports: list[str]) -> None:
    runner = make_session(tmp_path / "set", make_plan(("calm",), at_once=at_once)).runner
    engine, ran = Local(tmp_path / "python"), []
    engine.warm_up = ran.append  # type: ignore[method-assign, assignment]
    for _ in range(2):
        runner.warm_up("numpy@1.26", engine)
    assert ran == imports


def test_a_program_imports_an_interpreter_s_packages_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    for _ in range(2):  # engines of two runs
        Local(Path(sys.executable)).warm_up(f"open({str(log)!r}, 'a').write('imported ')")
    assert log.read_text() == "imported "
