"""JSON of a set that may come from anywhere: what has the wrong form is named, by file and place, and nothing hangs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from suite import results
from suite.errors import Damaged, UserError
from suite.sets import json_file
from suite.sets.plan import PlanFile
from suite.sets.result_set import ResultSet
from tests.plan_files import plan_file
from tests.results.rows import GEMM, attempt_of, make_set, record, row_of

PLAN: dict[str, Any] = json.loads(
    json.dumps(
        plan_file(attempts=(attempt_of(),), locks={"numpy": "0" * 64}, flags={"jax@fast": {"XLA_FLAGS": ""}}).to_json()
        | {"cases": [GEMM.to_json() | {"unsupported": None, "too_large": None}]}
    )
)


def with_(path: str, value: object) -> dict[str, Any]:
    """The plan, with another value at a place like `attempts.0.case.target`."""
    plan = json.loads(json.dumps(PLAN))
    *parents, name = path.split(".")
    inner = plan
    for parent in parents:
        inner = inner[int(parent)] if isinstance(inner, list) else inner[parent]
    inner[name] = value
    return plan  # type: ignore[no-any-return]


def test_the_plan_that_is_changed_below_can_be_read() -> None:
    assert PlanFile.from_json(PLAN).plan.cases[0].case == GEMM
    for program in ("./stackwars", "stackwars", "invoke"):  # of a checkout, of a wheel, of an older version
        assert PlanFile.from_json(with_("command", f"{program} run --preset=tiny")).command.startswith(program)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("target", "../../x"),
        ("target", 3),
        ("set_id", "../x"),
        ("set_id", ".hidden"),
        ("set_id", "a\x1b[2J"),
        ("locks", {"../x": "0" * 64}),
        ("locks", {"numpy": "../x"}),
        ("flags", {"jax": {"LD_PRELOAD": "x"}}),
        ("flags", {"jax@fast": {"LD PRELOAD": "x"}}),
        ("flags", {"../x@y": {}}),
        ("command", "invoke run; rm -rf /"),
        ("command", "rm -rf /"),
        ("command", ""),
        ("created_at", "yesterday"),
        ("seed", -1),
        ("seed", 2**70),
        ("seed", True),
        ("cores", ["0"]),
        ("cores", None),
        ("protocol.blocks", 10**9),
        ("protocol.blocks", 2.5),
        ("protocol.timeout_seconds", -1),
        ("protocol.unheard", 1),
        ("cases.0.target", "../x"),
        ("cases.0.workload", "../x"),
        ("cases.0.stack", "a/b"),
        ("cases.0.variant", ".."),
        ("cases.0.dims", {"n": 0}),
        ("cases.0.dims", {"n": 2**40}),
        ("cases.0.dims", {"../n": 1}),
        ("cases.0.dims", {f"n{index}": 1 for index in range(100)}),
        ("cases.0.threads", 10**9),
        ("cases.0.pass", "both"),
        ("cases.0.limit_memory_bytes", 0),
        ("cases.0.unheard", 1),
        ("cases", {"a": 1}),
        ("cases", [1]),
        ("cases", None),
        ("attempts.0.block", 10**9),
        ("attempts.0.retry", -1),
        ("attempts.0.purpose", "fun"),
        ("attempts.0.case", 3),
        ("schema_version", 99),
        ("schema_version", "8"),
        ("schema_version", []),
        ("protocol", None),
        ("twin", "yes"),
    ],
)
def test_a_plan_that_no_run_has_is_refused(path: str, value: object) -> None:
    with pytest.raises(UserError, match=r"^plan\.json"):
        PlanFile.from_json(with_(path, value))


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
INNER = ("cases.0.dims", "cases.0.stack", "attempts.0.case", "attempts.0.seed", "locks.numpy", "protocol.blocks")


@given(VALUES, st.sampled_from([*PLAN, *INNER]))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_any_value_at_any_place_is_taken_or_refused_in_words(value: object, path: str) -> None:
    try:
        plan = PlanFile.from_json(with_(path, value))
    except UserError:
        return
    assert PlanFile.from_json(json.loads(json.dumps(plan.to_json()))) == plan


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"", "can't be read as JSON"),
        (b'{"a": 1', "cut short"),
        (b"{'a': 1}", "can't be read as JSON"),
        (b'"\xff"', "can't be read as JSON"),
        (b"[" * 100_000, "can't be read as JSON"),
        (b'{"a": NaN}', "as JSON"),
        (b'{"a": 1e999}', "out of range"),
        (b" " * 2_000_000, "Larger than"),
    ],
)
def test_a_file_that_is_no_json_is_named(text: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "machine.json"
    path.write_bytes(text)
    with pytest.raises(Damaged, match=said) as refused:
        json_file.read(path)
    assert str(path) in str(refused.value)


def test_a_pipe_and_a_link_in_the_place_of_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "link.json").symlink_to("/etc/passwd")
    for name in ("pipe.json", "link.json"):
        with pytest.raises(Damaged, match=name):
            json_file.read(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("machine.json", '{"cpu_model": ["a"]}'),
        ("machine.json", '{"cpu_flags": "avx2"}'),
        ("machine.json", "[]"),
        ("machine.json", '{"ram_bytes": 1'),
        ("roofline.json", '{"flops_per_second_best": "fast"}'),
        ("roofline.json", "{}"),
        ("ceilings.json", '{"readings": [1]}'),
        ("ceilings.json", '{"readings": {}}'),
        ("blocks/b01-a1.json", "{}"),
        ("blocks/b01-a1.json", '{"block": 1'),
        ("blocks/b01-a1.json", "null"),
        ("blocks/b01-a1.json", json.dumps(record(1, 1) | {"canary_seconds": "12"})),
        ("blocks/b01-a1.json", json.dumps(record(1, 1) | {"canary_seconds": [0.1]})),
    ],
)
def test_what_else_a_set_says_is_refused_by_file(name: str, text: str, tmp_path: Path) -> None:
    store = make_set(tmp_path / "a-set", [row_of(attempt_of())], [record(1, 1)])
    store.commit()
    assert results.load(store.folder).rows
    (store.folder / name).write_text(text)
    with pytest.raises(Damaged, match=name):
        results.load(store.folder)


def test_a_set_that_was_copied_was_not_begun_there(tmp_path: Path) -> None:
    store = ResultSet.create(tmp_path / "one" / "a-set", plan_file())
    assert store.begun_here
    moved = store.folder.rename(tmp_path / "moved")
    assert ResultSet.open(moved).begun_here, "a folder that has another name is the same one"
    (tmp_path / "copy").mkdir()
    for path in (*moved.glob("*.json"), moved / "begun-here"):
        (tmp_path / "copy" / path.name).write_bytes(path.read_bytes())
    assert not ResultSet.open(tmp_path / "copy").begun_here
    (moved / "begun-here").unlink()
    assert not ResultSet.open(moved).begun_here
