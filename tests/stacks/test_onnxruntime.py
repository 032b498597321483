"""ONNX Runtime's programs: what is an input of them and what a constant, and whose memory the results are in."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from suite.environments import venv
from suite.workloads import catalog
from tests.stacks.programs import WITH_CASE, told
from tests.worker.processes import attempt_of, case_of, of, request, run_worker

pytestmark = pytest.mark.stacks
MODEL = catalog.HOME / "models" / "gpt2"
PROGRAMS = f"""{WITH_CASE}
import numpy as np

def of_seed(seed):
    adapter = adapter_class(case.stack)(case, workload)
    adapter.device()
    adapter.build()
    programs, program = [], adapter.program
    adapter.program = lambda exported, *given, **how: programs.append(exported) or program(exported, *given, **how)
    state, batch = Data(case, workload, seed).place(adapter)
    outputs = [adapter.step(state, batch)[1] for _ in range(2)]
    kept = [adapter.tensor(output) for output in outputs]
    adapter.step(state, Data(case, workload, seed + 1).place(adapter)[1])
    return dict(
        inputs=sorted(each.name for each in state.program.session.get_inputs()),
        text=programs[0].model_proto.SerializeToString().hex(),
        apart=kept[0].data_ptr() != kept[1].data_ptr(),
        stays=bool((kept[0] == kept[1]).all()),
        result=adapter.results(outputs[0]).astype(float).tolist(),
        weights=sorted(state.weights),
        batch=sorted(batch),
        flag=adapter.has_frozen_weights(),
    )

print(json.dumps([of_seed(0), of_seed(5)]))
"""


def programs(track: str) -> list[dict[str, Any]]:
    """What two adapters made of two seeds' values: weights and inputs."""
    dims = catalog.load(MODEL).dims("tiny", {})
    case = case_of(stack="onnxruntime", workload="gpt2", dims=dims, track=track)
    found: list[dict[str, Any]] = told("onnxruntime", PROGRAMS, json.dumps(case.to_json()))
    return found


def test_weights_are_inputs_or_in_the_tuned_track_constants_of_a_program_that_no_value_enters() -> None:
    for (one, other), frozen in ((programs("default"), False), (programs("tuned"), True)):
        assert one["inputs"] == sorted([*([] if frozen else one["weights"]), *one["batch"]])
        assert one["text"] == other["text"], "the exporter has seen no values"
        assert one["result"] != other["result"]
        assert one["apart"] and one["stays"], "a call doesn't write where the results of an earlier one are"
        assert one["flag"] is frozen


QUESTION = '''"""Refused by the exporter, or by ONNX Runtime, or computed?"""
import torch

from suite.ask import integers, normal


def inputs():
    return {{"x": {x}}}


def torch_it(x):
    {body}
'''


REFUSED = [
    ("normal(4)", "return x if x.sum() > 0 else -x", r"it can't trace question\.py, line 12: .*Could not guard"),
    ("normal(4)", "return torch.fft.fft(x)", "no complex tensors, and a result is one"),
    ('normal(4, dtype="complex64")', "return x.abs()", "ONNX Runtime has no complex64 tensors"),
]
COMPUTED = [
    ('normal(4, dtype="float64")', "return {'a': x + 1, 'b': (x, x.sum())}"),
    ('integers(4, high=9, dtype="int64")', "return x.cumsum(0) if x.shape[0] > 3 else x"),
    ('integers(4, high=2, dtype="bool")', "return ~x"),
]


def asked(x: str, body: str, folder: Path) -> list[dict[str, Any]]:
    """The events of a worker that is asked a question."""
    file = folder / "question.py"
    file.write_text(QUESTION.format(x=x, body=body), encoding="utf-8")
    case = case_of(stack="onnxruntime", workload="question", dims={}, size="asked", implementation="it")
    return run_worker(request(attempt_of(case), file, folder), venv.ensure("onnxruntime").python)[1]


def but_for(few: int, cases: list[Any]) -> list[Any]:
    """Parameters; all but a few are for a release."""
    return [pytest.param(*case, marks=[pytest.mark.release] * (place >= few)) for place, case in enumerate(cases)]


@pytest.mark.parametrize(("x", "body"), but_for(1, COMPUTED))
def test_a_question_s_function_is_exported(x: str, body: str, tmp_path: Path) -> None:
    events = asked(x, body, tmp_path)
    assert events[-1]["event"] == "end", events[-1]
    assert not of(events, "wrong")


@pytest.mark.parametrize(("x", "body", "words"), but_for(1, REFUSED))
def test_what_is_refused_is_unsupported_in_their_words(x: str, body: str, words: str, tmp_path: Path) -> None:
    (said,) = of(asked(x, body, tmp_path), "unsupported")
    assert re.search(words, said["reason"]), said
