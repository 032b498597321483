"""The predictions of a set: the verdicts of accelerators' own compilers on each case, beside published verdicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

from suite.case import CUSTOM, GROWING, OUT_OF_MEMORY, Outcome, Purpose, dims_text
from suite.machine.published_peaks import peaks_of
from suite.predict.answer import Prediction
from suite.results.documents.figures import documents
from suite.results.names import question_names
from suite.results.questions.bracket import Bracket
from suite.results.questions.grouping import by_comparison, grouped
from suite.sets.rows import Row

FITS, OUT, NEITHER = "fits", "out of memory", "no verdict"
# The case of a published verdict on a model, as far as it is known: one training step of the published model.
PUBLISHED_SIZE, PUBLISHED_PASS, PUBLISHED_PRECISION = "full", "train", "f32"
STACKS = {"JAX": "jax_jit", "PyTorch": "torch_xla"}  # {a framework, as documents name it: its stack on a TPU}
# What libtpu's refusal says: "the total memory required for HLO temporaries (74.58G) exceeds available HBM (31.24G)".
REQUIRED = re.compile(r"\(([\d.]+)([KMGT]?)\)|\bUsed ([\d.]+)([KMGT]) of")
BINARY = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


@dataclass(frozen=True, slots=True)
class Predicted:
    """One stack's case on one device, with the prediction of its compiler; None if it made none."""

    row: Row
    prediction: Prediction | None

    @classmethod
    def of(cls, row: Row) -> Predicted:
        """Returns the case of a row."""
        return cls(row, row.decoded("prediction", Prediction))

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


@dataclass(frozen=True, slots=True)
class PredictedQuestion:
    """One question on one device: `cases` by stack, in the order of the stacks of the device."""

    id: str
    name: str
    head: Row
    cases: tuple[Predicted | None, ...]


@dataclass(frozen=True, slots=True)
class VerdictPair:
    """A published verdict beside the predicted one. `case` is the predicted case, `source` the document's title."""

    workload: str
    stack: str
    published: str
    case: Predicted
    source: str

    @property
    def agrees(self) -> bool:
        """Whether the published verdict is the predicted one."""
        return self.published == self.case.verdict


@dataclass(frozen=True, slots=True)
class PredictedSearch:
    """The search of one stack on one question for the largest value of a dim that fits. `bracket` has this value and
    the smallest that doesn't fit. `largest` is the case of the largest, None if no value fits; `stopped` is the
    smallest value above it whose case has no verdict, with this case, None if all have one. `tried` is the number of
    values that were compiled."""

    question: str
    stack: str
    axis: str
    bracket: Bracket
    largest: Predicted | None
    stopped: tuple[int, Predicted] | None
    tried: int


@dataclass(frozen=True, slots=True)
class PredictedDevice:
    """All that was predicted for one device, question by question, with published verdicts on the same chip."""

    name: str
    target: str
    stacks: tuple[str, ...]
    questions: tuple[PredictedQuestion, ...]
    published: tuple[VerdictPair, ...]
    searches: tuple[PredictedSearch, ...]

    @property
    def cases(self) -> tuple[Predicted, ...]:
        """Returns the cases of all questions."""
        return tuple(case for question in self.questions for case in question.cases if case is not None)


def predicted_devices(rows: Iterable[Row], vary: str = "") -> tuple[PredictedDevice, ...]:
    """Returns the devices with predictions, by target and name. `rows` has one row for each planned process; `vary` is
    the dim of a search."""
    grows = GROWING | {vary} if vary else GROWING
    listed = [row for row in rows if row["purpose"] == Purpose.PREDICT]
    by_device = grouped(listed, lambda row: (row.text("target"), row.text("device")))
    return tuple(predicted_device(name, target, by_device[target, name], grows) for target, name in sorted(by_device))


def predicted_device(name: str, target: str, rows: Sequence[Row], grows: Set[str]) -> PredictedDevice:
    """Returns all that was predicted for one device; `rows` are its predict processes."""
    stacks = tuple(sorted({row.stack_name for row in rows}))
    groups = grouped(rows, by_comparison)
    names = question_names([group[0] for group in groups.values()])
    questions = []
    for id_ in sorted(groups, key=lambda id_: names[id_]):
        by_stack = {row.stack_name: Predicted.of(row) for row in groups[id_]}
        questions.append(PredictedQuestion(id_, names[id_], groups[id_][0], tuple(map(by_stack.get, stacks))))
    cases = [case for question in questions for case in question.cases if case is not None]
    return PredictedDevice(
        name,
        target,
        stacks,
        tuple(questions),
        tuple(held_against(name, target, questions)),
        tuple(searches(cases, grows)),
    )


def searches(cases: Sequence[Predicted], grows: Set[str]) -> Iterator[PredictedSearch]:
    """Yields a search for each case that was predicted at several values of one growing dim, and of no other dim."""
    series = grouped(
        cases, lambda case: (replace(case.row.case, size=CUSTOM, dims={}).case_id, without_growing(case, grows))
    )
    for sizes in series.values():
        growing = [{name: case.row.case.dims[name] for name in case.row.case.dims if name in grows} for case in sizes]
        varied = [name for name in growing[0] if len({dims.get(name) for dims in growing}) > 1]
        if len(varied) != 1:
            continue
        (axis,) = varied
        by_size = {case.row.case.dims[axis]: case for case in sizes if case.verdict != NEITHER}
        bracket = Bracket.of({size: case.verdict == FITS for size, case in by_size.items()})
        row = sizes[0].row
        without = {case.row.case.dims[axis]: case for case in sizes if case.verdict == NEITHER}
        ended = min((size for size in without if size > bracket.low), default=None)
        yield PredictedSearch(
            question=" ".join(map(row.text, ("workload", "pass", "precision"))),
            stack=row.stack_name,
            axis=axis,
            bracket=bracket,
            largest=by_size.get(bracket.low),
            stopped=None if ended is None else (ended, without[ended]),
            tried=len(sizes),
        )


def without_growing(case: Predicted, grows: Set[str]) -> str:
    """Returns a case's dims without those that a search can vary."""
    return dims_text({name: value for name, value in case.row.case.dims.items() if name not in grows})


def held_against(device: str, target: str, questions: Sequence[PredictedQuestion]) -> Iterator[VerdictPair]:
    """Yields each published verdict on a TPU of this kind, beside the predicted case of the same model and stack."""
    published = (PUBLISHED_SIZE, PUBLISHED_PASS, PUBLISHED_PRECISION)
    cases = {
        (case.row.text("workload"), case.row.stack_name): case
        for question in questions
        if tuple(map(question.head.text, ("size", "pass", "precision"))) == published
        for case in question.cases
        if case is not None
    }
    for document in documents() if target == "tpu" else ():
        for verdict in document.verdicts:
            for framework, fits in verdict.fits.items():
                case = cases.get((verdict.workload, STACKS[framework]))
                if case is not None and peaks_of(verdict.device) == peaks_of(device):
                    word = FITS if fits else OUT
                    yield VerdictPair(verdict.workload, STACKS[framework], word, case, document.title)
