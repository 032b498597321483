"""What fits on an accelerator that the machine didn't have, by the accelerator's own compiler."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

import polars as pl

from suite.answers.answer import Answer, answer, in_csv
from suite.case import OUT_OF_MEMORY, Outcome, Purpose
from suite.predict.answer import Prediction
from suite.predict.devices import devices
from suite.results.analysis import Analysis
from suite.results.frame import Frame
from suite.results.outcomes import outcome_words
from suite.results.questions.grouping import by_question, grouped
from suite.sets.rows import Row

FITS, OUT, NEITHER = "fits", "out of memory", "no verdict"
# What libtpu's refusal says: "the total memory required for HLO temporaries (74.58G) exceeds available HBM (31.24G)".
REQUIRED = re.compile(r"\(([\d.]+)([KMGT]?)\)|\bUsed ([\d.]+)([KMGT]) of")
BINARY = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

OF_PREDICTION = ("device_bytes", "copied_bytes", "bound_seconds", "bound_by", "compiler", "verdict_by", "program")
OF_PROGRAM = (
    *("argument_bytes", "output_bytes", "aliased_bytes", "temporary_bytes", "code_bytes"),
    *("flops", "bytes_accessed", "operations", "fusions"),
)


@dataclass(frozen=True, slots=True)
class Predicted:
    """One stack's case on one device, with the prediction of its compiler; None if it made none. `chip` is the device
    in words."""

    row: Row
    question: str
    chip: str
    prediction: Prediction | None

    @property
    def verdict(self) -> str:
        """Returns `fits`, `out of memory` or `no verdict`."""
        if self.row.outcome == Outcome.OK:
            return FITS
        return OUT if self.row.outcome in OUT_OF_MEMORY[1:] else NEITHER

    @property
    def needed_bytes(self) -> float | None:
        """Returns the bytes of the device's memory that a step needs, by the prediction, or by the compiler's message
        if it refused the program; None if neither has them."""
        if self.prediction is not None:
            return float(self.prediction.needed_bytes)
        match = REQUIRED.search(self.row.text("message")) if self.verdict == OUT else None
        if match is None:
            return None
        number, unit = (match[1], match[2]) if match[1] else (match[3], match[4])
        return float(number) * BINARY[unit]

    @property
    def ended(self) -> str:
        return outcome_words(self.row.outcome, self.row.text("phase"))


def predicted_cases(rows: Iterable[Row]) -> list[Predicted]:
    """Returns every predicted case by target and device, question and stack. `rows` has one row for each planned
    process."""
    listed = [row for row in rows if row["purpose"] == Purpose.PREDICT]
    by_device = grouped(listed, lambda row: (row.text("target"), row.text("device")))
    return [*chain.from_iterable(of_device(by_device[device]) for device in sorted(by_device))]


def of_device(rows: list[Row]) -> Iterable[Predicted]:
    predictions = {row["case_id"]: told for row in rows if (told := row.decoded("prediction", Prediction))}
    name = rows[0].text("device")
    chip = next((title(name, each.device) for each in predictions.values()), name)

    def of_question(_: str, question: str, asked: list[Row]) -> list[Predicted]:
        by_stack = {row.stack_name: row for row in asked}
        return [Predicted(row, question, chip, predictions.get(row["case_id"])) for _, row in sorted(by_stack.items())]

    return chain.from_iterable(by_question(rows, Purpose.PREDICT, of_question))


def title(name: str, chip: str) -> str:
    """Returns a device in words: its chip, and for a slice of several chips that the figures are of one of them."""
    known = devices().get(name)
    if known is None or known.count <= 1:
        return chip
    return f"{chip.removesuffix(', one chip')}, one of the {known.count} chips of {name}"


def names(analysis: Analysis) -> Mapping[str, str]:
    cases = predicted_cases(analysis.counted)
    return {each.row["comparison_id"]: f"{each.question} on {each.row['device']}" for each in cases}


@answer(
    "Predicted",
    heading="Predicted for accelerators that weren't there",
    terms=("predicted", "out of memory", "timeout", "unsupported"),
    parts="chip",
    shown=(
        *("asked", "stack", "prediction", "ended", "needed_bytes", "of_device", "argument_bytes", "output_bytes"),
        *("aliased_bytes", "temporary_bytes", "planned_peak_bytes", "copied_bytes", "flops", "fusions", "operations"),
        *("bound_seconds", "bound_by", "compile_seconds", "collectives", "compiler", "reason"),
    ),
    names=names,
    topic="what fits on an accelerator, by its own compiler",
    purpose=Purpose.PREDICT,
)
def predicted(frame: Frame) -> Answer | None:
    """Nothing here ran on an accelerator. On a machine without one, each stack handed over its program on a CPU, and
    the accelerator's own compiler compiled it. Sizes are those that the compiler chose, in the device's memory layouts.
    The least time is how long the step's arithmetic and unavoidable memory traffic take at the peaks that the device's
    maker publishes. Nothing was timed, and no ratio uses these rows."""
    cases = predicted_cases(frame.analysis.counted)
    if not cases:
        return None
    said = {
        name: sentence([case.verdict for case in of_device])
        for name, of_device in grouped(cases, lambda case: case.row.text("device")).items()
    }
    table = pl.DataFrame(list(map(line, cases)), infer_schema_length=None)
    by = dict.fromkeys((case.chip, case.prediction.verdict_by) for case in cases if case.prediction)
    csv = table.select("question", "stack", "outcome", "reason", "flags", predicted_bytes="needed_bytes")
    return Answer(
        " ".join(f"{name}: {told}" for name, told in said.items()),
        table,
        also=[f"{chip}: the verdict comes from {verdict_by}." for chip, verdict_by in by],
        by_question=said,
        lines=in_csv(csv, Purpose.PREDICT),
    )


def sentence(verdicts: list[str]) -> str:
    fitting, refused, rest = map(verdicts.count, (FITS, OUT, NEITHER))
    others = f", {rest} without a verdict" if rest else ""
    return f"Predicted, not measured: {fitting} of {len(verdicts)} cases fit, {refused} don't{others}."


def line(case: Predicted) -> dict[str, object]:
    row, found = case.row, case.prediction
    return {
        "chip": case.chip,
        "device": row.text("device"),
        "target": row.text("target"),
        "question": f"{case.question} on {row['device']}",
        "asked": case.question,
        "workload": row.text("workload"),
        "stack": row.stack_name,
        "prediction": case.verdict,
        "ended": case.ended if case.verdict == NEITHER else "",
        "outcome": row.outcome,
        "needed_bytes": case.needed_bytes,
        "of_device": found.needed_bytes / found.device_bytes if found else None,
        **{name: getattr(found, name, None) for name in OF_PREDICTION},
        **{name: getattr(found and found.compiled, name, None) for name in OF_PROGRAM},
        "planned_peak_bytes": found and found.compiled.peak_bytes,
        "collectives": [
            {"operation": kind, "number": number, "bytes": float(size)}
            for kind, (number, size) in (found.compiled.collectives.items() if found else ())
        ],
        "custom_calls": [
            {"operation": kind, "number": number}
            for kind, number in (found.compiled.custom_calls.items() if found else ())
        ],
        "compile_seconds": row.number("compile_seconds"),
        "reason": row.text("reason"),
        "flags": "; ".join(row.flags),
    }
