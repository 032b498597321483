"""`invoke compare`: sets held against each other, or the two ways in which one set has asked the same."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite import results, units
from suite.cli.console import print_table
from suite.environments import say
from suite.errors import UserError, unknown
from suite.results.across import Across, Change, Times, across, within
from suite.results.compare import Speedup

REGRESSION = 5  # exit code
FIELDS = ("cache", "track", "precision", "pass")  # of a case, which one set may have asked in two ways
FORMATS = ("text", "md", "csv", "json")
HEADS = ["question", "stack", "before", "after", "speedup", "verdict"]


@dataclass(frozen=True, slots=True)
class Told:
    """A table with what is said above and below it, and the same for machines."""

    title: str
    heads: list[str]
    lines: list[list[str]]
    sentences: list[str]
    data: dict[str, Any]


def compare(sets: Sequence[str], *, by: str | None, baseline: str | None, across_unlike: bool, threshold: str,
            form: str) -> int:  # fmt: skip
    """Tell it; 5 if something is slower by more than `threshold`, or no longer `ok`."""
    if form not in FORMATS:
        raise unknown("format", form, FORMATS)
    limit = threshold_of(threshold)
    if by is not None:
        if len(sets) != 1:
            raise UserError("--by compares within one set: `invoke compare SET --by=track`.")
        tell([told_within(Path(sets[0]), by, baseline)], form)
        return 0
    if len(sets) < 2:
        raise UserError("Two sets are needed, like `invoke compare BEFORE AFTER`, or one and --by, like --by=track.")
    times = [load(Path(path)) for path in sets]
    found = [across(times[0], each) for each in times[1:]]
    for each in found:
        refuse_unlike(each, across_unlike)
    tell([told_across(each, limit) for each in found], form)
    return REGRESSION if any(not each.unlike and each.regressions(limit) for each in found) else 0


def load(path: Path) -> Times:
    """A set by its folder. Raises UserError for a bare Parquet file, which has no protocol."""
    loaded = results.load(path)
    if loaded.plan is None:
        raise UserError(f"{path} has no plan beside it: give the set's folder.")
    return Times.of(loaded.plan.set_id, loaded.rows, loaded.plan, loaded.ceilings)


def threshold_of(text: str) -> float:
    """A ratio. Raises UserError for what is none."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 1 <= value < math.inf:
        raise UserError(f"--threshold={text} isn't understood: it is a ratio of times from 1 on, like 1.05.")
    return value


def refuse_unlike(found: Across, across_unlike: bool) -> None:
    """Raises UserError for sets that have nothing in common, or that differ in what decides their times."""
    if not found.changes:
        raise UserError(f"{found.first} and {found.second} have no timed case in common.")
    if found.unlike and not across_unlike:
        raise UserError(f"{found.first} and {found.second} differ in: {', '.join(found.unlike)}. Their times say "
                        "nothing of each other. --across shows them side by side, and calls none faster.")  # fmt: skip


def told_across(found: Across, threshold: float) -> Told:
    """Two sets."""
    sentences = []
    if found.unlike:
        sentences.append(f"The sets differ in {', '.join(found.unlike)}: nothing is called faster.")
    if found.drift is not None:
        sentences.append(f"The machine: its f32 ceilings in the two runs differ by {units.percent(found.drift - 1)}; "
                         "less than that is no change.")  # fmt: skip
    if found.shift is not None:
        sentences.append(f"The middle of all ratios is {units.ratio(found.shift)}: what all cases share, the machine's "
                         "state among it, can't be told from a change of all.")  # fmt: skip
    slower = found.regressions(threshold) if not found.unlike else ()
    called = [each for each in found.changes if each.verdict in ("faster", "slower")]
    sentences.append(f"{len(called)} of {len(found.changes)} cases changed; "
                     f"{len(slower)} {'is' if len(slower) == 1 else 'are'} worse by more than "
                     f"{units.percent(threshold - 1)}, or no longer ok.")  # fmt: skip
    sentences += found.alone
    data = {"first": found.first, "second": found.second, "unlike": list(found.unlike), "drift": found.drift,
            "shift": found.shift, "alone": list(found.alone), "threshold": threshold,
            "regressions": [f"{each.name} {each.stack}" for each in slower],
            "cases": [change_json(each) for each in found.changes]}  # fmt: skip
    return Told(f"{found.second} against {found.first}", HEADS, [*map(change_line, found.changes)], sentences, data)


def change_line(change: Change) -> list[str]:
    """One case."""
    before, after = (units.UNKNOWN if seconds is None else units.seconds(seconds) for seconds in change.seconds)
    ended = [word for word, seconds in zip(change.outcomes, change.seconds, strict=True) if seconds is None]
    ratio = change.ratio
    word = change.verdict or (" → ".join(change.outcomes) if ended else units.UNKNOWN)
    return [change.name, change.stack, before, after,
            units.estimate(ratio.value, ratio.low, ratio.high) if ratio else units.UNKNOWN, word]  # fmt: skip


def change_json(change: Change) -> dict[str, Any]:
    """One case; seconds, and the ratio of times, above 1 where the second set is faster."""
    ratio = change.ratio
    return {"question": change.name, "stack": change.stack, "outcomes": list(change.outcomes),
            "seconds": list(change.seconds), "verdict": change.verdict, "reason": change.reason,
            "ratio": ratio and {"value": ratio.value, "low": ratio.low, "high": ratio.high}}  # fmt: skip


def told_within(path: Path, field: str, baseline: str | None) -> Told:
    """One set, in two ways or more."""
    if field not in FIELDS:
        raise unknown("field to compare by", field, FIELDS)
    loaded = results.load(path)
    pairing = within(loaded.rows, field, loaded.protocol)
    if baseline is not None and baseline not in pairing.stacks:
        raise unknown(field, baseline, pairing.stacks)
    base = baseline or sorted(pairing.stacks, key=usual)[0]
    ratios = pairing.over(base)
    heads = ["question", field, f"speedup over {base}", "verdict"]
    lines = [[each.name, each.stack, units.estimate(each.ratio.value, each.ratio.low, each.ratio.high), each.verdict]
             for each in ratios]  # fmt: skip
    data = {"set": path.name, "by": field, "baseline": base, "cases": [speedup_json(each) for each in ratios]}
    return Told(f"{field} over {base}, block by block", heads, lines, [each.reason for each in ratios if each.reason],
                data)  # fmt: skip


def usual(value: str) -> tuple[bool, str]:
    """What others are held against first: the plain way."""
    return value not in ("cold", "default", "f32", "forward"), value


def speedup_json(each: Speedup) -> dict[str, Any]:
    """One ratio."""
    return {"question": each.name, "value": each.stack, "verdict": each.verdict, "reason": each.reason,
            "ratio": {"value": each.ratio.value, "low": each.ratio.low, "high": each.ratio.high}}  # fmt: skip


def tell(found: Sequence[Told], form: str) -> None:
    """On standard output."""
    if form == "json":
        print(json.dumps([each.data for each in found]))
        return
    print_as: dict[str, Callable[[Told], None]] = {"text": as_text, "md": as_markdown, "csv": as_csv}
    for each in found:
        print_as[form](each)


def as_text(told: Told) -> None:
    """A table and its sentences."""
    print_table(told.title, told.heads, told.lines, numbers=told.heads[2:5])
    for sentence in told.sentences:
        print(sentence)
    print()


def as_markdown(told: Told) -> None:
    """For a comment on a change."""
    print(f"### {told.title}\n\n| {' | '.join(told.heads)} |\n| {' | '.join('---' for _ in told.heads)} |")
    for line in told.lines:
        print(f"| {' | '.join(cell.replace('|', '/') for cell in line)} |")
    print("\n" + "\n".join(f"- {sentence}" for sentence in told.sentences) + "\n")


def as_csv(told: Told) -> None:
    """The table alone; what is said of it goes to standard error."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([told.heads, *told.lines])
    print(text.getvalue(), end="")
    for sentence in told.sentences:
        say(sentence)
