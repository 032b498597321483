"""The questions of examples/: each names its thread, and what a thread says is held against the set's own verdict."""

from __future__ import annotations

import re
import tomllib
from math import inf

import pytest
from msgspec.structs import replace

from suite.environments.locks import newest
from suite.protocol import Protocol
from suite.results import load
from suite.results.analysis import analyse
from suite.stacks.catalog import STACKS, environment_of
from suite.stats import Word
from suite.workloads import catalog
from tests.results.test_within_set import two_ways
from tests.tools.figures.test_tables import THREE_QUESTIONS
from tools.figures.definitions import FILE
from tools.figures.definitions import load as load_definitions
from tools.figures.threads import EXAMPLES, Example, Thread, names, threads


def test_every_question_names_its_thread_and_every_thread_a_question() -> None:
    assert names() == sorted(threads())
    for name in names():
        example = Example.of(f"gallery-{name.replace('_', '-')}")
        assert re.fullmatch(r"https://github.com/[\w-]+/[\w-]+/issues/\d+", example.address), name
        assert example.question and "#" not in example.question


@pytest.mark.parametrize("name", names())
def test_what_is_held_against_a_thread_is_a_function_of_the_file(name: str) -> None:
    thread, question = threads()[name], catalog.load(EXAMPLES / f"{name}.py")
    assert bool(thread.apart) != bool(thread.slower and (bool(thread.than) != bool(thread.cores)))
    for stack, _, implementation in (side.partition(":") for side in (thread.slower, thread.than) if side):
        stack, _, variant = stack.partition("@")
        assert implementation in question.implementations(STACKS[stack].dialect)
        assert newest(environment_of(stack, variant), "cpu").exists


@pytest.mark.parametrize(
    ("slower", "than", "said"),
    [
        (
            "torch_eager",
            "jax_jit",
            "Confirmed: `torch_eager` takes 1.75 times as long as `jax_jit` (1.45 to 2.11) here.",
        ),
        (
            "jax_jit",
            "torch_eager",
            "The other way round: `jax_jit` takes 0.571 times as long as `torch_eager` (0.455 to 0.717) here.",
        ),
        ("tf_xla", "torch_eager", "Can't be compared: whether `tf_xla` takes longer than `torch_eager` isn't known, "),
    ],
)
def test_a_thread_is_held_against_the_set_s_own_verdict(slower: str, than: str, said: str) -> None:
    analysis = load(THREE_QUESTIONS).analysis()
    comparison = next(each for each in analysis.comparisons if each.name.startswith("ffn train"))
    assert Thread("x", slower, than).verdict(analysis, comparison).startswith(said)
    assert Thread("x", apart="other sizes").verdict(analysis, comparison) == "Can't be compared: other sizes."


@pytest.mark.parametrize(
    ("factor", "verdict", "times", "word"),
    [
        ((), "slower", 52.0, "confirmed"),
        ((1.7, 3.2), "slower", 6.4, "confirmed"),
        ((1.7, 3.2), "slower", 6.41, "confirmed, larger"),
        ((1.7, 3.2), "slower", 52.0, "confirmed, larger"),
        ((17.0,), "slower", 8.5, "confirmed"),
        ((17.0,), "slower", 8.49, "confirmed, smaller"),
        ((100.0, inf), "slower", 1e6, "confirmed"),
        ((100.0, inf), "slower", 49.0, "confirmed, smaller"),
        ((1.7, 3.2), "faster", 0.2, "the other way round"),
        ((1.7, 3.2), "undecided", 9.0, "not confirmed"),
        ((1.7, 3.2), "tie", 1.0, "not confirmed"),
        ((1.7, 3.2), "close", 1.08, "not confirmed"),
    ],
)
def test_the_direction_is_the_verdict_s_and_the_factor_has_a_range(
    factor: tuple[float, ...], verdict: Word, times: float, word: str
) -> None:
    thread = Thread("x", "jax_jit", "torch_eager", factor=factor)
    assert thread.word(verdict, times) == word
    part = word.replace("confirmed", "confirmed in part") if word.startswith("confirmed") else word
    assert replace(thread, limit="on two").word(verdict, times) == part


@pytest.mark.parametrize(
    ("factor", "said"),
    [((), ""), ((1.7, 3.2), "1.7 to 3.2 times"), ((20.0,), "20 times"), ((100.0, inf), "more than 100 times")],
)
def test_the_thread_s_factor_stands_beside_ours(factor: tuple[float, ...], said: str) -> None:
    analysis = load(THREE_QUESTIONS).analysis()
    comparison = next(each for each in analysis.comparisons if each.name.startswith("ffn train"))
    words = Thread("x", "torch_eager", "jax_jit", factor=factor).verdict(analysis, comparison)
    assert words.endswith(f" here; the thread says {said}." if said else " here.")


def test_every_factor_is_a_number_or_a_range_over_1_of_a_claim_that_is_held() -> None:
    for name, thread in threads().items():
        assert not (thread.factor and thread.apart), name
        assert len(thread.factor) <= 2 and list(thread.factor) == sorted(thread.factor), name
        assert all(factor > 1 for factor in thread.factor), name


@pytest.mark.parametrize(
    ("thread", "said"),
    [
        (Thread("x", "jax_jit", cores=(2, 1)), "Confirmed: `jax_jit` takes 2.00 times as long on 2 cores as on 1 ("),
        (Thread("x", "jax_jit", cores=(2, 1), limit="on two"), "Confirmed in part: `jax_jit` takes 2.00 times as long"),
        (Thread("x", "jax_jit", cores=(1, 2)), "The other way round: `jax_jit` takes 0.500 times as long on 1 core as"),
        (Thread("x", "jax_jit", cores=(4, 1)), "Can't be compared: whether `jax_jit` takes longer on 4 cores than on"),
        (Thread("x", "numpy", cores=(2, 1)), "Can't be compared: whether `numpy` takes longer on 2 cores than on 1"),
    ],
)
def test_a_thread_about_cores_is_held_against_one_set(thread: Thread, said: str) -> None:
    analysis = analyse(two_ways(threads=1), None, Protocol(), "jax_jit", None)
    words = thread.verdict(analysis, analysis.comparisons[0])
    assert words.startswith(said)
    assert words.endswith("; on two.") == bool(thread.limit)


def test_further_options_are_those_of_a_question() -> None:
    also = tomllib.loads(FILE.read_text(encoding="utf-8"))["gallery"]["also"]
    assert set(also) <= set(names())
    assert (
        load_definitions().command("gallery-scan-gradient").startswith("ask examples/scan_gradient.py --pass=gradient")
    )
