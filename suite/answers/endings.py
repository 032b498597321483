"""How each case ended and why. After a run the console prints the failures among these endings
(`suite/cli/measure/answer.py`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.sentences import counted, listed
from suite.case import OUTSIDE_BLOCKS, Outcome, Purpose
from suite.plan.layout import AIMS
from suite.results.frame import Frame
from suite.results.outcomes import SEVERITY, WORDS, flag_counts, outcome_words
from suite.sets.rows import Row, ended

NAMED_MOST = 2  # cases that a sentence names
LONGEST = 240  # characters of a reason in Markdown and on the console
GRAVITY = {str(outcome): place for place, outcome in enumerate(SEVERITY)}
ALIKE = ("case_id", "purpose", "outcome", "phase", "reason")  # columns in which the processes of an ending agree
# Processes whose results other sections show: they have a line here only if they didn't end `ok`.
ASIDE = (Purpose.PRIME, Purpose.IR, Purpose.EXPLAIN, Purpose.PROFILE)

TYPES: dict[str, Any] = {
    **dict.fromkeys(("question", "stack", "outcome", "reason", "phase", "blocks"), pl.String),
    "flags": pl.List(pl.Struct({"flag": pl.String, "processes": pl.String})),
    "record": pl.List(pl.Struct({"what": pl.String, "text": pl.String})),
}

BRIEF = {name: TYPES.get(name, pl.String) for name in ("question", "stack", "ended", "reason", "flags")}


@answer(
    "Every case",
    heading="Every case and its reason",
    terms=("case", "out of memory", "timeout", "unsupported", "crashed", "wrong result", "implausible", "inferred"),
    filtered_by="torch timeout",
    on_console=False,
)
def endings(frame: Frame) -> Answer:
    """Processes of one case that ended alike share a line. Within a question the gravest outcome comes first. What the
    last of them left is to unfold; its log is on the machine that ran it."""
    every = lines(frame.analysis.rows, frame.names)
    shown = [line for line in every if line["outcome"] != Outcome.OK or not line["aside"]]
    brief = [
        line | {"ended": outcome_words(line["outcome"], line["phase"]), "reason": shortened(line["reason"])}
        for line in lines(frame.analysis.counted, frame.names)
        if line["outcome"] != Outcome.OK or line["flags"]
    ]
    return Answer(
        sentence(frame.processes), pl.DataFrame(shown, schema=TYPES), in_brief=pl.DataFrame(brief, schema=BRIEF)
    )


def sentence(processes: pl.DataFrame) -> str:
    """Returns how many cases ended `ok`, and how the others did: by name, if they are few. A case that is timed and
    whose memory is measured counts twice; one whose kernels and profile are recorded, once."""
    aside = pl.col("purpose").is_in([*map(str, ASIDE)])
    own, beside = processes.filter(~aside), processes.filter(aside)
    if own.is_empty():  # a set of programs or profiles alone is of these
        own, beside = beside, own
    gravest = pl.col("outcome").sort_by(pl.col("outcome").replace_strict(GRAVITY)).first()
    cases = own.group_by(
        "comparison_id", "stack", pl.when(~aside).then("purpose").alias("of"), maintain_order=True
    ).agg(pl.col("question").first(), gravest)
    failed = cases.filter(pl.col("outcome") != Outcome.OK)
    others = []
    for word, count in Counter(failed["outcome"]).most_common():
        ended_so = failed.filter(outcome=word).select("stack", "question").iter_rows()
        named = f" ({listed([' on '.join(case) for case in ended_so])})" if failed.height <= NAMED_MOST else ""
        others.append(f"{count:,} {WORDS.get(word, word)}{named}")
    rest = f"; {', '.join(others)}" if others else ""
    if failed_aside := beside.filter(pl.col("outcome") != Outcome.OK).height:
        rest += f"; apart from these, {counted(failed_aside, 'process')} for programs, profiles and the like didn't"
    return f"{cases.height - failed.height:,} of {counted(cases.height, 'planned case')} ended ok{rest}."


def lines(rows: Iterable[Row], names: Mapping[tuple[str, str], str]) -> list[dict[str, Any]]:
    """Returns a line for all rows that ended alike, sorted by question, the gravest of each first. `names` has the name
    of each (purpose, comparison_id)."""
    alike: dict[tuple[str, ...], list[Row]] = {}
    for row in map(ended, rows):
        alike.setdefault(tuple(map(row.text, ALIKE)), []).append(row)
    found = [line(group, names) for group in alike.values()]
    return sorted(
        found, key=lambda each: (each["question"], GRAVITY[each["outcome"]], each["stack"], each["in_blocks"])
    )


def line(rows: Sequence[Row], names: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """Returns the line of rows that ended alike, with the message and the log of the last row."""
    last = max(rows, key=lambda row: (row["block"], row["replicate"], row["retry"]))
    purpose, code, signal = last.text("purpose"), last.number("exit_code"), last.number("signal")
    is_ok = last.outcome == Outcome.OK
    ends = [f"exit code {code:.0f}"] if code is not None else []
    ends += [f"signal {signal:.0f}"] if signal else []
    record = {
        "Purpose": f"{purpose}: an untimed process, which {AIMS[purpose]}" if purpose in AIMS else "",
        "Exit": ", ".join(ends),
        "Provenance": "" if last["provenance"] == "measured" else last.text("provenance"),
        "Message": ": ".join(filter(None, map(last.text, ("exception_type", "message")))),
        "Standard error": last.text("stderr_tail"),
        "Log": f"logs/{last.attempt_name}" if ends and last["provenance"] == "measured" and not is_ok else "",
    }
    in_blocks = sorted({row["block"] for row in rows})
    return {
        "question": names.get((purpose, last["comparison_id"]), "") or last.text("case_name"),
        "stack": last.stack_name,
        "outcome": last.outcome,
        "phase": "" if is_ok else last.text("phase"),
        "blocks": units.UNKNOWN if purpose in OUTSIDE_BLOCKS else ranges(in_blocks),
        "reason": last.text("reason"),
        "flags": [{"flag": flag, "processes": share} for flag, share in flag_counts(rows)],
        "record": [{"what": what, "text": text} for what, text in record.items() if text],
        "log": record["Log"],
        "aside": purpose in ASIDE,
        "in_blocks": in_blocks,
        "processes": len(rows),
    }


def ranges(numbers: Sequence[int]) -> str:
    """Returns sorted numbers as `1–3, 5`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join("–".join(map(str, run)) for run in runs)


def shortened(reason: str) -> str:
    """Returns a reason, cut if it is longer than `LONGEST`."""
    return reason if len(reason) <= LONGEST else f"{reason[:LONGEST]}…"
