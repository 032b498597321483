"""The sections of the report, in the page's order. No other module knows a section by its name."""

from __future__ import annotations

from suite.answers.behaviour import behaviour
from suite.answers.blocks import blocks
from suite.answers.break_even import break_even
from suite.answers.compiled import compiled
from suite.answers.differences import differences
from suite.answers.endings import endings
from suite.answers.environment import environment
from suite.answers.equivalence import equivalence
from suite.answers.frontier import frontier
from suite.answers.holders import holders
from suite.answers.latency import latency
from suite.answers.memory import memory
from suite.answers.noise import noise
from suite.answers.peaks import peaks
from suite.answers.predicted import predicted
from suite.answers.profiles import profiles
from suite.answers.programs import programs
from suite.answers.published import published
from suite.answers.published_verdicts import published_verdicts
from suite.answers.roofline import roofline
from suite.answers.searches import searches
from suite.answers.summary import summary
from suite.answers.transfers import transfers
from suite.report.sections.section import Section, section_of
from suite.report.sections.timed.comparisons import ComparisonsSection
from suite.report.sections.timed.sweep import SweepsSection
from suite.report.sections.timed.within_set import WithinSetSection
from suite.report.sections.whole_set.asked import AskedSection
from suite.report.sections.whole_set.glossary import GlossarySection
from suite.report.sections.whole_set.method import MethodSection
from suite.report.sections.whole_set.reproduce import ReproduceSection

SECTIONS: tuple[type[Section], ...] = (
    AskedSection,
    section_of(summary),
    ComparisonsSection,
    SweepsSection,
    section_of(latency),
    section_of(break_even),
    section_of(compiled),
    section_of(transfers),
    WithinSetSection,
    section_of(published),
    section_of(predicted),
    section_of(searches),
    section_of(published_verdicts),
    section_of(peaks),
    section_of(frontier),
    section_of(memory),
    section_of(holders),
    section_of(profiles),
    section_of(roofline),
    section_of(programs),
    section_of(differences),
    section_of(behaviour),
    section_of(endings),
    section_of(equivalence),
    MethodSection,
    section_of(environment),
    section_of(noise),
    section_of(blocks),
    GlossarySection,
    ReproduceSection,
)
