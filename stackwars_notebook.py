"""`stackwars.ask` and the cell magic `%%stackwars`: they ask in a process of the orchestrator's own environment. The
Python that calls them needs nothing but its standard library."""

from __future__ import annotations

import html
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import stackwars
from stackwars_functions import DIALECTS, Refused, question, written

FRAMEWORKS = ("jax", "torch", "tensorflow")
CURRENT, LOCKED = "current", "locked"


class Answer:
    """The rows of a question's answer, one for each stack. `page` is the path of its page, and `said` what was said
    while it was measured. `answer["stack"]` is a column; printed, it is the command's tables."""

    def __init__(self, told: Mapping[str, Any], said: Sequence[str]) -> None:
        self.rows: list[dict[str, Any]] = told["rows"]
        self.set, self.page, self.exit_code = Path(told["set"]), Path(told["report"]), int(told["exit_code"])
        self.said, self._text, self._tables = [*said], told["text"], told["tables"]

    def __getitem__(self, column: str) -> list[Any]:
        return [row[column] for row in self.rows]

    def __repr__(self) -> str:
        return str(self._text)

    def to_polars(self) -> Any:
        """Returns the rows as a DataFrame of polars, which the Python that calls this must have."""
        import polars

        return polars.DataFrame(self.rows, infer_schema_length=None)

    def to_pandas(self) -> Any:
        """Returns the rows as a DataFrame of pandas, which the Python that calls this must have."""
        import pandas

        return pandas.DataFrame(self.rows)

    def _repr_html_(self) -> str:
        # A browser opens no file: address from a notebook's page, but a path from the notebook's folder.
        near = self.page.is_relative_to(Path.cwd())
        link = str(self.page.relative_to(Path.cwd())) if near else self.page.as_uri()
        said = "<br>".join(map(html.escape, self.said))
        last = f'<p><a href="{html.escape(link)}" target="_blank">The whole page</a></p>'
        return (
            "".join(map(html_table, self._tables))
            + f"{last}<details><summary>What was said meanwhile</summary>{said}</details>"
        )


def html_table(table: Mapping[str, Any]) -> str:
    def row(cells: Sequence[str], tag: str) -> str:
        return f"<tr>{''.join(f'<{tag}>{html.escape(cell)}</{tag}>' for cell in cells)}</tr>"

    lines = "".join(row(line, "td") for line in table["lines"])
    grid = f"<table><caption>{html.escape(table['title'])}</caption>{row(table['heads'], 'th')}{lines}</table>"
    return (grid if lines else "") + "".join(
        f"<p>{html.escape(sentence)}</p>" for sentence in (*table["before"], *table["after"])
    )


def ask(*asked: Any, inputs: Mapping[str, Any] | None = None, **options: Any) -> Answer:
    """Asks a question as `stackwars ask` does, and returns a row for each stack: of a file, `ask("layernorm.py")`; of
    expressions, `ask(jax="jnp.cumsum(x, 0)", torch="torch.cumsum(x, 0)", input="x=f32[4096,1024]")`; or of functions,
    `ask(jax_f, torch_f, inputs={"x": x})` or `ask(jax=f, torch=[g, h], inputs={"x": x})`, with arrays as their inputs.

    The other options are the command's, with _ for -; a list repeats one, and True is an option without a value.
    `python` is by default "current", a notebook's own, if that has a framework; else "locked", the environments of this
    project's locks. It measures in processes of its own, so what the notebook does meanwhile disturbs it.

    Raises Refused, with the reason in words, if nothing was measured.
    """
    several = {name: each if isinstance(each := options.get(name) or [], list | tuple) else [each] for name in DIALECTS}
    given = [*(("", each) for each in asked), *((name, each) for name, values in several.items() for each in values)]
    functions = [(name, each) for name, each in given if not isinstance(each, str | os.PathLike)]
    if not functions and inputs is None:
        return answer([str(each) for each in asked], options)
    if len(functions) != len(given):
        raise Refused("A question is a file, expressions with input=..., or functions with inputs={...}: choose one.")
    file = written(question(functions, inputs or {}))
    return answer([str(file)], {name: value for name, value in options.items() if name not in DIALECTS})


def cell(line: str, cell: str) -> Answer:
    """`%%stackwars --stack=torch_*,jax_jit`: the cell is a question file, which is kept; the line has the command's
    options."""
    return answer([str(written(cell)), *shlex.split(line)], {})


def answer(words: Sequence[str], options: Mapping[str, Any]) -> Answer:
    """Asks as `stackwars ask WORDS` with `options`. Raises Refused, with the command's words, if nothing was
    measured."""
    words = [*words]
    while "--python" in words[:-1]:  # its value is the next word
        at = words.index("--python")
        words[at : at + 2] = ["=".join(words[at : at + 2])]
    given = [word.removeprefix("--python=") for word in words if word.startswith("--python=")]
    python = (given or [options.get("python") or default_python()])[-1]
    asked = {
        "words": [word for word in words if not word.startswith("--python=")],
        "options": {**options, "python": {CURRENT: sys.executable, LOCKED: None}.get(python, python)},
    }
    here, said = stackwars.home(), Said()
    # A notebook's kernel asks for colours, and gets lines.
    environ = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "CLICOLOR_FORCE")}
    with tempfile.TemporaryFile("w+", encoding="utf-8") as told:
        program = [str(here / ".venv" / "bin" / "python"), "-I", "-m", "suite.cli.measure.notebook"]
        code = said.watch(stackwars.MAKE, cwd=here, env=environ, stdout=subprocess.DEVNULL)
        code = code or said.watch([*program, json.dumps(asked, default=str)], env=environ, stdout=told)
        told.seek(0)
        text = told.read()
    said.show("")
    if not text:
        raise Refused("\n".join(said.lines[-5:]) or f"It ended with exit code {code} and said nothing.")
    return Answer(json.loads(text), said.lines)


def default_python() -> str:
    return CURRENT if kernel() and any(map(importlib.util.find_spec, FRAMEWORKS)) else LOCKED


def kernel() -> Any:
    """Returns the kernel of the notebook that this runs in; None elsewhere."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None)


class Said:
    """What a process says on standard error, shown in one line that is replaced, in a notebook and on a terminal.
    Elsewhere, as in a log, every line stays."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.display = None
        if kernel():
            from IPython.display import display  # type: ignore[import-not-found]

            self.display = display({"text/plain": ""}, raw=True, display_id=True)

    def watch(self, command: Sequence[str], **how: Any) -> int:
        """Runs a command to its end. Returns its exit code."""
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8", errors="replace", **how
        ) as running:
            for line in running.stderr or ():
                self.lines.append(line.rstrip())
                self.show(line.rstrip())
        return running.returncode

    def show(self, line: str) -> None:
        if self.display:
            self.display.update({"text/plain": line}, raw=True)
        elif sys.stderr.isatty():
            print(f"\r\x1b[K{line[: shutil.get_terminal_size().columns - 1]}", end="", file=sys.stderr, flush=True)
        elif line:
            print(line, file=sys.stderr, flush=True)
