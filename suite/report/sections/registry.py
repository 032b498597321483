"""The sections of the report, in the page's order. No other module knows a section by its name."""

from __future__ import annotations

from suite.report.sections.questions.asked import AskedSection
from suite.report.sections.questions.behaviour import BehaviourSection
from suite.report.sections.questions.capacity import MemorySection
from suite.report.sections.questions.holders import HoldersSection
from suite.report.sections.questions.predicted import PredictedSection
from suite.report.sections.questions.profiles import ProfilesSection
from suite.report.sections.questions.programs import ProgramsSection
from suite.report.sections.questions.roofline import RooflineSection
from suite.report.sections.section import Section
from suite.report.sections.timed.break_even import BreakEvenSection
from suite.report.sections.timed.comparisons import ComparisonsSection
from suite.report.sections.timed.compiled import CompiledSection
from suite.report.sections.timed.latency import LatencySection
from suite.report.sections.timed.peaks import PeaksSection
from suite.report.sections.timed.summary import SummarySection
from suite.report.sections.timed.sweep import SweepsSection
from suite.report.sections.timed.transfers import TransfersSection
from suite.report.sections.timed.within_set import WithinSetSection
from suite.report.sections.whole_set.environment import EnvironmentSection
from suite.report.sections.whole_set.equivalence import EquivalenceSection
from suite.report.sections.whole_set.glossary import GlossarySection
from suite.report.sections.whole_set.method import MethodSection
from suite.report.sections.whole_set.outcomes import OutcomesSection
from suite.report.sections.whole_set.published import PublishedSection
from suite.report.sections.whole_set.reproduce import ReproduceSection

SECTIONS: tuple[type[Section], ...] = (
    AskedSection,
    SummarySection,
    ComparisonsSection,
    SweepsSection,
    LatencySection,
    BreakEvenSection,
    CompiledSection,
    TransfersSection,
    WithinSetSection,
    PublishedSection,
    PredictedSection,
    PeaksSection,
    MemorySection,
    HoldersSection,
    ProfilesSection,
    RooflineSection,
    ProgramsSection,
    BehaviourSection,
    OutcomesSection,
    EquivalenceSection,
    MethodSection,
    EnvironmentSection,
    GlossarySection,
    ReproduceSection,
)
