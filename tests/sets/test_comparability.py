"""Whether two measurements are comparable: one table of facts, asked by every command that joins or compares sets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from suite.errors import UserError
from suite.machine import facts
from suite.protocol import Protocol
from suite.results.between_sets import Times, compare_sets
from suite.run.start import reopen
from suite.sets.comparability import FACTS, MACHINE, OF_MACHINE, PLAN, REFUSED, case_facts, differences
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row
from suite.workloads.questions.question import load
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, record, row_of

# A value before and after, for each fact that is recorded.
VALUES: dict[str, tuple[Any, Any]] = {
    "machine_id": ("a-machine", "b-machine"),
    "cpu_model": ("A", "B"),
    "cpu_family_model_stepping": ("25/17/1", "26/2/1"),
    "cpu_flags": (["avx2"], ["avx2", "avx512f"]),
    "caches": ({"L3 Unified": "32768K"}, {"L3 Unified": "16384K"}),
    "cores_online": (2, 4),
    "weights_sha256": ("a" * 64, "b" * 64),
    "asked": ("a" * 16, "b" * 16),
    "tolerance": (1e-5, 1e-3),
    "allocator": ("kept", "system"),
    "sampling": ("rounds", "alone"),
    "engine": ("local", "docker"),
    "packages": ("locked", "unpinned"),
    "code": ("a" * 16, "b" * 16),
    "versions": ({"jax": "0.10.1"}, {"jax": "0.10.2"}),
    "cores_usable": ([0, 1], [0]),
    "ram_bytes": (2**34, 2**35),
    "limits": ({}, {"address_space_bytes": 2**33}),
    "kernel": ("6.1.0", "6.1.1"),
    "microcode": ("0x1", "0x2"),
    "mitigations": ({"retbleed": "Mitigation: IBRS"}, {"retbleed": "Vulnerable"}),
    "huge_pages": ("always [madvise] never", "always madvise [never]"),
    "governor": ("performance", "powersave"),
    "boost": ("1", "0"),
    "smt": ("on", "off"),
    "threads_per_core": (2, 1),
    "protocol": (Protocol(), Protocol(tie_ratio=1.05)),
    "clock_source": ("tsc", "hpet"),
}


def stored(folder: Path, name: str, day: int, fact: str, value: Any) -> ResultSet:
    """A whole set of one stack in three blocks, with one fact as given."""
    of_plan = {"asked": {"gemm": {"asked": value}}, "code": {"gemm": {"numpy": value}}}.get(fact)
    plan = plan_file(
        set_id=name,
        created_at=f"2026-03-{day:02d}T12:00:00+00:00",
        **({"code": of_plan} if of_plan else {"protocol": value} if fact == "protocol" else {}),
    )
    store = ResultSet.create(folder / name, plan)
    machine_id = value if fact == "machine_id" else "a-machine"
    store.machine = {"machine_id": machine_id} | ({fact: value} if FACTS[fact].source == MACHINE else {})
    columns = {"machine_id": machine_id}
    if fact == "packages":
        columns |= {"flags": ["unpinned"] if value == "unpinned" else []}
    elif fact == "versions":
        columns |= {"versions": json.dumps(value)}
    elif FACTS[fact].source not in (MACHINE, PLAN):
        columns |= {fact: value}
    for block in (1, 2, 3):
        row = row_of(attempt_of("numpy", block), 0.01 * (1 + day / 1000 + block / 1000), **columns)
        store.write_attempt(f"b{block:02d}-numpy-r1-timed-a1", row)
        store.write_block(block, 1, record(block, 1))
    store.commit()
    return store


def times(store: ResultSet) -> Times:
    file = store.plan_file
    return Times.of(file.plan.set_id, store.rows(), file.plan.protocol, [], store.machine, file.code)


def test_every_fact_has_two_values_here() -> None:
    assert VALUES.keys() == FACTS.keys()


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_that_differs_has_its_consequence(tmp_path: Path, fact: str) -> None:
    sets = [stored(tmp_path, f"set-{day}", day, fact, value) for day, value in enumerate(VALUES[fact], 1)]
    pair = compare_sets(*map(times, sets))
    (change,) = pair.changes
    told, found = {each.fact for each in pair.differences}, FACTS[fact].consequence
    assert told == {fact}
    assert (change.verdict is None) == bool(pair.unlike) == (found is REFUSED)
    assert (change.ratio is None) == (found is REFUSED and fact not in OF_MACHINE)


def test_what_is_unknown_is_no_difference() -> None:
    assert differences({"kernel": "6.1"}, {"kernel": None}) == differences({}, {"kernel": "6.1"}) == []


def test_one_question_of_two_that_was_changed_has_no_verdict(tmp_path: Path) -> None:
    def both(name: str, inputs: str) -> Times:
        rows = [
            row_of(attempt_of("numpy", block, dims={"n": n}), 0.01 + block / 1e5, weights_sha256=digest)
            for n, digest in ((64, "same"), (65, inputs))
            for block in (1, 2, 3)
        ]
        return Times.of(name, rows, Protocol(blocks=3, blocks_max=3), [])

    pair = compare_sets(both("a", "one"), both("b", "other"))
    assert not pair.unlike
    assert [(change.ratio is None, change.verdict is None) for change in pair.changes] == [(False, False), (True, True)]
    assert pair.changes[1].reason == "not comparable, they differ in: inputs"


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("return x + 1", "# faster\n    return x + 1", True),
        ("return x + 1", '"""Adds."""\n    return x + 1', True),
        ("return x + 1", "return x + 2", False),
        ("return helper(x)", "return helper(x)", True),
    ],
)
def test_a_functions_digest_follows_what_it_does(tmp_path: Path, before: str, after: str, same: bool) -> None:
    text = (
        "from suite.ask import normal\n\n\ndef inputs(n=4):\n    return {{'x': normal(n)}}\n\n\n"
        "def helper(x):\n    return x\n\n\ndef numpy_a(x):\n    {}\n\n\ndef torch_b(x):\n    {}\n"
    )
    found = []
    for place, body in (("one", before), ("other", after)):
        path = tmp_path / place / "question.py"
        path.parent.mkdir()
        path.write_text(text.format("return x", body))
        found.append(load(path).digests)
    assert (found[0]["torch_b"] == found[1]["torch_b"]) is same
    assert found[0]["asked"] == found[1]["asked"] and found[0]["numpy_a"] == found[1]["numpy_a"]


def test_what_a_function_uses_is_part_of_it_and_inputs_of_what_is_asked(tmp_path: Path) -> None:
    text = (
        "from suite.ask import normal\n\nSCALE = {}\n\n\ndef inputs(n=4):\n    return {{'x': normal({})}}\n\n\n"
        "def helper(x):\n    return SCALE * x\n\n\ndef torch_b(x):\n    return helper(x)\n"
    )
    digests = []
    for number, values in enumerate(((1, "n"), (2, "n"), (1, "300 * n"))):
        path = tmp_path / f"{number}" / "question.py"
        path.parent.mkdir()
        path.write_text(text.format(*values))
        digests.append(load(path).digests)
    plain, scaled, larger = digests
    assert plain["torch_b"] != scaled["torch_b"] and plain["asked"] == scaled["asked"]
    assert plain["torch_b"] == larger["torch_b"] and plain["asked"] != larger["asked"]


def begun(folder: Path, name: str = "", **changed: Any) -> ResultSet:
    """A set that was begun here, if nothing of its machine is changed."""
    machine = facts.machine(name) | changed
    plan = plan_file(set_id="a-set", machine_id=machine["machine_id"])
    store = ResultSet.create(folder / f"set-{len([*folder.iterdir()])}", plan)
    store.machine = machine
    return store


def test_a_resumed_set_says_what_changed_here(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for store, name, told in (
        (begun(tmp_path), "", ""),
        (begun(tmp_path, "ci-1"), "ci-1", ""),
        (begun(tmp_path, kernel="1.0"), "", "kernel 1.0 → "),
    ):
        reopen.check_machine(store, name)
        said = capsys.readouterr().err
        assert told in said and bool(said) == bool(told)


def test_a_set_of_another_machine_is_refused_with_what_differs(tmp_path: Path) -> None:
    for store, words in (
        (begun(tmp_path, machine_id="another"), "--machine=NAME"),
        (begun(tmp_path, "ci-1"), "--machine=ci-1"),
        (begun(tmp_path, machine_id="another", cpu_model="Example CPU"), "processor Example CPU → "),
    ):
        with pytest.raises(UserError, match=words):
            reopen.check_machine(store, "")


def test_facts_of_another_machine_than_the_sets_are_unknown() -> None:
    row: Row = row_of(attempt_of("numpy"), machine_id="b-machine")
    assert "kernel" not in case_facts([row], {"machine_id": "a-machine", "kernel": "6.1"}, {})
