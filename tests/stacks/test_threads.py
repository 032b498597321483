"""Variables of every stack, and of variants."""

from __future__ import annotations

from suite.stacks.threads import thread_environ, with_flags


def test_every_library_hears_how_many_cores_are_its_own() -> None:
    assert set(thread_environ(3).values()) == {"3"}
    assert {"OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NPROC"} <= thread_environ(3).keys()


def test_a_variants_flags_are_added_and_its_variables_take_the_place() -> None:
    own = {"XLA_FLAGS": "--a=1 --b", "OMP_NUM_THREADS": "2", "KEPT": "x"}
    assert with_flags(own, {"XLA_FLAGS": "--a=2", "OMP_NUM_THREADS": "1", "LIBTPU_INIT_ARGS": "--c"}) == {
        "XLA_FLAGS": "--a=1 --b --a=2",
        "OMP_NUM_THREADS": "1",
        "KEPT": "x",
        "LIBTPU_INIT_ARGS": "--c",
    }
    assert with_flags(own, {}) == own
