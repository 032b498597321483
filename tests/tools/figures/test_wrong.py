"""The questions of examples/wrong/: each has its thread and its cause, and the programs print what is said of them."""

from __future__ import annotations

import subprocess

import pytest

from suite.environments import venv
from suite.environments.locks import names
from suite.workloads.catalog import load
from tools.figures.threads import asked
from tools.figures.wrong import FOLDER, Alone, causes

FILES = sorted(FOLDER.glob("*.py"))
ALONE = [
    pytest.param(alone, id=f"{name}-{alone.environment}") for name, cause in causes().items() for alone in cause.alone
]


def test_every_question_has_its_thread_its_cause_and_a_program() -> None:
    assert [file.stem for file in FILES] == sorted(causes())
    for file in FILES:
        question, address = asked(file)
        assert question.endswith("?") and address.startswith("https://github.com/"), file.name
        assert load(file).written and causes()[file.stem].alone


def test_programs_are_short_name_an_environment_and_show_a_difference() -> None:
    for cause in causes().values():
        for alone in cause.alone:
            assert alone.environment in names("cpu") and len(alone.code.strip().splitlines()) <= 12
            assert alone.prints != alone.right and "suite" not in alone.code


@pytest.mark.stacks
@pytest.mark.release
@pytest.mark.parametrize("alone", ALONE)
def test_a_program_prints_what_is_said_of_it(alone: Alone) -> None:
    python = venv.ensure(alone.environment).python
    done = subprocess.run([python, "-c", alone.code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == alone.prints
