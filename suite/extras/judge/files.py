"""The two files of a judgement: the question before, which is trusted, and the file after, of which only the text is
read outside of the sandbox."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from suite.case import Case
from suite.environments import venv
from suite.errors import UserError, at_line, check_known
from suite.extras.judge.family import DRAWN
from suite.extras.judge.sandbox import Sandbox
from suite.extras.judge.trial import AFTER, Trial
from suite.run.start.engines import absent
from suite.stacks.catalog import STACKS
from suite.workloads.questions.arguments import tensors_of
from suite.workloads.questions.functions import LOSS, OPTIMIZER, Function, implementations
from suite.workloads.questions.loading import beside
from suite.workloads.questions.question import ASKED, SIZE, Question, load
from suite.workloads.questions.settings import SETTINGS
from suite.workloads.statements import defined, parsed

TARGET = "cpu"
AFTER_BYTES_MAX = 2**20
OF_BEFORE = {*ASKED, *SETTINGS, "reference", "loss"}  # what says what is asked, and what is right


@dataclass(frozen=True)
class Judgement:
    """Both files, and the functions of the one after that are judged."""

    question: Question
    after: Path
    functions: Sequence[str]

    @classmethod
    def of(cls, before: Path, after: Path) -> Judgement:
        """Raises UserError for a file that can't be judged."""
        question, after = load(before), after.resolve()
        if not question.right:
            raise UserError(f"{before} has neither `reference` nor a NumPy function, which say what is right: add one.")
        if question.has_model:
            raise UserError(f"{before} has a model: functions alone are judged as yet.")
        tensors = tensors_of(question.arguments(question.spec.SIZES[SIZE])).values()
        if not any(isinstance(tensor, DRAWN) for tensor in tensors):
            raise UserError(
                f"No input of {before} is drawn, like normal(…): a kept result would be right in each call."
            )
        functions = [function.name for function in functions_of(after)]
        known = [f"{dialect}_{name}" for dialect, names in question.written.items() for name in names]
        for function in functions_of(after):
            if len({dialect for dialect, _ in function.implements}) > 1:
                raise UserError(f"{function.name} is for several frameworks: functions of one are judged as yet.")
        for name in functions:
            check_known("function", name, known, of=str(before))
        return cls(question, after, functions)

    def stacks(self, wanted: Sequence[str]) -> list[tuple[str, str]]:
        """Returns pairs of a stack and the function that is judged on it. By default these are the first function's
        eager and compiled stacks. Raises UserError for a stack that lacks a function, or isn't here."""
        dialects = {name.partition("_")[0]: name for name in reversed(self.functions)}
        first = self.functions[0].partition("_")[0]
        home = next((stack.environment for stack in STACKS.values() if stack.dialect == first), "")
        default = [name for name, stack in STACKS.items() if (stack.dialect, stack.environment) == (first, home)]
        for name in wanted:
            check_known("stack", name, STACKS)
            check_known("function of dialect", STACKS[name].dialect, dialects, of=str(self.after))
            if reason := absent(STACKS[name], "", TARGET):
                raise UserError(f"{name} can't run here: {reason}.")
        lacking = {name: absent(STACKS[name], "", TARGET) for name in default}
        chosen = wanted or [name for name, reason in lacking.items() if not reason]
        if not chosen:
            told = "; ".join(f"{name}: {reason}" for name, reason in lacking.items())
            raise UserError(f"No stack of {self.functions[0]} can run here. {told or 'Name one by --stack.'}")
        return [(name, dialects[STACKS[name].dialect]) for name in chosen]

    def trial(self, stack: str, function: str) -> Trial:
        """Returns the trial of one function, which makes the stack's environment first where it is missing."""
        python = venv.made(venv.fit(STACKS[stack].environment, TARGET)).python

        def start(side: str) -> Sandbox:
            question = self.question
            file = self.after if side == AFTER else question.folder
            reads = [*question.data_files(question.spec.SIZES[SIZE]), *beside(file)]
            return Sandbox(python, case_of(question, stack, function), (question.folder, file), reads)

        return Trial(self.question, start)


def case_of(question: Question, stack: str, function: str) -> Case:
    cores = len(os.sched_getaffinity(0))
    return Case(workload=question.name, size=SIZE, dims=question.spec.SIZES[SIZE], pass_="forward", precision="f32",
                track="default", stack=stack, variant="", target=TARGET, device=TARGET, cache="cold", threads=cores,
                implementation=function.partition("_")[2])  # fmt: skip


def functions_of(after: Path) -> list[Function]:
    """Returns the functions of the file after, of which nothing is run. Raises UserError for a file that isn't Python,
    has none, or says what is asked or right."""
    if not after.is_file() or after.stat().st_size > AFTER_BYTES_MAX:
        raise UserError(f"{after} isn't a file of up to {AFTER_BYTES_MAX >> 20} MiB.")
    try:
        text = parsed(after)
        beside(after.resolve())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as broken:
        raise UserError(f"{after} can't be read: {at_line(broken, after)}.") from broken
    functions = implementations(text, after)
    own = [name for name in defined(text) if name in OF_BEFORE or name.endswith((LOSS, OPTIMIZER))]
    if own:
        raise UserError(f"{after} has {sorted(own)[0]}, which the file before alone may say: leave it out.")
    if not functions:
        raise UserError(f"{after} has no function that the file before has, like torch_naive.")
    return functions
