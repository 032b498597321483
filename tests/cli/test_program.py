"""The `invoke` command: every usage mistake is 2 with its near match, tasks' own endings pass through."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from suite import environments
from tests.launch.programs import HUNG_SECONDS

TASKS = """
from invoke import Exit, task

from suite.errors import UserError


@task(iterable=["stack"], help={"number": "how many"})
def go(c, preset="quick", number=0, stack=None, json=False, dry_run=False):
    \"\"\"Say that it went.\"\"\"
    print("went", preset, number, stack, json, dry_run)


@task
def refuse(c):
    \"\"\"A person's mistake.\"\"\"
    raise UserError("There is no workload 'gem'. Did you mean 'gemm'?")


@task
def end(c, code=0):
    \"\"\"End with a code.\"\"\"
    raise Exit(code=code)


@task
def shell(c):
    \"\"\"A command that fails.\"\"\"
    c.run("exit 7")


@task
def stop(c):
    \"\"\"Ctrl-C.\"\"\"
    raise KeyboardInterrupt


@task
def broken(c):
    \"\"\"A defect of ours.\"\"\"
    raise ZeroDivisionError("ours")


@task
def flood(c):
    \"\"\"More than a reader wants.\"\"\"
    for _ in range(100_000):
        print("line")
"""
RUN = "import sys, tasks; from suite.cli import program; sys.argv[0] = 'invoke'; program.run_tasks(tasks)"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with tasks of its own."""
    (tmp_path / "tasks.py").write_text(TASKS)
    return tmp_path


def invoke(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command, with that folder's tasks."""
    return subprocess.run(
        [sys.executable, "-c", RUN, *words],
        cwd=project,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(environments.ROOT), "PATH": "/usr/bin:/bin", "COLUMNS": "200"},
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["og"], "There is no task 'og'. Did you mean 'go'?"),
        (["go", "gemm"], "There is no task 'gemm'."),
        (["go", "--prest=x"], "There is no option '--prest'. Did you mean '--preset'?"),
        (["go", "--zzz"], "There is no option '--zzz'. `./stackwars go --help` lists its options."),
        (["--lst"], "There is no option '--lst'. Did you mean '--list'?"),
        (["go", "--preset"], "--preset needs a value"),
        (["go", "--dry-run", "--stack"], "--stack needs a value"),
        (["go", "--stack", "--dry-run"], "--stack needs a value"),
        (["go", "-s", "--dry-run"], "-s needs a value"),
        (["go", "--number=many"], "--number takes a whole number, not 'many'."),
        (["go", "--number", "many"], "--number takes a whole number, not 'many'."),
        (["go", "--json=yes"], "--json takes no value: yes."),
        (["go", "--preset=a", "--preset=b"], "--preset is given more than once."),
        (["go", "--preset", "a", "--preset", "b"], "--preset is given more than once."),
        (["go", "--dry"], "There is no option '--dry'. Did you mean '--dry-run'?"),
        (["go", "--warn-only"], "There is no option '--warn-only'."),
        (["--help", "og"], "There is no task 'og'. Did you mean 'go'?"),
        (["--list", "nothing"], "nothing"),
    ],
)
def test_a_usage_mistake_runs_nothing_and_exits_2(project: Path, words: list[str], said: str) -> None:
    done = invoke(project, *words)
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert "went" not in done.stdout


def test_what_is_understood_reaches_the_task(project: Path) -> None:
    done = invoke(project, "go", "--preset=ops", "--number=3", "--stack=a", "--stack", "b", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "went ops 3 ['a', 'b'] True False\n"


@pytest.mark.parametrize(("code", "words"), [(0, ["end"]), (3, ["end", "--code=3"]), (7, ["shell"])])
def test_a_task_decides_its_own_exit_code(project: Path, code: int, words: list[str]) -> None:
    assert invoke(project, *words).returncode == code


def test_a_refusal_is_its_message_alone(project: Path) -> None:
    done = invoke(project, "refuse")
    assert done.returncode == 2
    assert done.stderr == "There is no workload 'gem'. Did you mean 'gemm'?\n"


def test_an_interruption_is_130(project: Path) -> None:
    done = invoke(project, "stop")
    assert (done.returncode, done.stderr) == (130, "Interrupted.\n")


def test_a_defect_of_ours_keeps_its_traceback(project: Path) -> None:
    done = invoke(project, "broken")
    assert done.returncode == 1
    assert "ZeroDivisionError: ours" in done.stderr


def test_a_reader_that_leaves_early_sees_no_traceback(project: Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", RUN, "flood"],
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={"PYTHONPATH": str(environments.ROOT), "PATH": "/usr/bin:/bin"},
    )
    assert program.stdout is not None
    assert program.stderr is not None
    assert program.stdout.readline() == "line\n"
    program.stdout.close()
    assert program.stderr.read() == ""
    assert program.wait(HUNG_SECONDS) == 141


def test_help_and_list_are_no_mistakes(project: Path) -> None:
    assert "Say that it went." in invoke(project, "--list").stdout
    assert "how many" in invoke(project, "go", "--help").stdout
    assert invoke(project, "go", "--help").returncode == 0


def test_the_console_script_is_ours_and_works_from_any_folder(tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text("raise SystemExit('another project')")
    script = Path(sys.executable).parent / "invoke"
    if "suite.cli.program" not in script.read_text():
        pytest.skip(f"{script} is not this project's: run the tests by `make test`")
    done = subprocess.run([script, "--list"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "doctor" in done.stdout


def test_listing_the_tasks_imports_none_of_the_suites_libraries() -> None:
    # How long it takes depends on the machine; what is imported doesn't.
    code = (
        "import sys; sys.argv = ['invoke', '--list']; from suite.cli import program\n"
        "try:\n program.main()\nexcept SystemExit as end:\n assert not end.code\n"
        "heavy = {'numpy', 'pandas', 'pyarrow', 'scipy', 'rich', 'jinja2'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=environments.ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
