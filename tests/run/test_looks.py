"""A run until decided, on the fake stack: what stops early, what goes on, and why it ends."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suite import results
from suite.answers.undecided import undecided
from suite.case import Attempt
from suite.machine import noise
from suite.run.runner import Runner
from suite.run.session import Session
from suite.sets.blocks import Block
from suite.sets.result_set import ResultSet
from suite.sets.rows import NOT_RUN, Row
from suite.stacks.names import attempt_name
from suite.verdicts.looks import Standing
from tests.pipeline import Heard, make_plan, make_session
from tests.results.rows import row_of

Seconds = Callable[[str, int, np.random.Generator], float]  # of a stack in a block


class Scripted(Runner):
    """Writes rows of known times, and runs nothing."""

    seconds: Seconds
    disturbed: Callable[[Attempt], bool] = staticmethod(lambda attempt: False)
    draw: np.random.Generator

    def run(self, attempt: Attempt, again: bool = False) -> Row:
        time = self.seconds(attempt.case.stack_name, attempt.block, self.draw)
        flags = ["disturbed"] if self.disturbed(attempt) else []
        row = row_of(attempt, time, flags=flags, synced_others=[0.4 if flags else 0.0] * 5)
        self.store.write_attempt(attempt_name(attempt), row)
        return row


class Listening(Heard):
    """Remembers how the questions stood after each block."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self.stood: dict[int, list[Standing]] = {}

    def stands(self, block: int, standings: Any) -> None:
        self.stood[block] = [*standings]


@pytest.fixture(autouse=True)
def _quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    """No canary: these blocks measure nothing."""
    reading = noise.NoiseReading(0.1, 0, 0, None, 0.0, None)
    monkeypatch.setattr(noise, "look", lambda cores: reading)


def spread(deviation: float, **ratios: float) -> Seconds:
    """Times of stacks by their ratios over the baseline: equal processes vary by `deviation`."""

    def seconds(stack: str, block: int, draw: np.random.Generator) -> float:
        return 0.01 / ratios.get(stack.partition("@")[2], 1.0) * math.exp(deviation * draw.standard_normal())

    return seconds


def session_of(
    folder: Path, seconds: Seconds, stacks: tuple[str, ...], heard: Heard | None = None, **options: Any
) -> Session:
    scenes = options.pop("scenes", ("calm",))
    plan = make_plan(scenes, ("fake", *(f"fake@{name}" for name in stacks)), twin=True, **DECIDED | options)
    session = make_session(folder, plan, heard or Listening())
    known = session.runner
    session.runner = Scripted(plan, known.store, known.workloads, known.engines, known.machine_id, known.cores)
    session.runner.seconds = seconds
    session.runner.draw = np.random.default_rng(5)
    return session


DECIDED: dict[str, Any] = {"until": "decided", "blocks": 3, "blocks_max": 3}


def blocks_of(rows: list[Row]) -> dict[str, int]:
    """The number of blocks that each variant took part in."""
    found: dict[str, set[int]] = {}
    for row in rows:
        found.setdefault(row["variant"], set()).add(row["block"])
    return {variant: len(blocks) for variant, blocks in found.items()}


def test_what_is_decided_after_the_first_look_ends_there(tmp_path: Path) -> None:
    rows = session_of(tmp_path / "set", spread(0.01, one=2.0, two=3.0), ("one", "two")).run()
    assert blocks_of(rows) == {"": 3, "one": 3, "two": 3}
    loaded = results.load(tmp_path / "set")
    assert {each.verdict for each in loaded.analysis().speedups} == {"faster"}
    assert undecided(loaded, loaded.analysis()) == []


def test_a_stack_leaves_before_the_others_while_baseline_and_leader_stay(tmp_path: Path) -> None:
    heard = Listening()
    rows = session_of(
        tmp_path / "set", spread(0.04, one=0.3, two=4.0, three=1.07), ("one", "two", "three"), heard
    ).run()
    taken = blocks_of(rows)
    assert taken["one"] == 3 < taken["three"] == taken[""] == taken["two"], "slower than the leader and the baseline"
    store = ResultSet.open(tmp_path / "set")
    left = {block.block: len(block.left) for block in store.blocks()}
    assert left == {n: 0 if n <= 3 else 1 for n in range(1, taken[""] + 1)}
    assert set(heard.stood) == {*range(1, taken[""] + 1)} and len(heard.stood[1]) == 1


def test_a_case_that_left_is_not_incomplete(tmp_path: Path) -> None:
    session_of(tmp_path / "set", spread(0.04, one=0.3, two=1.0), ("one", "two")).run()
    loaded = results.load(tmp_path / "set")
    analysis = loaded.analysis()
    assert analysis.not_run == 0 and not any(row.outcome == NOT_RUN for row in analysis.counted)
    assert not any("incomplete_block" in row["flags"] for row in analysis.rows)
    heard = Listening()
    assert session_of(tmp_path / "set", spread(9.0), ("one", "two"), heard).run() and heard.rows == [], (
        "nothing is left"
    )


def test_later_blocks_of_others_change_no_ratio_that_was_decided(tmp_path: Path) -> None:
    heard = Listening()
    session_of(tmp_path / "set", spread(0.04, one=0.3, two=1.0), ("one", "two"), heard).run()
    (then,) = [each for each in heard.stood[3][0].speedups if each.stack == "fake@one"]
    (now,) = [each for each in results.load(tmp_path / "set").analysis().speedups if each.stack == "fake@one"]
    assert (now.ratio, now.verdict) == (then.ratio, then.verdict) and now.ratio.blocks == 3


def test_questions_have_blocks_of_their_own_and_means_count_them_all(tmp_path: Path) -> None:
    def seconds(stack: str, block: int, draw: np.random.Generator) -> float:
        return spread(0.04, one=2.0 if block < 4 else 1.01)(stack, block, draw)

    session = session_of(tmp_path / "set", seconds, ("one",), scenes=("calm", "slow"))
    slow = {planned.case.case_id for planned in session.runner.plan.cases if planned.case.size == "slow"}
    run = session.runner.run
    session.runner.run = lambda attempt, again=False: run(attempt, again)  # type: ignore[method-assign]
    session.run()
    assert slow
    loaded = results.load(tmp_path / "set")
    assert all(mean.ratio is not None and mean.ratio.low is not None for mean in loaded.analysis().means())


@pytest.mark.parametrize(("deviation", "option"), [(0.05, "--at-most="), (0.1, "--repeats=")], ids=["near", "far"])
def test_the_bound_ends_a_run_and_the_answer_says_what_more_would_take(
    deviation: float, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Block, "seconds", property(lambda block: 60.0))
    rows = session_of(tmp_path / "set", spread(deviation, one=1.02), ("one",), at_most_seconds=310.0).run()
    assert blocks_of(rows) == {"": 5, "one": 5}
    loaded = results.load(tmp_path / "set")
    (said,) = undecided(loaded, loaded.analysis())
    assert "fake@one" in said and "5 blocks" in said and option in said


def test_a_bound_before_the_first_look_leaves_the_blocks_that_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Block, "seconds", property(lambda block: 60.0))
    assert blocks_of(session_of(tmp_path / "set", spread(0.5), ("one",), at_most_seconds=1.0).run()) == {
        "": 3,
        "one": 3,
    }


def test_a_busy_machine_takes_at_most_twice_the_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Block, "seconds", property(lambda block: 10.0))
    heard = Listening()
    session = session_of(tmp_path / "set", spread(0.01, one=2.0), ("one",), heard)
    session.runner.disturbed = lambda attempt: True  # type: ignore[attr-defined]
    assert blocks_of(session.run()) == {"": 4, "one": 4}
    assert [note for note in heard.notes if "replaces" in note]
    loaded = results.load(tmp_path / "set")
    (said,) = undecided(loaded, loaded.analysis())
    assert "other programs took 40 % of the cores" in said and said.endswith(": ./stackwars run")
    assert {each.verdict for each in loaded.analysis().speedups} == {"undecided"}


def test_a_further_block_replaces_one_that_was_disturbed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Block, "seconds", property(lambda block: 10.0))
    session = session_of(tmp_path / "set", spread(0.01, one=2.0), ("one",))
    session.runner.disturbed = lambda attempt: attempt.block == 2 and attempt.case.variant == "one"  # type: ignore[attr-defined]
    assert blocks_of(session.run()) == {"": 4, "one": 4}
    (found,) = results.load(tmp_path / "set").analysis().speedups
    assert (found.verdict, found.ratio.blocks, sorted(found.log_ratios)) == ("faster", 3, [1, 3, 4])


@pytest.mark.parametrize("after", [2, 9, 10, 14, 17])
def test_a_resumed_run_ends_as_one_that_was_never_interrupted(tmp_path: Path, after: int) -> None:
    asked = (tmp_path / "set", seeded, ("one", "two"))
    with pytest.raises(KeyboardInterrupt):
        session_of(*asked, Listening(interrupt_after=after)).run()
    rows = session_of(*asked).run()
    whole = session_of(tmp_path / "whole", seeded, ("one", "two")).run()
    assert blocks_of(rows) == blocks_of(whole)
    ours, theirs = (results.load(tmp_path / name).analysis() for name in ("set", "whole"))
    assert [each.ratio for each in ours.speedups] == [each.ratio for each in theirs.speedups]


def seeded(stack: str, block: int, draw: np.random.Generator) -> float:
    """The same time of a stack in a block, whenever it runs."""
    own = np.random.default_rng([block, len(stack), ord(stack[-1])])
    return spread(0.04, one=0.3, two=1.0)(stack, block, own)


def test_ctrl_c_leaves_the_answer_of_the_whole_blocks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from suite.cli.measure.carry_out import so_far

    folder = tmp_path / "set"
    with pytest.raises(KeyboardInterrupt):
        session_of(folder, spread(0.01, one=2.0), ("one",), Listening(interrupt_after=7)).run()
    assert so_far(ResultSet.open(folder), as_json=False) == 130
    out, err = capsys.readouterr()
    assert "of 2 blocks" in err and "fake@one" in out
    (folder / "blocks" / "b01-a1.json").unlink()
    (folder / "blocks" / "b02-a1.json").unlink()
    assert so_far(ResultSet.open(folder), as_json=False) == 130
    assert capsys.readouterr() == ("", ""), "no block is whole"
