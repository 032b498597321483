"""The sections of the report, in the page's order: every answer of suite/answers, and those that are no answer. No
other module knows a section by its name."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from suite import answers
from suite.answers.answer import ASKED
from suite.report.sections.section import AnswerSection, Section, section_of
from suite.report.sections.timed.comparisons import ComparisonsSection
from suite.report.sections.whole_set.asked import AskedSection
from suite.report.sections.whole_set.glossary import GlossarySection
from suite.report.sections.whole_set.method import MethodSection
from suite.report.sections.whole_set.reproduce import ReproduceSection

for _module in iter_modules(answers.__path__, "suite.answers."):
    import_module(_module.name)

KINDS: dict[str, type[AnswerSection]] = {"comparisons": ComparisonsSection}  # answers of which a section shows more
BEFORE = (
    *("summary", "comparisons", "sweeps", "latency", "break_even", "compiled", "transfers", "ways", "published"),
    *("predicted", "searches", "published_verdicts", "peaks", "frontier", "memory", "holders", "profiles", "roofline"),
    *("programs", "differences", "behaviour"),
)
AFTER = ("endings", "equivalence"), ("environment", "noise", "blocks")


def sections() -> tuple[type[Section], ...]:
    """An answer that none of the lists names stands between them."""
    named = {*BEFORE, *AFTER[0], *AFTER[1]}
    before, how, machine = (
        [section_of(ASKED[name].function, KINDS.get(name, AnswerSection)) for name in names]
        for names in ((*BEFORE, *(name for name in ASKED if name not in named)), *AFTER)
    )
    return (AskedSection, *before, *how, MethodSection, *machine, GlossarySection, ReproduceSection)


SECTIONS = sections()
