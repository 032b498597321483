"""Rounds on the fake stack: who holds while whom is sampled, what ends it, and what the ratios are made of."""

from __future__ import annotations

import itertools
import json
import math
import os
import signal
import subprocess
import sys
from pathlib import Path
from statistics import fmean, median
from typing import Any

import pytest

from suite.case import Flag
from suite.launch.turns import WorkerLine
from suite.machine import facts
from suite.run import rounds
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row, accepted
from suite.verdicts.speedups import Pairing
from tests.ctrl_c import on_ctrl_c
from tests.launch.programs import wait_for
from tests.pipeline import Heard, make_plan, make_session
from tests.results.rows import ratios
from tests.run.test_session import processes_with
from tests.scenes import SCENARIOS

MIB = 2**20
IN_ROUNDS: dict[str, Any] = {"sampling": "rounds", "rounds_min": 4, "seconds_min": 0.05, "batch_seconds": 0.1}


def run_in_rounds(folder: Path, scene: str, *stacks: str, heard: Heard | None = None, **options: Any) -> list[Row]:
    """The rows of one scene on some fake stacks, in the order of their starts."""
    plan = make_plan((scene,), stacks or ("fake", "fake@slow"), **IN_ROUNDS | options)
    rows = make_session(folder, plan, heard).run()
    return sorted(rows, key=lambda row: (row["block"], row["retry"], row["position"], row["replicate"]))


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of two blocks: the baseline and its twin, and a slower variant."""
    folder = tmp_path_factory.mktemp("rounds") / "set"
    run_in_rounds(folder, "calm", twin=True, blocks=2, blocks_max=2)
    return folder


@pytest.fixture(scope="module")
def rows(calm: Path) -> list[Row]:
    return ResultSet.open(calm).merged()


def turns_of(folder: Path, block: int) -> list[tuple[int, int, int, str]]:
    """Of each turn in a block (start, end, round, process), in order; the clock is the machine's."""
    turns = []
    for log in (folder / "logs").glob(f"b{block:02d}-*/events.jsonl"):
        events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        for before, event in itertools.pairwise(events):
            if event["event"] == "samples" and event.get("round"):
                turns.append((before["t_ns"], event["t_ns"], event["round"], log.parent.name))
    return sorted(turns)


def phases_of(folder: Path) -> list[tuple[int, int, str, str]]:
    """Of each phase in a set (start, end, phase, process), without those in which a process holds."""
    phases = []
    for log in (folder / "logs").glob("*/events.jsonl"):
        events = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        begun = [(event["t_ns"], event["phase"]) for event in events if event["event"] == "phase"]
        phases += [(t, end, phase, log.parent.name) for (t, phase), (end, _) in itertools.pairwise(begun)]
    return [each for each in phases if each[2] != "hold"]


def beside(phases: list[tuple[int, int, str, str]], *names: str) -> set[str]:
    """The phases of other processes during which a phase of these names went on."""
    ours = [each for each in phases if each[2] in names]
    return {
        phase
        for start, end, _, process in ours
        for from_, to, phase, other in phases
        if other != process and max(start, from_) < min(end, to)
    }


def test_processes_are_prepared_and_gated_at_once_and_timed_alone(calm: Path, rows: list[Row]) -> None:
    phases, cores = phases_of(calm), len(facts.usable_cores())
    assert cores == 1 or beside(phases, "import") & {"import", "build", "place"}, "at once"
    assert beside(phases, "first", "second", "third", "steady", "pipelined", "fetch", "memory") == set()
    assert {row[f"{phase}_seconds"] for row in rows for phase in ("import", "device", "build", "place")} == {None}


def test_with_little_memory_processes_are_prepared_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "spare_bytes", lambda: 2 * rounds.ROOM_BYTES - 1)
    ended = run_in_rounds(tmp_path / "set", "calm")
    assert beside(phases_of(tmp_path / "set"), "import") == set()
    assert [row["company"] for row in ended] == [2, 2]


def test_the_rows_say_how_they_were_sampled(rows: list[Row]) -> None:
    assert len(rows) == 6
    for row in rows:
        assert (row["outcome"], row["sampling"], row["company"]) == ("ok", "rounds", 3), row["reason"]
        assert row["first_seconds"] >= 0.060 and row["second_seconds"] >= 0.030
        numbers = row["synced_rounds"]
        assert len(numbers) == len(row["synced_seconds"]) == len(row["dispatch_seconds"])
        assert set(numbers[: row["synced_warmup"]]) == {0} and numbers[row["synced_warmup"]] > 0
        assert len({*numbers} - {0}) >= 4  # turns; those that other programs disturbed have no median
        assert len(row["pipelined_seconds"]) == len(row["fetch_seconds"]) == 10
        assert row["relative_error"] is None or row["relative_error"] < 1e-6
        assert row["host_peak_step_bytes"] > MIB


def test_one_process_is_sampled_at_a_time_in_an_order_that_is_shuffled(calm: Path) -> None:
    orders = []
    for block in (1, 2):
        turns = turns_of(calm, block)
        assert all(end <= start for (_, end, *_), (start, *_) in itertools.pairwise(turns))
        numbers = [number for _, _, number, _ in turns]
        assert numbers == sorted(numbers), "a round ends before the next begins"
        orders += [tuple(name for _, _, n, name in turns if n == number) for number in range(1, 5)]
    assert {len(order) for order in orders} == {3}
    assert len(set(orders)) > 2


def test_holding_takes_no_processor_time(rows: list[Row]) -> None:
    for row in rows:
        assert row["held_seconds"] > 0.5
        assert row["held_processor_seconds"] < 0.01 * row["held_seconds"] + 0.01
        assert row["restless_handovers"] == 0


def test_ratios_are_formed_inside_rounds(rows: list[Row]) -> None:
    protocol = make_plan(("calm",), **IN_ROUNDS, blocks=2, blocks_max=2).protocol
    (speedup,) = ratios(rows, "fake", protocol)
    for block in (1, 2):
        fast, twin = (r for r in rows if r["block"] == block and not r["variant"])
        (slow,) = (r for r in rows if r["block"] == block and r["variant"])
        gaps = [
            fmean(math.log(median_of(row, number)) for row in (fast, twin)) - math.log(median_of(slow, number))
            for number in slow.round_medians("synced").keys()
            & (fast.round_medians("synced").keys() | twin.round_medians("synced").keys())
            if number in fast.round_medians("synced") and number in twin.round_medians("synced")
        ]
        assert gaps
        assert speedup.log_ratios[block] == pytest.approx(fmean(gaps), rel=0.05)
    slow_seconds = median(row.median() or 0.0 for row in rows if row["variant"])
    assert slow_seconds >= 0.0052, "it sleeps for so long"
    assert speedup.ratio.value < 0.5
    assert [len(floor.log_ratios) for floor in Pairing.of(rows, protocol, "").twins()] == [2]


def median_of(row: Row, number: int) -> float:
    """The median of a turn, without the call that leads into it."""
    return median(s for s, n in zip(row["synced_seconds"], row["synced_rounds"], strict=True) if n == number)


def test_one_process_alone_needs_no_rounds(tmp_path: Path) -> None:
    (row,) = run_in_rounds(tmp_path / "set", "calm", "fake")
    assert (row["outcome"], row["sampling"], row["company"], row["synced_rounds"]) == ("ok", "alone", None, None)
    assert len(row["synced_seconds"]) >= 20


def test_a_process_that_fails_gets_its_row_and_the_others_go_on(tmp_path: Path) -> None:
    """One dies as soon as it holds, another one can't even be built."""
    heard = Heard()
    ended = run_in_rounds(tmp_path / "set", "dies", "fake", "fake@slow", "fake@1.3", "fake@1.4", heard=heard)
    assert len(ended) == len(heard.rows) == 4
    by_variant = {row["variant"]: row for row in ended}
    assert (by_variant["slow"]["outcome"], by_variant["slow"]["phase"]) == ("crashed", "hold")
    assert "while it waited for its turn" in by_variant["slow"]["reason"]
    assert by_variant["1.4"]["outcome"] == "unsupported"
    assert [by_variant[name]["outcome"] for name in ("", "1.3")] == ["ok", "ok"]
    assert set(by_variant[""]["synced_rounds"]) & set(by_variant["1.3"]["synced_rounds"]) > {0}


def test_what_does_not_fit_together_takes_turns_with_a_baseline_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three processes of over 200 MiB each, and room for two."""
    monkeypatch.setattr(rounds, "spare_bytes", lambda: 580 * MIB)
    ended = run_in_rounds(tmp_path / "set", "large", "fake", "fake@slow", "fake@1.3")
    assert [row["outcome"] for row in ended] == ["ok"] * 4
    assert {(row["sampling"], row["company"]) for row in ended} == {("rounds", 2)}
    assert sorted(row["replicate"] for row in ended if not row["variant"]) == [1, 2]
    numbers = [set(row["synced_rounds"]) - {0} for row in ended]
    assert sorted(sum(bool(mine & theirs) for theirs in numbers) for mine in numbers) == [2, 2, 2, 2], "itself, another"
    protocol = make_plan(("calm",), **IN_ROUNDS).protocol
    assert {each.stack for each in ratios(ended, "fake", protocol)} == {"fake@slow", "fake@1.3"}
    (between,) = [each for each in ratios(ended, "fake@slow", protocol) if each.stack == "fake"]
    assert between.log_ratios, "the baseline that shares its rounds"
    assert not [each for each in ratios(ended, "fake@slow", protocol) if each.stack == "fake@1.3"], "never together"


def test_where_not_even_a_pair_fits_all_are_sampled_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "spare_bytes", lambda: 400 * MIB)
    ended = run_in_rounds(tmp_path / "set", "large")
    assert [(row["outcome"], row["sampling"], row["company"]) for row in ended] == [("ok", "alone", None)] * 2
    assert all(row["synced_rounds"] is None and len(row["synced_seconds"]) >= 20 for row in ended)


def test_who_runs_out_of_memory_beside_others_gets_another_try_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The baseline's 150 MiB foretell nothing of the 300 of the other one: it is killed beside it, not by itself."""
    monkeypatch.setattr(rounds, "spare_bytes", lambda: 450 * MIB)
    monkeypatch.setattr("suite.launch.attempt.spare_bytes", lambda: 450 * MIB)
    ended = run_in_rounds(tmp_path / "set", "unequal")
    assert {row["outcome"] for row in ended} == {"ok"}
    assert [row["sampling"] for row in ended if row["variant"] == "slow"] == ["alone"]
    # How far the baseline was when the other one was killed depends on the machine: it may have ended already.
    assert {row["sampling"] for row in ended if not row["variant"]} <= {"alone", "rounds"}


def test_a_warm_case_takes_turns_after_its_prime(tmp_path: Path) -> None:
    ended = run_in_rounds(tmp_path / "set", "calm", caches=("warm",))
    assert sorted((row["purpose"], row["sampling"] or "") for row in ended) == [
        ("prime", ""),
        ("prime", ""),
        ("timed", "rounds"),
        ("timed", "rounds"),
    ]


def test_a_lost_process_is_run_again_in_rounds_with_a_fresh_baseline(calm: Path, tmp_path: Path) -> None:
    folder = tmp_path / "set"
    run_in_rounds(folder, "calm")
    victim = next((folder / "attempts").glob("*slow*.parquet"))
    victim.write_bytes(victim.read_bytes()[:100])
    heard = Heard()
    ended = run_in_rounds(folder, "calm", heard=heard)
    assert sorted((row["variant"], row["replicate"]) for row in heard.rows) == [("", 2), ("slow", 1)]
    counted = accepted(ended)
    assert len(counted) == 3 and {row["sampling"] for row in counted} == {"rounds"}
    (speedup,) = ratios(ended, "fake", make_plan(("calm",), **IN_ROUNDS).protocol)
    assert speedup.ratio.value < 0.5


@pytest.mark.parametrize("process", [1, 2])
def test_a_ctrl_c_at_the_end_of_a_process_ends_the_run(
    process: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever process it is of, none holds any more, and no row says that anything was measured after it."""
    folder, ended, hang_up = tmp_path / "set", list[WorkerLine](), WorkerLine.hang_up

    def interrupted(self: WorkerLine) -> None:
        hang_up(self)
        ended.append(self)
        if len(ended) == process:
            raise KeyboardInterrupt

    monkeypatch.setattr(WorkerLine, "hang_up", interrupted)
    heard = Heard()
    with pytest.raises(KeyboardInterrupt):
        run_in_rounds(folder, "calm", heard=heard)
    assert len(heard.rows) == process - 1
    assert not processes_with(str(folder)) and not [*(folder / "logs").glob("*/*.pipe")]
    ended = run_in_rounds(folder, "calm")
    assert {(row["retry"], row["outcome"]) for row in accepted(ended)} == {(2, "ok")}


def test_a_ctrl_c_while_one_is_stopped_stops_the_others_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A failure of the run ends all that hold, one after the other; Ctrl-C comes at the first."""
    hang_up, stopped = WorkerLine.hang_up, list[WorkerLine]()

    def interrupted(self: WorkerLine) -> None:
        stopped.append(self)
        if len(stopped) == 1:
            raise KeyboardInterrupt
        hang_up(self)

    def fails(*_: object) -> None:
        monkeypatch.setattr(WorkerLine, "hang_up", interrupted)
        raise OSError("No space left on device")

    monkeypatch.setattr(rounds.Rounds, "rounds", fails)
    with pytest.raises(KeyboardInterrupt):
        run_in_rounds(tmp_path / "set", "calm")
    assert not processes_with(str(tmp_path / "set"))


ORCHESTRATOR = """
import sys
from pathlib import Path
from tests.pipeline import make_plan, make_session
from tests.run.test_rounds import IN_ROUNDS
plan = make_plan(("calm",), ("fake", "fake@slow"), **IN_ROUNDS | {"rounds_min": 1000, "seconds_min": 60.0})
make_session(Path(sys.argv[1]), plan).run()
"""


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.release)])
def test_the_end_of_the_run_is_the_end_of_all_that_hold_and_resume_completes(tmp_path: Path, number: int) -> None:
    folder = tmp_path / "set"
    orchestrator: Any = subprocess.Popen(
        [sys.executable, "-c", ORCHESTRATOR, str(folder)],
        cwd=SCENARIOS.parents[1],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=on_ctrl_c(),
    )
    try:
        wait_for(lambda: any(len(turns_of(folder, 1)) > 3 for _ in [0] if (folder / "logs").exists()))
        os.kill(orchestrator.pid, number)
        _, words = orchestrator.communicate(timeout=60)
    finally:
        orchestrator.kill()
        orchestrator.wait()
    assert ("KeyboardInterrupt" in words) == (number == signal.SIGINT)
    assert "Exception in thread" not in words
    wait_for(lambda: not processes_with(str(folder)))
    assert not [*(folder / "attempts").glob("*.parquet")]
    ended = run_in_rounds(folder, "calm")
    counted = accepted(ended)
    assert {(row["retry"], row["outcome"], row["sampling"]) for row in counted} == {(2, "ok", "rounds")}
    assert not any(Flag.INCOMPLETE_BLOCK in row["flags"] for row in counted)
    assert ResultSet.open(folder).problems() == []


def test_of_processes_gated_at_once_only_one_takes_its_checked_steps() -> None:
    free: set[str] = set()  # those that have an order
    seen: list[set[str]] = []

    class Gated:
        def __init__(self, name: str) -> None:
            self.name, self.left = name, 2  # holds

        def go_on(self, order: str) -> None:
            free.add(self.name)
            seen.append(set(free))

        def holds(self) -> bool:
            self.left -= 1
            free.discard(self.name)
            return self.left >= 0

        def finish(self, order: str) -> None:
            while self.holds():
                self.go_on(order)

    members: list[Any] = [Gated("a"), Gated("b")]
    rounds.gate(members, "rest")
    assert seen == [{"a"}, {"a", "b"}, {"a"}, {"b"}, {"a"}, {"a", "b"}]
