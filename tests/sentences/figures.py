"""Further facts of a set, one function each: means, clocks, memory, endings, noise, settings, another set."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np
from scipy import special

from tests.sentences.pairs import Mean, Pairs, Ratio, holm, judged, moderated, seconds
from tests.sentences.reader import EAGER, INVALID, Cell, Truth
from tests.sentences.rows import Line, gravest, key_of, question_names, steady

FIELDS = {"cache": "cold", "track": "default", "precision": "f32", "pass": "forward", "threads": "1",
          "variant": "as locked"}  # fmt: skip
UNTIMED = ("prime", "ir", "explain", "profile")
TITLES = {"cold and warm compile cache": "cache", "default and tuned track": "track", "precisions": "precision",
          "forward and training step": "pass", "numbers of cores": "threads",
          "variants of one stack": "variant"}  # fmt: skip
LIKE = {"machine_id": "machine", "target": "target", "device": "device", "precision": "precision", "threads": "cores",
        "allocator": "allocator", "sampling": "way of sampling", "limit_memory_bytes": "memory limit"}  # fmt: skip


def geometric(truth: Truth, kept: dict[str, list[Ratio]]) -> dict[str, Ratio]:
    logs: dict[str, dict[int, float]] = {}
    for who, ratios in kept.items():
        blocks = set.intersection(*(set(ratio.logs) for ratio in ratios)) if ratios else set()
        per_block = {block: fmean(ratio.logs[block] for ratio in ratios) for block in sorted(blocks)}
        mean = fmean(math.log(ratio.value) for ratio in ratios) if ratios else 0.0
        logs[who] = {block: log - fmean(per_block.values()) + mean for block, log in per_block.items()}
    known = moderated(truth.pairs.means(logs))
    found = {}
    for who, ratios in kept.items():
        if len(ratios) == 1:
            found[who] = ratios[0]
        elif ratios:
            value = math.exp(fmean(math.log(ratio.value) for ratio in ratios))
            ends = known[who].ends(truth.pairs.doubt / len(known)) if who in known else (None, None)
            found[who] = Ratio(value, *ends)
    return found


def means(truth: Truth, group: str) -> tuple[dict[str, Ratio], dict[str, int], int]:
    """Returns the means of the stacks that have a ratio on each question of a group, how many the others lack, and the
    number of questions. One without a time of the baseline isn't among them."""
    words = {part.removesuffix(" track") for part in group.split(", ")} - {"", "all questions"}
    questions = []
    for on, cells in truth.cells.items():
        head = next(iter(cells.values())).rows[0]
        if words <= {head["pass"], head["track"], head["precision"]} and truth.baseline in truth.counting(on):
            questions.append(truth.ids[on])
    stacks = {who for on in truth.cells for who in truth.cells[on]} - {truth.baseline}
    kept = {who: [truth.over_own[id_, who] for id_ in questions if (id_, who) in truth.over_own] for who in stacks}
    known = geometric(truth, {who: of for who, of in kept.items() if of})
    lacking = {who: len(questions) - len(of) for who, of in kept.items() if len(of) < len(questions)}
    return {who: mean for who, mean in known.items() if who not in lacking}, lacking, len(questions)


def groups(truth: Truth) -> int:
    """Returns the number of groups of questions, each with a time of the baseline: all, and those of two questions or
    more that share track, pass and precision where the set has several."""
    heads = {on: next(iter(cells.values())).rows[0] for on, cells in truth.cells.items()}
    varying = [name for name in ("pass", "track", "precision") if len({head[name] for head in heads.values()}) > 1]
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for on, head in heads.items():
        alike[tuple(head[name] for name in varying)].append(on)
    several = [of for of in alike.values() if len(of) > 1 and varying]
    return sum(any(truth.baseline in truth.counting(on) for on in of) for of in [[*heads], *several])


def early(truth: Truth) -> dict[tuple[str, str], float]:
    """Returns the share of a step that is left when its call returns: the median over processes."""
    found: dict[tuple[str, str], float] = {}
    for on, who, cell in counting(truth):
        pairs = [(steady(row, "dispatch"), steady(row)) for row in cell.used]
        shares = [max(0.0, 1 - median(called) / median(synced)) for called, synced in pairs if called]
        found |= {(on, who): median(shares)} if shares else {}
    return found


def counting(truth: Truth) -> list[tuple[str, str, Cell]]:
    return [(on, who, truth.cells[on][who]) for on in truth.cells for who in truth.counting(on)]


def copies(truth: Truth) -> dict[tuple[str, str], tuple[float, float]]:
    """Returns {case: (mean of fetch minus synced, lower end of its simultaneous interval)} of two processes or more."""
    gaps: dict[tuple[str, str], list[float]] = {}
    for on, who, cell in counting(truth):
        of = [median(steady(r, "fetch")) - median(steady(r)) for r in cell.used if steady(r, "fetch")]
        gaps |= {(on, who): of} if len(of) > 1 else {}
    found = {}
    for case, of in gaps.items():
        freedom = min(truth.protocol["blocks"], len(of)) - 1
        if freedom:
            half = (
                special.stdtrit(freedom, 1 - truth.pairs.doubt / len(gaps) / 2)
                * np.std(of, ddof=1)
                / math.sqrt(len(of))
            )
            found[case] = fmean(of), fmean(of) - float(half)
    return found


def peak(row: Line) -> float | None:
    """Returns a process's peak memory in bytes: its device's, or on a CPU its own without pages of files."""
    if row["target"] != "cpu":
        return None if row["device_peak_bytes"] is None else float(row["device_peak_bytes"])
    known = [each for part in ("build", "step") if (each := row[f"host_peak_{part}_bytes"]) is not None]
    if not known or row["host_file_bytes"] is None:
        return None
    sampled = row["cgroup_anonymous_bytes"] if row["relative_error"] is None else None
    return float(max(max(known) - row["host_file_bytes"], sampled or 0.0))


def peaks(truth: Truth) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for on, who, cell in counting(truth):
        known = [of for row in cell.used if (of := peak(row)) is not None]
        if known:
            found[on][who] = max(known)
    return found


def extreme(truth: Truth, way: Any) -> tuple[frozenset[str], int, int, float, float]:
    """Returns the stacks whose peak is the lowest (or highest) most often, how often, of how many, from, to."""
    first = {on: way(of, key=lambda who: of[who]) for on, of in peaks(truth).items()}
    times = Counter(first.values())
    most = frozenset(who for who in times if times[who] == max(times.values()))
    those = [peaks(truth)[on][who] for on, who in first.items() if who in most]
    return most, max(times.values()), len(first), min(those), max(those)


def in_ended(truth: Truth) -> tuple[float, float, str, str]:
    """Returns the most bytes that were in ended processes, of which peak, of which stack, on which question."""
    found = []
    for on, who, cell in counting(truth):
        split = []
        for row in cell.used:
            parts = [row[f"host_{part}_bytes"] for part in ("base", "peak_build", "peak_step", "file")]
            whole = peak(row)
            if whole is not None and None not in parts and row["target"] == "cpu":
                split.append((whole, max(0.0, whole - max(0.0, max(parts[:3]) - parts[3]))))
        if split and max(split)[1] > 0:
            found.append((max(split)[1], max(split)[0], who, on))
    return max(found, default=(0.0, 0.0, "", ""))


def held(truth: Truth) -> list[tuple[float, str, str, dict[str, float]]]:
    """Returns (bytes, stack, question, bytes by category) of what each explain process recorded, the most first."""
    names, found = truth.named("explain"), []
    for row in truth.rows:
        if row["purpose"] == "explain" and row["outcome"] == "ok":
            kinds = json.loads(row["holders"] or "{}").get("categories") or {}
            found.append((sum(kinds.values()), row["who"], names[row["asked"]], kinds))
    return sorted(found, key=lambda each: -each[0])


def endings(truth: Truth) -> dict[tuple[str, str, str], str]:
    """Returns how each case ended, apart from programs and profiles where there is anything else."""
    own = [row for row in truth.rows if row["purpose"] not in UNTIMED] or truth.rows
    alike: dict[tuple[str, str, str], list[Line]] = defaultdict(list)
    for row in own:
        alike[row["asked"], row["who"], row["purpose"]].append(row)
    return {case: gravest(rows) for case, rows in alike.items()}


def errors(truth: Truth) -> dict[tuple[str, str], tuple[str, float | None]]:
    """Returns {case: (outcome, its worst error)} of the timed cases; None for one that wasn't compared."""
    found = {}
    for on, cells in truth.cells.items():
        for who, cell in cells.items():
            known = [row["relative_error"] for row in cell.rows if row.get("relative_error") is not None]
            found[on, who] = cell.outcome, max(known, default=None)
    return found


def readings(truth: Truth) -> dict[str, tuple[bool, Any]]:
    """Returns {cause: (whether its limit is exceeded, what was found)} of each reading that the set has."""
    found: dict[str, tuple[bool, Any]] = {}
    if truth.blocks:
        noisy = [block for block in truth.blocks if block["reasons"]]
        found["noisy blocks"] = bool(noisy), (len(noisy), len(truth.blocks))
    if widths := [ratio.reach for ratio in truth.over_own.values() if ratio.reach]:
        found["wide intervals"] = min(widths) > truth.protocol["tie_ratio"], min(widths) - 1
    floors = {on: twin.reach for on in truth.cells if (twin := truth.twin_of(on)) and twin.reach}
    if floors:
        wide = [on for on, width in floors.items() if width > 1.1]
        found["a wide noise floor"] = bool(wide), (len(wide), len(floors), frozenset(wide))
    told = truth.file("ceilings.json").get("readings", [])
    sure = [reading for reading in told if not reading.get("in_doubt")]
    if shares := [reading["cores_had"] for reading in sure if "cores_had" in reading]:
        found["other programs"] = min(shares) < 0.9, min(shares)
    alone = [reading["flops_per_second"] for reading in sure if reading.get("cores_had", 1.0) >= 0.9]
    if len(alone) > 1:
        change = max((later / alone[0] - 1 for later in alone[1:]), key=abs)
        found["a change of the machine's speed"] = abs(change) > 0.1, change
    return found


def weak(truth: Truth) -> dict[str, bool]:
    doubtful = any(twin.p <= truth.pairs.doubt for twin in truth.pairs.twins().values())
    return {
        "an unfinished run": any(row["outcome"] == "not run" for row in truth.rows),
        "a stack that differs from itself": doubtful,
        "one block": len({row["block"] for row in truth.timed if row.get("provenance")}) == 1,
        "unpinned environments": any("unpinned" in row["flags"] for row in truth.rows),
    }


def badge(truth: Truth) -> tuple[str, frozenset[str]]:
    """Returns the badge's word and its causes: any reading over its limit makes a set restless."""
    causes = frozenset(cause for cause, has in weak(truth).items() if has)
    over = frozenset(cause for cause, (is_over, _) in readings(truth).items() if is_over)
    return ("weak", causes) if causes else ("restless", over) if over else ("quiet", frozenset())


def invalid(truth: Truth) -> dict[str, dict[str, frozenset[str]]]:
    """Returns {outcome: {question: stacks}} of the stacks whose times don't count whatever they took."""
    found: dict[str, dict[str, frozenset[str]]] = {}
    for outcome in INVALID:
        for on, cells in truth.cells.items():
            if who := frozenset(who for who, cell in cells.items() if cell.outcome == outcome):
                found.setdefault(outcome, {})[on] = who
    return found


def mkl(truth: Truth) -> tuple[frozenset[str], bool]:
    """Returns the stacks of the first question on which MKL takes its default path, and whether the set tests it."""
    vendor = truth.file("machine.json").get("cpu_vendor")
    paths = {}
    for row in truth.rows:
        if row["purpose"] == "explain" and row.get("kernels"):
            used = json.loads(row["kernels"])
            all_ = sum(each["seconds"] or 0.0 for each in used)
            kept = [each for each in used if each["seconds"] is None or each["seconds"] >= 0.05 * all_]
            paths[row["case"]] = any((k["library"], k["isa"]) == ("MKL", "default path") for k in kept)
    for cells in truth.cells.values():
        slowed = frozenset(who for who in cells if cells[who].used and paths.get(cells[who].rows[0]["case"]))
        if slowed and vendor not in (None, "", "GenuineIntel"):
            head = next(iter(cells.values())).rows[0]
            tuned = key_of(head | {"track": "tuned"}, ("stack", "variant", "implementation"))
            name = next((name for name, asked in truth.ids.items() if asked == tuned), "")
            return slowed, vendor == "AuthenticAMD" and not (name and slowed & {*truth.counting(name)})
    return frozenset(), False


def settings(truth: Truth, field: str) -> dict[tuple[str, str], dict[str, Ratio]]:
    """Returns {(question, stack): {value: its ratio over the field's usual value}}, all judged as one family."""
    clock, rows = "first" if field == "cache" else "synced", [row for row in truth.timed if row["outcome"] == "ok"]
    by_id: dict[str, list[Line]] = defaultdict(list)
    for row in rows:
        if steady(row, clock):
            by_id[key_of(row, (field,))].append(row)
    several = {id_: of for id_, of in by_id.items() if len({row[field] for row in of}) > 1}
    lines = [
        row
        | {"asked": id_, "who": str(row[field]) or FIELDS[field]}
        | ({} if field == "variant" else {"synced_rounds": None, "kept": row.get("kept", {})})
        for id_, of in several.items()
        for row in of
    ]
    values = sorted({row["who"] for row in lines}, key=lambda v: (v != FIELDS[field], v.isdecimal() and int(v), v))
    if not values:
        return {}
    pairs = Pairs.of(lines, truth.protocol, clock, one_family=True)
    heads = {id_: of[-1] for id_, of in several.items()}
    asked = {id_: key_of(head, (field, "stack", "variant")) for id_, head in heads.items()}
    names = question_names({asked[id_]: head for id_, head in heads.items()}, without=field)
    found: dict[tuple[str, str], dict[str, Ratio]] = defaultdict(dict)
    for (id_, value), ratio in pairs.over(values[0]).items():
        who = heads[id_]["stack"] if field == "variant" else heads[id_]["who"]
        found[names[asked[id_]], who][value] = ratio
    return found


def largest(truth: Truth) -> dict[str, tuple[int, int | None]]:
    """Returns {stack: (largest size that fits, smallest that ran out of memory)} of a search."""
    vary = truth.plan["vary"] or "batch"
    sizes: dict[str, list[tuple[int, Line]]] = defaultdict(list)
    for row in truth.rows:
        if row["purpose"] == "memory":
            sizes[row["who"]].append((json.loads(row["dims"])[vary], row))
    return {
        who: (
            max((size for size, row in of if row["outcome"] == "ok"), default=0),
            min(
                (size for size, row in of if row["outcome"][:3] == "oom" and row["provenance"] == "measured"),
                default=None,
            ),
        )
        for who, of in sizes.items()
    }


THRESHOLD = 1.05  # a ratio of times, beyond which a case in a later set is worse


class Two(Truth):
    """A set, and a second one that is compared with it."""

    def __init__(self, folder: Path, second: Truth) -> None:
        super().__init__(folder)
        self.second = second

    @cached_property
    def changes(self) -> Changes:
        return changes(self, self.second)


@dataclass(frozen=True)
class Changes:
    """{case: (second over first, outcomes)} of the cases of two sets, the machine's drift, in what the sets differ."""

    cases: dict[str, tuple[Ratio | None, str, str]]
    drift: float | None
    unlike: list[str]

    @property
    def counted(self) -> tuple[int, int, int]:
        """How many cases changed, of how many, and how many are worse."""
        changed = sum(bool(ratio and ratio.word in ("faster", "slower")) for ratio, *_ in self.cases.values())
        worse = sum(
            (before == "ok" != after) or bool(ratio and ratio.word == "slower" and 1 / ratio.value > THRESHOLD)
            for ratio, before, after in self.cases.values()
        )
        return changed, len(self.cases), worse

    @property
    def shift(self) -> float:
        return math.exp(median(math.log(ratio.value) for ratio, *_ in self.cases.values() if ratio))


def changes(first: Truth, second: Truth) -> Changes:
    """Compares the cases that two sets share; nothing is paired."""
    cells = [
        {of.rows[0]["case"]: (on, who, of) for on, cells in truth.cells.items() for who, of in cells.items()}
        for truth in (first, second)
    ]
    both = [case for case in cells[0] if case in cells[1]]
    values = [
        {name: {row.get(name) for case in both for row in of[case][2].rows} - {None} for name in LIKE} for of in cells
    ]
    unlike = [
        words
        for name, words in LIKE.items()
        if values[0][name] and values[1][name] and values[0][name] != values[1][name]
    ]
    ceilings = [
        truth.file("ceilings.json").get("readings", [{}])[0].get("flops_per_second") for truth in (first, second)
    ]
    drift = max(ceilings[0] / ceilings[1], ceilings[1] / ceilings[0]) if all(ceilings) else None
    logs = {}
    for case in both:
        sides = [(truth.ids[of[case][0]], of[case][1]) for truth, of in zip((first, second), cells, strict=True)]
        if all(side in truth.pairs.sides for side, truth in zip(sides, (first, second), strict=True)):
            logs[case] = [
                [*map(math.log, seconds(t.pairs.sides[s]))] for s, t in zip(sides, (first, second), strict=True)
            ]
    known = moderated({case: welch(first, *of) for case, of in logs.items() if min(map(len, of)) > 1})
    adjusted, doubt, found = holm({case: mean.p for case, mean in known.items()}), first.pairs.doubt, {}
    for case in both:
        ratio = None
        if case in logs:
            value, (low, high) = math.exp(fmean(logs[case][0]) - fmean(logs[case][1])), (None, None)
            if case in known:
                low, high = known[case].ends(doubt / len(known))
                if adjusted[case] <= doubt:
                    low, high = (max(low, 1.0), high) if value > 1 else (low, min(high, 1.0))
            floors = [truth.twin_of(of[case][0]) for truth, of in zip((first, second), cells, strict=True)]
            limits = [*floors, Ratio(1.0, 1 / drift, drift) if drift else None]
            words = {judged(value, low, high, first.protocol["tie_ratio"], limit, None)[0] for limit in limits}
            ratio = Ratio(value, low, high, "" if unlike else "undecided" if len(words) > 1 else words.pop())
        found[case] = ratio, cells[0][case][2].outcome, cells[1][case][2].outcome
    return Changes(found, drift, unlike)


def welch(truth: Truth, one: list[float], other: list[float]) -> Mean:
    parts = [float(np.var(logs, ddof=1)) / len(logs) for logs in (one, other)]
    freedoms = [truth.pairs.mean(dict(enumerate(logs))).freedom for logs in (one, other)]
    below = sum(part**2 / freedom for part, freedom in zip(parts, freedoms, strict=True))
    freedom = max(1, math.floor(sum(parts) ** 2 / below)) if below else sum(freedoms)
    return Mean(fmean(one) - fmean(other), math.sqrt(sum(parts)), freedom, int(freedom) + 1)


def paid(truth: Truth, who: str) -> tuple[list[int], int]:
    """Returns after how many steps a compiled stack pays off where it is faster than the eager one, and of how many
    questions."""
    under, steps, asked = truth.upon(EAGER)[who], [], 0
    for on, cells in truth.cells.items():
        if who in cells and under in cells:
            asked += 1
            ratio = truth.pair_word(on, who, EAGER)
            since = truth.pays_off(on, who, under) if ratio and ratio.word == "faster" else None
            steps += [since] if since is not None else []
    return steps, asked
