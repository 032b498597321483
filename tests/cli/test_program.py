"""The `invoke` command: every usage mistake is 2 with its near match, tasks' own endings pass through."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from suite import environments
from tests.launch.programs import HUNG_SECONDS

TASKS = """
from dataclasses import dataclass

from suite.cli.options.shared import Options
from suite.cli.program import command
from suite.errors import UserError


@dataclass(frozen=True, kw_only=True)
class GoOptions(Options):
    preset: str = "quick"
    number: int = 2
    \'\'\'how many\'\'\'
    stack: tuple[str, ...] = ()
    json: bool = False
    dry_run: bool = False


@dataclass(frozen=True, kw_only=True)
class EndOptions(Options):
    code: int = 0


@dataclass(frozen=True, kw_only=True)
class PickOptions(Options):
    WORDS = ("set",)

    set: tuple[str, ...] = ()
    by: str = ""


@dataclass(frozen=True, kw_only=True)
class TellOptions(Options):
    WORDS = ("compare",)

    compare: tuple[str, ...] = ()


@command()
def go(c, options: GoOptions):
    \"\"\"Say that it went.\"\"\"
    print("went", options.preset, options.number, options.stack, options.json, options.dry_run)


@command()
def pick(c, options: PickOptions):
    \"\"\"Say which sets are named.\"\"\"
    print("went", *options.set, options.by)


@command()
def tell(c, options: TellOptions):
    \"\"\"Say which sets are named.\"\"\"
    print("went", *options.compare)


@command()
def refuse(c):
    \"\"\"A person's mistake.\"\"\"
    raise UserError("There is no workload 'gem'. Did you mean 'gemm'?")


@command()
def end(c, options: EndOptions):
    \"\"\"End with a code.\"\"\"
    return options.code


@command()
def shell(c):
    \"\"\"A command that fails.\"\"\"
    c.run("exit 7")


@command()
def stop(c):
    \"\"\"Ctrl-C.\"\"\"
    raise KeyboardInterrupt


@command()
def broken(c):
    \"\"\"A defect of ours.\"\"\"
    raise ZeroDivisionError("ours")


@command()
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
        (["go", "gemm"], "'gemm' belongs to no option."),
        (["go", "--json", "yes"], "--json takes no value: yes."),
        (["go", "--", "--json"], "takes nothing after `--`"),
        (["go", "end"], "'end' belongs to no option."),
        (["end", "--code=2.5"], "--code takes a whole number, not '2.5'."),
        (["end", "--code="], "--code takes a whole number, not ''."),
        (["shell", "--json"], "There is no option '--json'."),
        (["pick", "A", "--set=B"], "'A' stands before --set"),
        (["--quiet", "go"], "There is no option '--quiet'."),
        (["go", "--prest=x"], "There is no option '--prest'. Did you mean '--preset'?"),
        (["go", "--zzz"], "There is no option '--zzz'. `./stackwars go --help` lists its options."),
        (["--lst"], "There is no option '--lst'. Did you mean '--list'?"),
        (["go", "--preset"], "--preset needs a value"),
        (["go", "--dry-run", "--stack"], "--stack needs a value"),
        (["go", "--stack", "--dry-run"], "--stack needs a value"),
        (["go", "-s", "--dry-run"], "There is no option '-s'."),
        (["go", "--number=many"], "--number takes a whole number, not 'many'."),
        (["go", "--number", "many"], "--number takes a whole number, not 'many'."),
        (["go", "--json=yes"], "--json takes no value: yes."),
        (["go", "--preset=a", "--preset=b"], "--preset is given more than once."),
        (["go", "--preset", "a", "--preset", "b"], "--preset is given more than once."),
        (["go", "--dry"], "There is no option '--dry'. Did you mean '--dry-run'?"),
        (["go", "--warn-only"], "There is no option '--warn-only'."),
        (["-R", "go"], "--dry acts on check, test, docs and clean alone."),
        (["--warn-only", "go"], "--warn-only acts on check, test, docs and clean alone."),
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
    assert done.stdout == "went ops 3 ('a', 'b') True False\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["pick", "A", "--by=x", "B"], "went A B x"),
        (["pick", "--by", "x", "A", "B"], "went A B x"),
        (["pick", "--set=A", "--set", "B"], "went A B"),
        (["pick", "--set", "A", "B"], "went A B"),
        (["tell", "--compare", "A", "B"], "went A B"),
        (["tell", "--compare=A", "--compare=B"], "went A B"),
    ],
)
def test_sets_are_named_with_their_option_or_without(project: Path, words: list[str], said: str) -> None:
    done = invoke(project, *words)
    assert (done.returncode, done.stderr, done.stdout.strip()) == (0, "", said)


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
    for words in (["go", "--help"], ["go", "-h"], ["--help", "go"], ["go", "--zzz", "--help"]):
        done = invoke(project, *words)
        assert (done.returncode, done.stderr) == (0, "")
        assert re.search(r"--number=INT +how many \(default: 2\)", done.stdout)
        assert re.search(r"--stack=STRING +\(repeatable", done.stdout)
    done = invoke(project, "refuse", "--help")
    assert (done.returncode, done.stderr) == (0, "") and "Options" not in done.stdout, "a task without options"


def test_a_shell_s_completion_knows_tasks_and_options(project: Path) -> None:
    assert {"go", "pick"} <= set(invoke(project, "--complete", "--", "g").stdout.split())
    assert {"--preset", "--dry-run"} <= set(invoke(project, "--complete", "--", "go --pre").stdout.split())


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
