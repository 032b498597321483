"""The trial of one function on one stack: blocks of paired calls of both files, and the check of their results."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from suite.errors import UserError
from suite.extras.judge import family
from suite.extras.judge.call import Call
from suite.extras.judge.sandbox import Caught, Sandbox
from suite.stats import Estimate, ratio_of, verdict
from suite.workloads.questions.question import Question

BEFORE, AFTER = "before", "after"
BLOCKS = (3, 5)  # the least and the most, each with new processes and dims of its own
CONFIDENCE = 0.99  # programs that write programs ask often: one change in 200 that changes nothing is called faster
TIE = 1.03
ROUNDS = (6, 8)  # in a block, the least and the most
BLOCK_SECONDS = 2.0  # after which a block has no more rounds than the least
BATCH_SECONDS = (0.006, 0.012)  # of calls that are too short to be timed alone, as the channel asks; or half more
BATCH_MAX = 256
BATCH_BYTES_MAX = 2**26
CHANNEL_SHARE_MAX = 0.02  # of a timed window
CALLS = {family.smaller: 4, family.near: 2}  # that are checked before the clock: every second has strange values
TRIES = 8  # of drawing dims that the question takes
FIRST_SECONDS, CALL_SECONDS = 120.0, 30.0  # limits: the first calls compile
SHRINK_SECONDS = 10.0
SIDE_BY_SIDE = 1.5  # calls that gain so many times as much in a batch as alone aren't computed one after the other

RATIOS = ("ratio", "ratio_alone")  # of a block: by batches, and by calls alone

Sides = Mapping[str, Sandbox]


def enough(blocks: Sequence[Mapping[str, Any]]) -> bool:
    """Whether no more blocks are needed: all were taken, or the least of them gain nothing, which makes `faster` no
    likelier. A rule that stops sooner goes here."""
    gains_nothing = any(math.prod(block[ratio] for block in blocks) <= 1 for ratio in RATIOS)
    return len(blocks) >= BLOCKS[1] or (len(blocks) >= BLOCKS[0] and gains_nothing)


def estimate(ratios: Iterable[float]) -> Estimate:
    logs = list(map(math.log, ratios))
    return ratio_of(logs, len(logs) - 1, CONFIDENCE)


@dataclass
class Trial:
    """`start` starts the sandbox of a side; `question` is the file before, as this process has loaded it."""

    question: Question
    start: Callable[[str], Sandbox]
    blocks: list[dict[str, Any]] = field(default_factory=list)
    checked: int = 0
    caught: Caught | None = None
    caught_at: dict[str, int] = field(default_factory=dict)
    counts: str = ""  # what the processor time of a side has

    def run(self) -> None:
        """Takes blocks until it is decided. Raises UserError if the file before fails, or is wrong by its own
        reference."""
        try:
            while not enough(self.blocks):
                self.block()
        except Caught as caught:
            self.caught = caught
            if caught.word == "wrong":
                self.shrink()

    @property
    def ratio(self) -> Estimate:
        """Returns the ratio of batches, or that of calls alone if it shows less: calls in a batch could be computed
        side by side."""
        both = [estimate(block[ratio] for block in self.blocks) for ratio in RATIOS]
        return min(both, key=lambda each: each.low or 0.0)

    @property
    def verdict(self) -> tuple[str, str]:
        """Returns `faster`, `not faster`, `undecided`, `wrong` or `cheats`, and why."""
        if self.caught:
            return self.caught.word, str(self.caught)
        beside = estimate(block["ratio"] / block["ratio_alone"] for block in self.blocks)
        if beside.low is not None and beside.low > SIDE_BY_SIDE:
            return "cheats", f"calls in a batch gain {beside.value:.1f} times as much as calls one by one"
        share = median(block["channel_share"] for block in self.blocks)
        if share > CHANNEL_SHARE_MAX:
            return "undecided", f"calls are so short that the judge's channel is {share:.0%} of their time"
        word = verdict(self.ratio, TIE)
        return {"faster": "faster", "slower": "not faster", "tie": "not faster"}.get(word, "undecided"), ""

    def block(self) -> None:
        """Calls both sides in new processes at dims whose calls are only checked, and at dims whose calls are timed:
        in the first block the question's own."""
        with ExitStack() as stack:
            sides = {side: stack.enter_context(self.start(side)) for side in (BEFORE, AFTER)}
            for draw in family.shuffled([*CALLS]):
                dims, seconds = self.drawn(draw, sides)
                if draw is family.near:
                    self.clock(dims, seconds, sides)
            self.blocks[-1]["left_running"] = len(sides[AFTER].freezer.pids()) - len(sides[BEFORE].freezer.pids())
            self.counts = sides[AFTER].freezer.counts

    def drawn(self, draw: Any, sides: Sides) -> tuple[dict[str, int], float]:
        """Returns dims that the question takes, after both sides were called there, and the seconds of the quickest
        call."""
        own, count = self.question.spec.SIZES["asked"], CALLS[draw]
        for tried in range(TRIES) if draw is family.smaller or self.blocks else ():
            dims = draw(own, family.shuffled([*own])[: max(1, len(own) >> tried)])
            if dims != own:
                try:
                    return dims, self.called(dims, sides, count)
                except UserError:
                    continue  # one reason why may be that lengths depend on each other: then fewer are changed
        return dict(own), self.called(own, sides, count)

    def called(self, dims: Mapping[str, int], sides: Sides, count: int) -> float:
        """Calls both sides and checks them; returns the seconds of the quickest call. Raises UserError for
        dims that the question doesn't take: then its own function or reference fails, or they disagree."""
        calls = [Call.drawn(self.question, dims, strange=n % 2 == 0) for n in range(count)]
        got, seconds = [], []
        sides[BEFORE].prepare(dims, 1, FIRST_SECONDS)
        for call in calls:
            sides[BEFORE].put([call.data])
            took, results = sides[BEFORE].call(1, [0], FIRST_SECONDS)
            seconds.append(took)
            got.append(call.wrong(results[0]))
        if got[-1]:
            raise UserError(f"{self.question.folder} can't be judged: its own function is wrong: {got[-1]}.")
        self.caught_at = dict(dims)
        sides[AFTER].result_bytes_max = 8 * max((leaf.nbytes for _, leaf in results[0]), default=0)  # of any type
        sides[AFTER].prepare(dims, 1, FIRST_SECONDS)
        for call, before in zip(calls, got, strict=True):
            sides[AFTER].put([call.data])
            took, results = sides[AFTER].call(1, [0], FIRST_SECONDS)
            seconds.append(took)
            if not before:  # strange values may be too much for any function of this type
                self.check(call, results[0], calls)
        return min(seconds)

    def check(self, call: Call, got: Any, others: Sequence[Call]) -> None:
        """Raises Caught for a wrong result; it cheats if it is that of another call."""
        self.checked += 1
        if reason := call.wrong(got):
            if any(not other.wrong(got) for other in others if other is not call and other.dims == call.dims):
                raise Caught("cheats", "it returned another call's result")
            raise Caught("wrong", reason)

    def clock(self, dims: dict[str, int], seconds: float, sides: Sides) -> None:
        """Times one block's rounds and adds its ratio. A round is a batch on each side in shuffled order with the same
        values, and where a batch has several calls, a call alone too."""
        channel = sides[BEFORE].channel(ROUNDS[0])
        alone = seconds - channel > channel / CHANNEL_SHARE_MAX
        least = sorted((*BATCH_SECONDS, 1.3 * channel / CHANNEL_SHARE_MAX))[1]
        length = family.RANDOM.uniform(least, 1.5 * least) / max(seconds - channel, seconds / 8)
        room = BATCH_BYTES_MAX // max(1, Call.drawn(self.question, dims).nbytes)
        sizes = [1] if alone else [1, max(2, min(math.ceil(length), BATCH_MAX, room))]
        for sandbox in sides.values():
            sandbox.prepare(dims, sizes[-1], FIRST_SECONDS)
        times: dict[tuple[str, int], list[float]] = {(side, n): [] for side in sides for n in sizes}
        used = {side: -sandbox.freezer.seconds() for side, sandbox in sides.items()}
        kept, started = [], time.monotonic()
        for turn in range(ROUNDS[1]):
            if turn >= ROUNDS[0] and time.monotonic() - started > BLOCK_SECONDS:
                break
            for size in family.shuffled(sizes):
                calls = [Call.drawn(self.question, dims) for _ in range(size)]
                chosen = family.half(size)
                got = {}
                for side in family.shuffled([*sides]):
                    sides[side].put([call.data for call in calls])
                    took, got[side] = sides[side].call(size, chosen, CALL_SECONDS)
                    times[side, size].append(took)
                channel = min(channel, sides[BEFORE].channel(1))
                kept += [(calls[place], got[BEFORE][n], got[AFTER][n]) for n, place in enumerate(chosen)]
        used = {side: round(used[side] + sandbox.freezer.seconds(), 6) for side, sandbox in sides.items()}
        for call, before, after in kept:  # only now, since NumPy's threads spin after a product
            if not call.wrong(before):
                self.check(call, after, [each for each, _, _ in kept])
        self.add(dims, sizes, times, channel, used)

    def add(
        self,
        dims: dict[str, int],
        sizes: Sequence[int],
        times: Mapping[tuple[str, int], Sequence[float]],
        channel: float,
        used: Mapping[str, float],
    ) -> None:
        """Adds a block. The least that the `channel` took is subtracted, and no more than most of a time:
        what is left of it draws ratios to 1."""
        pure = {key: [max(took - channel, took / 4) for took in all_] for key, all_ in times.items()}
        gains = [
            median(math.log(before / after) for before, after in zip(pure[BEFORE, n], pure[AFTER, n], strict=True))
            for n in sizes
        ]
        size = sizes[-1]
        block = {"dims": dims, "batch": size, "ratio": math.exp(gains[-1]), "ratio_alone": math.exp(gains[0])}
        block["seconds"] = {side: median(pure[side, size]) / size for side in (BEFORE, AFTER)}
        block["processor_seconds"] = dict(used)
        block["channel_share"] = channel / min(median(times[side, size]) for side in (BEFORE, AFTER))
        self.blocks.append(block)

    def shrink(self) -> None:
        """Looks for the smallest dims at which it is wrong, halving one after the other, each time in new processes."""
        until = time.monotonic() + SHRINK_SECONDS
        waiting = [name for name, length in self.caught_at.items() if length > 1]
        while waiting and time.monotonic() < until:
            name, at = waiting.pop(0), self.caught_at
            dims = {**at, name: at[name] // 2}
            with self.start(BEFORE) as before, self.start(AFTER) as after:
                try:
                    self.called(dims, {BEFORE: before, AFTER: after}, CALLS[family.smaller])
                except Caught as caught:
                    if caught.word == "wrong":  # small results of two calls may be equal
                        self.caught = caught
                        waiting += [name] if dims[name] > 1 else []
                        continue
                except UserError:
                    pass  # the question doesn't take these dims
            self.caught_at = at
