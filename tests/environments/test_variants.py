"""Variants: what they are made of, how they are asked for, and where they run."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.environments import locks, uv, variants, venv
from suite.errors import UserError
from tests.environments.six_lock import SIX
from tests.environments.test_uv import resolver

JAX = "# Python 3.11\n# jax as released.\njax[cuda13]==0.10.2\noptax\nnumpy==2.4.6\n"


@pytest.fixture
def jax(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a target's locks, with that of one environment; nothing is resolved."""
    folder = root / "docker" / "locks" / "cpu"
    (folder / "jax.in").write_text(JAX)
    (folder / "jax.txt").write_text("# Python 3.11\n" + SIX)
    monkeypatch.setattr(uv, "find_uv", lambda *_: "uv")
    monkeypatch.setattr(uv, "run", resolver(SIX + "# another\n"))
    return folder


def test_a_variant_is_a_lock_that_differs_in_what_was_said(jax: Path) -> None:
    made = variants.create("jax", "0.11", "cpu", ["jax==0.11.2", "ml_dtypes<1"], (), "3.13")
    assert [file.name for file in made] == ["jax@0.11.in", "jax@0.11.txt"]
    assert made[0].read_text().splitlines() == [
        "# Python 3.13",
        "# jax@0.11: as jax, but for jax==0.11.2, ml_dtypes<1.",
        "jax[cuda13]==0.11.2",
        "optax",
        "numpy==2.4.6",
        "ml_dtypes<1",
    ]
    assert locks.newest("jax@0.11", "cpu").python == "3.13"
    assert (locks.newest("jax", "cpu").python, locks.variants("cpu")) == ("3.11", ["jax@0.11"])
    assert "jax@0.11" not in locks.names("cpu"), "`make setup` makes no variants"
    assert venv.place(locks.newest("jax@0.11", "cpu")).name.startswith("jax-")
    assert venv.place(locks.newest("jax@0.11", "cpu")) != venv.place(locks.newest("jax", "cpu"))


def test_flags_alone_run_in_the_environment_that_they_vary(jax: Path) -> None:
    value = '--xla_dump_to="a b" --x=\\1'
    (file,) = variants.create("jax", "fast", "cpu", (), [f"XLA_FLAGS={value}"], None)
    assert file == jax / "jax@fast.toml"
    assert variants.flags("jax@fast", "cpu") == {"XLA_FLAGS": value}
    assert variants.flags("jax", "cpu") == {}
    assert venv.place(locks.newest("jax@fast", "cpu")) == venv.place(locks.newest("jax", "cpu"))
    assert locks.newest("jax@fast", "cpu").sha256 == locks.newest("jax", "cpu").sha256


def test_a_variant_that_can_not_be_resolved_leaves_nothing_behind(jax: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(jax.iterdir())

    def refuse(*_: object) -> str:
        raise UserError("No solution found")

    monkeypatch.setattr(uv, "run", refuse)
    with pytest.raises(UserError, match="No solution"):
        variants.create("jax", "9", "cpu", ["jax==9"], ["A=b"], None)
    assert sorted(jax.iterdir()) == before


@pytest.mark.parametrize(
    ("environment", "variant", "requirements", "environ", "words"),
    [
        ("jacks", "1", ["jax==1"], (), "Did you mean 'jax'"),
        ("jax", "../up", ["jax==1"], (), "a name has only"),
        ("jax", "1", (), (), "Say how the variant differs"),
        ("jax", "1", (), ["XLA_FLAGS"], "a variable is like"),
        ("jax", "1", ["==1"], (), "a requirement is like"),
    ],
)
def test_a_mistake_is_told(
    jax: Path, environment: str, variant: str, requirements: list[str], environ: list[str], words: str
) -> None:
    with pytest.raises(UserError, match=words):
        variants.create(environment, variant, "cpu", requirements, environ, None)
    assert locks.variants("cpu") == []


@pytest.mark.parametrize("text", ["[environ]\nA = 1\n", "A = 'b'\n", "environ = 3\n", "[environ", "[environ]\n[b]\n"])
def test_flags_of_another_form_are_refused(jax: Path, text: str) -> None:
    (jax / "jax@fast.toml").write_text(text)
    with pytest.raises(UserError, match=r"jax@fast\.toml"):
        variants.flags("jax@fast", "cpu")


def test_globs_take_variants_that_are_asked_for(jax: Path) -> None:
    for name in ("0.10", "0.11"):
        (jax / f"jax@{name}.txt").write_text(SIX)

    def taken(*patterns: str, every: bool = False) -> tuple[str, ...]:
        return variants.expanded(patterns, "cpu", every=every)

    assert taken("jax_*", "numpy") == ("jax_*", "numpy")
    assert taken("jax_jit@0.10") == ("jax_jit@0.10",)
    assert taken("jax_jit", "jax_jit@*") == ("jax_jit", "jax_jit@0.10", "jax_jit@0.11")
    assert taken("jax_j*", "numpy", every=True) == ("jax_jit", "jax_jit@0.10", "jax_jit@0.11", "numpy")
    assert taken("jax_jit@*:naive") == ("jax_jit@0.10:naive", "jax_jit@0.11:naive")
    assert taken("jax_jit:naive", every=True) == ("jax_jit:naive", "jax_jit@0.10:naive", "jax_jit@0.11:naive")
    assert taken("unheard", every=True) == ("unheard",)
    with pytest.raises(UserError, match="jax_jit@0"):
        taken("jax_jit@1*")
