"""The sections of the report, in the page's order: every answer of suite/answers, and those that are no answer. No
other module knows a section by its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from pkgutil import iter_modules

from suite import answers
from suite.answers.answer import ASKED, Asked
from suite.page.sections.section import AnswerSection, Context, Section
from suite.page.sections.timed.comparisons import ComparisonsSection
from suite.page.sections.whole_set.asked import asked
from suite.page.sections.whole_set.glossary import glossary
from suite.page.sections.whole_set.method import method
from suite.page.sections.whole_set.reproduce import reproduce

for _module in iter_modules(answers.__path__, "suite.answers."):
    import_module(_module.name)

KINDS: dict[str, type[AnswerSection]] = {"comparisons": ComparisonsSection}  # answers of which a section shows more
BEFORE = (
    *("summary", "comparisons", "sweeps", "latency", "break_even", "compiled", "unified"),
    *("transfers", "ways", "published"),
    *("predicted", "searches", "published_verdicts", "peaks", "frontier", "memory", "holders", "profiles", "roofline"),
    *("programs", "differences", "behaviour"),
)
HOW, MACHINE = ("endings", "equivalence"), ("environment", "noise", "blocks")
OTHERS = tuple(name for name in ASKED if name not in {*BEFORE, *HOW, *MACHINE})


def answers_of(names: Iterable[str]) -> list[Asked]:
    return [ASKED[name] for name in names]


SECTIONS: tuple[Asked | Callable[[Context], Section | None], ...] = (
    asked,
    *answers_of((*BEFORE, *OTHERS, *HOW)),
    method,
    *answers_of(MACHINE),
    glossary,
    reproduce,
)
KEYS = ("asked", *(each.name for each in SECTIONS if isinstance(each, Asked)))  # in JSON


def sections_of(context: Context) -> list[Section]:
    found = [answered(each, context) if isinstance(each, Asked) else each(context) for each in SECTIONS]
    return [section for section in found if section]


def sections_over(context: Context) -> list[AnswerSection]:
    """Returns the sections that depend on the baseline."""
    found = [answered(each, context) for each in ASKED.values() if each.over_baselines]
    return [section for section in found if section]


def answered(asked: Asked, context: Context) -> AnswerSection | None:
    found = asked.function(context.frame)
    return KINDS.get(asked.name, AnswerSection)(asked, context, found) if found else None
