"""Frameworks against each other, in the first sentence, on the map and in its figures: each by its best stack, which is
that with the lowest median of those with a judged ratio. The others' are over the best one of the baseline's framework:
ratio, interval and verdict are those of the table over it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl

from suite import units
from suite.answers.figures.figure import Figure
from suite.answers.figures.ratios import ENDS, dots
from suite.answers.sentences import capital, listed
from suite.page.map.sentence import NAMED, share, span
from suite.page.sections.labels import comparison_anchor, panel_anchor
from suite.page.sections.timed.formulations import formulation
from suite.page.sections.timed.units import column_units
from suite.results.analysis import Analysis, Comparison
from suite.results.case_row import CaseRow
from suite.stacks.catalog import STACKS
from suite.verdicts.grouping import grouped
from suite.verdicts.looks import UNSURE
from suite.verdicts.names import slug
from suite.verdicts.speedups import Pairing
from suite.verdicts.verdicts import Speedup

VERBS = {"train": "trains", "gradient": "differentiates"}  # by pass
APART, EVEN = ("faster", "slower"), "neither faster nor slower"


@dataclass(frozen=True, slots=True)
class Pair:
    """A framework's best stack, and the best one of the baseline's framework, which `speedup` is over."""

    ours: CaseRow
    base: CaseRow
    speedup: Speedup

    @property
    def names(self) -> tuple[str, str]:
        return named(self.ours)[0], named(self.base)[0]

    @property
    def is_ahead(self) -> bool:
        return self.speedup.ratio.value >= 1

    @property
    def word(self) -> str:
        """The verdict, where that leaves the two together."""
        return "" if self.speedup.verdict in APART else f", {self.speedup.verdict}"

    @property
    def is_open(self) -> bool:
        return self.speedup.verdict == UNSURE

    def told(self, does: str, unit: units.Unit) -> str:
        """Returns `JAX trains ffn 1.68× as fast as PyTorch [1.59, 1.77] (12.5 against 21.2 ms, jit against eager)`, or
        `it is undecided whether JAX trains ffn faster than PyTorch: 1.68× [0.907, 3.11] (…)`."""
        ratio, stacks = self.speedup.ratio, [self.ours, self.base]
        low, value, high = ratio.low or ratio.value, ratio.value, ratio.high or ratio.value
        if not self.is_ahead:
            (low, value, high), stacks = (1 / high, 1 / value, 1 / low), stacks[::-1]
        (one, way), (other, another) = map(named, stacks)
        times = " against ".join((unit.show(stacks[0].steady), unit(stacks[1].steady)))
        ways, known, within = f"{way} against {another}", units.ratio(value, low, high), units.interval(low, high)
        if self.is_open:
            return f"it is undecided whether {one} {does} faster than {other}: {known} {within} ({times}, {ways})"
        return f"{one} {does} {known} as fast as {other} {within}{self.word} ({times}, {ways})"

    def aside(self, *, is_turned: bool) -> str:
        """Returns `TensorFlow 1.73×`, or `1.73× as fast as TensorFlow` where the ratio is turned round."""
        who, value = named(self.ours)[0], self.speedup.ratio.value
        return (
            f"{units.ratio(1 / value)} as fast as {who}{self.word}"
            if is_turned
            else f"{who} {units.ratio(value)}{self.word}"
        )


def named(case: CaseRow) -> tuple[str, str]:
    """Returns a stack's framework and how it executes: `JAX`, `jit`; the stack's name where that isn't known."""
    name, variant, release = case.stack.partition(":")[0].partition("@")
    who, _, way = (STACKS[name].title if name in STACKS else name).partition(", ")
    return who, f"{way or name}{variant}{release}"


def pairs(comparison: Comparison, pairing: Pairing) -> list[Pair]:
    """Returns the frameworks of a question against that of the baseline: what is decided first, the greatest ratio
    first. There are none where frameworks were given different formulations, which is another question, nor where
    nothing is judged."""
    by_name = grouped(comparison.counting, lambda case: named(case)[0])
    own = [name for name, cases in by_name.items() if any(case.is_baseline for case in cases)]
    if not own or len({formulation(case.stack) for case in comparison.counting}) > 1:
        return []
    base = by_name.pop(own[0])[0]
    over = {who: it for (on, who), it in pairing.over(base.stack).items() if on == comparison.id and it.ratio.low}
    judged = ([case for case in cases if case.stack in over] for cases in by_name.values())
    found = [Pair(cases[0], base, over[cases[0].stack]) for cases in judged if cases]
    return sorted(found, key=lambda pair: (pair.is_open, -pair.speedup.ratio.value))


def best(comparison: Comparison, pairing: Pairing) -> list[tuple[str, CaseRow, Speedup | None]]:
    """Returns each framework of a question with its best stack and the ratio over the first one's, which is the
    baseline's framework."""
    found = pairs(comparison, pairing)
    cases: list[tuple[CaseRow, Speedup | None]] = [(found[0].base, None)] if found else []
    return [(named(case)[0], case, ratio) for case, ratio in [*cases, *((pair.ours, pair.speedup) for pair in found)]]


def best_dots(comparison: Comparison, pairing: Pairing, tie: float) -> Figure | None:
    """Returns the figure of a question's frameworks, the lowest median first; None where none is judged."""
    found = best(comparison, pairing)
    if not found:
        return None
    lines = [
        {
            "stack": framework,
            "counts": True,
            "ended": "",
            "median_seconds": case.steady,
            "verdict": it.verdict if it else "baseline",
            "judged_note": (it.why or it.note) if it else "",
            **dict(zip(ENDS, (it.ratio.value, it.ratio.low, it.ratio.high) if it else (None,) * 3, strict=True)),
        }
        for framework, case, it in sorted(found, key=lambda each: each[1].steady)
    ]
    stacks = {framework: case.stack for framework, case, _ in found}
    base, unit, anchor = found[0][0], column_units(comparison).steady, comparison_anchor(comparison)
    table = pl.DataFrame(lines, infer_schema_length=None)
    figure = dots(f"{anchor}-by-{slug(stacks[base])}", comparison.name, table, tie, unit, base)
    links = {framework: panel_anchor(comparison, stack) for framework, stack in stacks.items()}
    return replace(figure, links=links, below=stacks)


def of_question(comparison: Comparison, pairing: Pairing) -> str:
    """Returns the clause on one question: the fastest framework over the baseline's, or the baseline's over the fastest
    of the others; then the rest, whose intervals are in the table. Empty where no framework is judged."""
    found = pairs(comparison, pairing)
    if not found:
        return ""
    head, unit = comparison.head, column_units(comparison).steady
    workload, pass_ = head.text("workload"), head.text("pass")
    rest = comparison.name.removeprefix(f"{workload} {pass_}").strip(" ()").replace(" (", ", ")
    does = f"{VERBS.get(pass_, 'runs')} {workload}{f' ({rest})' * bool(rest)}"
    first, *others = found
    asides = [pair.aside(is_turned=not first.is_ahead) for pair in others]
    return listed([first.told(does, unit), *asides], len(asides) + 1)


def counted(found: Sequence[Pair], which: str) -> str:
    """Returns on how many questions each framework is shown to be faster or slower than the baseline's: `JAX is shown
    to be faster than PyTorch on 3 of 6 questions (1.71 to 1.99×) and slower on 3 (0.879 to 0.951×)`."""
    said: list[str] = []
    for (ours, base), of in grouped(found, lambda it: it.names).items():
        words: list[str] = []
        verdicts = grouped(of, lambda it: it.speedup.verdict if it.speedup.verdict in APART else EVEN)
        for word, some in verdicts.items():
            of_all = f"{len(some)} of {len(of)}" if said else f"{share(len(some), len(of))}{which}"
            on = f"on {len(some)}" if words else f"than {base} on {of_all}"
            words.append(f"{word} {on} ({span([units.ratio(pair.speedup.ratio.value) for pair in some])})")
        said.append(f"{ours} is {'' if said else 'shown to be '}{listed(words)}")
    return "; ".join(said)


def frameworks(analysis: Analysis) -> str:
    """Returns the sentences on a set; empty where no question has two frameworks that are judged."""
    asked = [each for each in analysis.comparisons if pairs(each, analysis.pairing)]
    if len(asked) <= NAMED:
        first, *more = (of_question(each, analysis.pairing) for each in asked) if asked else [""]
        return ". ".join([first, *map(capital, more)])
    return of_many([(each.head.text("track"), pairs(each, analysis.pairing)) for each in asked])


def of_many(asked: Sequence[tuple[str, Sequence[Pair]]]) -> str:
    """Returns the sentences on many questions, each given by its track and pairs; empty without a pair."""
    by_track = grouped(((track, pair) for track, found in asked for pair in found), lambda each: each[0])
    by_words = {f" of the {track} track" * (len(by_track) > 1): some for track, some in by_track.items()}
    return ". ".join(counted([pair for _, pair in some], which) for which, some in by_words.items())
