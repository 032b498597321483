"""Sets that no machine measured, written by the real store: ties, failures, bursts, modes, one block, one stack."""

from __future__ import annotations

import dataclasses
import math
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
from suite.sets.rows import Row
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


@dataclasses.dataclass(frozen=True)
class Story:
    """What a set tells: for each question and stack a relative speed and how its processes end."""

    stacks: tuple[str, ...]
    questions: tuple[tuple[str, str, str], ...]
    implementations: tuple[str, ...]
    speeds: dict[tuple[int, str], float]
    fates: dict[tuple[int, str], str]
    blocks: int
    noise: float
    restless: bool
    bursts: frozenset[str]
    modes: frozenset[str]
    sampling: str
    seed: int


@st.composite
def stories(draw: st.DrawFn) -> Story:
    stacks = tuple(draw(st.permutations(STACKS))[: draw(st.integers(1, 5))])
    stacks = stacks if BASELINE in stacks else (BASELINE, *stacks)
    questions = QUESTIONS[: draw(st.integers(1, len(QUESTIONS)))]
    names = draw(st.sampled_from([("",), ("",), ("loop", "scan")]))
    columns = [
        (number, f"{stack}:{name}".rstrip(":"))
        for number in range(len(questions))
        for stack in stacks
        for name in names
    ]
    all_wrong = draw(st.integers(0, 9)) == 0
    fates = {column: "wrong" if all_wrong else draw(st.sampled_from(FATES)) for column in columns}
    if draw(st.booleans()):  # most often the baseline has its times
        fates |= {column: "ok" for column in columns if column[1].startswith(BASELINE) and not all_wrong}
    some = st.frozensets(st.sampled_from([who for _, who in columns]), max_size=2)
    return Story(
        stacks=stacks,
        questions=questions,
        implementations=names,
        speeds={column: draw(st.sampled_from(SPEEDS)) for column in columns},
        fates=fates,
        blocks=draw(st.sampled_from([1, 2, 3, 3, 5])),
        noise=draw(st.sampled_from([0.002, 0.01, 0.05])),
        restless=draw(st.booleans()),
        bursts=draw(st.one_of(st.just(frozenset[str]()), some)),
        modes=draw(st.one_of(st.just(frozenset[str]()), some)),
        sampling=draw(st.sampled_from(["rounds", "rounds", "alone"])),
        seed=draw(st.integers(0, 99)),
    )


def write(story: Story, folder: Path) -> Path:
    """Writes a set as a run leaves it."""
    protocol = Protocol(blocks=story.blocks, blocks_max=story.blocks, sampling=story.sampling)
    baseline = f"{BASELINE}:{story.implementations[0]}".rstrip(":")
    planned = [*attempts(story, folder.name, baseline)]
    cases = {attempt.case.case_id: attempt.case for attempt in planned}
    fate = {case.case_id: story.fates[key_of(story, case)] for case in cases.values()}
    stored = ResultSet.create(
        folder,
        plan_file(
            set_id=folder.name,
            protocol=protocol,
            baseline=baseline,
            twin=True,
            attempts=tuple(planned),
            cases=tuple(
                Planned(case, "It can't here." if fate[id_] == "unsupported" else None) for id_, case in cases.items()
            ),
            units={"gemm": "rows", "ffn": "tokens", "mha": "tokens"},
        ),
    )
    write_json(
        folder / "machine.json", {"machine_id": "a-machine", "cpu_model": "Example CPU", "platform": "Linux x86_64"}
    )
    (folder / "inputs" / "revision.txt").write_text("0" * 40 + "\n", encoding="utf-8")
    random = np.random.default_rng(story.seed)
    rows = (row_for(story, attempt, fate[attempt.case.case_id], random) for attempt in planned)
    write_parquet(
        folder / "attempts" / "all.parquet", [row for row in rows if row is not None]
    )  # one file: 20 ms a row
    for block in range(1, story.blocks + 1):
        is_noisy = story.restless and block == 1
        stored.write_block(block, 1, record(block, 1, reasons=["canary drifted by 11 %, over 5 %"] if is_noisy else ()))
    stored.commit()
    return folder


def key_of(story: Story, case: Case) -> tuple[int, str]:
    return story.questions.index((case.workload, case.pass_, case.track)), case.stack_name


def attempts(story: Story, set_id: str, baseline: str) -> list[Attempt]:
    cases = [
        dataclasses.replace(GEMM, workload=workload, pass_=pass_, track=track, stack=stack, implementation=name)
        for workload, pass_, track in story.questions
        for stack in story.stacks
        for name in story.implementations
    ]
    planned: list[Attempt] = []
    for block in range(1, story.blocks + 1):
        for case in cases:
            for replicate in (1, 2) if case.stack_name == baseline else (1,):
                place = {"block": block, "position": len(planned), "replicate": replicate, "retry": 1, "seed": 0}
                planned.append(Attempt(set_id=set_id, case=case, purpose=Purpose.TIMED, **place))
    return planned


def row_for(story: Story, attempt: Attempt, fate: str, random: np.random.Generator) -> Row | None:
    """Returns an attempt's row; None for one that never ran."""
    number, who = key_of(story, attempt.case)
    if (
        fate == "unsupported"
        or (fate == "none" and attempt.block == story.blocks)
        or (fate == "late" and attempt.block == 1)
    ):
        return None if fate == "unsupported" else ended(attempt, "timeout")
    if fate == "crashed" or (fate == "partly" and attempt.block == 1):
        return ended(attempt, "crashed")
    level = 0.01 * (1 + number) * story.speeds[number, who] * math.exp(random.normal(0, story.noise))
    level *= 1.7 if who in story.modes and random.random() < 0.5 else 1.0
    turns = np.repeat(np.arange(ROUNDS + 1), SAMPLES)
    seconds = level * np.exp(np.abs(random.normal(0, 0.004, len(turns))))
    if who in story.bursts:
        slow = random.random(ROUNDS + 1) < 0.3
        seconds = np.where(slow[turns], seconds * random.uniform(3, 5), seconds)
    shares = np.where(random.random(len(turns)) < 0.05, 0.3, 0.01) if story.restless else np.full(len(turns), 0.01)
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
        "relative_error": float(random.uniform(1e-8, 1e-6)) if attempt.block == 1 else None,
        "machine_id": "a-machine",
    }
    row = row_of(attempt, seconds.tolist(), **columns)
    if fate in ("wrong", "differ") and attempt.block == 1:
        row = row | {"outcome": fate, "reason": "Its outputs are off.", "relative_error": 0.1}
    return row


def ended(attempt: Attempt, outcome: str) -> Row:
    times = ("synced", "dispatch", "pipelined", "fetch", "first", "second")
    nothing = {f"{clock}_seconds": None for clock in times} | {"relative_error": None, "synced_warmup": None}
    return (
        row_of(attempt)
        | nothing
        | {"outcome": outcome, "phase": "first", "reason": f"It ended as {outcome}.", "machine_id": "a-machine"}
    )


Sizes = dict[str, dict[int, str]]  # {stack: {batch: how it ended}}


@st.composite
def sizes(draw: st.DrawFn) -> Sizes:
    """Searches for the largest batch that fits: found, open, failed, and of nothing."""
    ends = st.dictionaries(st.integers(1, 6), st.sampled_from(("ok",) * 3 + ("oom_host", "timeout")), min_size=1)
    found = draw(st.dictionaries(st.sampled_from(STACKS), ends, min_size=1, max_size=4))
    return found | {BASELINE: {1: "ok", 2: "ok", 7: draw(st.sampled_from(("ok", "oom_host")))}}


def write_sizes(sizes: Sizes, limit: int | None, folder: Path) -> Path:
    case = {"workload": "gpt2", "pass_": "train", "limit_memory_bytes": limit, "purpose": Purpose.MEMORY}
    sized = [(stack, size, end) for stack, ends in sizes.items() for size, end in ends.items()]
    asked = [attempt_of(stack, dims={"batch": size, "width": 8}, **case) for stack, size, _ in sized]
    cases = tuple(Planned(attempt.case, None) for attempt in asked)
    plan = plan_file(set_id=folder.name, attempts=(*asked,), cases=cases, vary="batch", baseline=sized[0][0])
    stored = ResultSet.create(folder, plan)
    rows = [untimed_row(each, outcome=end, reason="It ended.") for each, (*_, end) in zip(asked, sized, strict=True)]
    write_parquet(folder / "attempts" / "all.parquet", rows)
    stored.commit()
    return folder
