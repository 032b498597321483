"""The command line: every usage mistake is 2 with its near match, and a command's own ending passes through."""

from __future__ import annotations

import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from suite import environments
from suite.cli.app import APP, COMMANDS, app_of, code_of, main
from suite.errors import UserError
from suite.machine import limits
from tests.launch.programs import HUNG_SECONDS
from tests.runs import STACKWARS
from tests.typed import FLAGS, TOOLS, answered

OFTEN = ("stack", "workload", "size", "dims", "pass", "precision", "preset", "repeats", "dry-run", "resume")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (["rum"], "'run'"),
        (["--lst"], "'--list'"),
        (["--quiet", "run"], "--quiet"),
        (["run", "--prest=x"], "'--preset'"),
        (["run", "--dry"], "'--dry-run'"),
        (["run", "--zzz"], "./stackwars run --help"),
        (["run", "-q", "--dry-run"], "-q"),
        (["run", "--preset"], "--preset"),
        (["run", "--dry-run", "--stack"], "--stack"),
        (["run", "--stack", "--dry-run"], "--stack"),
        (["run", "--preset=a", "--preset", "b"], "--preset"),
        (["run", "--repeats=many"], "--repeats"),
        (["run", "--repeats", "2.5"], "--repeats"),
        (["run", "--repeats="], "--repeats"),
        (["compare", "--threshold=wide"], "--threshold"),
        (["verify", "a", "more"], "'more'"),
        (["doctor", "--json", "yes"], "'yes'"),
        (["bisect", "gemm"], "'gemm'"),
        (["archive", "a", "--set=b"], "--set"),
    ],
)
def test_a_usage_mistake_runs_nothing_and_exits_2(words: list[str], named: str) -> None:
    done = answered(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert named in done.stderr and "--help" in done.stderr and done.stderr.count("\n") == 1


def test_help_has_every_option_in_groups_and_the_ten_used_first_before_the_others() -> None:
    told = answered("run", "--help").stdout
    assert all(flag in told for flag in FLAGS["run"])
    first = told.partition("Used most")[2].partition("Options")[0]
    assert {f"--{name}" for name in OFTEN} == {flag for flag in FLAGS["run"] if f"{flag} " in first}
    for words in (["compare", "--help"], ["compare", "-h"], ["compare", "--zzz", "--help"]):
        assert "--threshold" in answered(*words).stdout


def test_every_option_has_its_help_in_one_line() -> None:
    for app in (*map(APP.__getitem__, COMMANDS), *TOOLS.values()):
        for argument in app.assemble_argument_collection(parse_docstring=True):
            told = argument.parameter.help
            assert argument.name == "*" or (told and "\n" not in told), (app.name, argument.name)


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["--list"]])
def test_the_list_has_every_command(words: list[str]) -> None:
    done = answered(*words)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(name in done.stdout.split() for name in COMMANDS)


def refuse() -> None:
    raise UserError("There is no workload 'gem'. Did you mean 'gemm'?")


def stop() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(("body", "code", "said"), [(refuse, 2, "'gemm'?\n"), (stop, 130, "Interrupted.\n")])
def test_a_refusal_and_an_interruption_are_their_message_alone(
    body: object, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    app = app_of("program")
    app.default(body)  # type: ignore[arg-type]
    assert code_of(app, []) == code
    out, error = capsys.readouterr()
    assert out == "" and error.endswith(said) and error.count("\n") == 1


@pytest.mark.parametrize("failure", [MemoryError(), RuntimeError("can't start new thread"), OSError(27, "Too large")])
def test_a_shell_s_limit_is_named_in_place_of_a_traceback(
    failure: Exception, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise failure

    app = app_of("program")
    app.default(fail)
    monkeypatch.setattr(limits, "limits", lambda: {"processes": 60})
    assert code_of(app, []) == 2
    assert "(ulimit -u 60)" in capsys.readouterr().err
    monkeypatch.setattr(limits, "limits", dict)
    if isinstance(failure, MemoryError):
        assert code_of(app, []) == 2
    else:
        with pytest.raises(type(failure)):
            code_of(app, [])


def test_a_command_decides_its_own_exit_code_and_a_defect_of_ours_keeps_its_traceback() -> None:
    app = app_of("program")
    app.command(lambda *, code=0: int(code), name="end")
    app.command(lambda: 1 / 0, name="broken")
    assert (code_of(app, ["end"]), code_of(app, ["end", "--code=3"])) == (0, 3)
    with pytest.raises(ZeroDivisionError):
        code_of(app, ["broken"])


FLOOD = """
import sys
from suite.cli.app import app_of, code_of
app = app_of("program")
app.default(lambda: print(*["line"] * 100_000, sep="\\n"))
sys.exit(code_of(app, []))
"""


def test_a_reader_that_leaves_early_sees_no_traceback() -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", FLOOD], cwd=environments.ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert program.stdout is not None and program.stderr is not None
    assert program.stdout.readline() == "line\n"
    program.stdout.close()
    assert program.stderr.read() == ""
    assert program.wait(HUNG_SECONDS) == 141


def test_the_program_is_ours_in_any_folder_and_listing_imports_none_of_the_suite_s_libraries(tmp_path: Path) -> None:
    # How long it takes depends on the machine; what is imported doesn't.
    for name in ("json", "suite", "tasks"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('another project')")
    program = [sys.executable, "-X", "importtime", *STACKWARS[1:]]
    done = subprocess.run([*program, "--list"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "doctor" in done.stdout
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "cyclopts" in imported and not {"numpy", "pandas", "pyarrow", "scipy", "jinja2"} & imported


def invoke(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "invoke", *words], cwd=environments.ROOT, capture_output=True, text=True, check=False
    )


def test_plain_invoke_has_every_command_as_a_task() -> None:
    listed = invoke("--list").stdout.split()
    assert all(name in listed for name in (*COMMANDS, "check", "test", "docs", "clean"))
    told = invoke("run", "--help").stdout
    assert all(flag in told for flag in FLAGS["run"])


def test_plain_invoke_hands_options_and_exit_codes_through() -> None:
    words = ["--workload=gemm", "--stack=numpy", "--stack=jax_jit", "--pass=forward", "--repeats=1", "--dry-run"]
    done = invoke("run", *words, "--json")
    with redirect_stdout(StringIO()) as ours:
        assert code_of(APP, ["run", *words, "--json"]) == 0
    assert (done.returncode, done.stdout) == (0, ours.getvalue())
    refused = invoke("run", "--workload=gem", "--dry-run")
    assert refused.returncode == 2 and "'gemm'" in refused.stderr
    assert invoke("run", "--repeats=2.5").returncode == 2


TABLE = """
import sys
from suite.cli.app import app_of, code_of
from suite.cli.terminal.output import print_table
app = app_of("program")
app.default(lambda *, lines=1: print_table("title", ["head"], [["cell"]] * lines))
sys.exit(code_of(app, sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("redirected", "code", "said"),
    [
        (">/dev/full", 2, "The output can't be read or written: No space left on device.\n"),
        (">/dev/full 2>&1", 2, ""),
        (">&-", 0, ""),
        (">&- 2>&- <&-", 0, ""),
        ("--lines=9000 | head -1 >/dev/null; exit ${PIPESTATUS[0]}", 141, ""),
        ("--help | true; exit ${PIPESTATUS[0]}", 141, ""),
    ],
)
def test_a_stream_that_is_full_closed_or_left_has_its_exit_code_and_no_traceback(
    redirected: str, code: int, said: str
) -> None:
    words = ["bash", "-c", f'"$0" -c "$1" {redirected}', sys.executable, TABLE]
    done = subprocess.run(words, cwd=environments.ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (code, said)


def test_what_a_user_may_not_read_or_a_name_too_long_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    app = app_of("program")
    app.default(lambda: Path("n" * 300).stat())
    assert code_of(app, []) == 2
    assert capsys.readouterr().err == f"{'n' * 300} can't be read or written: File name too long.\n"


def test_too_little_address_space_for_the_libraries_is_said_before_anything_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(limits, "limits", lambda: {"address_space_bytes": 10**9})
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2 and "needs 1.25 GiB of address space" in capsys.readouterr().err


def test_an_interruption_under_a_limit_names_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(limits, "limits", lambda: {"processes": 4})
    app = app_of("program")
    app.default(stop)
    assert code_of(app, []) == 130
    assert "(ulimit -u 4)" in capsys.readouterr().err
