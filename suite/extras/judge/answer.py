"""What a judgement says: a word with its ratio, why, and how the judge knew."""

from __future__ import annotations

from typing import Any

from suite.extras.judge.sandbox import confinement
from suite.extras.judge.trial import Trial

EXIT_CODES = {"faster": 0, "undecided": 1, "wrong": 3, "cheats": 3, "not faster": 5}
GRAVEST = ("cheats", "wrong", "not faster", "undecided", "faster")


def fields(stack: str, function: str, trial: Trial) -> dict[str, Any]:
    """Returns what --json prints of one function on one stack. Times are seconds a call."""
    word, reason = trial.verdict
    ratio = None if trial.caught else trial.ratio
    return {
        "stack": stack,
        "function": function,
        "verdict": word,
        "ratio": ratio and ratio.value,
        "low": ratio and ratio.low,
        "high": ratio and ratio.high,
        "reason": reason,
        "smallest_input": trial.caught_at if word == "wrong" else None,
        "checked_results": trial.checked,
        "blocks": trial.blocks,
        "confined": not confinement()[2],
        "unconfined_because": confinement()[2],
        "processor_time": trial.counts,
    }


def sentence(of: dict[str, Any]) -> str:
    """Returns one line for people."""
    said = of["verdict"]
    if of["ratio"] is not None:
        said += f" {of['ratio']:.2f}× [{of['low']:.2f}, {of['high']:.2f}]"
    if of["reason"]:
        said += f": {of['reason']}"
    if of["smallest_input"]:
        said += f", at {', '.join(f'{name}={length}' for name, length in of['smallest_input'].items())}"
    if of["unconfined_because"]:
        said += f". It wasn't confined, since {of['unconfined_because']}: it could reach what you can"
    return f"{of['stack']}, {of['function']}: {said}."
