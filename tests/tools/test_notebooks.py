"""The examples as notebooks: as the examples are, run by a kernel, and led to where one can run them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from suite.environments import ROOT, venv
from tools import docs_links, notebooks

# Runs a notebook in the environment of its Python, and prints each cell's outputs.
RUN = """
import json, sys, nbclient, nbformat
notebook = nbformat.reads(sys.stdin.read(), 4)
nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", allow_errors=True).execute()
nbformat.validate(notebook)
print(json.dumps([cell.get("outputs", []) for cell in notebook.cells]))
"""


def test_every_example_is_a_notebook() -> None:
    written = {path: path.read_text(encoding="utf-8") for path in notebooks.FOLDER.iterdir()}
    assert written == notebooks.notebooks(), "python -m tools.notebooks writes them again"


def test_on_github_a_notebook_has_links_that_open_it_elsewhere() -> None:
    page, config = SimpleNamespace(file=SimpleNamespace(src_uri="how-to/notebook.md")), {"docs_dir": str(ROOT / "docs")}

    def led(address: str | None) -> str:
        link = "[x](../notebooks/gelu.ipynb)"
        return docs_links.on_page_markdown(link, page=page, config=config | {"repo_url": address}, files=None)

    assert led(None) == "x"
    assert led("https://example.org/a/b") == "[x](https://example.org/a/b/blob/main/docs/notebooks/gelu.ipynb)"
    file = "a/b/blob/main/docs/notebooks/gelu.ipynb"
    assert led("https://github.com/a/b/") == (
        f"[x](https://github.com/{file}) ([Colab](https://colab.research.google.com/github/{file}), "
        f"[Kaggle](https://kaggle.com/kernels/welcome?src=https://github.com/{file}))"
    )


@pytest.mark.stacks
@pytest.mark.environments("notebook")
def test_a_kernel_with_frameworks_measures_itself(tmp_path: Path) -> None:
    """Its Python is the one that is measured, progress is one line that is replaced, and a mistake is one line."""
    made = json.loads(notebooks.notebook(ROOT / "examples" / "layernorm.py"))
    first, magic, asked = made["cells"]
    asked["source"][0] = "%%stackwars --check --force --stack=torch_eager,torch_xla,jax_jit\n"
    flags = {
        **magic,
        "id": "flags",
        "source": ["print(_.exit_code, {f for flags in _['flags'] for f in flags} & {'unpinned'})"],
    }
    wrong = {**magic, "id": "wrong", "source": ["%%stackwars --stac=numpy\n", "pass"]}
    python = venv.ensure("notebook", "test").python
    done = subprocess.run(
        [python, "-c", RUN],
        input=json.dumps(made | {"cells": [first, magic, asked, flags, wrong]}),
        env=os.environ | {"PYTHONPATH": str(ROOT), "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    _, loaded, (line, shown), (told,), (_, mistake) = json.loads(done.stdout)
    assert loaded == [] and line["output_type"] == "display_data" and line["data"] == {"text/plain": ""}
    assert "<td>jax_jit:naive</td><td>ok</td>" in shown["data"]["text/html"] and " ms" not in shown["data"]["text/html"]
    assert "lacks their packages: torch_xla (torch_xla)." in shown["data"]["text/html"]
    assert "\x1b" not in shown["data"]["text/html"]
    assert told["text"] == "0 {'unpinned'}\n"
    assert mistake["traceback"][0].startswith("There is no option '--stac'. Did you mean '--stack'?")
