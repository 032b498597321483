"""Published verdicts whether a model fits, beside the predicted ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.predicted import FITS, OUT, Predicted, predicted_cases
from suite.answers.sentences import counted
from suite.machine.published_peaks import peaks_of
from suite.results.documents.figures import documents
from suite.results.frame import Frame

# The case of a published verdict on a model, as far as it is known: one training step of the published model.
PUBLISHED = ("full", "train", "f32")
STACKS = {"JAX": "jax_jit", "PyTorch": "torch_xla"}  # {a framework, as documents name it: its stack on a TPU}


@answer(
    "Published verdicts",
    terms=("predicted", "out of memory"),
    parts="chip",
    shown=("workload", "stack", "published", "prediction", "needed_bytes", "why_they_differ", "published_in"),
)
def published_verdicts(frame: Frame) -> Answer | None:
    """What others published on the memory of the same chip, model and framework, beside the prediction."""
    lines = [*held_against(predicted_cases(frame.analysis.counted))]
    if not lines:
        return None
    table = pl.DataFrame(lines, infer_schema_length=None)
    agree = int((table["why_they_differ"] == "").sum())
    return Answer(f"{agree} of {counted(table.height, 'published verdict')} agree with the prediction.", table)


def held_against(cases: Iterable[Predicted]) -> Iterator[dict[str, object]]:
    """Yields each published verdict on a TPU, beside the predicted case of the same model, stack and chip."""
    asked = [
        case
        for case in cases
        if tuple(map(case.row.text, ("size", "pass", "precision"))) == PUBLISHED and case.row.text("target") == "tpu"
    ]
    for device in dict.fromkeys(case.row.text("device") for case in asked):
        of_device = {
            (case.row.text("workload"), case.row.stack_name): case for case in asked if case.row["device"] == device
        }
        for document in documents():
            for verdict in document.verdicts:
                for framework, fits in verdict.fits.items():
                    case = of_device.get((verdict.workload, STACKS[framework]))
                    if case is not None and peaks_of(verdict.device) == peaks_of(device):
                        yield line(case, FITS if fits else OUT, document.title)


def line(case: Predicted, published: str, source: str) -> dict[str, object]:
    return {
        "chip": case.chip,
        "device": case.row.text("device"),
        "workload": case.row.text("workload"),
        "stack": case.row.stack_name,
        "published": published,
        "prediction": case.verdict,
        "needed_bytes": case.needed_bytes,
        "why_they_differ": "" if published == case.verdict else disagreement(case),
        "published_in": source,
    }


def disagreement(case: Predicted) -> str:
    """Returns why a prediction may differ from the published verdict, as far as the case shows it."""
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
