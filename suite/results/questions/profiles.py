"""Where the time of a question's steps goes, as profile processes recorded it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from suite.case import Outcome, Purpose
from suite.ir.timeline import Profile
from suite.results.questions.names import question_names
from suite.results.store.rows import Row


@dataclass(frozen=True, slots=True)
class ProfileQuestion:
    """One question: each stack's profile, the fastest first, and (stack, reason) of those without one. `kernels` are
    those that explain processes named, by stack; `head` is one of its rows."""

    id: str
    name: str
    head: Row
    stacks: tuple[tuple[str, Profile], ...]
    without: tuple[tuple[str, str], ...]
    kernels: dict[str, str]


def profile_questions(rows: Iterable[Row]) -> tuple[ProfileQuestion, ...]:
    """Returns every question that was profiled, sorted by name. `rows` has one row for each planned process."""
    groups: dict[str, list[Row]] = {}
    kernels: dict[str, dict[str, str]] = {}
    for row in rows:
        if row["purpose"] == Purpose.PROFILE:
            groups.setdefault(row["comparison_id"], []).append(row)
        elif row["purpose"] == Purpose.EXPLAIN and row.kernels:
            kernels.setdefault(row["comparison_id"], {})[row.stack_name] = row.kernels
    names = question_names([group[0] for group in groups.values()])
    questions = []
    for key, group in groups.items():
        known = [(row.stack_name, Profile.from_json(row.mapping("profile"))) for row in group if row.mapping("profile")]
        without = [(row.stack_name, row.text("reason") or row.outcome) for row in group if row.outcome != Outcome.OK]
        known.sort(key=lambda stack_and_profile: stack_and_profile[1].plain_seconds)
        questions.append(
            ProfileQuestion(key, names[key], group[0], tuple(known), tuple(sorted(without)), kernels.get(key, {}))
        )
    return tuple(sorted(questions, key=lambda question: question.name))
