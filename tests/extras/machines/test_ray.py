"""A run handed out by a real Ray cluster, whose machines all stand on this one."""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from suite import results
from suite.environments import venv
from suite.sets.result_set import ResultSet
from tests.ctrl_c import on_ctrl_c
from tests.runs import STACKWARS
from tests.scenes import FAKE, SCENARIOS

pytestmark = [pytest.mark.slow, pytest.mark.environments("ray")]
SECONDS = 300  # no wait is longer: what takes longer has hung
STARTED: list[subprocess.Popen[str]] = []


@dataclass
class Machines:
    """A cluster's address, and ways to have its machines stand or fall."""

    address: str
    process: subprocess.Popen[str]

    def stand(self, *slots: float) -> Machines:
        """A machine for each number of slots."""
        return self.told("stand", *slots)

    def kill_one(self) -> None:
        """As if its power were cut."""
        self.told("kill")

    def told(self, *words: object) -> Machines:
        """Once it has done so."""
        assert self.process.stdin is not None and self.process.stdout is not None
        print(*words, file=self.process.stdin, flush=True)
        assert self.process.stdout.readline() == "done\n"
        return self


@pytest.fixture(scope="module")
def cluster() -> Iterator[Machines]:
    """A head: what stands beside it is each test's."""
    python = venv.ensure("ray", "cluster").python
    program = Path(__file__).parent / "ray_cluster.py"
    short = tempfile.mkdtemp(prefix="ray", dir="/tmp")  # Ray puts sockets there, whose paths have 107 letters at most
    process = subprocess.Popen(
        [str(python), str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": short},
    )
    try:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address, "no cluster stands; why is above"
        yield Machines(address, process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        process.wait(SECONDS)
        shutil.rmtree(short, ignore_errors=True)


@pytest.fixture
def two(cluster: Machines) -> Machines:
    return cluster.stand(1, 1)


def start(
    place: Path, machines: Machines, *options: str, on_sigint: signal.Handlers = signal.SIG_DFL
) -> subprocess.Popen[str]:
    """`invoke run` with the cluster's machines. They stand on one machine, so each forces its way past the other.

    `on_sigint`: what a shell has told it to do at Ctrl-C.
    """
    words = ["run", f"--address={machines.address}", "--force", *options]
    with (place / "told").open("w") as told:
        process = subprocess.Popen(
            [*STACKWARS, *words],
            stdout=told,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=place,
            env=os.environ | {"TMPDIR": str(place)},
            start_new_session=True,
            preexec_fn=on_ctrl_c(on_sigint),
        )
    STARTED.append(process)
    return process


def asked(place: Path, *scenes: str) -> list[str]:
    """Scenes of the fake stack, one comparison each, in one block."""
    return [
        "--scheduler=ray",
        f"--preset={SCENARIOS / 'story.toml'}",
        f"--workload-path={SCENARIOS}",
        f"--stack-path={FAKE}",
        "--repeats=1",
        f"--python={sys.executable}",
        f"--results={place / 'results'}",
        *(f"--dims=step_us={scene}" if scene.isdecimal() else f"--size={scene}" for scene in scenes),
    ]


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    """Of a test that failed."""
    yield
    for process in STARTED:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    STARTED.clear()


def ended(process: subprocess.Popen[str], place: Path) -> tuple[int, str]:
    """The exit code, and what was told."""
    code = process.wait(SECONDS)
    return code, (place / "told").read_text(encoding="utf-8")


def shares(folder: Path) -> list[Path]:
    """Those that have come back to a set, without what is being unpacked."""
    return [*folder.glob("shares/[0-9]*of*")]


def wait_for_share(place: Path, run: subprocess.Popen[str]) -> None:
    """Until one has come back."""
    until = time.monotonic() + SECONDS
    while not any(shares(folder) for folder in (place / "results").glob("*")):
        assert run.poll() is None and time.monotonic() < until, (place / "told").read_text(encoding="utf-8")
        time.sleep(0.05)


def the_set(place: Path) -> Path:
    """The one that was made."""
    (folder,) = (path.parent for path in (place / "results").glob("*/plan.json") if path.parent.name != "latest")
    return folder


def check_rows(folder: Path, cases: int) -> list[str]:
    """No row twice, none lost: the outcomes, in order of their sizes."""
    loaded = results.load(folder)
    keys = [(r["case_id"], r["block"], r["replicate"], r["purpose"], r["retry"]) for r in loaded.rows]
    assert loaded.plan_file is not None
    assert len(loaded.plan_file.plan.cases) == cases and len(keys) == len(set(keys))
    assert set(keys) == {(a.case.case_id, a.block, a.replicate, a.purpose, a.retry) for a in loaded.plan_file.attempts}
    assert ResultSet.open(folder).problems() == []
    return [row.outcome for row in sorted(loaded.rows, key=lambda row: row["size"]) if row["replicate"] == 1]


def test_rows_come_back_into_one_set_and_a_case_s_failure_is_a_row(two: Machines, tmp_path: Path) -> None:
    code, told = ended(start(tmp_path, two, *asked(tmp_path, "calm", "raise", "segfault", "wrong")), tmp_path)
    assert code == 3, told  # as in place: some case ended error, crashed or wrong
    assert check_rows(the_set(tmp_path), 4) == ["ok", "error", "crashed", "wrong"]
    assert told.count("4 of 4: ") == 1 and "2 machine(s)" in told and (the_set(tmp_path) / "report.html").exists()
    assert (tmp_path / "results" / "latest").readlink() == Path(the_set(tmp_path).name)


def test_a_machine_takes_one_comparison_at_a_time(cluster: Machines, tmp_path: Path) -> None:
    """Of two machines one offers no slot: nothing ever runs beside what is measured."""
    machines = cluster.stand(1, 0)
    code, told = ended(start(tmp_path, machines, *asked(tmp_path, "calm", "drift", "slow")), tmp_path)
    assert code == 0 and "1 machine(s)" in told, told
    blocks = sorted((block["started_at"], block["ended_at"]) for block in results.load(the_set(tmp_path)).blocks)
    rows = sorted(results.load(the_set(tmp_path)).rows, key=lambda row: row["started_at"])
    assert len(blocks) == 3 and len(rows) == 6, "each with its A/A twin"
    for earlier, later in itertools.pairwise(blocks):
        assert earlier[1] <= later[0], "one began before the other had ended"


def test_a_machine_that_is_lost_in_mid_case_costs_a_second_try_and_nothing_else(two: Machines, tmp_path: Path) -> None:
    run = start(tmp_path, two, *asked(tmp_path, "calm", "drift", "flood", "fork"), "--timeout=10")
    wait_for_share(tmp_path, run)  # one is back, two are under way
    two.kill_one()
    code, told = ended(run, tmp_path)
    assert code in (0, 3), told
    assert "has no result" not in told
    check_rows(the_set(tmp_path), 4)


def test_a_driver_that_is_killed_is_resumed_without_measuring_twice(two: Machines, tmp_path: Path) -> None:
    run = start(tmp_path, two, *asked(tmp_path, "calm", "drift", "flood", "fork"), "--timeout=10")
    wait_for_share(tmp_path, run)
    os.killpg(run.pid, signal.SIGKILL)
    run.wait()
    folder = the_set(tmp_path)
    back = {path.name: (path / "manifest.json").stat().st_mtime_ns for path in shares(folder)}
    assert 1 <= len(back) < 4 and not (folder / "manifest.json").exists()
    resumed = start(tmp_path, two, f"--resume={folder}")
    _, told = ended(resumed, tmp_path)
    assert f"{4 - len(back)} comparisons for 2 machine(s)" in told, told
    check_rows(folder, 4)
    for name, when in back.items():
        assert (folder / "shares" / name / "manifest.json").stat().st_mtime_ns == when


@pytest.mark.parametrize(
    ("on_sigint", "number"),
    [(signal.SIG_DFL, signal.SIGINT), (signal.SIG_IGN, signal.SIGTERM)],
    ids=["ctrl-c", "kill of a script's background job"],
)
def test_ctrl_c_says_how_to_go_on(
    two: Machines, tmp_path: Path, on_sigint: signal.Handlers, number: signal.Signals
) -> None:
    # `fork` never answers and its deadline is far: the run can't have ended when the signal comes.
    options = [*asked(tmp_path, "calm", "drift", "fork"), f"--timeout={10 * SECONDS}"]
    run = start(tmp_path, two, *options, on_sigint=on_sigint)
    wait_for_share(tmp_path, run)
    run.send_signal(number)
    code, told = ended(run, tmp_path)
    assert code == 130 and f"./stackwars run --resume={the_set(tmp_path)}" in told.replace("\n", ""), told
    assert "Traceback" not in told


def test_what_no_machine_offers_is_refused_up_front(cluster: Machines, tmp_path: Path) -> None:
    code, told = ended(start(tmp_path, cluster.stand(0), *asked(tmp_path, "calm")), tmp_path)
    assert code == 2 and "offers 'slot'" in told and "ray start" in told, told


def test_an_address_without_a_cluster_is_refused(tmp_path: Path) -> None:
    nobody = Machines("127.0.0.1:1", subprocess.Popen(["true"], text=True))
    code, told = ended(start(tmp_path, nobody, *asked(tmp_path, "calm")), tmp_path)
    assert code == 2 and "no Ray cluster at 127.0.0.1:1" in told and "Traceback" not in told, told
    done = subprocess.run([*STACKWARS, "run", "--scheduler=rai"], text=True, capture_output=True, check=False)
    assert done.returncode == 2 and "Did you mean 'ray'" in done.stderr
