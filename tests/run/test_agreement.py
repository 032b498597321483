"""Processes of a case are held to the gated one; without a reference, the majority of dialects is right."""

from __future__ import annotations

import math
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from suite.reference.digests import Digest, digest
from suite.reference.tolerances import Tolerances
from suite.run.agreement import Agreement
from suite.run.reported import worst
from suite.sets.rows import Row, metrics_json
from suite.workloads.catalog import find
from suite.workloads.tensors import Normal, generate

VALUES = {"output": 2.0, "gradient/w": 4.0, "gradient/zero": 1e-6, "moved/w": 3e-3, "moved/zero": 3e-3, "buffer/m": 1.0}
TENSORS = {name: scale * generate(Normal((1000,)), name, 0) for name, scale in VALUES.items()}
JUMPING = SimpleNamespace(OPTIMIZER="sgd", GRADIENT_TOLERANCE={"f32": 1e-2})
SMOOTH = SimpleNamespace(OPTIMIZER="adamw")


def digests(**factors: float) -> dict[str, Digest]:
    """Of the tensors above, some of them multiplied."""
    named = {name.replace("_", "/"): factor for name, factor in factors.items()}
    return {name: digest(named.get(name, 1.0) * value, name) for name, value in TENSORS.items()}


def check(ours: dict[str, Digest], spec: object = SMOOTH) -> tuple[str, float]:
    name, found = worst(ours, digests(), Tolerances(spec, "f32"))
    return name, found.error


def test_equal_stacks_dont_differ() -> None:
    assert check(digests()) == ("", 0.0)


def by_keras(factor: float = 1.0) -> dict[str, Digest]:
    """What a stack with another optimizer than the spec's writes, its losses and movements other than the spec's."""
    changed = {"loss 2": 1.1, "moved/w": 1.1 * factor}
    same = {name: found for name, found in digests().items() if name not in changed}
    values = {name: TENSORS.get(name, np.ones(1)) for name in changed}
    keys = {name: f"{name} by keras_adamw" for name in changed}
    return same | {keys[name]: digest(changed[name] * values[name], keys[name]) for name in changed}


def test_stacks_with_two_optimizers_are_compared_in_what_no_optimizer_has_changed() -> None:
    with_loss = digests() | {"loss 2": digest(np.ones(1), "loss 2")}
    for ours, theirs in ((by_keras(), with_loss), (with_loss, by_keras())):
        assert worst(ours, theirs, Tolerances(SMOOTH, "f32"))[0] == ""
    assert worst(by_keras() | digests(gradient_w=1.5), with_loss, Tolerances(SMOOTH, "f32"))[0] == "gradient/w"


def test_stacks_with_the_same_other_optimizer_are_compared_in_its_steps_too() -> None:
    name, found = worst(by_keras(2.0), by_keras(), Tolerances(SMOOTH, "f32"))
    assert (name, found.error) == ("moved/w by keras_adamw", pytest.approx(1.0, rel=0.5))


def test_a_gradient_that_one_side_alone_lacks_differs_whichever_side_is_asked() -> None:
    for ours, theirs in ((digests(gradient_zero=1e6), digests()), (digests(), digests(gradient_zero=1e6))):
        assert worst(ours, theirs, Tolerances(SMOOTH, "f32"))[0] == "gradient/zero"


def test_the_worst_is_the_worst_for_what_it_is_allowed() -> None:
    ours = digests(output=1.0002, gradient_w=1.005)
    assert check(ours) == ("gradient/w", pytest.approx(5e-3, rel=0.5))
    assert check(ours, JUMPING) == ("output", pytest.approx(2e-4, rel=0.5))


@pytest.mark.parametrize("key", ["moved_w", "buffer_m"])
def test_what_a_step_writes_has_a_say(key: str) -> None:
    name, error = check(digests(**{key: 0.0}))
    assert name == key.replace("_", "/")
    assert error >= 0.5


def test_a_gradient_of_rounding_noise_has_no_say_nor_what_is_made_of_it() -> None:
    assert check(digests(gradient_zero=3.0, moved_zero=-1.0)) == ("", 0.0)


def test_a_missing_tensor_is_the_worst_there_is() -> None:
    name, error = check({"output": digests()["output"]})
    assert name == "gradient/w"
    assert math.isnan(error)


# --- processes ---


def row_of(metrics: dict[str, list[float]], pass_: str = "train", **columns: Any) -> Row:
    told = [{"name": name, "unit": "1", "kind": "gate", "values": values} for name, values in metrics.items()]
    return Row(
        {
            "case_id": "c",
            "comparison_id": "q",
            "workload": "ffn",
            "pass": pass_,
            "precision": "f32",
            "purpose": "timed",
            "outcome": "ok",
            "reason": None,
            "relative_error": None,
            "stack": "numpy",
            "metrics": metrics_json(told),
        }
        | columns
    )


def figures(value: Any) -> list[float]:
    return digest(np.asarray(value, np.float32), "output").figures


LOSSES = [1.0, 0.9, 0.8]
TRAINED = {"loss": LOSSES, "last result": figures(0.5)}
OUTPUT = TENSORS["output"].astype(np.float32)


def judged(metrics: dict[str, list[float]], gated: dict[str, list[float]] | None = None, **columns: Any) -> Row:
    """A row beside the gated one of its case, if there is any."""
    agreement = Agreement({"ffn": find()["ffn"], "selu": find()["selu"]})
    if gated is not None:
        agreement.remember(row_of(gated, **(columns | {"relative_error": 1e-7})))
    row = row_of(metrics, **columns)
    agreement.judge(row)
    return row


def test_equal_processes_agree() -> None:
    assert judged(TRAINED, TRAINED)["outcome"] == "ok"
    told = {"last result": figures(OUTPUT)}
    assert judged(told, told, pass_="forward")["outcome"] == "ok"


@pytest.mark.parametrize("gated", [None, TRAINED])
@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"last result": figures(0.5)}, "0 losses of its first 3"),
        ({"loss": [], "last result": figures(0.5)}, "0 losses"),
        ({"loss": LOSSES[:2], "last result": figures(0.5)}, "2 losses"),
        ({"loss": LOSSES}, "nothing of its last timed result"),
        ({"loss": LOSSES, "last result": []}, "nothing of its last"),
        ({"loss": LOSSES, "last result": [1.0, 2.0]}, "nothing of its last"),
        ({}, "0 losses"),
    ],
)
def test_who_proves_nothing_is_wrong_gated_or_not(told: Any, reason: str, gated: Any) -> None:
    row = judged(told, gated)
    assert row["outcome"] == "wrong"
    assert reason in row["reason"]


def test_a_forward_pass_proves_its_last_output() -> None:
    row = judged({}, {"last result": figures(OUTPUT)}, pass_="forward")
    assert (row["outcome"], row["reason"]) == ("wrong", "it reported nothing of its last timed result")
    for wrong in (1.001 * OUTPUT, OUTPUT[::-1], 0.0 * OUTPUT, np.nan * OUTPUT):
        row = judged({"last result": figures(wrong)}, {"last result": figures(OUTPUT)}, pass_="forward")
        assert row["outcome"] == "wrong"
        assert "last timed output" in row["reason"]


@pytest.mark.parametrize("step", [0, 1, 2])
@pytest.mark.parametrize("wrong", [1.1, math.nan])
def test_the_first_losses_are_those_of_the_gated_process(step: int, wrong: float) -> None:
    losses = [wrong if i == step else loss for i, loss in enumerate(LOSSES)]
    row = judged(TRAINED | {"loss": losses}, TRAINED)
    assert row["outcome"] == "wrong"
    assert f"loss of step {step + 1}" in row["reason"]


def test_the_last_loss_has_been_learnt_or_without_an_optimizer_stands() -> None:
    for last in (1.0, 1.5, math.nan):
        assert "last timed loss" in judged(TRAINED | {"last result": figures(last)}, TRAINED)["reason"]
    same = {"loss": [1.0, 1.0, 1.0], "last result": figures(1.0)}
    assert judged(same, same, workload="selu")["outcome"] == "ok"
    assert "last timed loss" in judged(same | {"last result": figures(0.9)}, same, workload="selu")["reason"]


def test_a_process_that_fills_caches_proves_nothing_and_need_not() -> None:
    assert judged({}, TRAINED, purpose="prime")["outcome"] == "ok"


def test_a_case_is_proven_by_a_process_that_passed_the_gate() -> None:
    agreement = Agreement({"ffn": find()["ffn"]})
    agreement.remember(row_of(TRAINED))
    assert "c" not in agreement.proofs
    agreement.remember(row_of(TRAINED, relative_error=1e-7))
    assert "c" in agreement.proofs


# --- without a reference ---

STACKS = {"jax_jit": "jax", "torch_eager": "torch", "torch_inductor": "torch", "torch_xla": "torch", "tf_graph": "tf"}


def told(stack: str, factor: float = 1.0, **columns: Any) -> Row:
    """The gated row of a stack, all of whose tensors are off by a factor."""
    metrics = [{"name": n, "unit": "1", "kind": "digest", "values": d.figures} for n, d in digests().items()]
    if factor != 1.0:
        wrong = {name: digest(factor * value, name) for name, value in TENSORS.items()}
        metrics = [{"name": n, "unit": "1", "kind": "digest", "values": d.figures} for n, d in wrong.items()]
    row = row_of(TRAINED, **{"case_id": stack, "stack": stack, "dialect": STACKS[stack], "flags": []} | columns)
    row["metrics"] = metrics_json(row.metrics + metrics)
    return row


def in_order(*rows: Row) -> tuple[dict[str, str], list[str], dict[str, Any]]:
    """Of gated rows judged in this order: outcomes by stack, the stacks that nothing verifies, and whom the majority
    contradicts in the end."""
    agreement = Agreement({"ffn": find()["ffn"]})
    for row in rows:
        agreement.judge(row)
        if row["outcome"] == "ok":
            agreement.remember(row)
    return {row["stack"]: row["outcome"] for row in rows}, agreement.unverified(), agreement.contradicted("q")


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (1, 2, 0)])
def test_the_one_dialect_that_differs_is_wrong_whoever_ran_first(order: tuple[int, ...]) -> None:
    rows = [told("jax_jit", 1.01), told("torch_eager"), told("tf_graph")]
    outcomes, _, contradicted = in_order(*(rows[place] for place in order))
    wrong = {stack for stack, outcome in outcomes.items() if outcome == "wrong"} | contradicted.keys()
    assert wrong == {"jax_jit"}
    outcome, reason, _ = contradicted.get("jax_jit", ("wrong", rows[0]["reason"], None))
    assert outcome == "wrong"
    assert reason.endswith("against tf and torch, which agree")


def test_three_stacks_of_one_dialect_have_one_vote() -> None:
    """They share a file, and so its mistakes."""
    torch = [told(stack, 1.01) for stack in ("torch_eager", "torch_inductor", "torch_xla")]
    outcomes, unverified, contradicted = in_order(told("jax_jit"), *torch)
    assert set(outcomes.values()) == {"ok"} and {end[0] for end in contradicted.values()} == {"differ"}, (
        "one against one"
    )
    assert contradicted.keys() == outcomes.keys()
    assert unverified == ["jax_jit", "torch_eager", "torch_inductor", "torch_xla"], "the first to run as well"
    _, unverified, contradicted = in_order(
        told("jax_jit"), *[told(row["stack"], 1.01) for row in torch], told("tf_graph")
    )
    assert contradicted.keys() == {"torch_eager", "torch_inductor", "torch_xla"}
    assert {end[0] for end in contradicted.values()} == {"wrong"}
    assert unverified == []


def test_two_functions_of_one_dialect_have_a_vote_each_however_many_stacks_run_them() -> None:
    eager = told("torch_eager", 1.01, implementation="a")
    compiled = told("torch_inductor", 1.01, implementation="a", case_id="compiled")
    other = told("torch_eager", implementation="b", case_id="b")
    _, _, contradicted = in_order(eager, compiled, other)
    assert {end[0] for end in contradicted.values()} == {"differ"} and len(contradicted) == 3
    _, unverified, contradicted = in_order(eager, compiled, other, told("jax_jit"))
    assert {case: end[0] for case, end in contradicted.items()} == {"torch_eager": "wrong", "compiled": "wrong"}
    assert unverified == []


def test_one_function_on_the_arrays_of_three_frameworks_and_one_compiled_in_two_ways_have_one_vote() -> None:
    standard = [told(stack, 1.01, implementation="xp_a") for stack in ("jax_jit", "torch_eager")]
    _, _, contradicted = in_order(*standard, told("tf_graph", implementation="b"))
    assert {end[0] for end in contradicted.values()} == {"differ"}, "one against one"
    names = ("loop", "loop.parallel")
    loops = [told("torch_eager", 1.01, implementation=name, dialect="numba", case_id=name) for name in names]
    _, _, contradicted = in_order(*loops, told("tf_graph", implementation="b"))
    assert {end[0] for end in contradicted.values()} == {"differ"}
    assert "{numba_loop} and {tf_b}" in contradicted["loop"][1]


def test_a_tensor_that_the_other_lacks_and_a_tolerance_of_zero() -> None:
    spec = SimpleNamespace(ASKED_TOLERANCE=0.0, OPTIMIZER=None)
    exact, one = Tolerances(spec, "f32"), {"output": digest(OUTPUT, "output")}
    more = one | {"output/1": digest(OUTPUT, "x")}
    for ours, theirs in ((one, more), (more, one)):
        name, apart = worst(ours, theirs, exact)
        assert name == "output/1" and math.isnan(apart.error)
    assert exact.of("output").broken(worst(one, one, exact)[1]) == ""
    name, apart = worst({"output": digest(2 * OUTPUT, "output")}, one, exact)
    assert name == "output" and exact.of(name).broken(apart)
    assert Tolerances(SimpleNamespace(ASKED_TOLERANCE=0.1), "f32").of("output/k of whole (3,)").error == 0.0
    coarse = Tolerances(SimpleNamespace(ASKED_TOLERANCE=None), "tf32", types={"x": "float32"})
    assert coarse.of("output").error == 2e-3


def test_two_dialects_that_agree_are_verified_and_one_alone_never_is() -> None:
    _, unverified, contradicted = in_order(told("jax_jit"), told("torch_eager"))
    assert unverified == [] and contradicted == {}
    for alone in ([told("torch_eager")], [told("torch_eager"), told("torch_inductor")]):
        _, unverified, _ = in_order(*alone)
        assert unverified == [row["stack"] for row in alone]


def test_later_processes_of_a_case_are_held_to_what_others_told_since() -> None:
    agreement = Agreement({"ffn": find()["ffn"]})
    agreement.remember(told("jax_jit"))
    later = row_of(TRAINED, case_id="jax_jit", stack="jax_jit", dialect="jax", flags=[])
    agreement.judge(later)
    assert later["outcome"] == "ok" and agreement.unverified() == ["jax_jit"]
    agreement.remember(told("tf_graph"))
    agreement.judge(later)
    assert later["outcome"] == "ok" and agreement.unverified() == []
    agreement.remember(told("torch_eager", 1.01))
    later = row_of(TRAINED, case_id="torch_eager", stack="torch_eager", dialect="torch", flags=[])
    agreement.judge(later)
    assert later["outcome"] == "wrong"


# --- groups ---


def function(stack: str, name: str, factor: float, case_id: str, **columns: Any) -> Row:
    return told(stack, factor, implementation=name, case_id=case_id, variant="", **columns)


def test_without_a_majority_the_groups_that_agree_are_named_with_their_distance() -> None:
    rows = [
        function("jax_jit", "smooth", 1.0, "1"),
        function("torch_eager", "smooth", 1.0, "2"),
        function("torch_inductor", "smooth", 1.0, "3"),
        function("jax_jit", "sharp", 1.5, "4"),
        function("torch_eager", "plain", 1.5, "5"),
    ]
    _, _, ends = in_order(*rows)
    assert {end[0] for end in ends.values()} == {"differ"} and len(ends) == 5
    (reason,) = {end[1] for end in ends.values()}
    found = re.fullmatch(r"two groups, of 3 and 2: (\{.+\}) and (\{.+\}), (\S+) apart .*", reason)
    assert found is not None, reason
    assert {found[1], found[2]} == {"{jax_smooth, torch_smooth}", "{jax_sharp, torch_plain}"}
    assert float(found[3]) == pytest.approx(1 / 3, rel=0.25), "a part of the larger"


def test_a_function_that_is_in_two_groups_is_named_with_its_stacks() -> None:
    rows = [function("torch_eager", "a", 1.0, "1"), function("torch_xla", "a", 1.5, "2")]
    _, _, ends = in_order(*rows)
    assert "{torch_eager:a} and {torch_xla:a}" in ends["1"][1]


def at_kinks(case_id: str, stack: str, slope: float, elsewhere: float = 1.0) -> Row:
    """A gated row whose gradient of w is `slope` times the one side's at every fourth element."""
    tie = np.arange(1000) % 4 == 0
    gradient = np.where(tie, slope, elsewhere) * TENSORS["gradient/w"]
    smooth = digest(np.where(tie, 0.0, gradient), "gradient/w")
    row = function(stack, case_id, 1.0, case_id)
    kept = [metric for metric in row.metrics if metric["name"] != "gradient/w"]
    new = [
        {"name": "gradient/w", "unit": "1", "kind": "digest", "values": digest(gradient, "gradient/w").figures},
        {"name": "w", "unit": "1", "kind": "kinks", "values": [250.0, 1000.0, 0.0, 0.5, *smooth.figures]},
    ]
    row["metrics"] = metrics_json(kept + new)
    return row


def test_gradients_that_differ_only_at_kinks_are_conventions_and_say_where() -> None:
    rows = [at_kinks("a", "jax_jit", 0.0), at_kinks("b", "torch_eager", 0.0), at_kinks("c", "jax_jit", 0.5)]
    outcomes, _, ends = in_order(*rows)
    assert {*outcomes.values()} == {"ok"} and ends.keys() == {"c"} and ends["c"][0] == "differ"
    assert (
        "gradients at kinks alone: 250 of 1,000 elements of w" in ends["c"][1]
        and "the first is number 0, 0.5" in ends["c"][1]
    )
    assert "two groups, of 2 and 1: {jax_a, torch_b} and {jax_c}" in ends["c"][1]


def test_a_gradient_that_differs_beside_its_kinks_or_without_any_is_wrong() -> None:
    for odd in (at_kinks("c", "jax_jit", 0.5, elsewhere=1.001), function("jax_jit", "c", 1.01, "c")):
        rows = [at_kinks("a", "jax_jit", 0.0), at_kinks("b", "torch_eager", 0.0), odd]
        outcomes, _, ends = in_order(*rows)
        assert {outcomes[odd["stack"]], *(end[0] for end in ends.values())} >= {"wrong"}, ends
        assert "differ" not in {end[0] for end in ends.values()}


def test_results_of_other_shapes_are_told_by_their_shapes() -> None:
    rows = [function("jax_jit", "a", 1.0, "1"), function("torch_eager", "a", 1.0, "2")]
    rows.append(function("torch_eager", "turned", 1.0, "3"))
    for row, shape in zip(rows, ((4, 8), (4, 8), (8, 4)), strict=True):
        figures = digest(np.ones(shape), "output").figures
        of_form = {"name": f"output of real {shape}", "unit": "1", "kind": "digest", "values": figures}
        row["metrics"] = metrics_json([*row.metrics, of_form])
    _, _, ends = in_order(*rows)
    assert ends["3"][:2] == ("wrong", "output is real (8, 4), not real (4, 8), against jax_a and torch_a, which agree")
