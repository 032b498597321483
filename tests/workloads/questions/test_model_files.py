"""The model files of examples/models/: short, a question each, and loaded in part where no framework is."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from suite.environments import dependencies
from suite.workloads.questions.functions import implementations
from suite.workloads.questions.loading import imported

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "examples" / "models").glob("*.py"))
LINES_MAX = 30
FRAMEWORKS = {"torch", "jax", "keras", "flax", "equinox", "timm", "torchvision", "transformers", "optax"}
# Loads what says what is asked of each file, and prints the names of its inputs, and the frameworks imported meanwhile.
LOADS = f"""
import sys
from pathlib import Path
from suite.workloads.questions.arguments import inputs_of, tensors_of
from suite.workloads.questions.loading import loaded
from suite.workloads.questions.question import dims_of
for path in map(Path, sys.argv[1:]):
    module = loaded(path, ("inputs",))
    print(path.stem, *tensors_of(inputs_of(module, path, dims_of(module, path))))
print("imported", *sorted({FRAMEWORKS!r} & set(sys.modules)))
"""


def test_there_are_models_of_each_kind() -> None:
    models = [tuple(each.name for each in implementations(ast.parse(file.read_text()), file)) for file in FILES]
    assert {name: models.count(name) for name in set(models)} == {
        ("torch_model",): 20,
        ("jax_model",): 6,
        ("torch_model", "jax_model"): 4,
        ("keras_model",): 2,
    }


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_file_is_short_and_asks_a_question_of_packages_that_it_names(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    docstring = ast.get_docstring(ast.parse(text)) or ""
    assert sum(map(bool, text.splitlines())) <= LINES_MAX  # blank ones aren't counted
    assert docstring.endswith("?") and "\n" not in docstring
    assert '# requires-python = ">=3.11"\n' in text
    named = set(dependencies.read(file, ("jax", "torch", "tensorflow")).packages)
    needed = imported(file, [each.name for each in implementations(ast.parse(text), file)])
    assert named and named == needed & FRAMEWORKS - {"torch", "jax"}  # these two are in the locks


def test_all_load_where_no_framework_is_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADS, *map(str, FILES)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    *inputs, frameworks = done.stdout.splitlines()
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in inputs] == [file.stem for file in FILES]
    assert all(len(line.split()) > 1 for line in inputs) and frameworks == "imported"
