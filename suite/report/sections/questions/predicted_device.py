"""The view of the predictions for one device: a matrix, the figures behind it, searches and published verdicts."""

from __future__ import annotations

from dataclasses import dataclass

from suite import units
from suite.predict.answer import Prediction
from suite.predict.devices import devices
from suite.report.sections.labels import link_target
from suite.report.sections.questions.frontier import none_larger
from suite.results.outcomes import outcome_words
from suite.results.questions.predictions import (
    FITS,
    OUT,
    Predicted,
    PredictedDevice,
    PredictedQuestion,
    PredictedSearch,
    VerdictPair,
)


@dataclass(frozen=True, slots=True)
class PredictedCell:
    """One case in the matrix: its outcome, the text beside it, the small print below, and the reason if it doesn't
    fit."""

    outcome: str
    text: str
    detail: str
    reason: str


@dataclass(frozen=True, slots=True)
class FigureLine:
    """One compiled case: its figures as texts, in the order of `FIGURES`."""

    question: str
    stack: str
    cells: tuple[str, ...]


FIGURES = (
    "arguments",
    "results",
    "in place",
    "temporaries",
    "peak",
    "without overwriting",
    "FLOP",
    "fusions",
    "least time",
    "set by",
    "compiled in",
    "between chips",
)


@dataclass(frozen=True, slots=True)
class PublishedLine:
    """One published verdict beside the predicted one. `why` says why they differ; it is empty if they agree."""

    workload: str
    stack: str
    published: str
    predicted: str
    why: str
    source: str


@dataclass(frozen=True, slots=True)
class SearchLine:
    """The largest value of a dim that fits, the smallest that doesn't or why there is none, and what the largest needs,
    as texts."""

    question: str
    stack: str
    axis: str
    fits: str
    fails: str
    needed: str
    tried: int


@dataclass(frozen=True, slots=True)
class DeviceView:
    """One device. `lines` are a matrix of questions and stacks, `figures` what is behind it, `published` the published
    verdicts, and `searches` the searches for the largest size that fits."""

    device: PredictedDevice
    anchor: str
    title: str
    compiler: str
    verdict_by: str
    answer: str
    lines: tuple[tuple[str, tuple[PredictedCell | None, ...]], ...]
    figures: tuple[FigureLine, ...]
    published: tuple[PublishedLine, ...]
    searches: tuple[SearchLine, ...]


def title(name: str, chip: str) -> str:
    """Returns a device's heading: its chip, and for a slice of several chips that the figures are of one of them."""
    known = devices().get(name)
    if known is None or known.count <= 1:
        return chip
    return f"{chip.removesuffix(', one chip')}, one of the {known.count} chips of {name}"


def device_view(device: PredictedDevice) -> DeviceView:
    """Returns the view of one device."""
    prediction = next((case.prediction for case in device.cases if case.prediction), None)
    return DeviceView(
        device=device,
        anchor=link_target("d", device.name, device.questions[0].id),
        title=title(device.name, prediction.device) if prediction else device.name,
        compiler=prediction.compiler if prediction else "",
        verdict_by=prediction.verdict_by if prediction else "",
        answer=answer(device),
        lines=tuple(
            (question.name, tuple(None if case is None else cell(case) for case in question.cases))
            for question in device.questions
        ),
        figures=tuple(
            figures(question, case, case.prediction)
            for question in device.questions
            for case in filter(None, question.cases)
            if case.prediction
        ),
        published=tuple(map(published_line, device.published)),
        searches=tuple(map(search_line, device.searches)),
    )


def answer(device: PredictedDevice) -> str:
    """Returns a sentence on how many cases fit."""
    fitting, refused = (sum(case.verdict == word for case in device.cases) for word in (FITS, OUT))
    rest = len(device.cases) - fitting - refused
    others = f", {rest} without a verdict" if rest else ""
    return f"Predicted, not measured: {fitting} of {len(device.cases)} cases fit, {refused} don't{others}."


def cell(case: Predicted) -> PredictedCell:
    """Returns the cell of one case in the matrix."""
    needed = units.quantity(case.needed_bytes)
    if case.verdict == FITS and case.prediction:
        share = units.percent(case.prediction.needed_bytes / case.prediction.device_bytes)
        return PredictedCell("ok", "fits", f"{needed}, {share}", "")
    reason = case.row.text("reason")
    if case.verdict == OUT:
        return PredictedCell(case.row.outcome, "doesn't fit", needed if case.needed_bytes else "", reason)
    return PredictedCell(case.row.outcome, outcome_words(case.row.outcome, case.row.text("phase")), "", reason)


def figures(question: PredictedQuestion, case: Predicted, prediction: Prediction) -> FigureLine:
    """Returns the figures of one compiled case."""
    compiled = prediction.compiled
    sizes = (
        compiled.argument_bytes,
        compiled.output_bytes,
        compiled.aliased_bytes,
        compiled.temporary_bytes,
        compiled.peak_bytes,
        prediction.copied_bytes,
    )
    cells = (
        *map(units.quantity, sizes),
        units.UNKNOWN if compiled.flops is None else f"{compiled.flops:.3g}",
        f"{compiled.fusions:,} of {compiled.operations:,}" if compiled.operations else units.UNKNOWN,
        units.seconds(prediction.bound_seconds),
        prediction.bound_by or units.UNKNOWN,
        units.seconds(case.row.number("compile_seconds")),
        "; ".join(f"{count} {kind}, {units.quantity(size)}" for kind, (count, size) in compiled.collectives.items()),
    )
    return FigureLine(question.name, case.row.stack_name, cells)


def search_line(search: PredictedSearch) -> SearchLine:
    """Returns the line of one search for the largest size that fits."""
    low = search.bracket.low
    fits = f"{low:,}" if low else "none that was tried"
    needed = units.quantity(search.largest.needed_bytes if search.largest else None)
    return SearchLine(search.question, search.stack, search.axis, fits, fails(search), needed, search.tried)


def fails(search: PredictedSearch) -> str:
    """Returns the smallest value that doesn't fit; without such a value, why the search has none."""
    if search.bracket.high is not None:
        return f"{search.bracket.high:,}"
    if search.stopped is not None:
        size, case = search.stopped
        return f"{size:,}: {outcome_words(case.row.outcome, case.row.text('phase'))}"
    return none_larger(search.largest.row.case, search.axis) if search.largest else "none tried"


def published_line(pair: VerdictPair) -> PublishedLine:
    """Returns the line of a published verdict beside the predicted one."""
    case = pair.case
    needed = f", {units.quantity(case.needed_bytes)}" if case.needed_bytes else ""
    why = "" if pair.agrees else disagreement(pair)
    return PublishedLine(pair.workload, pair.stack, pair.published, f"{case.verdict}{needed}", why, pair.source)


def disagreement(pair: VerdictPair) -> str:
    """Returns why a prediction may differ from the published verdict, as far as the case shows it."""
    case = pair.case
    if case.verdict == OUT:
        return "the compiler refuses this step: the step that was published must have needed less memory"
    if case.verdict != FITS or case.prediction is None:
        return f"there is no prediction: {case.row.text('reason')}"
    doubled = f"if no result overwrote an argument it would need {units.quantity(case.prediction.copied_bytes)}"
    if case.prediction.copied_bytes > case.prediction.device_bytes:
        return f"one step needs less than the device has, but {doubled}, more than the device has"
    return (
        f"one step needs less than the device has, and {doubled}, which fits too: the run that was published as out of "
        "memory wasn't one step of this model at this size, and its batch isn't published"
    )
