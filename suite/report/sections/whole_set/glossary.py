"""The section "Glossary": what every word of the page means, with the constants of the set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from suite.report.sections.section import Context, Section
from suite.report.sections.whole_set.terms import meanings


@dataclass(frozen=True, slots=True)
class GlossarySection(Section):
    """The terms by name, each with its meaning."""

    meanings: Mapping[str, str]

    name = "glossary"
    nav = "Glossary"
    grows = False

    @classmethod
    def of(cls, context: Context) -> GlossarySection:
        return cls(meanings(context.protocol))

    @property
    def answer(self) -> str:
        first, *_, last = self.meanings
        return f"{len(self.meanings)} words, from {first} to {last}."
