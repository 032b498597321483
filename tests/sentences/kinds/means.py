"""Geometric means: the summary's sentences, and the map's rows on top."""

from __future__ import annotations

import re

from tests.sentences.facts.estimates import Ratio
from tests.sentences.facts.totals import groups, means
from tests.sentences.kinds.held import Groups, Held, Some, agrees, interval_agrees, kind

GROUP = (
    r"(?P<group>[a-z0-9][^;:()]*) \({N:of}\), "
    r"(?:none, since no stack answered all|none is over 1× \({S:next} {R:next_mean}\)|{S:who} {R:mean})"
)
LEFT = r"Not ranked over (?P<group>[^:]*), since they lack a question: (?P<who>.+)\."


@kind("summary")
def summary(held: Held) -> None:
    said = held.read(LEFT, r"Greatest mean speedup over {S:over}: (?P<all>.+)\.")
    truth = held.truth
    if said["who"]:
        _, lacking, of = means(truth, said["group"])
        pairs = held.every(r"{S:who} \((?P<lacks>\d+) of (?P<of>\d+)\)", said["who"])
        others = re.search(r" and (\d+) others$", said["who"])
        names = frozenset(f"{one['who']} {one['lacks']} of {one['of']}" for one in pairs)
        true = frozenset(f"{who} {lacks} of {of}" for who, lacks in lacking.items())
        held.same("not ranked", Some(names, int(others[1]) if others else 0), true)
    else:
        told = said["all"].split("; ")
        held.same("baseline", said["over"], truth.baseline)
        held.same("groups", len(told), len(groups(truth)))
        for each in told:
            greatest(held, each)


def greatest(held: Held, text: str) -> None:
    said = held.read(GROUP, text=text)
    known, _, of = means(held.truth, said["group"])
    first = min(known, key=lambda who: (-known[who].value, who), default="")
    is_over = not first or known[first].value >= 1
    held.same(f"greatest mean, {said['group']}", (said["who"], said["next"]), (first, "") if is_over else ("", first))
    held.same(f"questions, {said['group']}", said.number("of"), of)
    if first:
        held.near("mean", said["mean"] or said["next_mean"], known[first].value)


@kind("means")
def rows_of_means(held: Held) -> None:
    """Holds the map's rows, one a line: `all questions: 6 | jax_jit: 1.28× [1.2, 1.3]; numpy: – 3 of 6`."""
    rows = {head: cells for head, _, cells in (line.partition(" | ") for line in held.text.splitlines())}
    known = {group: (*means(held.truth, group), len(asked)) for group, asked in groups(held.truth).items()}
    true = {f"{group}: {of}" + f" of {asked}" * (of < asked) for group, (*_, of, asked) in known.items() if of > 1}
    held.same("rows", {*rows}, true)
    stacks = {who for cells in held.truth.cells.values() for who in cells}
    for head, cells in rows.items():
        told = [held.read(r"{S:who}: (?:{R:mean}|–) ?(?P<beside>.*)", text=cell) for cell in cells.split("; ")]
        held.same("stacks", {one["who"] for one in told}, stacks)
        for one in told:
            of_a_cell(held, one, *known[head.partition(": ")[0]][:3])


def of_a_cell(held: Held, said: Groups, known: dict[str, Ratio], lacking: dict[str, int], of: int) -> None:
    who, beside = said["who"], said["beside"].replace("\N{NO-BREAK SPACE}", " ")
    if who in known:
        mean = known[who]
        is_so = agrees(said["mean"], mean.value) and interval_agrees(beside, mean.low, mean.high)
        held.so(f"mean of {who}", is_so, (said["mean"], beside), (mean.value, mean.low, mean.high))
    elif who == held.truth.baseline:
        held.same("the baseline", (said["mean"], beside), ("1×", "the baseline"))
    else:
        true = f"{of - lacking[who]} of {of}" if who in lacking else ""
        held.same(f"{who} answered", (said["mean"], beside), ("", true))
