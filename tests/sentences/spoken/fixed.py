"""Sets whose story is fixed: two from which sentences are mutated, and two that generated ones seldom find."""

from __future__ import annotations

from typing import Any

from tests.sentences.spoken.generated import QUESTIONS, Column, Story

COLUMNS = ("torch_eager", "jax_jit", "tf_xla", "numpy", "torch_inductor", "jax_eager", "keras_jax")


def story(*speeds: tuple[float, ...], blocks: int = 5, fates: dict[Column, str] | None = None, **more: Any) -> Story:
    """Returns a story of the first questions and stacks, sampled without rounds: no rule on rounds changes its set."""
    usual: dict[str, Any] = {"noise": 0.004, "restless": True, "modes": frozenset({"numpy"}), "seed": 1}
    by_column = {
        (number, who): each for number, of in enumerate(speeds) for who, each in zip(COLUMNS, of, strict=False)
    }
    return Story(
        stacks=COLUMNS[: len(speeds[0])],
        questions=QUESTIONS[: len(speeds)],
        speeds=by_column,
        fates=fates or {},
        blocks=blocks,
        bursts=frozenset(),
        sampling="alone",
        **usual | more,
    )


MANY = story(
    (1.0, 0.5, 0.5, 1.5, 0.9, 2.0, 0.5),  # gemm: three share the lead
    (1.0, 0.6, 0.61, 1.6, 0.8, 2.0, 0.6),  # ffn, default track: three
    (1.0, 1.3, 1.4, 1.7, 1.2, 2.0, 1.3),  # ffn, tuned track: the baseline alone
    (1.0, 0.7, 0.9, 1.5, 0.8, 2.0, 0.7),  # mha, default track: the baseline is wrong
    (1.0, 1.6, 1.4, 1.5, 1.2, 2.0, 1.6),
    fates={(3, "torch_eager"): "wrong", (0, "jax_eager"): "crashed", (4, "tf_xla"): "unsupported"},
)
FEW = story((1.0, 0.5, 0.7, 1.5, 0.9, 2.0, 0.8), (1.0, 0.5, 0.5, 1.6, 0.8, 2.0, 0.5), restless=False, noise=0.002)
# The baseline has no time in the last block, another stack none in the first: they share none, and both lead.
APART = story((1.0,) * 4, blocks=2, fates={(0, "torch_eager"): "none", (0, "jax_jit"): "late"}, modes=frozenset[str]())
# Every ratio is decided, though no interval is as narrow as a tie's band.
DECIDED = story((1.0, 0.3, 0.3, 2.5, 0.4, 3.0, 0.3), noise=0.05, restless=False, modes=frozenset[str]())
FOUND = {8: "ok", 9: "oom_host"}
STORIES = {"many": MANY, "few": FEW}
# True of the two fixed sets, in the words of the rule on leads.
ALIKE = "share the lead on ffn train (2.00× torch_eager); jax_jit leads gemm forward (2.00× torch_eager)."
TOLD = {
    "many": (
        "default track: jax_jit and keras_jax share the lead on all 3 questions (1.66 to 2.00× torch_eager); "
        "tf_xla shares the lead on 2; tuned track: torch_eager leads both questions alone.",
    ),
    "few": (f"jax_jit, tf_xla and keras_jax {ALIKE}", f"Three stacks {ALIKE}"),
}
# Searches for the largest batch: {name: ({stack: {batch: how it ended}}, memory limit)}.
SEARCHES = {
    "shared": ({"jax_jit": FOUND, "tf_xla": FOUND, "numpy": {4: "ok", 5: "oom_host"}}, 6 * 2**30),
    "open": ({"jax_jit": {8: "ok", 12: "oom_host"}, "tf_xla": {9: "ok", 16: "oom_host"}}, 6 * 2**30),
    "tried": ({"jax_jit": {8: "ok"}, "tf_xla": {8: "ok"}, "numpy": {4: "ok", 5: "timeout"}}, None),
}
