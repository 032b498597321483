"""What uv is asked: for a lock without addresses, of the oldest system; and how it is got where there is none."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from suite.environments import ROOT, locks, uv
from suite.errors import UserError
from tests.environments.six_lock import HERE, SIX

LOCKS = ROOT / "docker" / "locks"


def resolver(text: str, commands: list[list[str]] | None = None) -> Callable[[list[str], str], str]:
    """Stands in for uv: writes this lock where it is told, and keeps what it was told. Every wheel fits."""

    def run(command: list[str], failure: str) -> str:
        if "--output-file" not in command:
            return text.replace("--hash=sha256:", 'sha256 = "').replace("\n", '"\n')
        if commands is not None:
            commands.append(command)
        Path(command[command.index("--output-file") + 1]).write_text(text)
        return ""

    return run


def test_without_uv_pip_gets_the_locked_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(LOCKS / "orchestrator.txt", root / "docker" / "locks")
    monkeypatch.setenv("PATH", "/usr/bin:/bin" if not Path("/usr/bin/uv").exists() else "/nowhere")
    got = uv.find_uv(root / ".venv")
    assert Path(got) == root / ".environments" / "uv" / "bin" / "uv"
    assert uv.runs(got)
    locked = uv.pinned("uv", locks.newest("orchestrator", "cpu"))
    assert locked.startswith(f"uv=={uv.run([got, '--version'], '').split()[1]} ")
    assert locked.count("--hash=sha256:") >= 2, "of x86-64 and of aarch64"
    assert "\nuv" not in locked.strip()


@pytest.fixture
def commands(root: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What a resolver is told that answers every question with six."""
    told: list[list[str]] = []
    monkeypatch.setattr(uv, "find_uv", lambda *_: "uv")  # getting one has a command too, and a test of its own
    monkeypatch.setattr(uv, "run", resolver(SIX, told))
    return told


def test_a_new_lock_that_names_an_address_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = locks.newest("six", "cpu").path
    lock.with_suffix(".in").write_text("six\n")
    monkeypatch.setattr(uv, "find_uv", lambda *_: "uv")
    for text in ("--index-url somewhere\n" + SIX, "six @ file://here/six.whl\n"):
        monkeypatch.setattr(uv, "run", resolver(text))
        with pytest.raises(UserError, match="names an address or an index"):
            uv.compile_locks("six")
        assert lock.read_text() == HERE


@pytest.mark.parametrize(
    ("name", "target", "platform"),
    [("six", "cpu", "2_28"), ("six", "cuda", "2_28"), ("six", "tpu", "2_31"), ("orchestrator", "tpu", "2_28")],
)
def test_a_lock_is_for_the_oldest_system_that_its_target_runs_on(
    commands: list[list[str]], name: str, target: str, platform: str
) -> None:
    lock = locks.newest(name, target).path
    lock.parent.mkdir(exist_ok=True)
    lock.with_suffix(".in").write_text("six\n")
    assert lock in uv.compile_locks(name, target)
    assert lock.read_text() == f"# Python 3.11\n{SIX}"
    (command,) = commands
    assert command[command.index("--python-platform") + 1] == f"x86_64-manylinux_{platform}"


def test_arm_s_own_list_is_resolved_for_it_from_the_same_versions(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = locks.newest("six", "cpu").path
    lock.with_suffix(".in").write_text("# Python 3.13, 3.12\nsix\n")
    own = lock.parent / "aarch64"
    own.mkdir()
    (own / "six-py3.12.in").write_text("# Python 3.12\nsix\n")
    (own / "six-py3.9.txt").write_text(SIX)  # of a Python that was named once
    told: list[tuple[str, str]] = []

    def run(command: list[str], _: str) -> str:
        if "--output-file" not in command:
            return ""  # no wheel fits
        output = Path(command[command.index("--output-file") + 1])
        told.append((command[command.index("--python-platform") + 1], output.read_text() if output.exists() else ""))
        output.write_text(SIX.replace("==", "==9") if "aarch64" in told[-1][0] else SIX)
        return ""

    monkeypatch.setattr(uv, "find_uv", lambda *_: "uv")
    monkeypatch.setattr(uv, "run", run)
    made = [str(path.relative_to(lock.parent)) for path in uv.compile_locks("six")]
    assert made == ["six.txt", "six-py3.12.txt", "aarch64/six-py3.12.txt"]
    begun = SIX.partition(" ")[0]  # x86-64's versions, without its hashes
    assert told[-1] == ("aarch64-manylinux_2_28", f"# Python 3.12\n{begun}\n")
    assert sorted(path.name for path in own.glob("*.txt")) == ["six-py3.12.txt"]
    assert [lock.path.parent.name for lock in locks.all_locks("six", "cpu")] == ["cpu", "cpu"]
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert [lock.path.parent.name for lock in locks.all_locks("six", "cpu")] == ["cpu", "aarch64"]


@pytest.mark.parametrize("has_arm", [True, False])
def test_a_lock_has_the_hashes_of_wheels_that_fit(has_arm: bool, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`one` has wheels for both processors and another system, `two` one for all; no Linux takes `three`."""
    lock = locks.newest("six", "cpu").path
    lock.with_suffix(".in").write_text("# Python 3.13\nsix\n")
    pins = {"one==1": "abcd", "two==2": "e", "three==3 ; sys_platform == 'win32'": "f"}
    texts = [" \\\n    --hash=sha256:".join([pin, *(letter * 64 for letter in of)]) + "\n" for pin, of in pins.items()]
    fitting = {"x86_64": "ae", "aarch64": "be"}
    whole = resolver("".join(texts))

    def run(command: list[str], failure: str) -> str:
        if "--output-file" in command:
            return whole(command, failure)
        machine = command[command.index("--python-platform") + 1].partition("-")[0]
        if machine == "aarch64" and not has_arm:
            raise uv.NoSolution("two has no wheels with a matching platform tag")
        return "".join(f'hashes = {{ sha256 = "{letter * 64}" }}\n' for letter in fitting[machine])

    monkeypatch.setattr(uv, "find_uv", lambda *_: "uv")
    monkeypatch.setattr(uv, "run", run)
    uv.compile_locks("six")
    header, *entries = re.split(r"^(?=\w+==)", lock.read_text(), flags=re.MULTILINE)
    kept = {entry.partition(" \\")[0]: "".join(re.findall(r":(\w)", entry)) for entry in entries}
    assert (header, kept) == ("# Python 3.13\n", pins | {"one==1": "ab" if has_arm else "a"})
    assert entries[1:] == texts[1:], "what keeps its hashes keeps its lines"


def test_a_list_of_overrides_is_given_to_the_resolver(commands: list[list[str]]) -> None:
    lock = locks.newest("six", "cpu").path
    lock.with_suffix(".in").write_text("six\n")
    uv.compile_locks("six")
    lock.with_suffix(".override").write_text('other ; python_version < "3"\n')
    uv.compile_locks("six")
    without, given = commands
    assert "--override" not in without
    assert given[given.index("--override") + 1] == str(lock.with_suffix(".override"))


def test_the_torch_wheels_come_from_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", "/p")
    monkeypatch.delenv("UV_FIND_LINKS", raising=False)
    assert uv.wheel_source(locks.beside("torch@2.13", "cpu", "in")) == ["--find-links", "/p"]
    monkeypatch.setenv("UV_FIND_LINKS", "/u")
    assert uv.wheel_source(locks.beside("torch@2.13", "cpu", "in")) == ["--find-links", "/u"]
    monkeypatch.delenv("UV_FIND_LINKS")
    monkeypatch.delenv("PIP_FIND_LINKS")
    assert uv.TORCH_CPU_INDEX in uv.wheel_source(locks.beside("torch@2.13", "cpu", "in"))
    plain = [("torch", "cpu"), ("torch_xla", "cpu"), ("torch", "cuda"), ("torchax", "cuda"), ("torch_xla", "tpu")]
    assert all(uv.wheel_source(locks.beside(name, target, "in")) == [] for name, target in plain)


def test_a_list_has_a_lock_for_each_of_its_pythons(commands: list[list[str]]) -> None:
    lock = locks.newest("six", "cpu").path
    lock.with_suffix(".in").write_text("# Python 3.13, 3.12\nsix\n")
    (lock.parent / "six-py3.11.in").write_text("# Python 3.11\nsix<2\n")
    (lock.parent / "six-py3.9.txt").write_text(SIX)  # of a Python that was named once
    made = uv.compile_locks("six")
    assert [path.name for path in made] == ["six.txt", "six-py3.12.txt", "six-py3.11.txt"]
    assert [path.read_text().splitlines()[0] for path in made] == [f"# Python 3.{minor}" for minor in (13, 12, 11)]
    assert [command[-1].rpartition("/")[2] for command in commands] == ["six.in", "six.in", "six-py3.11.in"]
    assert [lock.path for lock in locks.all_locks("six", "cpu")] == made
    assert [lock.source.name for lock in locks.all_locks("six", "cpu")] == ["six.in", "six.in", "six-py3.11.in"]
    assert locks.names("cpu") == ["six"]


def test_the_orchestrator_has_one_lock_for_all_of_its_pythons(root: Path, commands: list[list[str]]) -> None:
    (root / "docker" / "locks" / "orchestrator.in").write_text("# Python 3.11, 3.12, 3.13\nsix\n")
    (made,) = uv.compile_locks("orchestrator")
    assert made.read_text().splitlines()[0] == "# Python 3.11, 3.12, 3.13"
    assert "--universal" in commands[0] and commands[0][commands[0].index("--python-version") + 1] == "3.11"


@pytest.mark.parametrize(
    ("message", "advice"),
    [
        ("Failed to fetch: https://packages.example/attrs/\ninvalid peer certificate: UnknownIssuer", "SYSTEM_CERTS"),
        ("write failed: No space left on device", "disk is full"),
        ("something that nobody has seen before", "doctor"),
    ],
)
def test_an_installers_failure_says_what_to_do(message: str, advice: str) -> None:
    with pytest.raises(UserError, match=advice):
        uv.run(["sh", "-c", f"echo '{message}' >&2; exit 2"], "The lock could not be installed.")


@pytest.mark.parametrize("name", ["PYTHONPATH", "PYTHONHOME"])
def test_an_installer_is_no_python_of_the_shell(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise RuntimeError('a shadow')\n")
    monkeypatch.setenv(name, str(tmp_path))
    assert uv.run([sys.executable, "-c", "import json; print(json.loads('1'))"], "it failed") == "1\n"


@pytest.mark.parametrize("said", ["[Errno 30] Read-only file system: '/x/.venv'", "[Errno 13] Permission denied: '/x'"])
def test_a_folder_of_somebody_else_has_a_way_out(said: str) -> None:
    assert "git clone" in uv.remedy(said) and "network" not in uv.remedy(said)
