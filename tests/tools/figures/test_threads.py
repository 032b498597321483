"""The questions of examples/: each names its thread, and what a thread says is held against the set's own verdict."""

from __future__ import annotations

import re
import tomllib

import pytest

from suite.environments.locks import newest
from suite.protocol import Protocol
from suite.results import load
from suite.results.analysis import analyse
from suite.stacks.catalog import STACKS, environment_of
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
        ("torch_eager", "jax_jit", "Confirmed here: `torch_eager` over `jax_jit` is 0."),
        ("jax_jit", "torch_eager", "The other way round here: `jax_jit` over `torch_eager` is 1."),
        ("tf_xla", "torch_eager", "Can't be compared: `tf_xla` over `torch_eager` has no two times that count here."),
    ],
)
def test_a_thread_is_held_against_the_set_s_own_verdict(slower: str, than: str, said: str) -> None:
    analysis = load(THREE_QUESTIONS).analysis()
    comparison = next(each for each in analysis.comparisons if each.name.startswith("ffn train"))
    assert Thread("x", slower, than).verdict(analysis, comparison).startswith(said)
    assert Thread("x", apart="other sizes").verdict(analysis, comparison) == "Can't be compared: other sizes."


@pytest.mark.parametrize(
    ("thread", "said"),
    [
        (Thread("x", "jax_jit", cores=(2, 1)), "Confirmed here: `jax_jit` on 2 cores over 1 is 0.500× ["),
        (Thread("x", "jax_jit", cores=(2, 1), limit="on two"), "Confirmed in part here: `jax_jit` on 2 cores over 1"),
        (Thread("x", "jax_jit", cores=(1, 2)), "The other way round here: `jax_jit` on 1 cores over 2 is 2."),
        (Thread("x", "jax_jit", cores=(4, 1)), "Can't be compared: `jax_jit` on 4 cores over 1 has no two times"),
        (Thread("x", "numpy", cores=(2, 1)), "Can't be compared: `numpy` on 2 cores over 1 has no two times"),
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
