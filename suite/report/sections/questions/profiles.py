"""The section "Time": where a step's time goes, by categories, and what the profiler itself costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suite import units
from suite.ir.timeline import Category, Profile
from suite.report.figures.bars import TIME, Bars, bars
from suite.report.sections.labels import link_target, subtitle
from suite.report.sections.section import AnswerLine, Context, QuestionView, Section, answer_lines
from suite.report.sections.sentences import first_of
from suite.report.tables import Table
from suite.results.analysis import Analysis
from suite.results.questions.profiles import ProfileQuestion

ENOUGH = 0.9  # share of a step that must be attributed to operations; below it the page says how much is missing
KINDS = {f"k{number}": name for number, name in enumerate(Category)}


@dataclass(frozen=True, slots=True)
class ProfileLine:
    """One stack: its step without and with the profiler, in words. `largest` are the longest operations as (name,
    category, time)."""

    stack: str
    plain: str
    profiled: str
    cost: str
    shares: str
    missing: str
    largest: tuple[tuple[str, str, str], ...]
    recorded_by: str
    kernels: str


@dataclass(frozen=True, slots=True)
class ProfileView(QuestionView):
    """One question; `answer` says what takes most of a step."""

    question: ProfileQuestion
    bars: Bars | None
    lines: tuple[ProfileLine, ...]


@dataclass(frozen=True, slots=True)
class ProfilesSection(Section):
    """The questions with profiles, by name."""

    views: tuple[ProfileView, ...]

    name = "profiles"
    nav = "Time"
    anchor = "time"
    heading = "Where the time goes"
    key = "profiles"
    topic = "where the time goes"
    terms = ("profiler", "kernels")

    @classmethod
    def of(cls, context: Context) -> ProfilesSection | None:
        """Returns the section; None without a profile process."""
        views = tuple(map(profile_view, context.analysis.profiles))
        return cls(views) if views else None

    @property
    def answer(self) -> str:
        """Returns the answer to the first question."""
        return first_of([line.text for line in self.answers()], "question") or "No stack's profile is known."

    @classmethod
    def names(cls, analysis: Analysis) -> Mapping[str, str]:
        """Returns the names of the questions."""
        return {question.id: question.name for question in analysis.profiles}

    def answers(self) -> Sequence[AnswerLine]:
        """Returns what takes most of a step, question by question."""
        return answer_lines(self.views)

    def console(self) -> Sequence[Table]:
        """Returns a line for each stack, the fastest first."""
        return [console_table(view) for view in self.views]

    def data(self) -> list[Any]:
        """Returns each question with the profiles of its stacks, in seconds."""
        return [profiles_json(view.question) for view in self.views]


def profile_view(question: ProfileQuestion) -> ProfileView:
    """Returns the view of one question."""
    anchor = link_target("t", question.name, question.id)
    split = [
        (stack, tuple((key, profile.categories[name]) for key, name in KINDS.items() if name in profile.categories))
        for stack, profile in question.stacks
    ]
    unit = units.time_unit(profile.seconds for _, profile in question.stacks)
    return ProfileView(
        name=question.name,
        question=question,
        anchor=anchor,
        answer=answer(question),
        subtitle=subtitle(question.head),
        bars=bars(f"{anchor}-bars", "Time of a profiled step, by category", split, KINDS, TIME),
        lines=tuple(line(stack, profile, unit, question.kernels.get(stack, "")) for stack, profile in question.stacks),
    )


def answer(question: ProfileQuestion) -> str:
    """Returns a sentence on the category that takes the largest part of each stack's step; empty without a profile."""
    largest = [
        (seconds / profile.seconds, category, stack)
        for stack, profile in question.stacks
        for category, seconds in [max(profile.categories.items(), key=lambda item: item[1])]
    ]
    lead = "Most" if all(share > 0.5 for share, _, _ in largest) else "The largest part"
    if len(largest) > 1 and len({category for _, category, _ in largest}) == 1:
        (least, category, low), (greatest, _, high) = min(largest), max(largest)
        low, high = f"{units.percent(least)} ({low})", f"{units.percent(greatest)} ({high})"
        return f"{lead} of a step, on every stack: {category}, {low} to {high}."
    parts = ", ".join(f"{stack} {units.percent(share)} {category}" for share, category, stack in largest)
    return f"{lead} of a step: {parts}." if parts else ""


def line(stack: str, profile: Profile, unit: units.Unit, kernels: str) -> ProfileLine:
    """Returns the line of one stack; all times of a question have one unit."""
    order = sorted(profile.categories.items(), key=lambda item: -item[1])
    lost = profile.categories.get(Category.UNATTRIBUTED, 0.0)
    return ProfileLine(
        stack=stack,
        plain=unit(profile.plain_seconds),
        profiled=unit(profile.seconds),
        cost=f"{100 * (profile.seconds / profile.plain_seconds - 1):+.0f} %",
        shares=", ".join(f"{category} {units.percent(seconds / profile.seconds)}" for category, seconds in order),
        missing="" if profile.attributed >= ENOUGH else f"{unit(lost)} of a step belong to no known operation",
        largest=tuple((name, category, unit(seconds)) for category, name, seconds in profile.largest),
        recorded_by=profile.told_by,
        kernels=kernels,
    )


def console_table(view: ProfileView) -> Table:
    """Returns one question for the console."""
    lines = [
        [line.stack, line.plain, f"{line.profiled} ({line.cost})", f"{line.shares} {line.missing}".strip()]
        for line in view.lines
    ]
    heads = ["stack", "step", "profiled", "by category"]
    return Table(view.name, heads, lines, numbers=heads[1:3])


def profiles_json(question: ProfileQuestion) -> dict[str, Any]:
    """Returns one question for JSON, in seconds."""
    return {
        "name": question.name,
        "without": dict(question.without),
        "stacks": [{"stack": stack} | profile.to_json() for stack, profile in question.stacks],
    }
