"""The sections of a report, as tests look at them."""

from __future__ import annotations

from typing import TypeVar

from suite.report.page import Report
from suite.report.sections.section import Section

S = TypeVar("S", bound=Section)


def part(report: Report, kind: type[S]) -> S:
    """The section of a kind, which must be there."""
    section = report.section(kind)
    assert section is not None
    return section
