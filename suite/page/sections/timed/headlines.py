"""The answer to a comparison in one sentence, which the page, Markdown and the console show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from suite import units
from suite.answers.sentences import listed
from suite.page.sections.timed.formulations import formulation, framework, shared
from suite.page.sections.timed.units import column_units
from suite.results.analysis import Analysis, Comparison
from suite.results.case_row import CaseRow
from suite.results.cases.break_even import Calls, is_long, least
from suite.results.outcomes import outcome_text
from suite.verdicts.grouping import grouped
from suite.verdicts.verdicts import ALONE

MOST_DETAILED = 2  # stacks in two modes that have a sentence each
MODES_MOST = 4.0  # times: equal processes of one stack took up to 3.6 times as long as others on a quiet machine
MOST_RIVALS = 4  # so many rivals are all named
LEVEL = {"tie": "a tie with", "close": "close to"}  # verdicts of a stack that isn't faster than the baseline


@dataclass(frozen=True, slots=True)
class Headline:
    """The answer to one question. The sentence is `lead` for `question`: `lowest` `rest`. There is no lead where only
    one stack has a time, and for a question on something else than times there is only the rest.

    `lowest` is the stack with the lowest median of those that lead, and `rivals` are the others that lead.
    `has_interval` says whether the median has an interval, which takes two blocks.
    """

    question: str
    rest: str
    lead: str = ""
    lowest: str = ""
    rivals: tuple[str, ...] = ()
    has_interval: bool = False

    @property
    def text(self) -> str:
        subject = f"{self.lead} for {self.question}" if self.lead else self.question
        return f"{subject}: {self.lowest}{self.rest}"

    @property
    def before(self) -> str:
        """What stands before the stack's name, beside the question."""
        return f"{self.lead}: " if self.lead else ""


def headlines(analysis: Analysis) -> tuple[Headline, ...]:
    complete = analysis.not_run == 0
    return tuple(headline(comparison, analysis, complete=complete) for comparison in analysis.comparisons)


def headline(comparison: Comparison, analysis: Analysis, *, complete: bool) -> Headline:
    """Returns the answer to one comparison; if the set isn't `complete`, the sentence says that it is the answer so
    far."""
    counting = comparison.counting
    planned, lost = len(comparison.cases), sum(case.failed for case in comparison.cases)
    tail = f" {lost} of {planned} stacks did not end ok." if lost else ""
    if not counting:
        lead, verb = ("No answer", "produced") if complete else ("No answer so far", "has")
        return Headline(comparison.name, f"no stack {verb} a time that counts.{tail}", lead)
    unit = column_units(comparison)
    first, *others = [stack for stack in counting if stack.stack in comparison.leaders]
    rivals = tuple(stack.stack for stack in others)
    time, so_far, lead = unit.steady(first.steady), "" if complete else " so far", ""
    if planned == 1:
        rest = f" takes {time}{so_far}; no other stack {'is shown' if analysis.hidden else 'was measured'}"
    elif len(counting) == 1:
        rest = f" alone has a valid time{so_far}, {time}"
    else:
        ahead = by_averages(first, counting, rivals, unit.steady)
        lead = ("Lowest median" if rivals or ahead else "Fastest") if complete else "So far the lowest median"
        rest = f", {time}{against(first, counting, comparison)}"
        rest += f" ({outcome_text(first)})" if first.failed else ""
        rest += f"; not shown to be faster than {listed(rivals, MOST_RIVALS)}" if rivals else ""
        rest += lower(counting[0], first, unit.steady) + ahead
    rest += f"; {ALONE}" if first.speedup and first.speedup.note == ALONE else ""
    return Headline(
        comparison.name,
        f"{rest}.{tail}{by_formulation(counting, comparison, unit.steady)}{modes(counting, unit.steady)}"
        f"{first_run(first, counting, unit.first)}",
        lead,
        first.stack,
        rivals,
        has_interval=first.median_seconds_low is not None,
    )


def lower(lowest: CaseRow, first: CaseRow, unit: units.Unit) -> str:
    """Returns that a stack which doesn't lead has a lower median than the `first` that does; empty if none has."""
    if lowest.stack == first.stack:
        return ""
    return f"; {lowest.stack} has a lower median, {unit(lowest.steady)}, but is slower inside the blocks"


def by_averages(first: CaseRow, counting: Sequence[CaseRow], rivals: Sequence[str], unit: units.Unit) -> str:
    """Returns that a stack which doesn't lead has a lower average than all that do: the leaders' slow steps are few
    enough for their medians, and not for their averages. Empty if none has."""
    lowest = min(counting, key=lambda stack: stack.average)
    if lowest.stack in (first.stack, *rivals):
        return ""
    return f"; by averages {lowest.stack} is ahead ({unit(lowest.average)}, {first.stack} {unit(first.average)})"


def by_formulation(counting: Sequence[CaseRow], comparison: Comparison, unit: units.Unit) -> str:
    """Returns sentences on a question whose frameworks were given different formulations: the best of each framework,
    and who leads with each formulation that several share. Empty where all have the same ones."""
    stacks = [stack.stack for stack in counting]
    given = {name: {formulation(each) for each in group} for name, group in grouped(stacks, framework).items()}
    if len(given) < 2 or len({*map(frozenset, given.values())}) < 2:
        return ""
    best = {framework(stack.stack): stack for stack in reversed(counting)}
    lowest = sorted(best.values(), key=lambda stack: stack.steady)
    said = f" The best of each framework: {listed([f'{each.stack} {unit(each.steady)}' for each in lowest])}."
    times = {stack.stack: unit(stack.steady) for stack in counting}
    alike = [
        f" The same formulation, {each.name}: {listed([f'{stack} {times[stack]}' for stack in each.stacks])}; "
        f"{each.words}."
        for each in shared(stacks, comparison.behind)
    ]
    return said + ("".join(alike) or " No two frameworks have the same formulation.")


def standing_in(comparison: Comparison) -> str:
    """Returns a sentence on the stack that stands in for the baseline, and why; empty if the baseline has a time that
    counts."""
    case = comparison.of(comparison.stands_in_for)
    if case is None:
        return ""
    return (
        f"On {comparison.name} the baseline {comparison.stands_in_for} has no time that counts "
        f"({outcome_text(case)}): {comparison.baseline}, the fastest that has one, stands in for it."
    )


def against(first: CaseRow, counting: Sequence[CaseRow], comparison: Comparison) -> str:
    """Returns the fastest stack's ratio to the baseline in words, or why there is none."""
    baseline = comparison.baseline
    if comparison.stands_in_for:
        return f" (in place of the baseline {comparison.stands_in_for}, which has no time that counts)"
    if first.is_baseline:
        return " (the baseline)"
    if not any(stack.is_baseline for stack in counting):
        return f"; there is no ratio, because the baseline {baseline} has no time that counts"
    if first.speedup is None:
        return f"; there is no ratio, because no block has it and the baseline {baseline}"
    ratio, verdict = first.speedup.ratio, first.speedup.verdict
    size = f"{units.ratio(ratio.value, ratio.low, ratio.high)}"
    interval = units.interval(ratio.low, ratio.high)
    if verdict in LEVEL:
        return f" ({LEVEL[verdict]} {baseline}: {size} {interval})"
    measured = f"{size} as fast as {baseline} {interval}".rstrip()
    if why := first.speedup.why:
        return f", undecided ({why}): {measured}"
    return f", {measured}{', undecided' if verdict == 'undecided' else ''}"


def modes(counting: Sequence[CaseRow], unit: units.Unit) -> str:
    """Returns sentences on the stacks whose processes run in two modes, one for more than `MOST_DETAILED` stacks; empty
    without such stacks."""
    stacks = [stack for stack in counting if stack.two_modes]
    if len(stacks) > MOST_DETAILED:
        spreads = [stack.spread for stack in stacks]
        return (
            f" Processes of {len(stacks)} stacks {differ(max(spreads))} ({', '.join(each.stack for each in stacks)}): "
            f"the slowest takes {units.ratio(min(spreads))} to {units.ratio(max(spreads))} as long as the fastest."
        )
    return "".join(
        f" Processes of {stack.stack} {differ(stack.spread)}: the slowest takes {units.ratio(stack.spread)} as long as "
        f"the fastest. The fastest process has a median of {unit(stack.best_seconds)}, the typical one "
        f"{unit(stack.steady)}."
        for stack in stacks
    )


def differ(spread: float) -> str:
    """Returns how equal processes differ: modes that were seen are up to `MODES_MOST` apart, noise can be more."""
    return "run in two modes" if spread <= MODES_MOST else "differ widely, so other programs disturbed them"


def first_run(fastest: CaseRow, counting: Sequence[CaseRow], unit: units.Unit) -> str:
    """Returns a sentence on the first run of the fastest stack, and the step from which on its total time is the least;
    empty if the first run takes less time than `MATTERS` of the stack's steady steps."""
    calls = Calls.of(fastest)
    if calls is None or not is_long(calls):
        return ""
    stretches = least(known for stack in counting if (known := Calls.of(stack)))
    since, leader = stretches[-1]
    ahead = ""
    if leader != fastest.stack:
        ahead = f"; by the averages {leader} has the least total time in the end"
    elif since > 1:
        ahead = f"; by the averages it is ahead of {stretches[-2][1]} in total time from step {units.steps(since)} on"
    return f" The first run of {fastest.stack} takes {unit(calls.first)}{ahead}."


def modes_text(stack: CaseRow, unit: units.Unit) -> str:
    """Returns `slowest/fastest 3.60×, fastest 36.0 ms, typical 62.1 ms`, for a stack with processes in two modes."""
    best, typical = unit(stack.best_seconds), unit(stack.steady)
    return f"slowest/fastest {units.ratio(stack.spread)}, fastest {best}, typical {typical}"
