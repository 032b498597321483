"""The sentence on stacks, on the page and on the console: which of them lead, on what, and by how much.

partials/map.js says the same of the stacks and the metric that a reader chose; a test in a browser compares the two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from suite import units
from suite.answers.sentences import capital, listed
from suite.page.sections.timed.formulations import own_words
from suite.results.analysis import Analysis, Comparison
from suite.verdicts.grouping import grouped

NAMED = 3  # so many leaders of a question are named; more are counted. So many questions have a clause each
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class Lead:
    """The stacks that lead a question, and their ratios over the baseline in words: of those that are shown to be
    faster than it. There are none where it leads itself, or where another stack stands in for it. A question is open if
    all its stacks lead. `own` says what is particular to the leaders' formulation."""

    question: str
    track: str
    leaders: tuple[str, ...]
    ratios: Mapping[str, str]
    is_open: bool
    own: str


def overall(analysis: Analysis, columns: Sequence[str]) -> str:
    """Returns the sentence on a set; stacks are named in the order of the map's `columns`. Where nothing can be
    decided, for want of a second block, it names the lowest median."""
    ranked = [(each, counting) for each in analysis.comparisons if len(counting := each.counting) > 1]
    if not ranked:
        return "No question has two stacks with times that count."
    if not analysis.is_decided:
        lowest = [counting[0].stack for _, counting in ranked]
        if analysis.baseline_words != analysis.baseline:  # each question has functions of its own
            lowest = [stack.partition(":")[0] for stack in lowest]
        stack, times = Counter(lowest).most_common(1)[0]
        return f"One block decides nothing: {stack} has the lowest median on {share(times, len(ranked))}."
    baseline, leads = analysis.baseline_words, [lead(comparison, columns) for comparison, _ in ranked]
    if len(leads) <= NAMED:
        return f"{sentence_case('; '.join(clause(each, baseline) for each in leads))}."
    by_track = grouped(leads, lambda each: each.track)
    said = {track: counted(some, columns, baseline) for track, some in by_track.items()}
    if len(said) == 1:
        return f"{sentence_case(*said.values())}."
    return f"{'; '.join(f'{track} track: {words}' for track, words in said.items())}."


def sentence_case(said: str) -> str:
    """Returns a sentence with a capital, unless it begins with the name of a stack."""
    return capital(said) if said.startswith((*(f"{number} " for number in NUMBERS), "neither of", "none of")) else said


def lead(comparison: Comparison, columns: Sequence[str]) -> Lead:
    """Returns who leads a question."""
    stacks = [case.stack for case in comparison.counting]
    names = tuple(stack for stack in columns if stack in comparison.leaders)
    over = {
        case.stack: units.ratio(case.speedup.ratio.value, case.speedup.ratio.low, case.speedup.ratio.high)
        for case in comparison.counting
        if case.stack in names and case.speedup and case.speedup.verdict == "faster" and not comparison.stands_in_for
    }
    is_open = len(names) == len(stacks)
    own = "" if is_open else own_words(names, stacks, comparison.behind)
    return Lead(comparison.name, comparison.head.text("track"), names, over, is_open, own)


def clause(each: Lead, baseline: str) -> str:
    """Returns `jax_jit and tf_xla share the lead on ffn train (1.7 to 1.9× torch_eager)`."""
    number = len(each.leaders)
    if each.is_open:
        nobody = f"neither of {listed(each.leaders)}" if number == 2 else f"none of {NUMBERS[min(number, 10)]} stacks"
        return f"{nobody} is shown to be faster on {each.question}"
    is_shown = each.ratios and len(each.ratios) == number
    ratios = beside(each.ratios.values(), baseline) if is_shown else ""
    does = "leads" if number == 1 else "share the lead on"
    return f"{who(each.leaders, baseline)} {does} {each.question}{ratios}{each.own}"


def who(stacks: Sequence[str], baseline: str) -> str:
    """Returns a few stacks by name, and more than `NAMED` by their number."""
    if len(stacks) <= NAMED:
        return listed(stacks)
    among = f", {baseline} among them," if baseline in stacks else ""
    return f"{NUMBERS[len(stacks)] if len(stacks) < len(NUMBERS) else len(stacks)} stacks{among}"


def counted(leads: Sequence[Lead], columns: Sequence[str], baseline: str) -> str:
    """Returns the clauses on many questions: on how many the stacks lead that lead most. Stacks that lead the same
    questions share their clause."""
    led = {stack: tuple(n for n, each in enumerate(leads) if stack in each.leaders) for stack in columns}
    alone = {stack: sum(each.leaders == (stack,) for each in leads) for stack in columns}
    together = grouped((stack for stack in columns if led[stack]), lambda stack: led[stack])
    ranked = sorted(together.items(), key=lambda group: (-len(group[0]), -alone[group[1][0]]))[:NAMED]
    said: list[str] = []
    for questions, stacks in ranked:
        number = f"{len(questions)}" if said else share(len(questions), len(leads))
        ratios = [leads[n].ratios[stack] for n in questions for stack in stacks if stack in leads[n].ratios]
        size = "" if said else beside(ratios, baseline)
        said.append(f"{who(stacks, baseline)} {verb(len(stacks), alone[stacks[0]])} {number}")
        said[-1] += by_itself(alone[stacks[0]], len(questions)) + size
    return "; ".join(said)


def verb(stacks: int, alone: int) -> str:
    """Returns what stacks do that lead questions together: one that leads none `alone` shares the lead."""
    return "share the lead on" if stacks > 1 else "leads" if alone else "shares the lead on"


def by_itself(alone: int, led: int) -> str:
    """Returns how many of the questions that a stack leads it leads `alone`: `, 2 alone`, or ` alone` for all."""
    return " alone" if alone == led else f", {alone} alone" if alone else ""


def beside(ratios: Collection[str], baseline: str) -> str:
    """Returns ` (1.7 to 1.9× torch_eager)`; empty without ratios."""
    return f" ({span(ratios)} {baseline})" if ratios else ""


def span(ratios: Collection[str]) -> str:
    """Returns `1.7 to 1.99×`; a single size where all are alike."""
    least, *_, most = sorted([*ratios, *ratios], key=lambda words: float(words.rstrip("×").replace(",", "")))
    return most if least == most else f"{least.rstrip('×')} to {most}"


def share(some: int, of: int) -> str:
    """Returns `6 of 8 questions`, `both questions` or `all 8 questions`."""
    if some < of:
        return f"{some} of {of} questions"
    return {1: "the question", 2: "both questions"}.get(of, f"all {of} questions")
