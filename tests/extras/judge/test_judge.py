"""What is refused, what is drawn, and what a sandbox keeps judged code from."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.errors import UserError
from suite.extras.judge import family
from suite.extras.judge.answer import EXIT_CODES, GRAVEST
from suite.extras.judge.call import Call
from suite.extras.judge.files import Judgement
from suite.extras.judge.freezer import Signals, freezer, state
from suite.extras.judge.sandbox import Caught, Sandbox, confinement
from suite.extras.judge.trial import AFTER, Trial
from suite.workloads.tensors import Normal
from tests.extras.judge.processes import spinning
from tools.attacks import FILES

SOFTMAX = FILES / "questions" / "softmax.py"
AFTER_TEXT = "import numpy as np\n\n\ndef numpy_softmax(x):\n    return x\n"


def after(folder: Path, text: str) -> Path:
    file = folder / "after.py"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "text",
    [
        "TOLERANCE = 1.0\n" + AFTER_TEXT,
        "def loss(outputs):\n    return 0\n\n\n" + AFTER_TEXT,
        "from suite.ask import normal as inputs\n" + AFTER_TEXT,
        AFTER_TEXT.replace("softmax", "another"),
        "x = 1\n",
        "def numpy_softmax(x:\n",
        "\0",
        "(" * 5000,
    ],
)
def test_a_file_after_that_is_more_or_less_than_functions_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UserError):
        Judgement.of(SOFTMAX, after(tmp_path, text))


def test_a_file_after_is_never_run_here(tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    file = after(tmp_path, f"RAN = open({str(mark)!r}, 'w')\n" + AFTER_TEXT.replace("return x", "return RAN"))
    assert Judgement.of(SOFTMAX, file).functions == ["numpy_softmax"] and not mark.exists()


@pytest.mark.parametrize(
    "text",
    [
        "from suite.ask import normal\ndef inputs(): return {'x': normal(4)}\ndef torch_a(x): return x\n",
        "from suite.ask import constant\ndef inputs(): return {'x': constant(4)}\ndef numpy_a(x): return x\n",
    ],
)
def test_a_question_that_says_not_what_is_right_or_draws_nothing_is_refused(tmp_path: Path, text: str) -> None:
    before = tmp_path / "before.py"
    before.write_text(text, encoding="utf-8")
    with pytest.raises(UserError):
        Judgement.of(before, after(tmp_path, AFTER_TEXT))


@given(st.dictionaries(st.sampled_from("abcd"), st.integers(1, 10**6), min_size=1))
def test_drawn_dims_lie_around_the_question_s(dims: dict[str, int]) -> None:
    near, smaller = family.near(dims, dims), family.smaller(dims, [*dims])
    for name, length in dims.items():
        grain = min(length & -length, family.GRAIN_MAX)
        assert near[name] % grain == 0 and length * 0.75 <= near[name] <= length * 1.25
        assert 1 <= smaller[name] <= max(length // 2 + 1, 1)


def test_no_two_calls_have_the_same_values() -> None:
    tensors = {"x": Normal((64,))}
    drawn = [family.values(tensors, strange=strange)["x"].tobytes() for strange in (False, True) for _ in range(50)]
    assert len({*drawn}) == len(drawn)


def test_values_that_bfloat16_holds_are_two_bytes_each() -> None:
    tensor = Normal((8,), dtype="bfloat16")
    held = family.values({"x": tensor})["x"]
    words = np.frombuffer(family.as_bytes(tensor, held), np.uint16).astype(np.uint32)
    np.testing.assert_array_equal((words << 16).view(np.float32), held)


def test_each_verdict_has_an_exit_code() -> None:
    assert {*EXIT_CODES} == {*GRAVEST}


@pytest.mark.parametrize(("gain", "noise", "word"), [(1.3, 0.01, "faster"), (0.8, 0.01, "not faster"),
                                                     (1.0, 0.002, "not faster"), (1.1, 0.2, "undecided")])  # fmt: skip
def test_a_word_needs_an_interval_beyond_1(gain: float, noise: float, word: str) -> None:
    block = {"channel_share": 0.01}
    ratios = [gain * math.exp(noise * way) for way in (-1, 1, -0.5, 0.5, 0)]
    trial = Trial(SimpleNamespace(), lambda side: None)  # type: ignore[arg-type]
    trial.blocks = [block | {"ratio": ratio, "ratio_alone": ratio} for ratio in ratios]
    assert trial.verdict[0] == word
    trial.blocks = [each | {"ratio": 2.0 * each["ratio"]} for each in trial.blocks]
    assert trial.verdict[0] == "cheats"
    trial.blocks = [each | {"ratio": 1.2 * each["ratio_alone"]} for each in trial.blocks]
    assert trial.verdict[0] == word  # what calls alone gain
    trial.blocks = [each | {"channel_share": 0.1} for each in trial.blocks]
    assert trial.verdict[0] == "undecided"


def test_the_smallest_dims_that_show_it_are_looked_for() -> None:
    class WrongFromThreeRows(Trial):
        def called(self, dims: Any, sides: Any, count: int) -> float:
            if dims["rows"] >= 3:
                self.caught_at = dict(dims)
                raise Caught("wrong", "")
            return 0.0

    trial = WrongFromThreeRows(SimpleNamespace(), lambda side: nullcontext())  # type: ignore[arg-type,return-value]
    trial.caught_at = {"rows": 40, "columns": 7}
    trial.shrink()
    assert trial.caught_at == {"rows": 5, "columns": 1}


@pytest.mark.parametrize("kind", [freezer, Signals])
def test_what_is_frozen_takes_no_processor_time(kind: type[Signals]) -> None:
    with spinning(kind) as (stopped, pids):
        assert len(pids) >= 2
        while stopped.seconds() == 0:
            time.sleep(0.01)
        stopped.freeze()
        before = stopped.seconds()
        time.sleep(0.2)
        assert before > 0 and stopped.seconds() == before
        stopped.thaw()
        while stopped.seconds() == before:
            time.sleep(0.01)
    while not all(state(pid) in "ZX" for pid in pids):
        time.sleep(0.01)


def test_a_process_that_the_judge_had_before_goes_on() -> None:
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        with spinning(Signals) as (stopped, _):
            stopped.freeze()
            assert state(other.pid) not in "Tt"
        other.kill()


def softmax(text: str, folder: Path) -> tuple[Judgement, Sandbox]:
    judgement = Judgement.of(SOFTMAX, after(folder, text))
    return judgement, judgement.trial("numpy", "numpy_softmax").start(AFTER)


@pytest.mark.stacks
def test_results_are_read_as_they_were_when_the_time_ended(tmp_path: Path) -> None:
    judgement, sandbox = softmax(AFTER_TEXT.replace("return x", "return x + 1"), tmp_path)
    with sandbox:
        sandbox.prepare({"rows": 4, "columns": 8}, 3, 60.0)
        calls = [Call.drawn(judgement.question, {"rows": 4, "columns": 8}) for _ in range(3)]
        sandbox.put([call.data for call in calls])
        seconds, results = sandbox.call(3, [0, 2], 60.0)
        assert seconds > 0
        for place, [(name, got)] in zip((0, 2), results, strict=True):
            assert name == ""
            np.testing.assert_array_equal(got, calls[place].values["x"] + 1)


@pytest.mark.stacks
@pytest.mark.parametrize(
    "body",
    [
        "    import socket\n    socket.create_connection(('1.1.1.1', 53), timeout=1)\n    return x\n",
        f"    return x * len(open({__file__!r}).read())\n",
        "    open('/usr/x', 'w')\n    return x\n",
        "    open(__file__, 'w')\n    return x\n",
        "    import os\n    os.kill(os.getppid() or 2, 9)\n    return x\n",
        "    import os\n    os.setuid(0)\n    return x\n",
        "    x[0] = 1\n    return x\n",
        "    import os\n    os._exit(0)\n",
    ],
)
def test_judged_code_reaches_nothing(tmp_path: Path, body: str) -> None:
    if confinement()[2]:
        pytest.skip(confinement()[2])
    judgement, sandbox = softmax(AFTER_TEXT.replace("    return x\n", body), tmp_path)
    with sandbox:
        sandbox.prepare({"rows": 4, "columns": 8}, 1, 60.0)
        sandbox.put([Call.drawn(judgement.question, {"rows": 4, "columns": 8}).data])
        with pytest.raises(Caught):
            sandbox.call(1, [0], 60.0)
