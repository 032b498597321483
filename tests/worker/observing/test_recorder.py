"""What a probe's recorder writes: watched actions, classes by the spec's classifier, no aspect left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest

from suite.launch import events as reading
from suite.worker.events import Events
from suite.worker.observing.recorder import WORDS_MAX, Recorder, first_line


class Spec:
    """A probe that asks two things."""

    TITLE = "What happens"
    ASPECTS: ClassVar = {"call": "a call", "again": "one more"}
    FIGURES: ClassVar = {
        "seconds": ("s", ""),
        "size": ("bytes", ""),
        "compiles": ("count", ""),
        "traces": ("count", ""),
        "graph_breaks": ("count", ""),
        "fallback_ops": ("count", ""),
    }
    DOCUMENTED: ClassVar = {"call": {"fake": ("compiles", "https://example.org/docs")}}
    PRIMER: ClassVar = {"call": {"other": ("reuses", "https://example.org/primer")}}

    @staticmethod
    def classify(aspect: str, figures: dict[str, Any]) -> str:
        return "compiles" if figures.get("compiles") else "reuses"


class Stack:
    """As much of an adapter as a recorder needs; each call of `compile` is counted."""

    def __init__(self) -> None:
        self.compiles, self.waited = 0, []
        self.workload = type("Workload", (), {"spec": Spec})
        self.case = type("Case", (), {"stack": "fake", "workload": "what"})

    def counters(self) -> dict[str, Any]:
        return {"traces": None, "compiles": self.compiles, "graph_breaks": None, "fallback_ops": None}

    def wait(self, state: Any, value: Any) -> None:
        self.waited.append(value)

    def compile(self) -> str:
        self.compiles += 1
        return "done"


@pytest.fixture
def stack() -> Stack:
    return Stack()


@pytest.fixture
def recorder(stack: Stack, tmp_path: Path) -> Recorder:
    return Recorder(stack, Events(tmp_path))  # type: ignore[arg-type]


def told(recorder: Recorder) -> reading.Account:
    account = reading.read(recorder.events.folder / "events.jsonl")
    assert account.problem is None
    return account


def test_an_action_is_watched_until_its_result_is_there(recorder: Recorder, stack: Stack) -> None:
    seen = recorder.watch(stack.compile)
    assert (seen.value, seen.error, stack.waited) == ("done", "", ["done"])
    assert seen.counted == {"traces": None, "compiles": 1, "graph_breaks": None, "fallback_ops": None}
    assert seen.seconds > 0


def test_what_is_raised_is_the_answer_with_the_first_line_of_its_text(recorder: Recorder) -> None:
    def fail() -> None:
        raise ValueError("\n  first\nsecond")

    recorder.record("call", fail, recorder.watch(fail))
    (answer,) = told(recorder).columns["behaviour"]
    assert (answer["class"], answer["words"]) == ("raises: ValueError", "first")


@pytest.mark.parametrize(
    ("text", "words"),
    [("", ""), ("one", "one"), ("in user code:\n\n  File x\n\n  TypeError: no shape\n", "TypeError: no shape")],
)
def test_a_line_that_only_announces_is_passed_over(text: str, words: str) -> None:
    assert first_line(ValueError(text)) == words


def test_the_class_is_the_classifiers_and_what_is_believed_stands_beside(recorder: Recorder, stack: Stack) -> None:
    recorder.record("call", Stack.compile, recorder.watch(stack.compile), size=[3, 4])
    recorder.record("again", Stack.compile, recorder.watch(lambda: None))
    first, second = told(recorder).columns["behaviour"]
    assert (first["class"], second["class"]) == ("compiles", "reuses")
    assert first["documented"] == {"class": "compiles", "page": "https://example.org/docs"}
    assert first["primer"] is None is second["documented"]
    assert first["title"] == "a call" and first["probe"] == "What happens"
    assert "self.compiles += 1" in first["code"]
    metrics = {each["name"]: each for each in told(recorder).metrics}
    assert metrics["call size"] == {"name": "call size", "unit": "bytes", "kind": "behaviour", "values": [3.0, 4.0]}
    assert metrics["call compiles"]["values"] == [1.0]
    assert "call traces" not in metrics  # not counted is not none


def test_answers_are_there_as_soon_as_they_are_given(recorder: Recorder) -> None:
    recorder.lacks("call", "there are no calls")
    (answer,) = told(recorder).columns["behaviour"]
    assert (answer["class"], answer["words"], answer["code"]) == ("unsupported", "there are no calls", "")


@pytest.mark.parametrize("aspects", [["call"], ["call", "call"], []])
def test_an_aspect_left_out_or_told_twice_is_an_error(recorder: Recorder, aspects: list[str]) -> None:
    for aspect in aspects:
        recorder.lacks(aspect, "no")
    with pytest.raises(RuntimeError, match="its spec's aspects are call, again"):
        recorder.close()


def test_words_are_cut_and_can_be_written(recorder: Recorder) -> None:
    recorder.record("call", None, words="x" * 999)
    assert json.dumps(told(recorder).columns["behaviour"]).count("x") < WORDS_MAX + 5


def test_samples_wait_for_each_result(recorder: Recorder, stack: Stack) -> None:
    assert len(recorder.seconds(stack.compile, 5)) == 5
    assert stack.waited == ["done"] * 5
