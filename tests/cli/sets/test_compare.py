"""`invoke compare` as typed: formats, refusals and exit codes."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from suite.results.reproduction import ClaimResult
from tests.results.rows import attempt_of, make_set, record, row_of
from tests.typed import answered


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Three: as it was, with one stack half as fast, and on another machine."""
    folder = tmp_path_factory.mktemp("sets")

    def made(name: str, slower: float, machine: str = "a-machine") -> Path:
        rows = [
            row_of(
                attempt_of(stack, block),
                (slower if stack == "jax_jit" else 1.0) * 0.01 * (1 + block / 1000),
                machine_id=machine,
            )
            for stack in ("numpy", "jax_jit")
            for block in (1, 2, 3)
        ]
        make_set(folder / name, rows, [record(block, 1) for block in (1, 2, 3)]).commit()
        return folder / name

    return {
        "before": made("before", 1.0),
        "after": made("after", 2.0),
        "elsewhere": made("elsewhere", 1.0, "b-machine"),
    }


def invoke(*words: object) -> CompletedProcess[str]:
    return answered("compare", *words)


def test_a_regression_is_told_and_exits_with_5(sets: dict[str, Path]) -> None:
    done = invoke(sets["before"], sets["after"])
    assert done.returncode == 5, done.stderr
    assert "0.500×" in done.stdout and "slower" in done.stdout and "1 of 2 cases changed" in done.stdout
    assert invoke(sets["after"], sets["before"]).returncode == 0
    assert invoke(sets["before"], sets["after"], "--threshold", "2.5").returncode == 0


def test_every_format_has_the_same_cases(sets: dict[str, Path]) -> None:
    told = json.loads(invoke(sets["before"], sets["after"], "--format=json").stdout)
    assert [(each["stack"], each["verdict"]) for each in told[0]["cases"]] == [("jax_jit", "slower"), ("numpy", "tie")]
    assert told[0]["regressions"] == ["gemm-tiny-forward-f32-cpu jax_jit"]
    table = list(csv.DictReader(invoke(sets["before"], sets["after"], "--format=csv").stdout.splitlines()))
    assert [(each["stack"], each["verdict"]) for each in table] == [("jax_jit", "slower"), ("numpy", "tie")]
    marked = invoke(sets["before"], sets["after"], "--format=md").stdout
    assert "| gemm-tiny-forward-f32-cpu | jax_jit | 10.0 | 20.0 | slower | 0.500×" in marked


def test_numbers_are_in_full_and_a_file_is_where_it_was_asked_for(sets: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "table.csv"
    done = invoke(sets["before"], sets["after"], "--format=csv", f"--out={out}")
    assert (done.returncode, done.stdout) == (5, f"{out}\n") and "cases changed" in done.stderr
    jax, _ = csv.DictReader(out.read_text(encoding="utf-8").splitlines())
    assert float(jax["first_seconds"]) == pytest.approx(0.01, rel=0.01) and float(jax["speedup"]) == pytest.approx(0.5)
    assert float(jax["speedup_low"]) < 0.5 < float(jax["speedup_high"])


def test_two_commands_write_the_same_page(sets: dict[str, Path], tmp_path: Path) -> None:
    words = [
        ["compare", sets["before"], sets["after"], "--format=html"],
        ["report", "--compare", sets["before"], sets["after"]],
        ["report", *(f"--compare={sets[name]}" for name in ("before", "after")), "--out=b.html"],
    ]
    done = [answered(*each, cwd=tmp_path) for each in words]
    assert [(each.returncode, each.stdout) for each in done] == [
        (5, "compare.html\n"),
        (0, "compare.html\n"),
        (0, "b.html\n"),
    ], done[1].stderr
    text = (tmp_path / "compare.html").read_text(encoding="utf-8")
    assert "▼ slower" in text and text == (tmp_path / "b.html").read_text(encoding="utf-8")


def report(*words: object) -> CompletedProcess[str]:
    return answered("report", *words)


def test_a_report_is_written_in_every_format(sets: dict[str, Path], tmp_path: Path) -> None:
    asked = f"--set={sets['before']}"
    assert report(asked, "--format=md").stdout.startswith("### gemm: which stack is fastest")
    assert json.loads(report(asked, "--format=json").stdout)["baseline"] == "numpy"
    out = tmp_path / "r.csv"
    done = report(asked, "--format=csv", f"--out={out}")
    assert done.stdout == f"{out}\n" and "jax_jit" in out.read_text(encoding="utf-8")


def test_several_sets_are_each_held_against_the_first(sets: dict[str, Path]) -> None:
    done = invoke(sets["before"], sets["before"], sets["after"], "--format=json")
    assert [len(each["regressions"]) for each in json.loads(done.stdout)] == [0, 1] and done.returncode == 5


def test_unlike_machines_are_refused_unless_asked_for(sets: dict[str, Path]) -> None:
    done = invoke(sets["before"], sets["elsewhere"], "--format=json")
    assert done.returncode == 2 and "differ in: machine" in done.stderr and "--across" in done.stderr
    assert "differ in: machine-id." in done.stderr and "run --machine=NAME" in done.stderr  # nothing else differs
    done = invoke(sets["before"], sets["elsewhere"], "--across", "--format=json")
    assert done.returncode == 0 and {each["verdict"] for each in json.loads(done.stdout)[0]["cases"]} == {None}


def test_of_two_machines_the_speedups_are_compared(sets: dict[str, Path]) -> None:
    done = invoke(sets["before"], sets["elsewhere"])
    (answer,) = re.findall(r": (\w+), of (\d+) speedups (.+)\.$", done.stdout, re.MULTILINE)
    assert answer[0] in [*ClaimResult] and int(answer[1]) == sum(map(int, re.findall(r"\d+", answer[2]))) > 0
    assert done.returncode == (5 if answer[0] in ("shifted", "contradicted") else 0)
    assert "absolute times" not in done.stdout and "not run" not in done.stdout


def test_of_two_machines_without_a_speedup_the_difference_is_said(tmp_path: Path) -> None:
    alone = []
    for name in ("here", "there"):
        rows = [row_of(attempt_of("numpy", block), 0.01, machine_id=name) for block in (1, 2, 3)]
        store = make_set(tmp_path / name, rows, [record(block, 1) for block in (1, 2, 3)])
        store.commit()
        alone.append(store.folder)
    done = invoke(*alone)
    assert (done.returncode, done.stdout) == (2, "")
    assert "differ in: machine" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("compare {before}", "--by=track"),
        ("compare", "--by=track"),
        ("compare {before} nowhere", "nowhere"),
        ("compare {before} {after} --by=track", "within one set"),
        ("compare {before} --by=trak", "'track'"),
        ("compare {before} --by=track", "two values of track"),
        ("compare {before} {after} --format=html5", "no format 'html5'"),
        ("compare {before} {after} --out=x.txt", "--format=html"),
        ("compare {before} {after} --threshold=fast", "--threshold"),
        ("compare {before}/results.parquet {after}", "give the set's folder"),
        ("compare {before} {after} --treshold=2", "'--threshold'"),
        ("report --format=pdf", "'pdf'"),
        ("report --format=text", "no format 'text'"),
        ("report --compare={before}", "--by=track"),
        ("report --compare {before} {elsewhere}", "differ in: machine"),
        ("report --compare {before} {after} --baseline=numpy", "--compare"),
        ("report --set={before} --format=md --out={before}", "is a folder"),
        ("report {before} {after}", "{after}"),
    ],
)
def test_mistakes_are_said_in_a_sentence(sets: dict[str, Path], words: str, said: str) -> None:
    done = answered(*words.format(**sets).split())
    assert done.returncode == 2 and said.format(**sets) in done.stderr and "Traceback" not in done.stderr, done.stderr


def test_a_set_against_itself_has_changed_nothing(sets: dict[str, Path]) -> None:
    done = invoke(sets["before"], sets["before"])
    assert (done.returncode, done.stdout.count("\n")) == (0, 1) and "Nothing changed" in done.stdout


def test_a_page_has_the_title_that_was_chosen(sets: dict[str, Path], tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    done = invoke(sets["before"], sets["after"], "--format=html", "--title=New <against> old", f"--out={out}")
    assert done.returncode == 5, done.stderr
    assert "<h1>New &lt;against&gt; old</h1>" in out.read_text(encoding="utf-8")
