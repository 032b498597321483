"""Jobs as text: accepted by those who read them, quoted for each, and true to a run's outcome."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suite.case import TARGETS
from suite.errors import UserError
from suite.extras.machines.accelerators import load
from suite.extras.machines.cloud import CLOUD_INIT, KUBERNETES, SCHEDULERS, SKYPILOT, SLURM, check_plain, render
from tests.extras.machines.jobs import REVISION, beyond_the_schema, job, judged
from tests.runs import STACKWARS

ROOT = Path(__file__).parents[3]
IMAGE = "registry.example.org/team/stackwars/job:0123"
# What each reader could trip over: quotes, comments, anchors, tags, flow marks, words that YAML takes for others.
NASTY = [
    "a b",
    "it's",
    'say "x"',
    "# no comment",
    "a #b",
    "key: value",
    "- item",
    "&a *b !c",
    "{x}",
    "[y]",
    "%d",
    "@at",
    "null",
    "true",
    "0x10",
    "1e3",
    "~",
    "|",
    ">",
    ";touch pwned;",
    "&& false",
    "|| true",
    "> out",
    "*",
    "?",
    "!!",
    "é",
    "日本",
    "🙂",
    "{{ job.name }}",
    "{% raw %}",
    "--",
    "=",
    "a" * 300,
    " lead",
    "trail ",
    "<<E",
]
# What is refused: a line of a file that isn't one any more, or a word that a shell or Kubernetes expands.
EXPANDED = ["$(id)", "$HOME", "`id`", "a\nb", "a\r", "a\tb", "\0", "\x1b[31m", "\\", "a\u2028b", "\ufeff", "\x85"]


def stub(folder: Path, codes: str = "") -> Path:
    """A checkout whose `stackwars` notes its words, and makes a set or fails as `codes` says: `run=3 archive=2`."""
    place = folder / ".venv" / "bin"
    place.mkdir(parents=True)
    program = place / "stackwars"
    program.write_text(
        f"""#!{sys.executable}
import json, pathlib, sys
codes = dict(each.split("=") for each in {codes!r}.split())
with open({str(folder / "calls")!r}, "a") as file:
    print(json.dumps(sys.argv[1:]), file=file)
results = [word.partition("=")[2] for word in sys.argv if word.startswith("--results=")]
if sys.argv[1] == "run" and codes.get("run") in (None, "0", "3", "4"):
    pathlib.Path(results[0], "20260102-030405-ops-cpu-1a2b").mkdir(parents=True)
sys.exit(int(codes.get(sys.argv[1], 0)))
""",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return folder


def calls(folder: Path) -> list[list[str]]:
    """What `stackwars` was asked."""
    return [json.loads(line) for line in (folder / "calls").read_text(encoding="utf-8").splitlines()]


def git(folder: Path, *words: str) -> str:
    """In a folder, as somebody."""
    named = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
    done = subprocess.run(["git", *named, *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def checkout(folder: Path, codes: str = "") -> tuple[Path, str]:
    """A git checkout with a stub, and its revision."""
    folder.mkdir()
    git(folder, "init", "--quiet")
    git(folder, "commit", "--quiet", "--allow-empty", "--message=first")
    return stub(folder, codes), git(folder, "rev-parse", "HEAD")


def sbatch(text: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """A task of the array, as Slurm would start it."""
    task = {"SLURM_SUBMIT_DIR": str(folder), "SLURM_ARRAY_TASK_ID": "2", "SLURM_ARRAY_JOB_ID": "7"}
    there = {**os.environ, **task, **more}
    return subprocess.run(["bash", "-c", text], cwd="/", env=there, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Every accelerator's jobs, with and without an image and an archive, and every nasty text, judged at once."""
    folder = tmp_path_factory.mktemp("jobs") / "jobs"
    ways = {"plain": {}, "image": {"image": IMAGE}, "open": {"archive": "", "repository": ""}}
    kinds = {
        f"{each.name}/{label}": job(each.target, accelerator=each, **facts)
        for each in load().values()
        for label, facts in ways.items()
    }
    nasty = {
        f"nasty/{number}": job(
            archive=f"s3://{text}", repository=text, run=shlex.join(["stackwars", "run", f"--workload={text}"])
        )
        for number, text in enumerate(NASTY)
    }
    for name, made in {**kinds, **nasty}.items():
        (folder / name).mkdir(parents=True)
        for file, text in render(made, (SKYPILOT, KUBERNETES)).items():
            (folder / name / file).write_text(text, encoding="utf-8")
    for name, (file, old, new) in BROKEN.items():
        text = (folder / "tpu-v6e-1/plain" / file).read_text(encoding="utf-8")
        assert old in text, name
        (folder / "broken" / name).mkdir(parents=True)
        (folder / "broken" / name / file).write_text(text.replace(old, new, 1), encoding="utf-8")
    return judged(folder)


BROKEN = {
    "field": ("kubernetes.yaml", "completions:", "completion:"),
    "type": ("kubernetes.yaml", "completions: 2", "completions: two"),
    "mode": ("kubernetes.yaml", "completionMode: Indexed", "completionMode: Indxed"),
    "retry": ("kubernetes.yaml", "action: FailIndex", "action: Retry"),
    "restart": ("kubernetes.yaml", "restartPolicy: Never", "restartPolicy: OnFailure"),
    "container": ("kubernetes.yaml", "containerName: shard", "containerName: other"),
    "key": ("skypilot-1-of-2.yaml", "accelerators:", "acelerators:"),
    "teardown": ("skypilot-1-of-2.yaml", "down: true", "down: perhaps"),
    "name": (
        "skypilot-1-of-2.yaml",
        "{tpu-v6e-1: 1}\n  accelerator_args: {runtime_version: v2-alpha-tpuv6e}",
        "{H1000: 1}",
    ),
}


@pytest.mark.environments("skypilot")
@pytest.mark.stacks
def test_every_job_is_accepted(verdicts: dict[str, Any]) -> None:
    whole = {name: each for name, each in verdicts.items() if not name.startswith("broken/")}
    assert len(whole) == 3 * (3 * len(load()) + len(NASTY))
    assert {name: each["refused"] for name, each in whole.items() if each["refused"]} == {}
    manifests = {name: each["manifest"] for name, each in whole.items() if "manifest" in each}
    assert {name: found for name, each in manifests.items() if (found := beyond_the_schema(each))} == {}


@pytest.mark.environments("skypilot")
@pytest.mark.stacks
def test_broken_jobs_are_refused(verdicts: dict[str, Any]) -> None:
    by_name = {name.split("/")[1]: each for name, each in verdicts.items() if name.startswith("broken/")}
    assert "'completion' was unexpected" in by_name["field"]["refused"]
    assert "'two' is not" in by_name["type"]["refused"]
    assert "acelerators" in by_name["key"]["refused"] and "perhaps" in by_name["teardown"]["refused"]
    # The schema has these words as mere strings: the server's own rules catch them.
    for name, found in (
        ("mode", ["completionMode", "backoffLimitPerIndex"]),
        ("retry", ["action"]),
        ("restart", ["restartPolicy"]),
        ("container", ["containerName"]),
    ):
        assert by_name[name]["refused"] is None and beyond_the_schema(by_name[name]["manifest"]) == found
    # Why there is a list of our own.
    assert by_name["name"]["refused"] is None and by_name["name"]["accelerators"] == {"H1000": 1}


@pytest.mark.environments("skypilot")
@pytest.mark.stacks
def test_skypilot_understands_what_was_meant(verdicts: dict[str, Any]) -> None:
    tpu = verdicts["tpu-v6e-1/plain/skypilot-2-of-2.yaml"]
    assert tpu["accelerators"] == {"tpu-v6e-1": 1} and tpu["arguments"]["runtime_version"] == "v2-alpha-tpuv6e"
    assert tpu["envs"] == {
        "SHARD": "2",
        "ARCHIVE": "s3://bucket/stack-wars",
        "REVISION": REVISION,
        "REPOSITORY": "https://example.org/stack-wars.git",
    }
    assert tpu["name"] == "stack-wars-ops-tpu-2-of-2" and tpu["nodes"] == 1 and tpu["down"] and not tpu["spot"]
    assert tpu["recovery"]["max_restarts_on_errors"] == 0
    assert verdicts["H100:1/plain/skypilot-1-of-2.yaml"]["accelerators"] == {"H100": 1}
    assert verdicts["cpu/plain/skypilot-1-of-2.yaml"]["cpus"] == "4+"
    with_image = verdicts["cpu/image/skypilot-1-of-2.yaml"]
    assert with_image["image"] == {None: f"docker:{IMAGE}"} or f"docker:{IMAGE}" in str(with_image["image"])
    assert with_image["setup"] is None and "cd /stack-wars" in with_image["run"]


@pytest.mark.environments("skypilot")
@pytest.mark.stacks
def test_kubernetes_is_told_what_matters(verdicts: dict[str, Any]) -> None:
    spec = verdicts["tpu-v6e-1/plain/kubernetes.yaml"]["manifest"]["spec"]
    pod = spec["template"]["spec"]
    (container,) = pod["containers"]
    assert (spec["completionMode"], spec["completions"], spec["parallelism"]) == ("Indexed", 2, 2)
    # The first rule that fits decides: a lost node counts against its index, an exit code ends it.
    lost, failed = spec["podFailurePolicy"]["rules"]
    assert lost == {"action": "Count", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}
    assert failed["action"] == "FailIndex" and failed["onExitCodes"]["operator"] == "NotIn"
    assert spec["backoffLimitPerIndex"] == 3 and spec["ttlSecondsAfterFinished"] > 0
    assert container["resources"]["requests"] == container["resources"]["limits"], "Guaranteed"
    assert container["resources"]["limits"]["google.com/tpu"] == 1
    (apart,) = pod["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert apart["labelSelector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    assert pod["activeDeadlineSeconds"] == 7200 + 3600
    with_image = verdicts["cpu/image/kubernetes.yaml"]["manifest"]["spec"]["template"]["spec"]
    assert with_image["containers"][0]["image"] == IMAGE


@pytest.mark.environments("skypilot")
@pytest.mark.stacks
def test_texts_arrive_as_they_were_given(verdicts: dict[str, Any]) -> None:
    for number, text in enumerate(NASTY):
        expected = {"ARCHIVE": f"s3://{text}", "REPOSITORY": text}
        sky = verdicts[f"nasty/{number}/skypilot-1-of-2.yaml"]
        pod = verdicts[f"nasty/{number}/kubernetes.yaml"]["manifest"]["spec"]["template"]["spec"]
        (container,) = pod["containers"]
        assert expected.items() <= sky["envs"].items()
        assert expected.items() <= {each["name"]: each["value"] for each in container["env"]}.items()
        for script in (sky["run"], container["args"][0]):
            (line,) = (line for line in script.splitlines() if line.startswith("timeout "))
            words = shlex.split(line.replace(" || code=$?", ""))
            assert words[3:6] == ["stackwars", "run", f"--workload={text}"]


@pytest.mark.environments("skypilot")
@pytest.mark.stacks
@pytest.mark.parametrize("code", ["0", "3"])
def test_a_pod_does_the_whole_of_its_shard(verdicts: dict[str, Any], tmp_path: Path, code: str) -> None:
    origin, revision = checkout(tmp_path / "origin")
    manifest = verdicts["cpu/open/kubernetes.yaml"]["manifest"]
    script = manifest["spec"]["template"]["spec"]["containers"][0]["args"][0]
    programs = tmp_path / "bin"
    programs.mkdir()
    # Installing is `make setup`; here it brings the stub.
    stub(tmp_path / "made", f"run={code}")
    make = f'#!/bin/bash\necho "$@" > {tmp_path}/made-by\nln -s {tmp_path}/made/.venv .venv\n'
    (programs / "make").write_text(make)
    (programs / "make").chmod(0o755)
    there = {
        **os.environ,
        "PATH": f"{programs}:{os.environ['PATH']}",
        "JOB_COMPLETION_INDEX": "1",
        "REVISION": revision,
        "ARCHIVE": "s3://b/a",
        "REPOSITORY": str(origin),
    }
    done = subprocess.run(
        ["bash", "-c", expanded(script, there)], cwd=tmp_path, env=there, capture_output=True, text=True, check=False
    )
    assert done.returncode == int(code), done.stderr
    assert (tmp_path / "made-by").read_text().split()[::2] == ["setup", "ARGS=--target=cpu"]
    asked, run, archive = calls(tmp_path / "made")
    assert asked == ["sets", "--from=s3://b/a"] and "--shard=2/2" in run
    assert archive == ["archive", "--set=results/shard-2/20260102-030405-ops-cpu-1a2b", "--to=s3://b/a"]


@pytest.mark.parametrize(("codes", "code"), [("", 0), ("run=3", 3), ("run=2", 2), ("archive=2", 2)])
def test_a_machine_of_its_own_does_its_shard_and_shuts_down(tmp_path: Path, codes: str, code: int) -> None:
    origin, revision = checkout(tmp_path / "origin")
    programs = tmp_path / "bin"
    programs.mkdir()
    stub(tmp_path / "made", codes)
    said = {"make": f"ln -s {tmp_path}/made/.venv .venv", "shutdown": f'echo "$@" >> {tmp_path}/shut'}
    for name, does in said.items():
        (programs / name).write_text(f"#!/bin/bash\n{does}\n")
        (programs / name).chmod(0o755)
    made = render(job(repository=str(origin), revision=revision), (CLOUD_INIT,))
    there = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    done = subprocess.run(
        ["bash", "-c", made["cloud-init-2-of-2.sh"]], cwd="/", env=there, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert (tmp_path / "shut").read_text().splitlines() == ["-h +180", "-h now"]
    _, run, *archived = calls(tmp_path / "made")
    assert run[-2:] == ["--shard=2/2", "--results=results/shard-2"] and len(archived) == (codes != "run=2")


def expanded(text: str, environment: dict[str, str]) -> str:
    """As Kubernetes expands `$(NAME)` in a container's arguments, before any shell sees them; `$$` is a dollar sign."""

    def one(found: re.Match[str]) -> str:
        return "$" if found[0] == "$$" else environment.get(found[1], found[0])

    return re.sub(r"\$\$|\$\(([^)]*)\)", one, text)


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_no_text_of_ours_is_expanded_by_kubernetes(scheduler: str) -> None:
    for text in render(job(), (scheduler,)).values():
        assert expanded(text, dict(os.environ)) == text


@pytest.mark.parametrize("target", TARGETS)
def test_an_array_asks_for_whole_nodes_and_is_requeued_for_lost_ones(target: str) -> None:
    text = render(job(target), (SLURM,))["slurm.sh"]
    assert subprocess.run(["bash", "-n"], input=text, text=True, check=False).returncode == 0
    asked = shlex.split(" ".join(re.findall(r"^#SBATCH (.*)$", text, re.MULTILINE)))
    gres = {"cpu": [], "cuda": ["--gres=gpu:h100:1"], "tpu": ["--gres=tpu:1"]}[target]
    assert {"--array=1-2", "--exclusive", "--mem=0", "--requeue", "--time=3:00:00", *gres} <= set(asked)
    first = next(line for line in text.splitlines() if not line.startswith("#"))
    assert text.index("#SBATCH --time") < text.index(first), "sbatch reads no further than the first command"


@pytest.mark.parametrize(
    ("codes", "code", "archived"),
    [
        ("", 0, True),
        ("run=3", 3, True),
        ("run=4", 4, True),
        ("run=2", 2, False),
        ("run=130", 130, False),
        ("archive=2", 2, True),
        ("run=3 archive=2", 2, True),
        ("sets=2", 2, False),
    ],
)
def test_a_shard_ends_as_its_run_did_and_is_archived_if_it_is_whole(
    tmp_path: Path, codes: str, code: int, archived: bool
) -> None:
    folder, revision = checkout(tmp_path / "work", codes)
    done = sbatch(render(job(revision=revision), (SLURM,))["slurm.sh"], folder, SLURM_RESTART_COUNT="1")
    asked = calls(folder)
    assert done.returncode == code, done.stderr
    steps = 1 if codes == "sets=2" else 3 if archived else 2
    assert [words[0] for words in asked] == ["sets", "run", "archive"][:steps]
    if archived:
        results = "results/slurm-7-2-1"
        assert asked[1][-2:] == ["--shard=2/2", f"--results={results}"]
        assert asked[2] == ["archive", f"--set={results}/20260102-030405-ops-cpu-1a2b", "--to=s3://bucket/stack-wars"]


def test_an_array_refuses_to_start_without_an_archive_or_at_another_revision(tmp_path: Path) -> None:
    folder, revision = checkout(tmp_path / "work")
    text = render(job(archive="", revision=revision), (SLURM,))["slurm.sh"]
    refused = sbatch(text, folder)
    assert refused.returncode != 0 and "ARCHIVE" in refused.stderr and not (folder / "calls").exists()
    assert sbatch(text, folder, ARCHIVE="s3://b/a").returncode == 0
    other = sbatch(render(job(), (SLURM,))["slurm.sh"], folder)
    assert other.returncode == 2 and f"isn't at {REVISION}" in other.stderr


def test_an_archive_s_new_folder_is_made_before_it_is_asked_for(tmp_path: Path) -> None:
    folder, revision = checkout(tmp_path / "work")
    text = render(job(archive="", revision=revision), (SLURM,))["slurm.sh"]
    for number, archive in enumerate((tmp_path / "new archive", tmp_path / "another")):
        address = archive.as_uri() if archive.name == "another" else str(archive)
        assert sbatch(text, folder, ARCHIVE=address, SLURM_ARRAY_JOB_ID=str(number)).returncode == 0
        assert archive.is_dir() and calls(folder)[-3] == ["sets", f"--from={address}"]


def test_a_hanging_run_is_ended(tmp_path: Path) -> None:
    folder, revision = checkout(tmp_path / "work")
    slow = folder / ".venv" / "bin" / "stackwars"
    slow.write_text("#!/bin/bash\n[ $1 = run ] && exec sleep 60\nexit 0\n")
    done = sbatch(render(job(revision=revision, limit_seconds=1), (SLURM,))["slurm.sh"], folder)
    assert done.returncode == 124


@given(st.text(min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_a_text_is_refused_or_reaches_the_shell_unchanged(text: str) -> None:
    try:
        made = render(job(archive=text, run=shlex.join(["echo", text])), (SLURM,))["slurm.sh"]
    except UserError:
        assert not text.isprintable() or re.search(r"[$`\\]", text)
        return
    lines = [line for line in made.splitlines() if line.startswith(("ARCHIVE=", "timeout "))]
    asked = lines[1].replace("timeout --signal=INT 7200 echo", "printf '%s\\0'").partition(" --shard=")[0]
    done = subprocess.run(
        ["bash", "-c", f"{lines[0]}\nprintf '%s\\0' \"$ARCHIVE\"\n{asked}"], capture_output=True, check=True
    )
    assert done.stdout.decode().split("\0") == [text, text, ""]


@pytest.mark.parametrize("text", EXPANDED)
@pytest.mark.parametrize("kind", ["archive", "repository", "run", "image", "preset"])
def test_what_would_be_expanded_is_refused(kind: str, text: str) -> None:
    with pytest.raises(UserError, match=kind):
        job(**{kind: text})


def test_a_plain_text_is_not_refused() -> None:
    for text in NASTY:
        check_plain("archive", text)


def test_an_archive_that_goes_with_its_machine_is_refused() -> None:
    for place in ("shelf", "/shared/shelf", "file:///shelf"):
        with pytest.raises(
            UserError, match=r"deleted when its shard is done. For kubernetes and cloud-init it must begin with"
        ):
            render(job(archive=place), (KUBERNETES, SLURM, CLOUD_INIT))
        assert place in render(job(archive=place), (SLURM,))["slurm.sh"]


def test_an_unknown_scheduler_is_refused() -> None:
    with pytest.raises(UserError, match=r"Did you mean 'slurm'\?"):
        render(job(), ("slurn",))


def test_a_name_is_one_that_all_schedulers_take() -> None:
    long = job(preset="My_Preset." + "x" * 60).name
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", long) and len(f"{long}-9999-of-9999") <= 63


def invoke(*words: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """The command, as a person would type it."""
    return subprocess.run([*STACKWARS, "cloud", *words], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_command_plans_for_a_machine_that_this_is_not(tmp_path: Path) -> None:
    done = invoke("--target=tpu", "--preset=ops", "--shards=3", "--write", f"--out={tmp_path}", f"--results={tmp_path}")
    assert done.returncode == 0, done.stderr
    shards = [(f"skypilot-{shard}-of-3.yaml", f"cloud-init-{shard}-of-3.sh") for shard in (1, 2, 3)]
    files = {*sum(shards, ()), "kubernetes.yaml", "slurm.sh"}
    assert {path.name for path in tmp_path.iterdir()} == files
    assert "No --to" in done.stderr and "rough" in done.stdout and "No cost" in done.stdout
    priced = invoke("--target=tpu", "--to=gs://bucket/prefix", "--price=2.70", "--on=slurm", f"--results={tmp_path}")
    assert "==> slurm.sh <==" in priced.stdout and "ARCHIVE=gs://bucket/prefix" in priced.stdout
    assert re.search(r"at 2\.70 USD an hour", priced.stdout) and "No --to" not in priced.stderr


@pytest.mark.slow
def test_a_stack_that_is_committed_here_goes_with_the_job(tmp_path: Path) -> None:
    words = ("--preset=ops", "--workload=gemm", "--stack=torch_traced", "--on=slurm", f"--results={tmp_path}")
    done = invoke("--stack-path=torch_traced_adapter.py", *words, cwd=ROOT / "docs" / "example")
    assert done.returncode == 0, done.stderr
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("timeout "))
    assert "--stack-path=docs/example/torch_traced_adapter.py" in shlex.split(line)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--target=tpu", "--accelerator=tpu-v6-1"], "Did you mean 'tpu-v6e-1'?"),
        (["--to=s3://key:secret@bucket/x"], "The address has a secret"),
        (["--repository=https://me:token@example.org/x.git"], "--repository must be an https:// address"),
        (["--to=ftp://bucket/x"], "There is no kind of address 'ftp'"),
        (["--preset=mine.toml"], "Commit the file to presets/"),
        (["--stack-path=/somewhere/else_adapter.py"], "a job has only the files that this repository has committed"),
        (["--stack-path=docs/nowhere"], "a job has only the files that this repository has committed"),
        (["--shards=0"], "--shards=0 isn't understood"),
        (["--shards=900"], "machine(s) at most, not 900"),
        (["--price=cheap"], "--price"),
        (["--target=tpu", "--stack=numpy"], "Nothing of this plan can run on tpu"),
        (["--stack=jax_jit@nightly"], "jax@nightly"),
    ],
)
def test_the_command_refuses_what_would_fail_far_away(tmp_path: Path, words: list[str], told: str) -> None:
    done = invoke(*words, f"--out={tmp_path / 'jobs'}", "--write")
    assert done.returncode == 2 and told in done.stderr, done.stderr
    assert not (tmp_path / "jobs").exists()
