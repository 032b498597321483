"""The section "Glossary": what every word of the page means, with the constants of the set."""

from __future__ import annotations

from suite.page.sections.section import Context, Section
from suite.page.sections.whole_set.terms import meanings


def glossary(context: Context) -> Section:
    words = meanings(context.frame.protocol)
    first, *_, last = words
    answer = f"{len(words)} words, from {first} to {last}."
    return Section("glossary", "Glossary", answer, shown={"meanings": words})
