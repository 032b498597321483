"""The first sentence, on the page and on the console: which stacks lead, on what, and by how much.

partials/map.js says the same of the stacks and the metric that a reader chose; a test in a browser compares the two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from suite.answers.sentences import capital, listed
from suite.page.map.means import ANSWERED
from suite.page.map.page_map import Map, MapRow

NAMED = 3  # so many leaders of a question are named; more are counted. So many questions have a clause each
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class Lead:
    """The stacks that lead a question, and their ratios over the baseline in words: of those that are shown to be
    faster than it. There are none where it leads itself, or where another stack stands in for it. A question is open if
    all its stacks lead."""

    question: str
    leaders: tuple[str, ...]
    ratios: Mapping[str, str]
    is_open: bool


def overall(shown: Map, baseline: str, order: Sequence[Sequence[str]], *, decided: bool) -> str:
    """Returns the sentence on a map over a baseline; `order` has the stacks of each question, the lowest median first.
    Where nothing can be `decided`, for want of a second block, it names the lowest median."""
    rows = [(row, ranked) for row, ranked in zip(shown.rows, order, strict=True) if len(ranked) > 1]
    if not rows:
        return "No question has two stacks with times that count."
    if not decided:
        stack, times = Counter(ranked[0] for _, ranked in rows).most_common(1)[0]
        return f"One block decides nothing: {stack} has the lowest median on {share(times, len(rows))}."
    leads = [lead(row, shown.columns) for row, _ in rows]
    if len(leads) <= NAMED:
        said = f"{'; '.join(clause(each, baseline) for each in leads)}."
        return capital(said) if said.startswith((*NUMBERS, "neither of", "none of")) else said
    return counted(leads, shown.columns, baseline)


def lead(row: MapRow, columns: Sequence[str]) -> Lead:
    """Returns who leads the question of a row."""
    squares = dict(zip(columns, row.squares, strict=True))
    names = tuple(stack for stack, square in squares.items() if square.leads)
    over = {} if row.note else {stack: squares[stack].words for stack in names if squares[stack].kind == "faster"}
    timed = [stack for stack, square in squares.items() if square.kind in ANSWERED]
    return Lead(row.name, names, over, len(names) == len(timed))


def clause(each: Lead, baseline: str) -> str:
    """Returns `jax_jit and tf_xla lead ffn train (1.7 to 1.9× torch_eager)`."""
    number = len(each.leaders)
    if each.is_open:
        nobody = f"neither of {listed(each.leaders)}" if number == 2 else f"none of {NUMBERS[min(number, 10)]} stacks"
        return f"{nobody} is shown to be faster on {each.question}"
    among = f", {baseline} among them," if baseline in each.leaders else ""
    many = NUMBERS[number] if number < len(NUMBERS) else str(number)
    who = listed(each.leaders) if number <= NAMED else f"{many} stacks{among}"
    verb = "leads" if number == 1 else "lead" if number <= NAMED else "share the lead on"
    is_shown = each.ratios and len(each.ratios) == number
    return f"{who} {verb} {each.question}{beside(each.ratios.values(), baseline) if is_shown else ''}"


def counted(leads: Sequence[Lead], columns: Sequence[str], baseline: str) -> str:
    """Returns the sentence on many questions: how many the three stacks lead that lead most."""
    led = Counter(stack for each in leads for stack in each.leaders)
    alone = Counter(each.leaders[0] for each in leads if len(each.leaders) == 1)
    ranked = sorted(led, key=lambda stack: (-led[stack], -alone[stack], columns.index(stack)))[:NAMED]
    ratios = [each.ratios[ranked[0]] for each in leads if ranked[0] in each.ratios]
    first = f"{ranked[0]} leads {share(led[ranked[0]], len(leads))}{by_itself(alone[ranked[0]], led[ranked[0]])}"
    others = "".join(f"; {stack} leads {led[stack]}{by_itself(alone[stack], led[stack])}" for stack in ranked[1:])
    return f"{first}{beside(ratios, baseline)}{others}."


def by_itself(alone: int, led: int) -> str:
    """Returns how many of the questions that a stack leads it leads `alone`: `, 2 alone`, or ` alone` for all."""
    return " alone" if alone == led else f", {alone} alone" if alone else ""


def beside(ratios: Collection[str], baseline: str) -> str:
    """Returns ` (1.7 to 1.9× torch_eager)`; empty without ratios."""
    if not ratios:
        return ""
    least, *_, most = sorted([*ratios, *ratios], key=lambda words: float(words.rstrip("×").replace(",", "")))
    size = most if least == most else f"{least.rstrip('×')} to {most}"
    return f" ({size} {baseline})"


def share(some: int, of: int) -> str:
    """Returns `6 of 8 questions`, `both questions` or `all 8 questions`."""
    if some < of:
        return f"{some} of {of} questions"
    return {1: "the question", 2: "both questions"}.get(of, f"all {of} questions")
