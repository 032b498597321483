"""The section "Predicted": what fits on an accelerator that the machine didn't have, by the accelerator's compiler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from suite import units
from suite.report.sections.questions.predicted_device import FIGURES, DeviceView, device_view
from suite.report.sections.section import AnswerLine, Context, Section
from suite.report.tables import Table, Value
from suite.results.analysis import Analysis
from suite.results.questions.predictions import FITS


@dataclass(frozen=True, slots=True)
class PredictedSection(Section):
    """The devices with predictions."""

    views: tuple[DeviceView, ...]

    name = "predicted"
    nav = "Predicted"
    heading = "Predicted for accelerators that weren't there"
    key = "predicted"
    terms = ("predicted", "out of memory", "timeout", "unsupported")
    heads = FIGURES
    topic = "what fits on an accelerator, by its own compiler"

    @classmethod
    def of(cls, context: Context) -> PredictedSection | None:
        """Returns the section; None without a predict process."""
        views = tuple(map(device_view, context.analysis.predicted))
        return cls(views) if views else None

    @classmethod
    def names(cls, analysis: Analysis) -> Mapping[str, str]:
        """Returns the names of the questions, each with its device."""
        return {
            question.id: f"{question.name} on {device.name}"
            for device in analysis.predicted
            for question in device.questions
        }

    @property
    def answer(self) -> str:
        """Returns how many cases fit, device by device."""
        return " ".join(f"{view.device.name}: {view.answer}" for view in self.views)

    def answers(self) -> Sequence[AnswerLine]:
        """Returns how many cases fit, device by device."""
        return [
            AnswerLine(view.device.name, view.anchor, f"{view.device.name}: {view.answer}", view.answer)
            for view in self.views
        ]

    def tables(self) -> Sequence[Table]:
        """Returns for each device what fits, the searches, the figures and the published verdicts."""
        return [table for view in self.views for table in tables_of(view)]

    def lines(self) -> Iterable[Mapping[str, Value]]:
        """Returns a line for each case, in bytes and seconds."""
        for device in (view.device for view in self.views):
            for question in device.questions:
                for case in filter(None, question.cases):
                    yield {
                        "question": f"{question.name} on {device.name}",
                        "stack": case.row.stack_name,
                        "purpose": "predict",
                        "outcome": case.row.outcome,
                        "reason": case.row.text("reason"),
                        "ok": int(case.verdict == FITS),
                        "planned": 1,
                        "predicted_bytes": case.needed_bytes,
                        "flags": "; ".join(case.row.flags),
                    }

    def data(self) -> list[Any]:
        """Returns each device with its questions, and published verdicts."""
        return [device_json(view) for view in self.views]


def tables_of(view: DeviceView) -> list[Table]:
    """Returns the tables of one device."""
    lines = [
        [
            name,
            *(units.UNKNOWN if cell is None else ", ".join(filter(None, (cell.text, cell.detail))) for cell in cells),
        ]
        for name, cells in view.lines
    ]
    sentences = (
        [f"{view.answer} Compiler: {view.compiler}. The verdict is by {view.verdict_by}."] if view.compiler else []
    )
    tables = [Table(f"Predicted for {view.title}", ["question", *view.device.stacks], lines, before=sentences)]
    if view.searches:
        heads = ["question", "stack", "dim", "fits", "doesn't fit", "the largest needs", "compiled"]
        shown = [
            [line.question, line.stack, line.axis, line.fits, line.fails, line.needed, f"{line.tried:,}"]
            for line in view.searches
        ]
        tables.append(Table(f"The largest that fits on {view.title}", heads, shown, numbers=heads[3:]))
    if view.figures:
        heads = ["question", "stack", *FIGURES]
        shown = [[line.question, line.stack, *line.cells] for line in view.figures]
        tables.append(Table(f"Predicted figures, {view.title}", heads, shown, numbers=FIGURES))
    if view.published:
        heads = ["model", "stack", "published", "predicted", "why they differ", "published in"]
        shown = [
            [line.workload, line.stack, line.published, line.predicted, line.why or "they agree", line.source]
            for line in view.published
        ]
        tables.append(Table(f"Published verdicts on {view.title}", heads, shown))
    return tables


def device_json(view: DeviceView) -> dict[str, Any]:
    """Returns one device for JSON, in bytes and seconds."""
    return {
        "device": view.device.name,
        "target": view.device.target,
        "compiler": view.compiler or None,
        "questions": [
            {
                "name": question.name,
                "stacks": [
                    {
                        "stack": case.row.stack_name,
                        "outcome": case.row.outcome,
                        "reason": case.row["reason"],
                        "verdict": case.verdict,
                        "needed_bytes": case.needed_bytes,
                        "prediction": asdict(case.prediction) if case.prediction else None,
                    }
                    for case in filter(None, question.cases)
                ],
            }
            for question in view.device.questions
        ],
        "searches": [
            {
                "question": search.question,
                "stack": search.stack,
                "vary": search.axis,
                "largest": search.bracket.low or None,
                "failed": search.bracket.high,
                "needed_bytes": search.largest.needed_bytes if search.largest else None,
                "compiled": search.tried,
            }
            for search in view.device.searches
        ],
        "published": [
            {
                "workload": line.workload,
                "stack": line.stack,
                "published": line.published,
                "predicted": line.predicted,
                "why": line.why or None,
                "source": line.source,
            }
            for line in view.published
        ],
    }
