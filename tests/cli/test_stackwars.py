"""`./stackwars` works from anywhere without activation, and is the one word that a person is told to type."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import stackwars
from suite import environments
from suite.environments import venv
from suite.errors import COMMAND
from tests.typed import FLAGS

SCRIPT = environments.ROOT / "stackwars"
# What `make orchestrator` does is tested with environments; here it says something, and makes a command or fails.
MAKEFILE = """
orchestrator:
\t@echo it was made
\t@test ! -e broken
\t@mkdir -p .venv/bin
\t@printf '#!/bin/sh\\nprintf "%%s|" "$$PWD" "$$@"\\nexit 5\\n' > .venv/bin/stackwars
\t@chmod +x .venv/bin/stackwars
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout without environment, in a folder with a space in its name."""
    root = tmp_path / "a checkout"
    root.mkdir()
    shutil.copy(SCRIPT, root)
    (root / "Makefile").write_text(MAKEFILE)
    return root


def called(script: Path | str, *words: str, cwd: Path, path: str = "/usr/bin:/bin") -> subprocess.CompletedProcess[str]:
    """Without anything of this process's surroundings."""
    return subprocess.run([script, *words], cwd=cwd, capture_output=True, text=True, check=False, env={"PATH": path})


def test_this_checkout_s_command_is_found_through_a_link_from_another_folder(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(SCRIPT)
    path = os.environ["PATH"]  # `make orchestrator` asks a Python whether .venv is current
    told = called(tmp_path / "link", "--version", cwd=tmp_path, path=path)
    assert (told.returncode, told.stdout, told.stderr) == (0, "Stack Wars 0.2.0\n", "")
    refused = called(tmp_path / "link", "lst", cwd=tmp_path, path=path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr == f"There is no command 'lst'. Did you mean 'list'? `{COMMAND} --help` lists all.\n"


def test_the_environment_is_made_first_and_words_and_exit_code_pass_through(checkout: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "stackwars").symlink_to(Path("..") / checkout.name / "stackwars")
    done = called("stackwars", "run", "--dims", "n=1 2", "", cwd=tmp_path, path=f"{folder}:/usr/bin:/bin")
    assert (done.returncode, done.stderr) == (5, "it was made\n")
    assert done.stdout == f"{tmp_path}|run|--dims|n=1 2||", "the folder stays the caller's"


def test_where_there_is_an_environment_its_python_is_started_and_no_make(checkout: Path, tmp_path: Path) -> None:
    """Not its scripts, which start the Python of the checkout that they were made for."""
    program = checkout / ".venv" / "bin" / "python"
    program.parent.mkdir(parents=True)
    program.write_text('#!/bin/sh\nprintf \'%s|\' "$PWD" "$@"\nexit 5\n')
    program.chmod(0o755)
    done = called(checkout / "stackwars", "run", "--dims", "n=1 2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (5, "")
    assert done.stdout == f"{tmp_path}|-Es|{checkout}/stackwars.py|run|--dims|n=1 2|"


def test_a_stale_environment_is_made_again_by_the_python_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(stackwars, "VENV", Path(sys.prefix))
    monkeypatch.setattr(stackwars, "become", lambda words: made.append(words))
    monkeypatch.setattr("suite.cli.app.main", lambda: None)
    monkeypatch.setattr(sys, "argv", ["stackwars", "list"])
    assert stackwars.is_whole()
    stackwars.main()
    assert not made
    monkeypatch.setattr(venv, "status", lambda _: "half-made")
    stackwars.main()
    assert made == [["list"]]
    assert not Path(stackwars.PYTHON).is_relative_to(sys.prefix), "it may have to be removed"


def test_without_an_environment_nothing_is_run(checkout: Path) -> None:
    (checkout / "broken").touch()
    done = called(checkout / "stackwars", "run", cwd=checkout)
    assert (done.returncode, done.stdout) == (2, "")


def texts(tree: ast.Module) -> Iterator[str]:
    """Every string that a module may print: docstrings aren't, and a placeholder is `…`, but the command's word."""
    with_body = (node for node in ast.walk(tree) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)))
    docs = {id(node.body[0].value) for node in with_body if node.body and isinstance(node.body[0], ast.Expr)}
    within: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            within |= {id(part) for part in node.values}
            yield "".join(map(shown, node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and not {id(node)} & (docs | within):
            yield node.value


def shown(part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    assert isinstance(part, ast.FormattedValue)
    return COMMAND if isinstance(part.value, ast.Name) and part.value.id == "COMMAND" else "…"


SOURCES = [environments.ROOT / "tasks.py", *sorted((environments.ROOT / "suite").rglob("*.py"))]
PRINTED = [(path.name, text) for path in SOURCES for text in texts(ast.parse(path.read_text(encoding="utf-8")))]


def test_no_text_tells_a_person_to_type_what_is_not_on_path() -> None:
    assert [(name, text) for name, text in PRINTED if re.search(r"(?<![\w/])invoke [a-z-]", text)] == []


def test_every_command_in_a_text_exists() -> None:
    commands = [
        (name, found) for name, text in PRINTED for found in re.findall(rf"{re.escape(COMMAND)} ([^`;)]*)", text)
    ]
    assert len(commands) > 30
    for name, command in commands:
        task, *words = command.split()
        if task in FLAGS:
            options = {word.partition("=")[0] for word in words if word.startswith("--")}
            assert options <= {"--help"} | FLAGS[task], (name, command)
        else:
            assert task in ("--list", "--help", "…"), (name, command)


ENTRIES = (
    ["./stackwars", "images", "--help"],
    ["make", "--silent", "images", "ARGS=--help"],
    [".venv/bin/stackwars", "images", "--help"],
    [".venv/bin/invoke", "images", "--help"],
    [".venv/bin/stackwars", "report", f"--set={next((environments.ROOT / 'sets').glob('20*'))}", "--format=json"],
)


@pytest.mark.parametrize("entry", ENTRIES, ids=" ".join)
@pytest.mark.parametrize("variable", ["PYTHONPATH", "PYTHONHOME"])
def test_every_entry_starts_its_python_without_the_shell_s(variable: str, entry: list[str], tmp_path: Path) -> None:
    for name in ("polars", "cyclopts", "numpy", "pyarrow", "json", "typing"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('a shadow')\n")
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), variable: str(tmp_path)}
    done = subprocess.run(entry, cwd=environments.ROOT, capture_output=True, text=True, check=False, env=environ)
    assert (done.returncode, done.stderr) == (0, "")
