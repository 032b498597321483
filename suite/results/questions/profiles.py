"""Where the time of a question's steps goes, as profile processes were told."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from suite.case import Outcome, Purpose
from suite.ir.timeline import Profile
from suite.results.questions.names import question_names
from suite.results.store.rows import Row


@dataclass(frozen=True, slots=True)
class ProfileQuestion:
    """One question: each stack's profile, the fastest first, and why others have none. `kernels` of an explain process
    by stack; `head` is one row."""

    id: str
    name: str
    head: Row
    stacks: tuple[tuple[str, Profile], ...]
    without: tuple[tuple[str, str], ...]
    kernels: dict[str, str]


def profile_questions(rows: Iterable[Row]) -> tuple[ProfileQuestion, ...]:
    """Every question that was profiled, by name. `rows`: one for each planned process."""
    groups: dict[str, list[Row]] = {}
    kernels: dict[str, dict[str, str]] = {}
    for row in rows:
        if row["purpose"] == Purpose.PROFILE:
            groups.setdefault(row["comparison_id"], []).append(row)
        elif row["purpose"] == Purpose.EXPLAIN and row.kernels:
            kernels.setdefault(row["comparison_id"], {})[row.stack_name] = row.kernels
    names = question_names([group[0] for group in groups.values()])
    found = []
    for key, group in groups.items():
        told = [(row.stack_name, Profile.from_json(row.mapping("profile"))) for row in group if row.mapping("profile")]
        without = [(row.stack_name, row.text("reason") or row.outcome) for row in group if row.outcome != Outcome.OK]
        told.sort(key=lambda each: each[1].plain_seconds)
        found.append(
            ProfileQuestion(key, names[key], group[0], tuple(told), tuple(sorted(without)), kernels.get(key, {}))
        )
    return tuple(sorted(found, key=lambda each: each.name))
