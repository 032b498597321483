"""The answer to each question in one honest sentence, as plain data: the page and the console print it."""

from __future__ import annotations

from dataclasses import dataclass

from suite import units
from suite.report.ratios import Ratios, Speedup
from suite.report.tables import Comparison, StackRow

MOST_RIVALS = 4  # more are counted, not listed


@dataclass(frozen=True, slots=True)
class Headline:
    """One comparison's answer. The sentence is `lead` for `question`: `fastest` `rest`.

    `seconds` is the fastest stack's median, `speedup` its ratio to the baseline (None where the baseline
    is fastest or has no `ok` row), `rivals` the stacks whose times can't be told from it.
    """

    anchor: str
    question: str
    lead: str
    fastest: str
    rest: str
    seconds: float | None
    speedup: Speedup | None
    rivals: tuple[str, ...]
    ok: int
    planned: int

    @property
    def text(self) -> str:
        """The sentence as plain text."""
        return f"{self.lead} for {self.question}: {self.fastest}{self.rest}"


def headlines(comparisons: tuple[Comparison, ...], ratios: Ratios) -> tuple[Headline, ...]:
    """One answer a comparison, in the order of the comparisons."""
    return tuple(_headline(c, ratios) for c in comparisons)


def _headline(c: Comparison, ratios: Ratios) -> Headline:
    ok = [row for row in c.rows if row.counts]
    base = next((row for row in ok if row.is_baseline), None)
    lost = sum(cell.outcome != "ok" for cell in c.cells)
    tail = f" {lost} of {len(c.cells)} stacks did not end ok." if lost else ""
    if not ok:
        return Headline(c.anchor, c.name, "No answer", "", f"no stack produced a time that counts.{tail}", None,
                        None, (), 0, len(c.cells))  # fmt: skip
    first = ok[0]
    rivals = _rivals(c, first, ok, ratios)
    lead = "Fastest" if not rivals else "Lowest median"
    rest = f", {c.units.steady(first.median.value)}{_against(first, base, ratios.baseline)}"
    if first.outcome != "ok":
        rest += f" ({first.outcome_text})"
    if rivals:
        rest += f"; not shown to be faster than {_listed(rivals)}"
    if len(ok) == 1:
        lead, rest = (
            "Only answer",
            f", {c.units.steady(first.median.value)}: no other stack has a time that counts",
        )
    return Headline(c.anchor, c.name, lead, first.stack, f"{rest}.{tail}", first.median.value, first.speedup,
                    rivals, len(ok), len(c.cells))  # fmt: skip


def _rivals(c: Comparison, first: StackRow, ok: list[StackRow], ratios: Ratios) -> tuple[str, ...]:
    """The stacks that paired blocks don't show to be slower than the one with the lowest median."""
    against = ratios.pairs(first.stack, [row.stack for row in ok], c.id)
    others = [row.stack for row in ok if row.stack != first.stack]
    return tuple(s for s in others if (found := against.get((c.id, s))) is None or found.verdict != "slower")


def _against(first: StackRow, base: StackRow | None, baseline: str) -> str:
    if first.is_baseline:
        return " (the baseline)"
    if base is None:
        return f"; no ratio, the baseline {baseline} has no ok row"
    if first.speedup is None:
        return f"; no block pairs it with the baseline {baseline}"
    s = first.speedup
    measured = f"{units.ratio(s.ratio)} {baseline}"
    if s.low is None:
        return f", {measured} (one block: no interval, undecided)"
    word = {"faster": "", "tie": ", a tie", "undecided": ", undecided", "slower": ", slower"}[s.verdict]
    return f", {measured} {units.interval(s.low, s.high)}{word}"


def _listed(names: tuple[str, ...]) -> str:
    if len(names) == 1:
        return names[0]
    first, last = (names[:-1], names[-1]) if len(names) <= MOST_RIVALS else (names[:2], f"{len(names) - 2} others")
    return f"{', '.join(first)} and {last}"
