"""`python -m tools.sweep`: draws small questions, asks every stack, and prints where one doesn't answer as NumPy does.

For each finding it prints the smallest input that Hypothesis has found, who defines the right answer, and whether a
public tracker has it (known.toml). `--write` keeps the findings in docs/findings/sweep.json and writes
docs/findings/sweep.md from it, which a test compares.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
from hypothesis import HealthCheck, Phase, find, settings
from hypothesis.errors import NoSuchExample

from suite.cli.app import run_tool
from suite.cli.terminal.output import print_table
from suite.cli.values import Names
from suite.environments import say
from suite.errors import check_known
from tools.sweep.findings import HEADS, PAGE, Finding, cells, keep, known
from tools.sweep.questions import Pairs, Question, questions
from tools.sweep.stacks import ENVIRONMENTS, Environment, Refused

SEED = 7
CHOSEN = settings(
    database=None,
    deadline=None,
    derandomize=False,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=list(HealthCheck),
)


def sweep(
    *, environment: Names = (), stack: Names = (), family: Names = (), examples: int = 60, write: bool = False
) -> int:
    """Asks the questions of tools/sweep/questions.py. Returns the exit code.

    :param environment: only these environments
    :param stack: only these stacks of them
    :param family: only these families of questions
    :param examples: how many inputs are drawn for each question, of up to 16 pairs each
    :param write: keep the findings, and write the page
    """
    asked = [question for question in questions() if not family or question.family.name in family]
    for name in environment:
        check_known("environment", name, [*ENVIRONMENTS])
    findings: list[Finding] = []
    tried: dict[str, int] = {}
    for name in environment or ENVIRONMENTS:
        place = Environment(name)
        place.start()
        for runs in (each for each in place.stacks if not stack or each in stack):
            found = [finding for question in asked for finding in differing(place, runs, question, examples)]
            refused = sum(key[0] == runs for key in place.refused)
            tried[runs] = len(asked) - refused
            say(f"{runs}: {len(found)} of {tried[runs]} questions have another answer; {refused} are refused")
            findings += found
        place.end()
    print_table("Answers that aren't NumPy's", [*HEADS], [cells(finding, known()) for finding in findings])
    if write:
        keep(findings, tried)
        say(f"Wrote {PAGE}.")
    return 0


def differing(place: Environment, stack: str, question: Question, examples: int) -> Iterator[Finding]:
    """Yields the smallest input for which a stack's answer differs from NumPy's, if one was drawn."""
    ended: list[str] = []

    def differs(pairs: Pairs) -> bool:
        x, y = question.arguments(pairs)
        try:
            answer = place.answer(stack, question, x, y)
        except Refused as refused:
            ended[:] = [str(refused)] if place.process is None else []
            return bool(ended)
        return not question.same(answer, question.right(x, y), y).all()

    try:
        smallest = find(question.pairs, differs, settings=settings(CHOSEN, max_examples=examples), random=Random(SEED))
    except NoSuchExample:
        return
    x, y = question.arguments(smallest)
    right = question.right(x, y)
    try:
        answer = place.answer(stack, question, x, y)
    except Refused as refused:
        yield Finding.of(question, stack, smallest, right[0], str(refused))
        return
    at = int(np.argmin(question.same(answer, right, y)))
    yield Finding.of(question, stack, [(x[at], y[at])], right[at], answer[at])


if __name__ == "__main__":
    run_tool("tools.sweep", sweep)
