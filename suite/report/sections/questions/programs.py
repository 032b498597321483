"""The section "Compilers": what stacks hand to their compilers, counted side by side, and what differs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from suite.answers.sentences import first_of
from suite.ir.findings import StackPrograms
from suite.report.sections.labels import link_target, subtitle
from suite.report.sections.questions.program_counts import Counts, generated, operations, regions, step_counts
from suite.report.sections.section import AnswerLine, Context, QuestionView, Section, answer_lines
from suite.report.tables import Table
from suite.results.analysis import Analysis
from suite.results.questions.programs import ProgramPair, ProgramQuestion


@dataclass(frozen=True, slots=True)
class ProgramView(QuestionView):
    """One question; `answer` says how many operations the stacks hand to XLA. The tables `counts`, `regions` and
    `operations` are of programs that XLA compiles, `generated` is of code that a framework generates itself."""

    question: ProgramQuestion
    counts: Counts
    regions: Counts
    operations: Counts
    generated: Counts
    pairs: tuple[ProgramPair, ...]


@dataclass(frozen=True, slots=True)
class ProgramsSection(Section):
    """The questions with programs, by name."""

    views: tuple[ProgramView, ...]

    name = "programs"
    nav = "Compilers"
    heading = "What the compilers are handed"
    key = "programs"
    topic = "what the stacks hand to their compilers"
    terms = ("program", "region", "compilations")

    @classmethod
    def of(cls, context: Context) -> ProgramsSection | None:
        """Returns the section; None without an ir process."""
        views = tuple(map(program_view, context.analysis.programs))
        return cls(views) if views else None

    @property
    def answer(self) -> str:
        """Returns the answer to the first question."""
        answers = [line.text for line in self.answers()]
        return first_of(answers, "question") or "No program that XLA compiles was recorded."

    @classmethod
    def names(cls, analysis: Analysis) -> Mapping[str, str]:
        """Returns the names of the questions."""
        return {question.id: question.name for question in analysis.programs}

    def answers(self) -> Sequence[AnswerLine]:
        """Returns how many operations the stacks hand to XLA, question by question."""
        return answer_lines(self.views)

    def console(self) -> Sequence[Table]:
        """Returns the counts; the page and `./stackwars ir` have the differences."""
        return [
            Table(title, ["", *counts.stacks], [[name, *cells] for name, cells in counts.rows])
            for view in self.views
            for title, counts in (
                (view.name, view.counts),
                ("How regions were lowered", view.regions),
                ("Kernels that generated code calls", view.generated),
            )
            if counts.stacks and counts.rows
        ]

    def data(self) -> list[Any]:
        """Returns each question with the contents of each program, and the differences between every two stacks."""
        return [programs_json(view) for view in self.views]


def program_view(question: ProgramQuestion) -> ProgramView:
    """Returns the view of one question."""
    of_xla = question.of_xla
    return ProgramView(
        name=question.name,
        question=question,
        anchor=link_target("p", question.name, question.id),
        answer=answer(of_xla),
        subtitle=subtitle(question.head),
        counts=step_counts(of_xla),
        regions=regions(of_xla),
        operations=operations(of_xla),
        generated=generated([stack for stack in question.stacks if stack.step.kernels]),
        pairs=question.pairs,
    )


def answer(stacks: Sequence[StackPrograms]) -> str:
    """Returns a sentence on how many operations the stacks hand to XLA, and how many run once compiled; empty if XLA
    compiles no stack's program."""
    operations = sorted((stack.step.contents.size, stack.stack) for stack in stacks if stack.step.contents)
    run = sorted((stack.step.compiled.kernels, stack.stack) for stack in stacks if stack.step.compiled)
    parts = [
        f"{words}: {spread(counts)}"
        for words, counts in (("Operations handed to the compiler", operations), ("run, once compiled", run))
        if counts
    ]
    return f"{'; '.join(parts)}." if parts else ""


def spread(counts: Sequence[tuple[int, str]]) -> str:
    """Returns the least and the greatest of sorted counts, with their stacks."""
    (least, first), (greatest, last) = counts[0], counts[-1]
    return f"{least:,} ({first}) to {greatest:,} ({last})" if least < greatest else f"{least:,}"


def programs_json(view: ProgramView) -> dict[str, Any]:
    """Returns one question for JSON. `findings` has the sentences alone, `differences` also their counts."""
    question = view.question
    return {
        "name": question.name,
        "stacks": [
            {"stack": stack.stack, "programs": [asdict(program) for program in stack.programs]}
            for stack in question.stacks
        ],
        "without": dict(question.without),
        "findings": {" and ".join(pair.stacks): [finding.text for finding in pair.findings] for pair in view.pairs},
        "differences": [
            {
                "stacks": list(pair.stacks),
                "text": finding.text,
                "counts": {name: [first, second] for name, first, second in finding.counts},
            }
            for pair in view.pairs
            for finding in pair.findings
        ],
    }
