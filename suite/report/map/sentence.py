"""The page's first sentence: the verdict on the whole set, which claims no more than the set shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suite import units
from suite.report.sections.sentences import capital, listed
from suite.report.sections.timed.headlines import Headline
from suite.results.analysis import Analysis

WINNERS_MOST = 3  # so many winners of single questions are named; of more, all but the last of these


@dataclass(frozen=True, slots=True)
class Sentence:
    """`before`, then the name of a stack (empty where none leads), then `after`."""

    before: str
    stack: str
    after: str

    @property
    def text(self) -> str:
        """Returns the sentence as plain text."""
        return f"{self.before}{self.stack}{self.after}"


def overall(analysis: Analysis, headlines: Sequence[Headline], machine: Mapping[str, Any]) -> Sentence | None:
    """Returns the verdict on a whole set; None without a timed process."""
    if not headlines:
        return None
    if len(headlines) == 1:
        [only] = headlines
        question = f" for {only.question}" if only.lead else f"{only.question}"
        return Sentence(f"{only.lead}{question}: ", only.lowest, only.rest)
    answered = [headline for headline in headlines if headline.ok > 1]
    place = f"On {this(machine)}, " if machine else ""
    if not answered:
        return Sentence(capital(f"{place}no question has two stacks with times that count."), "", "")
    if len(analysis.blocks) == 1:
        return undecided(place, answered)
    return leading(place, analysis, answered)


def this(machine: Mapping[str, Any]) -> str:
    """Returns `this 2-core AMD EPYC`."""
    processor = str(machine.get("cpu_model") or "processor").partition(" Processor")[0]
    cores = len(machine.get("cores_usable") or ())
    return f"this {f'{cores}-core ' if cores else ''}{processor}"


def undecided(place: str, answered: Sequence[Headline]) -> Sentence:
    """Returns the sentence on a set of one block, which decides nothing."""
    stack, times = Counter(headline.lowest for headline in answered).most_common(1)[0]
    rest = f" has the lowest median on {times} of {len(answered)} questions, but one block decides nothing."
    return Sentence(capital(place), stack, rest)


def leading(place: str, analysis: Analysis, answered: Sequence[Headline]) -> Sentence:
    """Returns the sentence on the stack that leads on most questions: it is the fastest there, or not shown to be
    slower than the fastest."""
    alone = Counter(headline.lowest for headline in answered if not headline.rivals)
    leads = Counter(stack for headline in answered for stack in (headline.lowest, *headline.rivals))
    means = {line.stack: line.common.value for line in analysis.summaries if line.common} | {analysis.baseline: 1.0}
    stack = max(leads, key=lambda name: (leads[name], alone[name], means.get(name, 0.0), name))
    times = share(leads[stack], len(answered))
    if alone[stack] == leads[stack]:
        claim = f" is the fastest on {times}"
    else:
        claim = f" is the fastest, or not shown to be slower than the fastest, on {times}"
        claim += f" (alone on {alone[stack]})" if alone[stack] else ""
    open_ = [headline.question for headline in answered if headline.rivals]
    tail = f" Who is fastest isn't decided on {listed(open_)}." if open_ else ""
    cost = first_runs([headline.long_first for headline in answered if headline.lowest == stack])
    led = [headline.question for headline in answered if stack in (headline.lowest, *headline.rivals)]
    restless = modes(in_modes(analysis, stack, led))
    told = f"{claim}{against(analysis, stack)}{cost}{restless}.{others(analysis, answered, stack)}{tail}"
    return Sentence(capital(place), stack, told)


def others(analysis: Analysis, answered: Sequence[Headline], stack: str) -> str:
    """Returns a sentence on each stack that is decided to be the fastest where `stack` isn't: ` torch_inductor is the
    fastest on selu train, 2.67× as fast as torch_eager, with a first run of 18.0 s.` Of many, those that win most
    questions are named and the others counted."""
    wins: dict[str, list[Headline]] = {}
    for headline in answered:
        if not headline.rivals and headline.lowest != stack:
            wins.setdefault(headline.lowest, []).append(headline)
    ranked = sorted(wins, key=lambda winner: (-len(wins[winner]), winner))
    most = len(ranked) if len(ranked) <= WINNERS_MOST else WINNERS_MOST - 1
    sentences = [
        f" {winner} is the fastest on {listed([won.question for won in wins[winner]])}{beside(analysis, wins[winner])}."
        for winner in ranked[:most]
    ]
    if rest := ranked[most:]:
        sentences.append(f" {len(rest)} other stacks are on {sum(len(wins[winner]) for winner in rest):,} more.")
    return "".join(sentences)


def beside(analysis: Analysis, won: Sequence[Headline]) -> str:
    """Returns what is told beside a winner's questions: `, 2.67× as fast as torch_eager, with a first run of 18.0 s`.
    Ratios are told only if all are shown to be faster."""
    questions = {headline.question for headline in won}
    asked = {comparison.id for comparison in analysis.comparisons if comparison.name in questions}
    ratios = [
        speedup.ratio.value
        for speedup in analysis.speedups
        if speedup.stack == won[0].lowest and speedup.comparison_id in asked and speedup.verdict == "faster"
        if speedup.baseline == analysis.baseline  # elsewhere another stack stands in for it
    ]
    size = f", {range_of(ratios)} as fast as {analysis.baseline}" if len(ratios) == len(won) else ""
    told = size + first_runs([headline.long_first for headline in won])
    return told + modes([headline.question for headline in won if headline.has_modes], named=len(won) > 1)


def in_modes(analysis: Analysis, stack: str, questions: Sequence[str]) -> list[str]:
    """Returns those of the `questions` on which a stack's processes run in two modes."""
    return [
        comparison.name
        for comparison in analysis.comparisons
        if comparison.name in questions and (figures := comparison.of(stack)) and figures.has_modes
    ]


def modes(questions: Sequence[str], *, named: bool = True) -> str:
    """Returns `; its processes run in two modes on selu train`, where the questions are `named`; empty without any."""
    if not questions:
        return ""
    return f"; its processes run in two modes{f' on {listed(questions)}' if named else ''}"


def first_runs(runs: Sequence[tuple[float, units.Unit] | None]) -> str:
    """Returns `, with a first run of 18.0 s`, or `of up to 18.0 s` for several; empty if no first run is long."""
    long = [run for run in runs if run is not None]
    if not long:
        return ""
    seconds, unit = max(long, key=lambda run: run[0])
    return f", with a first run of {'up to ' if len(runs) > 1 else ''}{unit(seconds)}"


def range_of(ratios: Sequence[float]) -> str:
    """Returns `2.67×`, or `1.5 to 2.0×` for several ratios."""
    least, most = min(ratios), max(ratios)
    begin = units.digits(least)
    return units.ratio(most) if begin == units.digits(most) else f"{begin} to {units.ratio(most)}"


def share(some: int, of: int) -> str:
    """Returns `6 of 8 questions`, `both questions` or `all 8 questions`."""
    if some < of:
        return f"{some} of {of} questions"
    return {1: "the question", 2: "both questions"}.get(of, f"all {of} questions")


def against(analysis: Analysis, stack: str) -> str:
    """Returns `; 1.5 to 2.0× as fast as torch_eager on the 4 where it is shown to be faster`."""
    asked = {comparison.id for comparison in analysis.comparisons}
    ratios = [
        speedup.ratio.value
        for speedup in analysis.speedups
        if speedup.stack == stack and speedup.verdict == "faster" and speedup.comparison_id in asked
    ]
    if not ratios:
        return ""
    where = "the one" if len(ratios) == 1 else f"the {len(ratios)}"
    return f"; {range_of(ratios)} as fast as {analysis.baseline} on {where} where it is shown to be faster"
