"""The section "Glossary": what every word of the page means, with the constants of the set."""

from __future__ import annotations

from dataclasses import dataclass

from suite.report.sections.section import Context, Section
from suite.report.sections.whole_set.terms import Constants, meanings


@dataclass(frozen=True, slots=True)
class GlossarySection(Section):
    """The terms by name, each with its meaning."""

    meanings: tuple[tuple[str, str], ...]

    name = "glossary"
    nav = "Glossary"
    grows = False

    @classmethod
    def of(cls, context: Context) -> GlossarySection:
        """Returns the section, which every page has."""
        return cls(meanings(Constants.of(context.protocol)))

    @property
    def answer(self) -> str:
        """Returns how many words it has."""
        return f"{len(self.meanings)} words, from {self.meanings[0][0]} to {self.meanings[-1][0]}."
