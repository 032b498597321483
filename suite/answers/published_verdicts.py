"""Published verdicts whether a model fits, beside the predicted ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.predicted import FITS, OUT, predicted_cases
from suite.answers.sentences import counted
from suite.machine.published_peaks import peaks_of
from suite.results.documents.figures import documents
from suite.results.frame import Frame

# The case of a published verdict on a model, as far as it is known: one training step of the published model on a TPU.
PUBLISHED = ("full", "train", "f32", "tpu")
STACKS = {"JAX": "jax_jit", "PyTorch": "torch_xla"}  # {a framework, as documents name it: its stack on a TPU}


@answer(
    "Published verdicts",
    terms=("predicted", "out of memory"),
    parts="chip",
    shown=("workload", "stack", "published", "prediction", "needed_bytes", "why_they_differ", "published_in"),
)
def published_verdicts(frame: Frame) -> Answer | None:
    """What others published on the memory of the same chip, model and framework, beside the prediction."""
    asked = {
        (line["device"], line["workload"], line["stack"]): line
        for row, line in predicted_cases(frame.analysis.counted)
        if tuple(map(row.text, ("size", "pass", "precision", "target"))) == PUBLISHED
    }
    lines = [
        beside(line, FITS if fits else OUT, document.title)
        for device in dict.fromkeys(device for device, *_ in asked)
        for document in documents()
        for verdict in document.verdicts
        for framework, fits in verdict.fits.items()
        if (line := asked.get((device, verdict.workload, STACKS[framework])))
        and peaks_of(verdict.device) == peaks_of(device)
    ]
    if not lines:
        return None
    table = pl.DataFrame(lines, infer_schema_length=None)
    agree = int((table["why_they_differ"] == "").sum())
    return Answer(f"{agree} of {counted(table.height, 'published verdict')} agree with the prediction.", table)


def beside(line: Mapping[str, Any], published: str, source: str) -> dict[str, object]:
    return {
        "chip": line["chip"],
        "device": line["device"],
        "workload": line["workload"],
        "stack": line["stack"],
        "published": published,
        "prediction": line["prediction"],
        "needed_bytes": line["needed_bytes"],
        "why_they_differ": "" if published == line["prediction"] else disagreement(line),
        "published_in": source,
    }


def disagreement(line: Mapping[str, Any]) -> str:
    """Returns why a prediction may differ from the published verdict, as far as the case shows it."""
    copied, has = line["copied_bytes"], line["device_bytes"]
    if line["prediction"] == OUT:
        return "the compiler refuses this step: the step that was published must have needed less memory"
    if line["prediction"] != FITS or copied is None:
        return f"there is no prediction: {line['reason']}"
    doubled = f"if no result overwrote an argument it would need {units.quantity(copied)}"
    if copied > has:
        return f"one step needs less than the device has, but {doubled}, more than the device has"
    return (
        f"one step needs less than the device has, and {doubled}, which fits too: the run that was published as out of "
        "memory wasn't one step of this model at this size, and its batch isn't published"
    )
