"""The section "What holds it": the tensors that a step holds at its peak, stack by stack."""

from __future__ import annotations

from dataclasses import dataclass

from suite import units
from suite.report.sections.section import Context, Section
from suite.results.questions.holders import HolderQuestion


@dataclass(frozen=True, slots=True)
class HoldersSection(Section):
    """The questions on which at least one stack has recorded holders."""

    questions: tuple[HolderQuestion, ...]

    name = "holders"
    nav = "What holds it"
    heading = "What holds the memory"
    terms = ("holder", "peak memory")

    @classmethod
    def of(cls, context: Context) -> HoldersSection | None:
        """Returns the section; None without an explain process that recorded holders."""
        return cls(context.analysis.holders) if context.analysis.holders else None

    @property
    def answer(self) -> str:
        """Returns the stack that holds most, and the largest category of its holders."""
        known = [(stack, question) for question in self.questions for stack in question.stacks if stack.recorded_by]
        if not known:
            return "No stack keeps a record of what it holds."
        stack, question = max(known, key=lambda pair: pair[0].total)
        if not stack.categories:
            return f"{stack.stack} holds most on {question.name}: {units.quantity(stack.total)}."
        category, size = max(stack.categories, key=lambda item: item[1])
        held = f"{units.quantity(stack.total)}, of which {units.quantity(size)} {category}"
        return f"{stack.stack} holds most on {question.name}: {held}."
