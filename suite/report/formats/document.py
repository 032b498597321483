"""A result set as one JSON object, for programs: `./stackwars report --format=json`, and what `run --json` ends in."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from suite.report.sections.answers import headlines
from suite.report.sections.memory import memory_section
from suite.report.sections.programs import program_section
from suite.results import Results
from suite.results.analysis import Analysis, Comparison
from suite.results.questions.behaviour import Behaviour
from suite.results.questions.capacity import MemoryQuestion
from suite.results.questions.memory_parts import total
from suite.results.questions.profiles import ProfileQuestion
from suite.results.questions.programs import ProgramQuestion
from suite.results.speedup.geometric_means import Summary
from suite.results.speedup.verdicts import Speedup
from suite.results.stack_figures import StackFigures
from suite.results.store.rows import accepted
from suite.results.within_set import Ways
from suite.stats import Estimate

VERSION = 1  # of the object; a further field doesn't raise it


def document(results: Results, analysis: Analysis) -> dict[str, Any]:
    """All that a set says: outcomes, and per question medians, ratios, intervals, verdicts."""
    answers = headlines(analysis)
    return {
        "version": VERSION,
        "set_id": results.plan.set_id if results.plan else results.path.stem,
        "rows": len(results.rows),
        "outcomes": dict(Counter(row["outcome"] for row in accepted(results.rows))),
        "machine": results.described_machine,
        "machine_id": results.machine.get("machine_id"),
        "ceilings": results.ceilings,
        "baseline": analysis.baseline,
        "hidden": list(analysis.hidden),
        "comparisons": [
            comparison_json(comparison, answer.text)
            for comparison, answer in zip(analysis.comparisons, answers, strict=True)
        ],
        "summary": [summary_json(line) for line in analysis.summaries],
        "ways": [ways_json(each) for each in analysis.ways],
        "memory": [memory_json(question) for question in analysis.memory],
        "profiles": [profiles_json(question) for question in analysis.profiles],
        "behaviour": [behaviour_json(probe) for probe in analysis.behaviour],
        "programs": [programs_json(question) for question in analysis.programs],
    }


def comparison_json(comparison: Comparison, answer: str) -> dict[str, Any]:
    """One question."""
    untimed = [{"stack": cell.stack, "outcome": cell.outcome, "reason": cell.reason} for cell in comparison.untimed]
    return {
        "name": comparison.name,
        "answer": answer,
        "baseline": comparison.baseline,
        "stands_in_for": comparison.stands_in_for or None,
        "noise_floor": ratio_json(comparison.noise),
        "stacks": [*map(stack_json, comparison.stacks), *untimed],
    }


def memory_json(question: MemoryQuestion) -> dict[str, Any]:
    """A question of memory: per stack what each size took, in bytes, and the largest that fits."""
    return {
        "name": question.name,
        "answer": memory_section(question).answer or None,
        "vary": question.axis or None,
        "limit_bytes": question.limit,
        "stacks": [
            {
                "stack": line.stack,
                "largest": line.largest,
                "failed": line.failed,
                "found": line.is_found,
                "predicted": line.predicted,
                "processes": line.tried,
                "curve": None if line.curve is None else asdict(line.curve),
                "sizes": [
                    None
                    if row is None
                    else {
                        "dims": dict(row.case.dims),
                        "outcome": row.outcome,
                        "phase": row["phase"],
                        "reason": row["reason"],
                        "provenance": row["provenance"],
                        "peak_bytes": row.peak_bytes,
                    }
                    for row in line.rows
                ],
            }
            for line in question.lines
        ],
    }


def behaviour_json(probe: Behaviour) -> dict[str, Any]:
    """A probe: per aspect and stack what was observed."""
    return {
        "name": probe.name,
        "title": probe.title,
        "aspects": [
            {
                "aspect": aspect.name,
                "title": aspect.title,
                "stacks": [
                    {
                        "stack": stack,
                        "class": answer.class_,
                        "words": answer.words or None,
                        "documented": answer.documented and answer.documented.class_,
                        "primer": answer.primer and answer.primer.class_,
                        "figures": {
                            each.name: {"unit": each.unit, "values": list(each.values)} for each in answer.figures
                        },
                    }
                    for stack, answer in sorted(aspect.answers.items())
                ],
            }
            for aspect in probe.aspects
        ],
    }


def programs_json(question: ProgramQuestion) -> dict[str, Any]:
    """A question of programs: per stack what is in each, and per pair what differs."""
    section = program_section(question)
    return {
        "name": question.name,
        "stacks": [
            {"stack": each.stack, "programs": [program.to_json() for program in each.programs]}
            for each in question.stacks
        ],
        "without": dict(question.without),
        "findings": {pair.title: [finding.text for finding in pair.findings] for pair in section.pairs},
    }


def profiles_json(question: ProfileQuestion) -> dict[str, Any]:
    """A question of where the time goes, in seconds."""
    return {
        "name": question.name,
        "without": dict(question.without),
        "stacks": [{"stack": stack} | told.to_json() for stack, told in question.stacks],
    }


def ways_json(ways: Ways, base: str | None = None) -> dict[str, Any]:
    """What was asked in two ways: the ratio of each over the plain one, or over `base`."""
    chosen = base or ways.base
    return {
        "by": ways.field,
        "baseline": chosen,
        "clock": ways.clock,
        "cases": [
            {
                "question": each.question,
                "stack": each.stack,
                "value": each.speedup.stack,
                "verdict": each.speedup.verdict,
                "reason": each.speedup.reason,
                "ratio": estimate_json(each.speedup.ratio),
            }
            for each in ways.over(chosen)
        ],
    }


def stack_json(figures: StackFigures) -> dict[str, Any]:
    """One stack of a comparison; times in seconds."""
    return {
        "stack": figures.stack,
        "outcome": figures.outcome,
        "median_seconds": figures.median.value,
        "median_low_seconds": figures.median.low,
        "median_high_seconds": figures.median.high,
        "first_seconds": figures.first,
        "second_seconds": figures.second,
        "average_seconds": figures.average,
        "speedup": ratio_json(figures.speedup),
        "two_modes": figures.has_modes,
        "best_seconds": figures.best,
        "spread": figures.spread,
        "peak_bytes": peak(figures),
        "flags": [flag for flag, _ in figures.flags],
        "kernels": figures.kernels or None,
    }


def peak(figures: StackFigures | None) -> float | None:
    """The greatest peak in bytes, as the page draws it; None where it isn't known."""
    return total(figures.peak_parts) if figures and figures.peak_parts else None


def ratio_json(speedup: Speedup | None) -> dict[str, Any] | None:
    """A ratio with its interval and verdict; null where there is none."""
    if speedup is None:
        return None
    ratio, best = speedup.ratio, estimate_json(speedup.best)
    return {
        "value": ratio.value,
        "low": ratio.low,
        "high": ratio.high,
        "verdict": speedup.verdict,
        "reason": speedup.reason,
        "best": best,
    }


def estimate_json(estimate: Estimate | None) -> dict[str, Any] | None:
    """A value with its interval; null where there is none."""
    return None if estimate is None else {"value": estimate.value, "low": estimate.low, "high": estimate.high}


def summary_json(line: Summary) -> dict[str, Any]:
    """A stack's geometric means: over the questions that every stack answered, and over its own."""
    return {
        "stack": line.stack,
        "common": estimate_json(line.common),
        "common_questions": line.n_common,
        "own": estimate_json(line.ratio),
        "own_questions": line.n_ok,
        "asked_questions": line.n,
    }
