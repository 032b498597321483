"""Where two ports part, and what their difference looks like: by small traces in NumPy, and pairs of real modules."""

from __future__ import annotations

import math
import pickle
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from suite.environments import venv
from suite.stacks.catalog import STACKS
from suite.workloads.questions.ports.expressions import leaves_in
from suite.workloads.questions.ports.pairing import Call, Trace, aligned, differ, equal, error, paired
from suite.workloads.questions.ports.parting import part, suspect, work
from suite.workloads.questions.ports.recomputed import RECOMPUTED
from suite.workloads.questions.ports.suspicions import ACTIVATIONS, SUSPICIONS, Evidence

ALL = (*SUSPICIONS, *RECOMPUTED)
NAMES = ("torch_model", "jax_model")
PAIRS = ("perceptron", "convolutional", "encoder", "decoder", "recurrent", "gated", "vision", "residual")
WEIGHTS = {
    "a.kernel": "one.weight.T",
    "a.bias": "one.bias",
    "n.scale": "norm.weight",
    "n.bias": "norm.bias",
    "b.kernel": "two.weight.T",
}
seeds = st.integers(0, 2**32 - 1)


def model(name: str, seed: int = 0, **changes: Any) -> Trace:
    """A linear layer, a layer norm, an activation and a linear layer. `changes` are made in what computes."""
    draw = np.random.default_rng(seed)
    w1, b1, scale, shift, w2 = (draw.normal(size=size) for size in ((6, 5), 6, 6, 6, (4, 6)))
    x = draw.normal(size=(7, 5))
    h = x @ w1.T + b1 * changes.get("bias", 1)
    spread = np.sqrt(h.var(-1, keepdims=True) + changes.get("epsilon", 1e-5))
    n = (h - h.mean(-1, keepdims=True)) / spread * scale + shift
    z = ACTIVATIONS[changes.get("activation", "relu")](n)
    y = z @ w2.T * changes.get("factor", 1)
    paths = ("one", "norm", "two") if name == NAMES[0] else ("a", "n", "b")
    kinds = ("linear", "layer_norm", "linear", "other")
    steps = zip((*paths, ""), kinds, ((x, h), (h, n), (z, y), (x, y)), strict=True)
    calls = [Call(path, kind, [before], {"": after}) for path, kind, (before, after) in steps]
    first = dict(
        zip(
            ("one.weight", "one.bias", "norm.weight", "norm.bias", "two.weight"),
            (w1, b1, scale, shift, w2),
            strict=True,
        )
    )
    port = {leaf: first[text.removesuffix(".T")] for leaf, text in WEIGHTS.items()}
    return Trace(name, calls, first if name == NAMES[0] else port, sum(it.size for it in first.values()))


def faults(first: Any, port: Any, x: Any = None, leaves: Any = None, sources: Any = None) -> str:
    return suspect(Evidence(NAMES, "linear", first, port, x, leaves or {}, sources or {}), ALL)[0]


@pytest.mark.parametrize(
    ("changes", "fault", "path", "figures"),
    [
        ({"bias": 0}, "bias", "a", ["one.bias"]),
        ({"bias": 2}, "bias", "a", ["once more", "one.bias"]),
        ({"epsilon": 1e-6}, "epsilon", "n", ["1e-05", "1e-06"]),
        ({"activation": "gelu (erf)"}, "activation", "b", ["relu", "gelu (erf)"]),
        ({"factor": 6**-0.5}, "factor", "b", ["0.408"]),
        ({"factor": 0.5}, "factor", "b", ["1/sqrt(4)"]),
        ({"factor": 3}, "factor", "b", [" 3 times"]),
    ],
)
def test_a_fault_is_named_where_it_is(changes: Any, fault: str, path: str, figures: list[str]) -> None:
    found = part(model(NAMES[0]), model(NAMES[1], **changes), WEIGHTS)
    assert found is not None and (found.fault, found.paths[1]) == (fault, path)
    assert all(figure in found.suspicion for figure in figures) and found.suspicion in found.sentence


@given(seed=seeds)
def test_ports_that_agree_do_not_part(seed: int) -> None:
    assert part(model(NAMES[0], seed), model(NAMES[1], seed), WEIGHTS) is None


@given(seed=seeds)
def test_what_is_unlike_anything_is_no_suspicion(seed: int) -> None:
    draw = np.random.default_rng(seed)
    first, port, x, y = draw.normal(size=(4, 2, 6, 8))
    leaves = {"m.weight": draw.normal(size=8), "m.bias": draw.normal(size=8), "m.kernel": draw.normal(size=(8, 8))}
    sources = {f"the output of {name}": it for name, it in (("q", x), ("k", y), ("v", x + y**2))}
    assert faults(first, port, None, leaves, sources) == faults(first, port, x, leaves) == ""
    assert faults(first[0, 0, :4], 2 * first[0, 0, :4]) == ""  # of four elements everything is a multiple by chance


@given(
    seed=seeds,
    shapes=st.tuples(*[st.lists(st.sampled_from((2, 3, 6)), min_size=1, max_size=4)] * 3),
    after=st.booleans(),
)
def test_no_shapes_are_too_odd_for_the_tests(seed: int, shapes: tuple[list[int], ...], after: bool) -> None:
    draw = np.random.default_rng(seed)
    first, port = draw.normal(size=(2, *shapes[0]))
    leaves = {"m.weight": draw.normal(size=(6, 6)), "m.bias": draw.normal(size=6), "m.var": draw.random(2)}
    sources = {f"the output of {place}": draw.normal(size=shape) for place, shape in enumerate(shapes)}
    assert faults(first, port, draw.normal(size=shapes[1]) if after else None, leaves, sources) == ""


@given(seed=seeds, p=st.floats(0.1, 0.6))
def test_dropout_is_told_from_other_zeros(seed: int, p: float) -> None:
    x = np.random.default_rng(seed).normal(size=(30, 40))
    kept = np.random.default_rng(seed + 1).random(x.shape) >= p
    assert faults(x, np.where(kept, x / (1 - p), 0)) == "dropout"
    assert faults(x, np.where(kept, 1.5 * x / (1 - p), 0)) == faults(x, np.where(kept, x, 0)) == ""


@given(seed=seeds, order=st.permutations(range(4)), shape=st.permutations((2, 3, 4, 5)))
def test_axes_in_another_order_are_found(seed: int, order: list[int], shape: list[int]) -> None:
    assume(order != sorted(order))
    x = np.random.default_rng(seed).normal(size=shape)
    flat = x.reshape(shape[0], -1)
    port = x.transpose(order).reshape(flat.shape)
    assert faults(flat, port, None, {}, {"the output of pool": x}) == "order of axes"


@pytest.mark.parametrize("channels_last", [False, True])
def test_a_batch_norm_by_the_batch_s_statistics_is_told(channels_last: bool) -> None:
    draw = np.random.default_rng(3)
    x, mean, var = draw.normal(size=(5, 4, 4, 6)), draw.normal(size=6), draw.random(6) + 0.5
    leaves = {"bn.weight": draw.normal(size=6), "bn.bias": draw.normal(size=6), "bn.running_mean": mean}
    leaves["bn.running_var"] = var

    def norm(mean: Any, var: Any, epsilon: float = 1e-5) -> Any:
        y = (x - mean) / np.sqrt(var + epsilon) * leaves["bn.weight"] + leaves["bn.bias"]
        return y if channels_last else y.transpose(0, 3, 1, 2)

    given = x if channels_last else x.transpose(0, 3, 1, 2)
    batch = norm(x.mean((0, 1, 2)), x.var((0, 1, 2)))
    assert faults(norm(mean, var), batch, given, leaves) == "batch statistics"
    assert faults(norm(mean, var), norm(mean, var, 1e-3), given, leaves) == "epsilon"


@pytest.mark.parametrize(
    ("step", "ddof", "words"),
    [(0.01, 1, "0.01 of the batch's variance by n - 1"), (0.1, 0, "0.1 of the batch's variance")],
)
def test_another_momentum_is_named(step: float, ddof: int, words: str) -> None:
    draw = np.random.default_rng(5)
    x, before = draw.normal(size=(8, 3, 4, 4)), {"bn.running_var": np.ones(3)}

    def traced(name: str, step: float, ddof: int) -> Trace:
        path, leaf = ("bn", "bn.running_var") if name == NAMES[0] else ("norm", "norm.var")
        after = (1 - step) * 1 + step * x.var((0, 2, 3), ddof=ddof)
        calls = [Call(path, "batch_norm", [x], {"": x}), Call("", "other", [x], {"": x})]
        return Trace(name, calls, {leaf: before["bn.running_var"]}, 0, after={leaf: after})

    weights = {"norm.var": "bn.running_var"}
    assert part(traced(NAMES[0], 0.1, 1), traced(NAMES[1], 0.1, 1), weights) is None
    found = part(traced(NAMES[0], 0.1, 1), traced(NAMES[1], step, ddof), weights)
    assert found is not None and found.fault == "momentum" and found.suspicion.endswith(words)


def test_what_is_nan_on_one_side_differs() -> None:
    x = np.array([1.0, np.nan, np.inf])
    assert error(x, x.copy()) == 0.0
    assert error(x, np.array([1.0, 2.0, np.inf])) == error(np.array([1.0, 2.0]), np.array([np.nan, 2.0])) == math.inf
    assert error(x, np.array([1.0, np.nan, -np.inf])) == math.inf
    assert not equal(np.zeros(9), np.full(9, 1e-7))


def test_a_call_that_parts_in_shape_alone_has_both_shapes() -> None:
    first, port = model(NAMES[0]), model(NAMES[1])
    cut = [replace(call, outputs={"": call.outputs[""][:, :3]}) if not call.path else call for call in port.calls]
    found = part(first, replace(port, calls=cut), WEIGHTS)
    assert found is not None and found.paths == NAMES and found.error == math.inf
    assert "(7, 4)" in found.sentence and "(7, 3)" in found.sentence


def test_the_first_arrays_that_agree_decide_the_layout() -> None:
    x, y = np.random.default_rng(11).normal(size=(2, 4, 4, 4))
    layouts: dict[int, tuple[int, ...]] = {}
    turned = aligned(x, x.transpose(1, 0, 2), layouts)
    assert turned is not None and np.array_equal(turned, x) and layouts == {3: (1, 0, 2)}
    assert np.array_equal(aligned(y, y.transpose(1, 0, 2), layouts), y)
    assert not np.array_equal(aligned(y, y, layouts), y)  # which is a difference now
    split = y.reshape(4, 4, 2, 2)
    assert np.array_equal(aligned(y, split, layouts), y) and np.array_equal(aligned(split, y, layouts), split)
    assert aligned(y, y[:2], layouts) is None


def test_what_is_not_returned_or_never_used_is_named() -> None:
    first, port = model(NAMES[0]), model(NAMES[1])
    more = [*first.calls[:-1], replace(first.calls[-1], outputs={"": first.calls[-1].outputs[""], "aux": np.ones(3)})]
    found = part(replace(first, calls=more), port, WEIGHTS)
    assert found is not None and found.fault == "output" and "jax_model does not return aux" in found.sentence
    found = part(port, replace(first, calls=more), {text.removesuffix(".T"): leaf for leaf, text in WEIGHTS.items()})
    assert found is not None and found.fault == "output" and "jax_model does not return aux" in found.sentence
    gained = replace(first, values=first.values | {"one.gate": np.ones((2, 3))})
    off = {"": np.random.default_rng(2).normal(size=(7, 6))}
    calls = [
        replace(port.calls[0], outputs=off),
        *port.calls[1:-1],
        replace(port.calls[-1], outputs={"": off[""][:, :4]}),
    ]
    found = part(gained, replace(port, calls=calls), WEIGHTS)
    assert found is not None and found.fault == "unused" and "one.gate" in found.suspicion


def test_parameters_that_one_side_has_alone_are_named() -> None:
    first, port = model(NAMES[0]), model(NAMES[1])
    fewer = replace(
        port, parameters=port.parameters - 6, values={k: v for k, v in port.values.items() if k != "a.bias"}
    )
    weights = {leaf: text for leaf, text in WEIGHTS.items() if leaf != "a.bias"}
    said = work(first, fewer, weights)
    assert said.startswith("jax_model has 8.3 % fewer parameters than torch_model") and "one.bias" in said
    assert work(first, port, WEIGHTS) == work(first, replace(port, parameters=port.parameters - 1), WEIGHTS) == ""
    assert "10.0 % more FLOPs" in work(replace(first, flops=1e6), replace(port, flops=1.1e6), WEIGHTS)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The traces of pairs of real modules, by pair and fault."""
    file = tmp_path_factory.mktemp("parting") / "traces"
    script = Path(__file__).with_name("parting_pairs.py")
    subprocess.run([venv.ensure(STACKS["torch_eager"].environment).python, script, file], check=True)
    return pickle.loads(file.read_bytes())  # our own script's


def traces(case: Any) -> tuple[Trace, Trace, dict[str, str]]:
    first, port, weights, _ = case
    one, other = (Trace(**it | {"calls": [Call(*call) for call in it["calls"]]}) for it in (first, port))
    return one, other, weights


@pytest.mark.stacks
@pytest.mark.parametrize("pair", PAIRS)
def test_faults_planted_in_real_modules_are_named_whichever_is_the_first(pair: str, ran: Any) -> None:
    planted = {fault: case for (name, fault), case in ran.items() if name == pair and fault}
    assert len(planted) == 2
    for fault, case in planted.items():
        first, port, weights = traces(case)
        uses = {name: leaves_in(text, first.values) for name, text in weights.items()}
        terms = {leaf: [name for name, used in uses.items() if leaf in used] for leaf in first.values}
        back = {leaf: " + ".join(names) for leaf, names in terms.items() if names}
        found, swapped = part(first, port, weights), part(port, first, back)
        assert found is not None and (found.fault, found.paths[1].split("+")[-1]) == (fault, case[-1]), found
        assert swapped is not None and swapped.fault == fault, swapped


@pytest.mark.stacks
@pytest.mark.parametrize("pair", PAIRS)
def test_real_modules_that_agree_do_not_part(pair: str, ran: Any) -> None:
    first, port, weights = traces(ran[pair, ""])
    assert part(first, port, weights) is None
    pairs = list(paired(first, port, weights, {}))
    assert len(pairs) > 2 and not [it.paths for it in pairs for each in it.outputs if differ(*each)]
    # If only what they return differs, and nothing explains it, nobody is suspected.
    draw = np.random.default_rng(7)
    noisy = {name: it + draw.normal(size=it.shape) for name, it in port.calls[-1].outputs.items()}
    found = part(first, replace(port, calls=[*port.calls[:-1], replace(port.calls[-1], outputs=noisy)]), weights)
    assert found is not None and (found.paths, found.fault) == (NAMES, "")
