"""The tasks of `invoke`: the commands of `./stackwars`, and the checks of this repository."""

from __future__ import annotations

import json
import os
import shlex
import sys
from inspect import Parameter, Signature
from pathlib import Path
from typing import Any

from invoke.collection import Collection
from invoke.context import Context
from invoke.exceptions import Exit
from invoke.tasks import Task, task

from suite.cli.app import APP, COMMANDS, code_of
from suite.cli.values import typed
from suite.guard.variables import without_python

for name in os.environ.keys() - without_python(os.environ).keys():  # mypy and pytest are Pythons, too
    del os.environ[name]

TOOLS = Path(sys.executable).parent
# A list names no options, which take a second to read: those of a command are in its modules.
LISTS = "invoke" in sys.argv[0] and not {"--list", "-l"}.isdisjoint(sys.argv)
SITE = (f"{TOOLS}/mkdocs", "build", "--strict")  # with --quiet it would not hear of warnings, and pass


def command(name: str, about: str) -> Task[Any]:
    """Makes a command a task with the same options. Words without an option, like A and B of `./stackwars compare A B`,
    aren't for invoke, which takes them for tasks."""
    listed = () if LISTS else APP[name].assemble_argument_collection(parse_docstring=True)
    options = {it.field_info.name: it for it in listed if it.name.startswith("--")}

    def run(c: Context, **given: Any) -> None:
        words = [word for field, value in given.items() for word in typed(field, value)]
        if code := code_of(APP, [name, *words]):
            raise Exit(code=code)

    kind = Parameter.POSITIONAL_OR_KEYWORD
    blank = {field: False if it.hint is bool else None for field, it in options.items()}
    fields = [Parameter("c", kind), *(Parameter(field, kind, default=default) for field, default in blank.items())]
    run.__signature__, run.__doc__ = Signature(fields), about  # type: ignore[attr-defined]
    helps = {field: it.parameter.help or "" for field, it in options.items()}
    lists = [field for field, it in options.items() if it.token_count()[1]]
    made: Task[Any] = task(name=name, help=helps, iterable=lists, auto_shortflags=False)(run)
    return made


@task
def check(c: Context) -> None:
    """Check format, lint, types and import contracts."""
    for tool in ("ruff format --check .", "ruff check .", "mypy", "lint-imports --no-cache"):
        c.run(f"{TOOLS}/{tool}", pty=False)


@task(
    pre=[check],
    help={
        "args": "options for pytest, like --args='-k gate -x'",
        "quick": "only the tests that need no framework, in about two minutes",
        "all": "also the tests that only a release needs, and the environments that only these need",
    },
)
def test(c: Context, args: str = "", quick: bool = False, all: bool = False) -> None:
    """Run the checks and the tests: units, the pipeline with a fake stack, every real stack end to end."""
    from tests import needed

    lacking = {} if quick else needed.environments(release=all)
    chosen = "not stacks and not slow" if quick else "" if all else "not release"
    # One process more than there are cores, because one of them mostly waits for the long runs.
    shared = f"--numprocesses={len(os.sched_getaffinity(0)) + 1} --dist=loadfile --no-loadscope-reorder"
    # tests/conftest.py skips the tests of what lacks, and counts them last. Processes share the cores here: a thread of
    # OpenMP that waits on its core, in place of asleep, made two of PyTorch 17 times as slow.
    environ = {"STACKWARS_LACKING": json.dumps(lacking), "OMP_WAIT_POLICY": "PASSIVE"}
    c.run(f"{sys.executable} -m pytest {shared} --durations=15 -m '{chosen}' {args}", pty=False, env=environ)


@task
def docs(c: Context) -> None:
    """Build the documentation's site into docs-site/, and check its links."""
    c.run(shlex.join(SITE), pty=False, env={"NO_MKDOCS_2_WARNING": "1"})
    print("docs-site/index.html")


@task
def clean(c: Context) -> None:
    """Remove environments whose lock has changed, and tools' caches. Results are kept."""
    from suite.environments import venv

    venv.prune()
    c.run("rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis", pty=False)


namespace = Collection(check, test, docs, clean, *(command(name, about) for name, (_, _, about) in COMMANDS.items()))
