"""A spec's mistakes are said in a sentence with the file and line, before anything runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.errors import UserError
from suite.reference.finite import doubts
from suite.workloads.catalog import find, load

SOUND = '''"""A workload."""
import numpy as np
from suite.workloads.tensors import Normal

TITLE, PASSES, OPTIMIZER = "A workload", ("forward", "train"), None
SIZES = {"tiny": {"n": 8}}

def parameters(dims):
    return {"w": Normal((dims["n"],))}

def inputs(dims):
    return {"x": Normal((dims["n"],))}

def target(dims):
    return Normal((dims["n"],))

def flops(dims, pass_):
    return 0

def bytes_floor(dims, pass_):
    return 8 * dims["n"]

def items(dims):
    return dims["n"], "rows"

def reference(dims, parameters, x, target=None):
    return {"output": parameters["w"] * x}
'''


def folder(place: Path, old: str = "", new: str = "") -> Path:
    """The folder of the sound workload with one change."""
    assert old in SOUND
    made = place / "mine"
    made.mkdir()
    (made / "spec.py").write_text(SOUND.replace(old, new) if old else SOUND, encoding="utf-8")
    return made


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("SIZES", "TOLERENCE = 1\nSIZES", "no setting 'TOLERENCE'. Did you mean 'TOLERANCE'?"),
        (
            '("forward", "train"), None',
            '("forward", "train"), "adam"',
            "OPTIMIZER is 'adam'. It can be adamw, sgd or None",
        ),
        ('("forward", "train")', '("forward", "backward")', "no pass 'backward'"),
        ("SIZES", 'GROWS = ("rows",)\nSIZES', "no dim 'rows'"),
        (
            '{"x": Normal((dims["n"],))}',
            '{"x": (dims["n"],)}',
            "`inputs` has (8,) for 'x' at size tiny, and not a tensor",
        ),
        ('{"w": Normal((dims["n"],))}', 'Normal((dims["n"],))', "`parameters` returns Normal("),
        ('return Normal((dims["n"],))', 'return dims["n"]', "`target` returns 8 at size tiny"),
        ('dims["n"],))}', 'dims["m"],))}', "`parameters` of {folder}/spec.py failed: line 9: KeyError: 'm'"),
        ("import numpy as np", "import numpy as np\n1 / 0", "can't be loaded: line 3: ZeroDivisionError"),
    ],
)
def test_a_mistake_in_a_spec_is_one_sentence(tmp_path: Path, old: str, new: str, said: str) -> None:
    made = folder(tmp_path, old, new)
    with pytest.raises(UserError) as refused:
        load(made)
    assert said.format(folder=made) in str(refused.value)


@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_what_is_sound_is_taken(tmp_path: Path, optimizer: str) -> None:
    made = load(folder(tmp_path, "None\n", f"{optimizer!r}\n"))
    assert optimizer == made.spec.OPTIMIZER and not [*doubts([made])]


def test_a_reference_is_tried_before_anything_is_measured(tmp_path: Path) -> None:
    half = load(folder(tmp_path, 'parameters["w"] * x', "np.where(np.arange(8) < 3, np.nan, x)"))
    (said,) = doubts([half])
    assert "mine isn't finite: 3 of its 8 values" in said


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ("np.log(-np.abs(x))", "8 of its 8 values at size tiny are NaN or infinite, so nothing can be compared"),
        ("x[9]", "spec.py, line 27: IndexError"),
    ],
)
def test_a_reference_that_says_nothing_is_refused(tmp_path: Path, new: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        [*doubts([load(folder(tmp_path, 'parameters["w"] * x', new))])]
    assert said in str(refused.value)


def test_the_suite_s_own_references_are_not_tried() -> None:
    assert not [*doubts(find().values())]


def test_memory_grows_with_the_dims_that_a_spec_says(tmp_path: Path) -> None:
    assert find()["mha"].grows >= {"batch", "seq"}
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    assert load(folder(tmp_path / "a")).grows == frozenset()
    assert load(folder(tmp_path / "b", "SIZES", 'GROWS = ("n",)\nSIZES')).grows == {"n"}
