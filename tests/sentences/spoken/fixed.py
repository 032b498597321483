"""Sets whose story is fixed: two from which sentences are mutated, and two that generated ones seldom find."""

from __future__ import annotations

from typing import Any

from tests.sentences.spoken.generated import QUESTIONS, Story

COLUMNS = ("torch_eager", "jax_jit", "tf_xla", "numpy", "torch_inductor", "jax_eager", "keras_jax")
PLAIN: dict[str, Any] = {
    "stacks": COLUMNS,
    "implementations": ("",),
    "blocks": 5,
    "noise": 0.004,
    "restless": True,
    "bursts": frozenset(),
    "modes": frozenset({"numpy"}),
    "sampling": "alone",  # blocks without rounds: no rule on rounds changes these sets
    "seed": 1,
}


def table(*speeds: tuple[float, ...]) -> dict[tuple[int, str], float]:
    return {
        (number, who): speed for number, line in enumerate(speeds) for who, speed in zip(COLUMNS, line, strict=True)
    }


def fates(questions: int, **ends: str) -> dict[tuple[int, str], str]:
    """Returns every fate: `ok`, but for those given like `q3_torch_eager="wrong"`."""
    given = {(int(name[1]), name[3:]): end for name, end in ends.items()}
    return {(number, who): given.get((number, who), "ok") for number in range(questions) for who in COLUMNS}


MANY = Story(
    **PLAIN,
    questions=QUESTIONS,
    speeds=table(
        (1.0, 0.5, 0.5, 1.5, 0.9, 2.0, 0.5),  # gemm: three share the lead
        (1.0, 0.6, 0.61, 1.6, 0.8, 2.0, 0.6),  # ffn, default track: three
        (1.0, 1.3, 1.4, 1.7, 1.2, 2.0, 1.3),  # ffn, tuned track: the baseline alone
        (1.0, 0.7, 0.9, 1.5, 0.8, 2.0, 0.7),  # mha, default track: the baseline is wrong
        (1.0, 1.6, 1.4, 1.5, 1.2, 2.0, 1.6),
    ),
    fates=fates(5, q3_torch_eager="wrong", q0_jax_eager="crashed", q4_tf_xla="unsupported"),
)
FEW = Story(
    **PLAIN | {"restless": False, "noise": 0.002},
    questions=QUESTIONS[:2],
    speeds=table((1.0, 0.5, 0.7, 1.5, 0.9, 2.0, 0.8), (1.0, 0.5, 0.5, 1.6, 0.8, 2.0, 0.5)),
    fates=fates(2),
)
# The baseline has no time in the last block, another stack none in the first: they share none, and both lead.
APART = Story(
    **PLAIN | {"blocks": 2, "stacks": COLUMNS[:4], "modes": frozenset()},
    questions=QUESTIONS[:1],
    speeds=table((1.0,) * len(COLUMNS)),
    fates=fates(1, q0_torch_eager="none", q0_jax_jit="late"),
)
# Every ratio is decided, though no interval is as narrow as a tie's band.
DECIDED = Story(
    **PLAIN | {"noise": 0.05, "restless": False, "modes": frozenset()},
    questions=QUESTIONS[:1],
    speeds=table((1.0, 0.3, 0.3, 2.5, 0.4, 3.0, 0.3)),
    fates=fates(1),
)
FOUND = {8: "ok", 9: "oom_host"}
STORIES = {"many": MANY, "few": FEW}
# True of the two fixed sets, in the words of the rule on leads.
TOLD = {
    "many": [
        "default track: jax_jit and keras_jax share the lead on all 3 questions (1.66 to 2.00× torch_eager); tf_xla shares the lead on 2; tuned track: torch_eager leads both questions alone."
    ],
    "few": [
        "jax_jit, tf_xla and keras_jax share the lead on ffn train (2.00× torch_eager); jax_jit leads gemm forward (2.00× torch_eager).",
        "Three stacks share the lead on ffn train (2.00× torch_eager); jax_jit leads gemm forward (2.00× torch_eager).",
    ],
}
# Searches for the largest batch: {name: ({stack: {batch: how it ended}}, memory limit)}.
SEARCHES = {
    "shared": ({"jax_jit": FOUND, "tf_xla": FOUND, "numpy": {4: "ok", 5: "oom_host"}}, 6 * 2**30),
    "open": ({"jax_jit": {8: "ok", 12: "oom_host"}, "tf_xla": {9: "ok", 16: "oom_host"}}, 6 * 2**30),
    "tried": ({"jax_jit": {8: "ok"}, "tf_xla": {8: "ok"}, "numpy": {4: "ok", 5: "timeout"}}, None),
}
