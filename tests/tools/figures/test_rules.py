"""Which tables may be published: those with versions of a lock, of a quiet machine, and of a set."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tools.figures.definitions import Definition
from tools.figures.markers import Origin, PublishedTable
from tools.figures.rules import broken_rules, in_words, named_versions, older_locks

pytestmark = pytest.mark.usefixtures("locks")
DEFINED = Definition("mine", "README.md", "speedups", sets=("one",))
NEWEST, OLDEST = {"jax": "0.12.0.1", "numpy": "2.4.6"}, {"jax": "0.10.2", "numpy": "2.4.6"}
QUIET = Origin(("2026-11-24.cpu.0123456789ab",), {"jax": NEWEST}, (0.95, 1.09))


def problems(origin: Origin, text: str = "Words.\n", definition: Definition = DEFINED) -> list[str]:
    return broken_rules(definition, PublishedTable("mine", origin, text))


def test_a_table_of_the_newest_lock_and_a_quiet_machine_may_stay() -> None:
    assert problems(QUIET) == []
    assert problems(replace(QUIET, noise=None)) == [], "no stack ran twice"


def test_versions_that_no_lock_has_are_refused() -> None:
    strange = replace(QUIET, versions={"jax": {**NEWEST, "jax": "0.9.0"}})
    assert problems(strange) == [
        "jax ran JAX 0.9.0, NumPy 2.4.6, which no lock has: the newest lock has JAX 0.12.0.1, NumPy 2.4.6"
    ]
    assert problems(replace(QUIET, versions={"mine": {"jax": "1"}})) == [
        "mine ran JAX 1, which no lock has: that environment has no lock"
    ]
    assert problems(replace(QUIET, versions={})) == ["its versions aren't known"]


def test_an_older_lock_must_be_said_beside_the_table() -> None:
    older = replace(QUIET, versions={"jax": OLDEST})
    (words,) = older_locks(older)
    assert words == "JAX 0.10.2 is of an older lock (jax-py3.11.txt); the newest has 0.12.0.1."
    assert problems(older) == [f"its text must also say: {words}"]
    assert problems(older, f"Words. {words}\n") == []


@pytest.mark.parametrize("noise", [(0.90, 1.0), (1.0, 1.11)])
def test_a_wide_noise_floor_is_refused(noise: tuple[float, float]) -> None:
    (problem,) = problems(replace(QUIET, noise=noise))
    assert problem.startswith("its noise floors are too wide: from ") and problem.endswith("±10% is the limit")


def test_a_table_without_a_set_is_refused_but_for_that_of_the_locks() -> None:
    assert problems(replace(QUIET, sets=())) == ["it comes from no result set"]
    assert problems(Origin(), "") == ["it comes from no result set"], "its place is empty"
    assert problems(Origin(), definition=replace(DEFINED, sets=())) == []


def test_versions_stand_in_one_line() -> None:
    origin = Origin(versions={"torch": {"torch": "2.13.0"}, "torch_xla": {"torch": "2.9.0", "torch-xla": "2.9.0"}})
    assert in_words(origin) == "PyTorch 2.13.0 (torch) and 2.9.0 (torch_xla), PyTorch/XLA 2.9.0"
    assert named_versions({"tensorflow-cpu": "2.21.0", "torch_xla": "2.9.0", "keras": "3"}) == {
        "torch-xla": "2.9.0",
        "tensorflow": "2.21.0",
    }
