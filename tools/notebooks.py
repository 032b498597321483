"""The examples as notebooks, docs/notebooks/: `python -m tools.notebooks` writes them, and a test compares.

They are in the repository, and not made with the documentation, because Colab and Kaggle open what a repository has.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "notebooks"
INSTALL = """import importlib.util

if not importlib.util.find_spec("stackwars"):
    %pip install --quiet git+ADDRESS  # this repository's
%load_ext stackwars"""


def notebook(example: Path) -> str:
    """Returns the text of a notebook: a question is its cell, on the stacks whose packages its Python has."""
    text = example.read_text(encoding="utf-8").strip()
    name = f"{example.stem}, from `{example.relative_to(ROOT)}`"
    cells = [cell("markdown", f"# Stack Wars: {name}"), cell("code", INSTALL), cell("code", f"%%stackwars\n{text}")]
    for number, each in enumerate(cells):
        each["id"] = f"cell-{number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    made = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(made, ensure_ascii=False, indent=1) + "\n"


def cell(kind: str, text: str) -> dict[str, Any]:
    code: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "metadata": {}, "source": text.splitlines(keepends=True), **code}


def notebooks() -> dict[Path, str]:
    return {FOLDER / f"{path.stem}.ipynb": notebook(path) for path in sorted((ROOT / "examples").glob("*.py"))}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for file, text in notebooks().items():
        file.write_text(text, encoding="utf-8")
