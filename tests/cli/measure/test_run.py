"""The command line: what is refused, in which words, with which exit code; and that nothing runs before."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from suite import environments
from suite.sets.result_set import ResultSet
from suite.sets.rows import accepted
from tests.ctrl_c import on_ctrl_c
from tests.launch.programs import HUNG_SECONDS, wait_for
from tests.runs import STACKWARS
from tests.scenes import FAKE, SCENARIOS
from tests.typed import answered

STORY = (
    f"--preset={SCENARIOS / 'story.toml'}",
    "--workload-path",
    str(SCENARIOS),
    f"--stack-path={FAKE}",
    "--repeats=1",
)


def invoke(*words: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """One command, as typed, in a process of its own: those that measure."""
    return subprocess.run(
        [*STACKWARS, *words], capture_output=True, text=True, check=False, cwd=cwd or environments.ROOT
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("run --stack=jax_jt", "'jax_jit'"),
        ("run --workload=gem", "'gemm'"),
        ("run --workload=GEMM", "'gemm'"),
        ("run --preset=quik", "'quick'"),
        ("run --preset=no/such.toml", "no/such.toml"),
        ("run --size=big", "tiny"),
        ("run --workload=gemm --size=huge", "'huge'"),
        ("run --pass=backward", "gradient"),
        ("run --precision=f16", "bf16, f32, tf32"),
        ("run --track=fast", "default, tuned"),
        ("run --cache=lukewarm", "cold, warm"),
        ("run --target=gpu", "cuda"),
        ("run --stack=jax_jit@nightli", "jax@nightli"),
        ("run --engine=podman", "auto, docker, local"),
        ("run --dims n=big", "whole number"),
        ("run --dims n=0", "at least 1"),
        ("run --dims rows=3", "'rows'"),
        ("run --dims n=512,n=1024", "--dims n=512 --dims n=1024"),
        ("run --workload=mha --dims heads=5", "multiple of heads=5"),
        ("run --repeats=-1", "at least one block"),
        ("run --repeats=many", "--repeats"),
        ("run --repeats=2 --repeats=3", "--repeats"),
        ("run --limit-memory=lots", "--limit-memory=2GiB"),
        ("run --limit-memory=2", "needs its unit"),
        ("run --limit-memory=900TiB", "--limit-memory=900TiB"),
        ("run --limit-memory=900000GiB", "this machine's"),
        ("run --purpose=memry", "'memory'"),
        ("run --exhaustive", "--purpose=memory"),
        ("run --preset=oom --cache=warm", "is for times"),
        ("run --fits=nowhere", "nowhere"),
        ("run --timeout=soon", "--timeout=10min"),
        ("run --baseline=numpy --stack=jax_jit", "--baseline: the selection has no stack"),
        ("run --again=timeout", "--resume"),
        ("run --trust", "--resume"),
        ("run --resume=nowhere --again=timout", "timout"),
        ("run --resume=nowhere", "no result set"),
        ("run --resume=nowhere --preset=ops", "--again"),
        ("run --resume=nowhere --dry-run", "--again"),
        ("run --workload-path=nowhere", "spec.py"),
        ("run --stack-path=nowhere", "<stack>_adapter.py"),
        ("list --stack-path=nowhere", "<stack>_adapter.py"),
        ("run --stack=fake", "'fake'"),
        ("frontier --workload=gpt2", "--limit-memory=6GiB"),
        ("frontier gpt2 --limit-memory=6GiB --vary=bach", "'batch'"),
        ("frontier vit --limit-memory=6GiB --vary=seq", "'seq'"),
        ("frontier gpt2 --limit-memory=6GiB --vary=heads", "batch, seq"),
        ("report --set=nowhere", "nowhere"),
    ],
)
def test_a_mistake_is_refused_with_what_to_do(words: str, said: str) -> None:
    done = answered(*words.split())
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_that_cannot_be_written_is_refused_before_the_first_case(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    wanted = {"file/results": "can't be written", "file": "is no folder", "link": "nowhere, which isn't there"}
    for folder, words in wanted.items():
        done = answered("run", *STORY, "--size=calm", f"--results={tmp_path / folder}")
        assert done.returncode == 2
        assert words in done.stderr and "Block 1" not in done.stderr


def planned(*words: str) -> dict[str, Any]:
    """What a dry run says as JSON, with the names of its cases."""
    told: dict[str, Any] = json.loads(answered(*words, "--dry-run", "--json").stdout)
    return told | {"names": [case["case_name"] for case in told["cases"]]}


def test_a_dry_run_prints_cases_and_minutes_and_runs_nothing(tmp_path: Path) -> None:
    done = answered("run", "--dry-run", f"--results={tmp_path / 'results'}")
    assert done.returncode == 0 and "About" in done.stdout and "Sampled in rounds" in done.stdout
    told = planned("run")
    assert all(name in done.stdout for name in told["names"]) and "gemm-quick-forward-f32-cpu-jax_jit" in told["names"]
    assert (len(told["cases"]), told["processes"]["timed"], told["blocks"]) == (20, 66, 3)
    assert not (tmp_path / "results").exists()


def test_sampling_dims_and_globs_are_in_the_plan() -> None:
    assert planned("run", "gemm", "--preset=tiny", "--sampling=rounds")["sampling"] == "rounds"
    told = planned("run", "gemm", "--stack=tf_*", "--pass=train", "--dims", "n=128")
    assert told["names"] == [f"gemm-custom-n=128-train-f32-cpu-{stack}" for stack in ("tf_eager", "tf_graph", "tf_xla")]


def test_what_can_t_fit_is_said_before_it_runs() -> None:
    told = planned("run", "gemm", "--stack=numpy", "--dims", "n=1000000", "--limit-memory=2GiB")
    assert not told["cases"][0]["runs"] and "7.28 TiB" in told["cases"][0]["verdict"]
    assert told["seconds"] == 7 * 20 * 60, "no more than the time limit of each of seven processes"


def test_what_only_is_compiled_needs_no_room_for_tensors() -> None:
    words = ("--workload=llama", "--size=full", "--stack=jax_jit", "--limit-memory=2GiB")
    told = planned("run", "--preset=why", "--abstract", "--pass=train", *words)
    assert [case["runs"] for case in told["cases"]] == [True]


def test_a_limit_under_a_framework_s_own_need_is_said_before_the_run() -> None:
    told = planned("run", "--preset=tiny", "--workload=gemm", "--stack=torch_xla", "--limit-memory=50MiB")
    assert any("torch_xla" in warning and "50MiB" in warning for warning in told["warnings"])


def test_a_dry_run_of_memory_says_how_many_processes_ask() -> None:
    assert planned("run", "--preset=oom", "--workload=gpt2")["processes"] == {"memory": 42}
    assert "42 processes, fewer" in answered("run", "--preset=oom", "--workload=gpt2", "--dry-run").stdout
    tried = planned("frontier", "gpt2", "--limit-memory=6GiB", "--limit-memory=4GiB")
    assert len(tried["cases"]) == 14 and {"batch": 1, "seq": 64}.items() <= tried["cases"][0]["dims"].items()


def test_a_run_that_measures_nothing_says_so_and_leaves_latest_alone(tmp_path: Path) -> None:
    (tmp_path / "latest").symlink_to("an-older-set")
    done = invoke("run", "--target=tpu", "--stack=jax_jit", "--repeats=1", f"--results={tmp_path}")
    assert done.returncode == 4, done.stderr
    assert re.fullmatch(r"Nothing was measured: no TPU was found .*`\./stackwars predict .*\n", done.stderr)
    assert not [*tmp_path.glob("2*")], "no set of rows that all say the same"
    assert os.readlink(tmp_path / "latest") == "an-older-set"


@pytest.mark.parametrize(
    ("scene", "code"), [("calm", 0), ("unsupported", 4), ("raise", 3), ("wrong", 3), ("segfault", 3)]
)
def test_the_exit_code_says_how_the_cases_ended(tmp_path: Path, scene: str, code: int) -> None:
    done = invoke("run", *STORY, f"--size={scene}", f"--results={tmp_path}")
    assert done.returncode == code, done.stderr
    assert (f"Exit code {code}:" in done.stderr) == (code == 3)
    if scene == "raise":
        (cause,) = set(re.findall(r", at (\S+):(\d+)\)", done.stderr))
        told = (environments.ROOT / cause[0]).read_text(encoding="utf-8").splitlines()[int(cause[1]) - 1]
        assert told.strip().startswith("raise"), "the line that raised it"
        (log,) = re.findall(r"log: (\S+)", done.stderr)
        assert (Path(log) / "events.jsonl").is_file()


def test_one_plain_line_per_case_and_both_paths(tmp_path: Path) -> None:
    done = invoke("run", *STORY, "--size=calm", f"--results={tmp_path}")
    lines = [line for line in done.stderr.splitlines() if "story-calm-forward-f32-cpu-fake" in line]
    assert len(lines) == 2, "the case and its A/A twin"
    assert "ok  first" in lines[0]
    for name in ("results.parquet", "report.html"):
        assert list(tmp_path.glob(f"*/{name}"))
        assert name in done.stdout


def test_ctrl_c_keeps_what_is_finished_and_resume_completes(tmp_path: Path) -> None:
    command = [*STACKWARS, "run", *STORY, "--size=calm", "--size=slow", f"--results={tmp_path}"]
    command[command.index("--repeats=1")] = "--repeats=2"
    running: Any = subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=on_ctrl_c()
    )
    wait_for(lambda: [*tmp_path.glob("*/attempts/*.parquet")])
    os.kill(running.pid, signal.SIGINT)
    _, said = running.communicate(timeout=HUNG_SECONDS)
    assert running.returncode == 130, said
    assert "--resume=" in said
    assert "Traceback" not in said
    folder = next(path for path in tmp_path.iterdir() if path.name != "latest")
    before = ResultSet.open(folder).read()[0]
    assert before, "finished cases are on disk"
    done = invoke("run", f"--resume={folder}")
    assert done.returncode == 0, done.stderr
    rows = accepted(ResultSet.open(folder).merged())
    assert sorted((row["size"], row["block"], row["replicate"]) for row in rows) == [
        (size, block, replicate) for size in ("calm", "slow") for block in (1, 2) for replicate in (1, 2)
    ]


def test_two_runs_of_one_set_exclude_each_other_whatever_is_forced(tmp_path: Path) -> None:
    """Each would take the other's attempts for its own."""
    command = ["run", *STORY, "--size=slow", "--size=calm", f"--results={tmp_path}"]
    first = subprocess.Popen([*STACKWARS, *command], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    wait_for(lambda: [*tmp_path.glob("*/logs/*")])
    folder = next(path.parent for path in tmp_path.glob("*/plan.json"))
    second = invoke("run", f"--resume={folder}", "--force")
    assert second.returncode == 2
    assert f"{folder} is in use by another command (process {first.pid}): wait for its end." in second.stderr
    assert first.wait() == 0
    assert {row["outcome"] for row in ResultSet.open(folder).merged()} == {"ok"}


def test_a_set_that_is_moved_as_it_is_measured_isnt_said_to_be_where_it_was(tmp_path: Path) -> None:
    command = ["run", *STORY, "--size=calm", "--force", f"--results={tmp_path / 'before'}"]
    command[command.index("--repeats=1")] = "--repeats=9"
    running = subprocess.Popen([*STACKWARS, *command], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    wait_for(lambda: [*tmp_path.glob("before/*/attempts/*.parquet")])
    (tmp_path / "before").rename(tmp_path / "after")
    _, said = running.communicate(timeout=HUNG_SECONDS)
    assert running.returncode == 2 and "Traceback" not in said
    assert "moved or deleted meanwhile" in said and f"--resume={tmp_path}" not in said
    (folder,) = (tmp_path / "after").glob("2*")
    assert invoke("run", f"--resume={folder}", "--force").returncode == 0
