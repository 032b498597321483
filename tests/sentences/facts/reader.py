"""The facts of a set, computed again from results.parquet and plan.json: who leads, by how much, how cases ended."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import permutations
from pathlib import Path
from statistics import fmean, median
from typing import Any, cast

from tests.sentences.facts.blocks import Blocks, has_modes, seconds
from tests.sentences.facts.estimates import Ratio
from tests.sentences.facts.pairs import Pairs, counterpart
from tests.sentences.facts.rows import Line, attempts, counted, gravest, grown, once, question_names, steady

ARCHIVE = Path(__file__).parents[3] / "sets"
INVALID = ("wrong", "differ", "implausible")
# docs/reference: the stack that runs the same code uncompiled, and the same framework without Keras.
EAGER = {"jax_jit": "jax_eager", "torch_inductor": "torch_eager", "torch_xla": "torch_eager",
         "torchax_jit": "torch_eager", "tf_graph": "tf_eager", "tf_xla": "tf_eager",
         "onnxruntime": "torch_eager"}  # fmt: skip
NATIVE = {"keras_jax": "jax_jit", "keras_torch": "torch_eager", "keras_tf": "tf_graph"}


@dataclass(frozen=True)
class Cell:
    """One stack on one question: how its processes ended."""

    outcome: str
    ok: int
    rows: tuple[Line, ...]

    @property
    def counts(self) -> bool:
        return self.ok > 0 and self.outcome not in INVALID

    @property
    def failed(self) -> bool:
        return self.outcome not in ("ok", "not run")

    @property
    def used(self) -> list[Line]:
        """The processes whose medians make the stack's: the ok ones, without the A/A twin."""
        timed = [row for row in self.rows if steady(row)]
        first = [row for row in timed if row["replicate"] == 1]
        return [row for row in first if row["outcome"] == "ok"] or first or timed

    def mean(self, clock: str = "synced") -> float | None:
        medians = [median(samples) for row in self.used if (samples := steady(row, clock))]
        return math.exp(fmean(map(math.log, medians))) if medians else None

    def average(self) -> float:
        return fmean(fmean(steady(row)) for row in self.used)

    def call(self, name: str) -> float | None:
        rows = self.used or [row for row in self.rows if row["replicate"] == 1]
        known = [value for row in rows if (value := row.get(f"{name}_seconds")) is not None]
        return median(known) if known else None


class Truth:
    """One set."""

    clock = "synced"

    def __init__(self, folder: Path) -> None:
        self.folder, self.plan = folder, json.loads((folder / "plan.json").read_text())
        self.protocol, self.baseline, self.planned = self.plan["protocol"], *[self.plan["baseline"]] * 2
        self.attempts = attempts(folder)
        self.rows = counted(self.attempts, self.plan)
        self.timed = [row for row in self.rows if row["purpose"] == "timed"]
        self.ids = {name: asked for asked, name in self.named("timed").items()}
        self.cells = {name: self.cells_of(asked) for name, asked in sorted(self.ids.items())}
        self.shared: dict[Any, Any] = {}  # by all views of the set

    def seen(self, baseline: str = "", clock: str = "synced") -> Truth:
        """Returns the set over another of its stacks, and by another clock."""
        view = copy(self)
        view.baseline, view.clock = chosen = baseline or self.baseline, clock
        return cast(Truth, self.shared.setdefault(chosen, view))

    def file(self, name: str) -> Any:
        path = self.folder / name
        return json.loads(path.read_text()) if path.exists() else {}

    def named(self, purpose: str, key: Callable[[Line], str] = lambda row: str(row["asked"])) -> dict[str, str]:
        heads: dict[str, Line] = {}
        for row in self.rows:
            if row["purpose"] == purpose:
                heads.setdefault(key(row), row)
        return question_names(heads)

    @property
    def searched(self) -> dict[str, str]:
        """Returns {key: name} of the questions on memory: of rows that differ in the stack and in the size alone."""
        return self.named("memory", grown)

    @property
    def all_names(self) -> set[str]:
        named = [self.searched, *map(self.named, ("timed", "memory", "explain"))]
        return {name for names in named for name in names.values()}

    def cells_of(self, asked: str) -> dict[str, Cell]:
        rows = [row for row in self.timed if row["asked"] == asked]
        found = {}
        for who in sorted({row["who"] for row in rows}):
            own = tuple(row for row in rows if row["who"] == who)
            found[who] = Cell(gravest([*own]), sum(row["outcome"] == "ok" for row in own), own)
        return found

    @property
    def stacks(self) -> list[str]:
        return sorted({row["who"] for row in self.rows} | {self.baseline})

    @property
    def pairs(self) -> Pairs:
        if self.clock not in self.shared:
            self.shared[self.clock] = Pairs.of(self.timed, self.protocol, self.planned, self.clock)
        return cast(Pairs, self.shared[self.clock])

    @cached_property
    def blocks(self) -> list[Line]:
        return [json.loads(path.read_text()) for path in sorted((self.folder / "blocks").glob("*.json"))]

    @property
    def decided(self) -> bool:
        """Whether a second block has a timed process: without one there are no intervals."""
        return len({row["block"] for row in self.timed if row.get("provenance")}) > 1

    @once
    def counting(self, on: str) -> list[str]:
        """Returns the stacks with a time that counts, the lowest median first."""
        timed = [who for who, cell in self.cells[on].items() if cell.counts and cell.mean()]
        return sorted(timed, key=lambda who: (self.time(on, who), who))

    def time(self, on: str, who: str) -> float:
        return self.cells[on][who].mean() or math.nan

    def own(self, on: str) -> str:
        """Returns the set's baseline or, on a question without it, what runs the question's own function on its
        stack."""
        return counterpart(self.baseline, self.cells[on]) or self.baseline

    @property
    def over_words(self) -> str:
        """The baseline in words: without a function where some question has its own."""
        own = {self.own(on) for on in self.cells}
        return self.baseline if own <= {self.baseline} else self.baseline.partition(":")[0]

    def base(self, on: str) -> str:
        """Returns the baseline of a question: its own, or the fastest stack if that has no time that counts."""
        cell, counting = self.cells[on].get(self.own(on)), self.counting(on)
        stands = cell is not None and not cell.counts and cell.outcome != "not run" and len(counting) > 1
        return counting[0] if stands else self.own(on)

    def processes(self, on: str, who: str) -> Blocks:
        return self.pairs.sides[self.ids[on], who]

    def modes(self, on: str, who: str) -> bool:
        return has_modes(self.processes(on, who))

    def spread(self, on: str, who: str) -> float:
        return max(seconds(self.processes(on, who))) / min(seconds(self.processes(on, who)))

    @property
    def over_own(self) -> dict[tuple[str, str], Ratio]:
        return self.pairs.over(self.baseline)

    def ratio(self, on: str, who: str, over: str) -> Ratio | None:
        """Returns a ratio in the family of its baseline: the set's own, or another, once times are known."""
        return self.pairs.over(over).get((self.ids[on], who))

    def behind(self, on: str) -> set[tuple[str, str]]:
        """Returns the pairs of which the first is shown to be slower than the second, over whichever baseline."""
        key = "behind", self.clock, on
        if key not in self.shared:
            self.shared[key] = self.shown(on) | self.untouching(on)
        return cast(set[tuple[str, str]], self.shared[key])

    def shown(self, on: str) -> set[tuple[str, str]]:
        ratios = {(who, over): self.ratio(on, who, over) for who, over in permutations(self.counting(on), 2)}
        slower = {pair for pair, ratio in ratios.items() if ratio and ratio.word == "slower"}
        return slower | {(over, who) for (who, over), ratio in ratios.items() if ratio and ratio.word == "faster"}

    def untouching(self, on: str) -> set[tuple[str, str]]:
        """Returns the pairs that never took turns, without modes, whose intervals over the planned baseline are
        apart."""
        found = set()
        for one, other in permutations(self.counting(on), 2):
            ours, theirs = (self.ratio(on, who, self.planned) for who in (one, other))
            together = self.pairs.logs(other).get((self.ids[on], one), {})
            if not (ours and theirs and ours.high and theirs.low) or len(together) > 1:
                continue
            if ours.high < theirs.low and not (self.modes(on, one) or self.modes(on, other)):
                found.add((one, other))
        return found

    def leaders(self, on: str) -> list[str]:
        """Returns the stacks that lead a question, the lowest median first: none is shown to be faster."""
        slower = {stack for stack, _ in self.behind(on)} if self.decided else set()
        return [stack for stack in self.counting(on) if stack not in slower]

    def led(self, questions: list[str] | None = None) -> dict[str, list[str]]:
        """Returns {question: its leaders} of the questions with two stacks with times that count."""
        asked = [on for on in questions or self.cells if len(self.counting(on)) > 1]
        return {on: self.leaders(on) for on in asked}

    def upon(self, table: dict[str, str]) -> dict[str, str]:
        """Returns {stack: the one below it, by EAGER or NATIVE}, with their variants and implementations."""
        stacks = {who for cells in self.cells.values() for who in cells}
        found = {}
        for who in stacks:
            plain = who.partition("@")[0].partition(":")[0]
            rest = who.removeprefix(plain)
            below = table.get(plain, "") + (rest if table is NATIVE else f":{rest.partition(':')[2]}".rstrip(":"))
            if plain in table and below in stacks:
                found[who] = below
        return found

    def twin_of(self, on: str) -> Ratio | None:
        return next((ratio for (asked, _), ratio in self.pairs.twins().items() if asked == self.ids[on]), None)


@cache
def archived(name: str) -> Truth:
    """Returns a kept set by the beginning of its name."""
    (folder,) = ARCHIVE.glob(f"{name}*")
    return Truth(folder)
