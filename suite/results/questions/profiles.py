"""Where the time of a question's steps goes, as profile processes recorded it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suite.case import Purpose
from suite.ir.timeline import Profile
from suite.results.questions.grouping import by_comparison, by_question, grouped, reasons
from suite.results.store.rows import Row


@dataclass(frozen=True, slots=True)
class ProfileQuestion:
    """One question: each stack's profile, the fastest first, and (stack, reason) of the stacks that have none.
    `kernels` are those that explain processes named, by stack; `head` is one of its rows."""

    id: str
    name: str
    head: Row
    stacks: tuple[tuple[str, Profile], ...]
    without: tuple[tuple[str, str], ...]
    kernels: dict[str, str]


def profile_questions(rows: Iterable[Row]) -> tuple[ProfileQuestion, ...]:
    """Returns every question that was profiled, sorted by name. `rows` has one row for each planned process."""
    listed = list(rows)
    explained = grouped((row for row in listed if row["purpose"] == Purpose.EXPLAIN and row.kernels), by_comparison)

    def question(id_: str, name: str, group: Sequence[Row]) -> ProfileQuestion:
        known = [(row.stack_name, Profile.from_json(row.mapping("profile"))) for row in group if row.mapping("profile")]
        known.sort(key=lambda stack_and_profile: stack_and_profile[1].plain_seconds)
        kernels = {row.stack_name: row.kernels for row in explained.get(id_, ())}
        return ProfileQuestion(id_, name, group[0], tuple(known), reasons(group), kernels)

    return by_question(listed, Purpose.PROFILE, question)
