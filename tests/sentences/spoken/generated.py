"""Sets that no machine measured, written by the real store: ties, failures, bursts, modes, one block, one stack, and
searches for the largest batch that fits."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

from suite.case import Attempt, Case, Planned, Purpose
from suite.protocol import Protocol
from suite.sets.files import write_json
from suite.sets.parquet import write_parquet
from suite.sets.result_set import ResultSet
from suite.sets.rows import CLOCKS, Row
from tests.plan_files import plan_file
from tests.results.rows import GEMM, WHEN, attempt_of, record, row_of, untimed_row

BASELINE = "torch_eager"
STACKS = ("torch_eager", "jax_jit", "numpy", "torch_inductor", "tf_xla", "keras_jax", "jax_eager")
QUESTIONS = (
    ("gemm", "forward", "default"),
    ("ffn", "train", "default"),
    ("ffn", "train", "tuned"),
    ("mha", "train", "default"),
    ("mha", "train", "tuned"),
)
ROUNDS, SAMPLES = 4, 3
FATES = ("ok",) * 8 + ("wrong", "crashed", "unsupported", "partly", "differ", "late", "none")
SPEEDS = (1.0, 1.0, 1.0, 1.02, 1.15, 1.6, 2.5)  # so that ties and three-way ties are common
Column = tuple[int, str]  # place of the question, stack
Sizes = dict[str, dict[int, str]]  # {stack: {batch: how it ended}}


@dataclasses.dataclass(frozen=True)
class Story:
    """What a set tells: for each question and stack a relative speed, and how its processes end if not `ok`. The first
    stack is the baseline."""

    stacks: Sequence[str]
    questions: Sequence[tuple[str, str, str]]
    speeds: dict[Column, float]
    fates: dict[Column, str]
    blocks: int
    noise: float
    restless: bool
    bursts: frozenset[str]
    modes: frozenset[str]
    sampling: str
    seed: int
    left: dict[Column, int] = dataclasses.field(default_factory=dict)  # last blocks, of a run until decided

    def column(self, case: Case) -> Column:
        return self.questions.index((case.workload, case.pass_, case.track)), case.stack_name

    def fate(self, case: Case) -> str:
        return self.fates.get(self.column(case), "ok")


@st.composite
def stories(draw: st.DrawFn) -> Story:
    others = draw(st.lists(st.sampled_from(STACKS[1:]), max_size=4, unique=True))
    names = draw(st.sampled_from([("",), ("",), (":loop", ":scan")]))
    stacks = [stack + name for stack in (BASELINE, *others) for name in names]
    questions = QUESTIONS[: draw(st.integers(1, len(QUESTIONS)))]
    columns = [(number, who) for number in range(len(questions)) for who in stacks]
    all_wrong = draw(st.integers(0, 9)) == 0
    fates = {column: "wrong" if all_wrong else draw(st.sampled_from(FATES)) for column in columns}
    if draw(st.booleans()) and not all_wrong:  # most often the baseline has its times
        fates |= {column: "ok" for column in columns if column[1].startswith(BASELINE)}
    some = st.one_of(st.just(frozenset[str]()), st.frozensets(st.sampled_from(stacks), max_size=2))
    return Story(
        stacks=stacks,
        questions=questions,
        speeds={column: draw(st.sampled_from(SPEEDS)) for column in columns},
        fates=fates,
        blocks=draw(st.sampled_from([1, 2, 3, 3, 5])),
        noise=draw(st.sampled_from([0.002, 0.01, 0.05])),
        restless=draw(st.booleans()),
        bursts=draw(some),
        modes=draw(some),
        sampling=draw(st.sampled_from(["rounds", "rounds", "alone"])),
        seed=draw(st.integers(0, 99)),
    )


@st.composite
def looks(draw: st.DrawFn) -> Story:
    """Runs until decided: of each question, stacks have left after the third block or later, the baseline last."""
    whole = dataclasses.replace(draw(stories()), blocks=draw(st.integers(3, 6)))
    ends = {number: draw(st.integers(3, whole.blocks)) for number in range(len(whole.questions))}
    left = {column: draw(st.integers(3, ends[column[0]])) for column in whole.speeds}
    return dataclasses.replace(whole, left=left | {(number, whole.stacks[0]): end for number, end in ends.items()})


@st.composite
def sizes(draw: st.DrawFn) -> Sizes:
    """Searches for the largest batch that fits: found, open, failed, and of nothing."""
    ends = st.dictionaries(st.integers(1, 6), st.sampled_from(("ok",) * 3 + ("oom_host", "timeout")), min_size=1)
    found = draw(st.dictionaries(st.sampled_from(STACKS), ends, min_size=1, max_size=4))
    return found | {BASELINE: {1: "ok", 2: "ok", 7: draw(st.sampled_from(("ok", "oom_host")))}}


def write(story: Story, folder: Path) -> Path:
    """Writes a set as a run leaves it."""
    planned = [*attempts(story, folder.name)]
    cases = tuple(
        Planned(case, "It can't here." if story.fate(case) == "unsupported" else None)
        for case in {attempt.case.case_id: attempt.case for attempt in planned}.values()
    )
    plan = plan_file(
        set_id=folder.name,
        protocol=Protocol(
            blocks=3 if story.left else story.blocks,
            blocks_max=3 if story.left else story.blocks,
            sampling=story.sampling,
            until="decided" if story.left else "blocks",
        ),
        baseline=story.stacks[0],
        twin=True,
        attempts=tuple(planned),
        cases=cases,
        units={"gemm": "rows", "ffn": "tokens", "mha": "tokens"},
    )
    stored, random = ResultSet.create(folder, plan), np.random.default_rng(story.seed)
    machine = {"machine_id": "a-machine", "cpu_model": "Example CPU", "platform": "Linux x86_64"}
    write_json(folder / "machine.json", machine)
    (folder / "inputs" / "revision.txt").write_text("0" * 40 + "\n", encoding="utf-8")
    rows = [row for attempt in planned if (row := row_for(story, attempt, random))]
    write_parquet(folder / "attempts" / "all.parquet", rows)  # one file: 20 ms a row
    for block in range(1, story.blocks + 1):
        is_noisy = story.restless and block == 1
        stored.write_block(block, 1, record(block, 1, reasons=["canary drifted by 11 %, over 5 %"] if is_noisy else ()))
    stored.commit()
    return folder


def write_sizes(found: Sizes, limit: int | None, folder: Path) -> Path:
    case: dict[str, Any] = {"workload": "gpt2", "pass_": "train", "limit_memory_bytes": limit}
    sized = [(stack, size, end) for stack, ends in found.items() for size, end in ends.items()]
    asked = [attempt_of(who, purpose=Purpose.MEMORY, dims={"batch": size}, **case) for who, size, _ in sized]
    cases = tuple(Planned(attempt.case, None) for attempt in asked)
    plan = plan_file(set_id=folder.name, attempts=(*asked,), cases=cases, vary="batch", baseline=sized[0][0])
    stored = ResultSet.create(folder, plan)
    rows = [untimed_row(each, outcome=end, reason="It ended.") for each, (*_, end) in zip(asked, sized, strict=True)]
    write_parquet(folder / "attempts" / "all.parquet", rows)
    stored.commit()
    return folder


def attempts(story: Story, set_id: str) -> list[Attempt]:
    planned: list[Attempt] = []
    for block in range(1, story.blocks + 1):
        for workload, pass_, track in story.questions:
            for who in story.stacks:
                stack, _, name = who.partition(":")
                question = dataclasses.replace(GEMM, workload=workload, pass_=pass_, track=track)
                case = dataclasses.replace(question, stack=stack, implementation=name)
                if block > story.left.get(story.column(case), story.blocks):
                    continue
                for replicate in (1, 2) if who == story.stacks[0] else (1,):
                    place = {"block": block, "position": len(planned), "replicate": replicate, "retry": 1, "seed": 0}
                    planned.append(Attempt(set_id=set_id, case=case, purpose=Purpose.TIMED, **place))
    return planned


def row_for(story: Story, attempt: Attempt, random: np.random.Generator) -> Row | None:
    """Returns an attempt's row; None for one that never ran."""
    (number, who), fate = story.column(attempt.case), story.fate(attempt.case)
    if fate == "unsupported":
        return None
    if (fate == "none" and attempt.block == story.blocks) or (fate == "late" and attempt.block == 1):
        return ended(attempt, "timeout")
    if fate == "crashed" or (fate == "partly" and attempt.block == 1):
        return ended(attempt, "crashed")
    level = 0.01 * (1 + number) * story.speeds[number, who] * math.exp(random.normal(0, story.noise))
    level *= 1.7 if who in story.modes and random.random() < 0.5 else 1.0
    turns = np.repeat(np.arange(ROUNDS + 1), SAMPLES)
    seconds = level * np.exp(np.abs(random.normal(0, 0.004, len(turns))))
    if who in story.bursts:
        slow = random.random(ROUNDS + 1) < 0.3
        seconds = np.where(slow[turns], seconds * random.uniform(3, 5), seconds)
    shares = np.where(random.random(len(turns)) < 0.05 * story.restless, 0.3, 0.01)
    is_wrong = fate in ("wrong", "differ") and attempt.block == 1
    columns: dict[str, Any] = {
        "synced_others": shares.tolist(),
        "synced_warmup": 2,
        "sampling": story.sampling,
        "synced_rounds": turns.tolist() if story.sampling == "rounds" else None,
        "started_at": WHEN + timedelta(seconds=7 * attempt.position),
        "dispatch_seconds": (seconds * random.uniform(0.1, 0.9)).tolist(),
        "pipelined_seconds": (seconds[:5] * 0.9).tolist(),
        "fetch_seconds": (seconds[:5] + 0.001).tolist(),
        "first_seconds": float(random.choice([0.02, 0.3, 20.0]) * random.uniform(1, 2)),
        "relative_error": 0.1 if is_wrong else float(random.uniform(1e-8, 1e-6)) if attempt.block == 1 else None,
    }
    return row_of(attempt, seconds.tolist(), **columns) | (
        {"outcome": fate, "reason": "It is off."} if is_wrong else {}
    )


def ended(attempt: Attempt, outcome: str) -> Row:
    nothing = dict.fromkeys((*(f"{clock}_seconds" for clock in CLOCKS), "relative_error", "synced_warmup"))
    return row_of(attempt) | nothing | {"outcome": outcome, "phase": "first", "reason": f"It ended as {outcome}."}


COLUMNS = ("torch_eager", "jax_jit", "tf_xla", "numpy", "torch_inductor", "jax_eager", "keras_jax")


def story(*speeds: tuple[float, ...], blocks: int = 5, fates: dict[Column, str] | None = None, **more: Any) -> Story:
    """Returns a story of the first questions and stacks, sampled without rounds: no rule on rounds changes its set."""
    usual: dict[str, Any] = {"noise": 0.004, "restless": True, "modes": frozenset({"numpy"}), "seed": 1}
    by_column = {
        (number, who): each for number, of in enumerate(speeds) for who, each in zip(COLUMNS, of, strict=False)
    }
    return Story(
        stacks=COLUMNS[: len(speeds[0])],
        questions=QUESTIONS[: len(speeds)],
        speeds=by_column,
        fates=fates or {},
        blocks=blocks,
        bursts=frozenset(),
        sampling="alone",
        **usual | more,
    )


MANY = story(
    (1.0, 0.5, 0.5, 1.5, 0.9, 2.0, 0.5),  # gemm: three share the lead
    (1.0, 0.6, 0.61, 1.6, 0.8, 2.0, 0.6),  # ffn, default track: three
    (1.0, 1.3, 1.4, 1.7, 1.2, 2.0, 1.3),  # ffn, tuned track: the baseline alone
    (1.0, 0.7, 0.9, 1.5, 0.8, 2.0, 0.7),  # mha, default track: the baseline is wrong
    (1.0, 1.6, 1.4, 1.5, 1.2, 2.0, 1.6),
    fates={(3, "torch_eager"): "wrong", (0, "jax_eager"): "crashed", (4, "tf_xla"): "unsupported"},
)
FEW = story((1.0, 0.5, 0.7, 1.5, 0.9, 2.0, 0.8), (1.0, 0.5, 0.5, 1.6, 0.8, 2.0, 0.5), restless=False, noise=0.002)
# The baseline has no time in the last block, another stack none in the first: they share none, and both lead.
APART = story((1.0,) * 4, blocks=2, fates={(0, "torch_eager"): "none", (0, "jax_jit"): "late"}, modes=frozenset[str]())
# Every ratio is decided, though no interval is as narrow as a tie's band.
DECIDED = story((1.0, 0.3, 0.3, 2.5, 0.4, 3.0, 0.3), noise=0.05, restless=False, modes=frozenset[str]())
FOUND = {8: "ok", 9: "oom_host"}
STORIES = {"many": MANY, "few": FEW}
# True of the two fixed sets, in the words of the rule on leads.
ALIKE = "share the lead on ffn train (2.00× torch_eager); jax_jit leads gemm forward (2.00× torch_eager)."
BY_TRACK = (
    "default track: jax_jit and keras_jax share the lead on all 3 questions (1.66 to 2.00× torch_eager); "
    "tf_xla shares the lead on 2; tuned track: torch_eager leads both questions alone."
)
TOLD = {"many": (BY_TRACK,), "few": (f"jax_jit, tf_xla and keras_jax {ALIKE}", f"Three stacks {ALIKE}")}
# Searches for the largest batch: {name: ({stack: {batch: how it ended}}, memory limit)}.
SEARCHES = {
    "shared": ({"jax_jit": FOUND, "tf_xla": FOUND, "numpy": {4: "ok", 5: "oom_host"}}, 6 * 2**30),
    "open": ({"jax_jit": {8: "ok", 12: "oom_host"}, "tf_xla": {9: "ok", 16: "oom_host"}}, 6 * 2**30),
    "tried": ({"jax_jit": {8: "ok"}, "tf_xla": {8: "ok"}, "numpy": {4: "ok", 5: "timeout"}}, None),
}
