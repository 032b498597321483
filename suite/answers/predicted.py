"""What fits on an accelerator that the machine didn't have, by the accelerator's own compiler."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import polars as pl

from suite.answers.answer import Answer, answer, in_csv
from suite.case import OUT_OF_MEMORY, Outcome, Purpose
from suite.order import natural
from suite.predict.answer import Prediction
from suite.predict.devices import devices
from suite.results.frame import Frame
from suite.results.outcomes import outcome_words
from suite.sets.rows import Row
from suite.verdicts.grouping import grouped
from suite.verdicts.names import question_names

FITS, OUT, NEITHER = "fits", "out of memory", "no verdict"
# What libtpu's refusal says: "the total memory required for HLO temporaries (74.58G) exceeds available HBM (31.24G)".
REQUIRED = re.compile(r"\(([\d.]+)([KMGT]?)\)|\bUsed ([\d.]+)([KMGT]) of")
BINARY = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}

OF_PREDICTION = ("device_bytes", "copied_bytes", "bound_seconds", "bound_by", "compiler", "verdict_by", "program")
OF_PROGRAM = (
    *("argument_bytes", "output_bytes", "aliased_bytes", "temporary_bytes", "code_bytes"),
    *("flops", "bytes_accessed", "operations", "fusions"),
)

Case = tuple[Row, dict[str, Any]]  # one stack's case on one device, with its line in the table


def predicted_cases(rows: Iterable[Row]) -> list[Case]:
    """Returns every predicted case by target and device, question and stack. `rows` has one row for each planned
    process."""
    asked = [row for row in rows if row["purpose"] == Purpose.PREDICT]
    by_device = grouped(asked, lambda row: (row.text("target"), row.text("device")))
    return [case for device in sorted(by_device) for case in of_device(by_device[device])]


def of_device(rows: list[Row]) -> list[Case]:
    found = {row["case_id"]: row.decoded("prediction", Prediction) for row in rows}
    names_ = question_names([*{row["comparison_id"]: row for row in rows}.values()])
    device = rows[0].text("device")
    chip = next((title(device, told.device) for told in found.values() if told), device)
    rows.sort(key=lambda row: (natural(names_[row["comparison_id"]]), natural(row.stack_name)))
    return [(row, line(row, names_[row["comparison_id"]], chip, found[row["case_id"]])) for row in rows]


def title(name: str, chip: str) -> str:
    """Returns a device in words: its chip, and for a slice of several chips that the figures are of one of them."""
    known = devices().get(name)
    if known is None or known.count <= 1:
        return chip
    return f"{chip.removesuffix(', one chip')}, one of the {known.count} chips of {name}"


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
    topic="what fits on an accelerator, by its own compiler",
    purpose=Purpose.PREDICT,
)
def predicted(frame: Frame) -> Answer | None:
    """Nothing here ran on an accelerator. On a machine without one, each stack handed over its program on a CPU, and
    the accelerator's own compiler compiled it. Sizes are those that the compiler chose, in the device's memory layouts.
    The least time is how long the step's arithmetic and unavoidable memory traffic take at the peaks that the device's
    maker publishes. Nothing was timed, and no ratio uses these rows."""
    lines = [line for _, line in predicted_cases(frame.analysis.counted)]
    if not lines:
        return None
    table = pl.DataFrame(lines, infer_schema_length=None)
    said = {
        str(device): sentence(of["prediction"].to_list())
        for (device,), of in table.group_by("device", maintain_order=True)
    }
    judges = table.drop_nulls("verdict_by").select("chip", "verdict_by").unique(maintain_order=True)
    csv = table.select("question", "stack", "outcome", "reason", "flags", predicted_bytes="needed_bytes")
    return Answer(
        " ".join(f"{name}: {told}" for name, told in said.items()),
        table,
        also=[f"{chip}: the verdict comes from {judge}." for chip, judge in judges.iter_rows()],
        by_question=said,
        lines=in_csv(csv, Purpose.PREDICT),
    )


def sentence(verdicts: list[str]) -> str:
    fitting, refused, rest = map(verdicts.count, (FITS, OUT, NEITHER))
    others = f", {rest} without a verdict" if rest else ""
    return f"Predicted, not measured: {fitting} of {len(verdicts)} cases fit, {refused} don't{others}."


def line(row: Row, question: str, chip: str, found: Prediction | None) -> dict[str, Any]:
    verdict = FITS if row.outcome == Outcome.OK else OUT if row.outcome in OUT_OF_MEMORY[1:] else NEITHER
    program = found and found.compiled
    return {
        "chip": chip,
        "device": row.text("device"),
        "target": row.text("target"),
        "question": f"{question} on {row['device']}",
        "asked": question,
        "workload": row.text("workload"),
        "stack": row.stack_name,
        "prediction": verdict,
        "ended": outcome_words(row.outcome, row.text("phase")) if verdict == NEITHER else "",
        "outcome": row.outcome,
        "needed_bytes": float(found.needed_bytes)
        if found
        else required(row.text("message"))
        if verdict == OUT
        else None,
        "of_device": found.needed_bytes / found.device_bytes if found else None,
        **{name: getattr(found, name, None) for name in OF_PREDICTION},
        **{name: getattr(program, name, None) for name in OF_PROGRAM},
        "planned_peak_bytes": program and program.peak_bytes,
        "collectives": [
            {"operation": kind, "number": number, "bytes": float(size)}
            for kind, (number, size) in (program.collectives.items() if program else ())
        ],
        "custom_calls": [
            {"operation": kind, "number": number} for kind, number in (program.custom_calls.items() if program else ())
        ],
        "compile_seconds": row.number("compile_seconds"),
        "reason": row.text("reason"),
        "flags": "; ".join(row.flags),
    }


def required(message: str) -> float | None:
    """Returns the bytes that a compiler's refusal says the program needs; None if it doesn't."""
    if (match := REQUIRED.search(message)) is None:
        return None
    number, unit = (match[1], match[2]) if match[1] else (match[3], match[4])
    return float(number) * BINARY[unit]
