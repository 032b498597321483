"""Where a step's time goes, as the page shows it: a bar a stack by categories, with what the profiler itself cost."""

from __future__ import annotations

from dataclasses import dataclass

from suite import units
from suite.ir.timeline import Category, Profile
from suite.report.figures.bars import TIME, Bars, bars
from suite.report.sections.comparison import link_target, subtitle
from suite.results.questions.profiles import ProfileQuestion

ENOUGH = 0.9  # of a step, that categories must cover; else the page says what is missing
KINDS = {f"k{number}": name for number, name in enumerate(Category)}


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """One stack: its step in words, with and without the profiler."""

    stack: str
    plain: str
    profiled: str
    cost: str
    shares: str
    missing: str
    largest: tuple[tuple[str, str, str], ...]
    told_by: str
    kernels: str


@dataclass(frozen=True, slots=True)
class ProfileSection:
    """One question, and in one sentence what takes most of a step."""

    name: str
    anchor: str
    answer: str
    subtitle: str
    bars: Bars | None
    lines: tuple[ProfileLine, ...]
    without: tuple[tuple[str, str], ...]


def profile_section(question: ProfileQuestion) -> ProfileSection:
    """The section of a question."""
    anchor = link_target("t", question.name, question.id)
    split = [
        (stack, tuple((key, each.categories[name]) for key, name in KINDS.items() if name in each.categories))
        for stack, each in question.stacks
    ]
    return ProfileSection(
        name=question.name,
        anchor=anchor,
        answer=answer(question),
        subtitle=subtitle(question.head),
        bars=bars(f"{anchor}-bars", "Time of a profiled step, by category", split, KINDS, TIME),
        lines=tuple(line(stack, each, question.kernels.get(stack, "")) for stack, each in question.stacks),
        without=question.without,
    )


def answer(question: ProfileQuestion) -> str:
    """What takes the largest part of each stack's step, which is most of it above a half; empty where nobody could
    tell."""
    largest = [
        (seconds / told.seconds, name, stack)
        for stack, told in question.stacks
        for name, seconds in [max(told.categories.items(), key=lambda each: each[1])]
    ]
    lead = "Most" if all(share > 0.5 for share, _, _ in largest) else "The largest part"
    if len(largest) > 1 and len({name for _, name, _ in largest}) == 1:
        (least, name, low), (greatest, _, high) = min(largest), max(largest)
        low, high = f"{units.percent(least)} ({low})", f"{units.percent(greatest)} ({high})"
        return f"{lead} of a step, on every stack: {name}, {low} to {high}."
    told = ", ".join(f"{stack} {units.percent(share)} {name}" for share, name, stack in largest)
    return f"{lead} of a step: {told}." if told else ""


def line(stack: str, told: Profile, kernels: str) -> ProfileLine:
    """One stack's."""
    order = sorted(told.categories.items(), key=lambda each: -each[1])
    lost = told.categories.get(Category.UNATTRIBUTED, 0.0)
    return ProfileLine(
        stack=stack,
        plain=units.seconds(told.plain_seconds),
        profiled=units.seconds(told.seconds),
        cost=f"{100 * (told.seconds / told.plain_seconds - 1):+.0f} %",
        shares=", ".join(f"{name} {units.percent(seconds / told.seconds)}" for name, seconds in order),
        missing="" if told.attributed >= ENOUGH else f"{units.seconds(lost)} of a step is no operation's that is known",
        largest=tuple((name, category, units.seconds(seconds)) for category, name, seconds in told.largest),
        told_by=told.told_by,
        kernels=kernels,
    )
