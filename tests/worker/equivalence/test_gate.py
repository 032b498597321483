"""The equivalence gate: a correct stack passes, each deliberate mistake is `wrong` and never a mere error."""

from __future__ import annotations

import inspect
import types
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suite import protocol
from suite.case import Case
from suite.reference import optimizers
from suite.reference.expected import ReferenceAnswer
from suite.reference.findings import REASONS_MAX, GateFindings
from suite.reference.tolerances import Tolerances
from suite.stacks.base import Adapter
from suite.stacks.numpy import numpy_adapter
from suite.worker.data import Data
from suite.worker.equivalence import gate, late_step
from suite.worker.equivalence.comparison import TimedEvidence
from suite.worker.equivalence.witness import Witness
from suite.workloads import catalog
from suite.workloads.catalog import Workload
from tests.adapter_mutations import NUMPY_OPTIMIZERS
from tests.mutations import MUTANTS, make_mutant
from tests.worker.processes import case_of

OPS = ("gemm", "ffn", "mha", "selu", "rnn")


def op(name: str) -> Workload:
    return catalog.load(catalog.HOME / "ops" / name)


def run(
    workload: Workload,
    pass_: str,
    adapter_class: Callable[..., Adapter] = numpy_adapter.Adapter,
    spoil: Callable[[list[float]], list[float]] = lambda losses: losses,
    digested: bool = False,
) -> GateFindings:
    """Some timed steps and the gate, as the worker does; `digested`: held to digests, as at published sizes."""
    dims = workload.dims("tiny", {})
    case: Case = case_of(workload=workload.name, dims=dims, pass_=pass_)
    adapter, data = adapter_class(case, workload), Data(case, workload, seed=3)
    adapter.device()
    adapter.build()
    state, batch = data.place(adapter)
    losses, witness = [], Witness(adapter, batch)
    for _ in range(3):
        state, outputs = adapter.step(state, batch)
        adapter.wait(state, outputs)
        losses += [float(adapter.results(outputs))] if adapter.train else []
    witness.look(state)
    if digested:
        data = Digested(case, workload, seed=3)
    state, outputs = adapter.step(state, batch)
    return gate.run(adapter, data, TimedEvidence(spoil(losses), adapter.results(outputs), witness))


class Digested(Data):
    """What is expected as digests, as a golden file of a published size has it."""

    def expected(self, optimizer: str | None = None) -> ReferenceAnswer | None:
        found = super().expected(optimizer)
        return found and found.digested()


# --- what is right ---


@pytest.mark.parametrize("pass_", ["forward", "train"])
@pytest.mark.parametrize("name", OPS)
def test_numpy_passes_with_room_to_spare(name: str, pass_: str) -> None:
    found = run(op(name), pass_)
    assert found.reasons == []
    assert 0 < found.worst < 0.5 * protocol.TOLERANCE["f32"]


def test_a_looser_precision_has_a_looser_gate(tmp_path: Path) -> None:
    workload = catalog.load(make_mutant("tf32", tmp_path))
    case = case_of(workload=workload.name, dims=workload.dims("tiny", {}), precision="tf32")
    adapter, data = numpy_adapter.Adapter(case, workload), Data(case, workload, seed=3)
    adapter.build()
    state, batch = data.place(adapter)
    found = gate.run(adapter, data, TimedEvidence(result=adapter.results(adapter.step(state, batch)[1])))
    assert protocol.TOLERANCE["f32"] < found.worst < protocol.TOLERANCE["tf32"]
    assert found.reasons, "the same file isn't float32 where it must be"
    assert all(reason.startswith("in float32: ") for reason in found.reasons)


# --- wrong dialects ---


@pytest.mark.parametrize(("name", "pass_"), [(name, p) for name, mutant in MUTANTS.items() for p in mutant.passes])
def test_every_wrong_dialect_is_caught(name: str, pass_: str, tmp_path: Path) -> None:
    found = run(catalog.load(make_mutant(name, tmp_path)), pass_)
    assert found.reasons
    assert not found.worst <= protocol.TOLERANCE["f32"]


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_differ_in_every_dialect(name: str, tmp_path: Path) -> None:
    mutant = MUTANTS[name]
    workload = catalog.load(make_mutant(name, tmp_path))
    assert set(workload.dialects) == set(mutant.changes) >= {"numpy", "jax", "torch", "tf"}
    for dialect in workload.dialects:
        changed = (workload.folder / f"{workload.name}_{dialect}.py").read_text()
        original = (catalog.HOME / "ops" / mutant.origin / f"{mutant.origin}_{dialect}.py").read_text()
        assert changed != original
        compile(changed, dialect, "exec")


class RoundedGradients(numpy_adapter.Adapter):
    """Gradients with the bits of a bfloat16, in float32."""

    def read(self, what: str, state: Any, batch: Any) -> Any:
        read = super().read(what, state, batch)
        if what != "gradients":
            return read
        return {n: v if n == "loss" else (v.view(np.uint32) & 0xFFFF0000).view(np.float32) for n, v in read.items()}


def test_gradients_rounded_to_bfloat16_are_wrong_by_their_bits() -> None:
    found = run(op("ffn"), "train", RoundedGradients)
    assert any(reason.startswith("gradient of") and "is rounded to bfloat16" in reason for reason in found.reasons)
    assert not late_step.is_bfloat16(np.full(100, 2.0**-10)), "a constant gradient may have few bits"


# --- the step after the clocks ---


def after_the_clocks(adapter_class: Callable[..., Adapter], steps: int = 20, name: str = "ffn") -> GateFindings:
    """What the gate says of one more step of a state that has taken `steps`."""
    workload = op(name)
    case = case_of(workload=name, dims=workload.dims("tiny", {}), pass_="train")
    adapter, data = adapter_class(case, workload), Data(case, workload, seed=3)
    adapter.build()
    state, batch = data.place(adapter)
    for _ in range(steps):
        state, _ = adapter.step(state, batch)
    findings = GateFindings(Tolerances(workload.spec, "f32"))
    late_step.take(adapter, state, batch, steps).judge(findings, "adamw")
    return findings


@pytest.mark.parametrize("name", ["gemm", "ffn", "mha"])
@pytest.mark.parametrize("steps", [3, 300])
def test_a_correct_stack_takes_a_right_step_however_late(name: str, steps: int) -> None:
    assert after_the_clocks(numpy_adapter.Adapter, steps, name).reasons == []


@pytest.mark.parametrize(
    ("what", "old", "new"),
    [
        ("loss of timed step 21", "        return state, loss", "        return state, loss + 0.01"),
        (
            "down.bias in timed step 21",
            "self.apply(state, gradients)",
            "state['count'] < 20 and self.apply(state, gradients)",
        ),
        ("parameters in timed step 21 shrank", "protocol.LEARNING_RATE * protocol.WEIGHT_DECAY", "0.0"),
        ("m of up.weight in timed step 21", "(1.0 - protocol.BETA1) * g", "0.11 * g"),
        ("v of up.weight in timed step 21", "(1.0 - protocol.BETA2) * np", "0.0012 * np"),
        (
            "up.weight in timed step 21",
            "denominator *= protocol.LEARNING_RATE",
            "denominator *= 1.02 * protocol.LEARNING_RATE",
        ),
    ],
)
def test_a_late_step_that_is_wrong_is_refused(what: str, old: str, new: str) -> None:
    assert any(reason.startswith(what) for reason in after_the_clocks(mutated((old, new))).reasons)


@pytest.mark.parametrize(("share", "is_right"), [(1e-6, True), (1e-2, False)])
def test_a_file_s_optimizer_may_stand_still_where_the_model_fits_its_batch(share: float, is_right: bool) -> None:
    """A gradient of this share of the largest one at fresh weights, and a parameter that hasn't moved."""
    still, gradient = {"w": np.ones(8)}, {"w": np.full(8, 1.3 * share)}
    step = late_step.LateStep(3000, 0.5, 0.5, gradient, {"w": 1.3 * share}, (still, still), ({}, {}), 0.01)
    findings = GateFindings(Tolerances(op("ffn").spec, "f32"))
    step.judge(findings, "of the file", fresh_gradient=1.3)
    assert [reason.startswith("w in timed step 3001") for reason in findings.reasons] == ([] if is_right else [True])


def test_a_parameter_without_a_gradient_is_left_to_the_gate() -> None:
    class Unreached(numpy_adapter.Adapter):
        def read(self, what: str, state: Any, batch: Any) -> Any:
            values = dict(super().read(what, state, batch))
            return {name: value for name, value in values.items() if what != "gradients" or name != "down.bias"}

    assert after_the_clocks(Unreached).reasons == []
    assert any("down.bias" in reason for reason in run(op("ffn"), "train", Unreached).reasons)


def test_moments_in_bfloat16_are_told_from_float32_ones() -> None:
    values = np.linspace(0.1, 0.9, 40).astype(np.float32)
    rounded = (values.view(np.uint32) & 0xFFFF0000).view(np.float32)
    assert late_step.is_bfloat16(rounded.astype(np.float64)) and not late_step.is_bfloat16(values)
    assert not late_step.is_bfloat16(rounded[:8]) and not late_step.is_bfloat16(0.0 * rounded)


def test_of_a_large_tensor_the_same_elements_answer_for_parameter_and_moments() -> None:
    value = np.arange(2.0 * late_step.SAMPLES).reshape(2, -1)
    sampled = late_step.samples({"w": value, "m/w": value.T.copy().T, "b": value[:, 0]}, without=("none",))
    assert sampled["w"].size == late_step.SAMPLES and np.array_equal(sampled["w"], sampled["m/w"])
    assert len(set(sampled["w"])) > late_step.SAMPLES / 2
    assert sampled["b"].tolist() == [0.0, late_step.SAMPLES]
    assert late_step.samples({"w": value}, without=("w",)) == {}


# --- wrong optimizers ---


def mutated(*changes: tuple[str, str]) -> Callable[..., Adapter]:
    """The NumPy adapter with a line of its source changed."""
    text = inspect.getsource(numpy_adapter)
    for old, new in changes:
        assert old in text, f"{old!r} isn't in the adapter any more"
        text = text.replace(old, new)
    module = types.ModuleType("mutated_adapter")
    exec(compile(text, "mutated_adapter", "exec"), module.__dict__)
    return module.Adapter  # type: ignore[no-any-return]


@pytest.mark.parametrize("name", NUMPY_OPTIMIZERS)
def test_every_wrong_optimizer_is_caught(name: str) -> None:
    found = run(op("gemm"), "train", mutated(*NUMPY_OPTIMIZERS[name]))
    assert any("optimizer with injected gradients" in reason for reason in found.reasons)


@pytest.mark.parametrize("name", ["coupled decay", "no bias correction", "learning rate x 1.01"])
def test_gross_mistakes_show_in_the_parameters_too(name: str) -> None:
    found = run(op("ffn"), "train", mutated(*NUMPY_OPTIMIZERS[name]))
    assert any("movement of" in reason for reason in found.reasons)


def test_an_optimizer_that_differs_from_the_step_s_is_caught() -> None:
    """`update` is right, but the timed step does something else."""
    wrong = mutated(
        (
            "        self.apply(state, gradients)\n        return state, loss",
            "        for _ in '12': self.apply(state, gradients)\n        return state, loss",
        )
    )
    found = run(op("ffn"), "train", wrong)
    assert found.reasons and not any("optimizer" in reason for reason in found.reasons)


# --- wrong answers of any other kind ---


def spoiled(method: str, change: Callable[[dict[str, Any]], Mapping[str, Any]], what: str | None = None) -> Any:
    """The NumPy adapter with the named arrays of `read(what)` or `update` changed."""

    class Spoiled(numpy_adapter.Adapter):
        def read(self, asked: str, state: Any, batch: Any) -> Any:
            found = super().read(asked, state, batch)
            return change(dict(found)) if method == "read" and asked == what else found

        def update(self, *arguments: Any) -> Any:
            found = super().update(*arguments)
            return change(dict(found)) if method == "update" else found

    return Spoiled


def without(name: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda found: {n: v for n, v in found.items() if n != name}


def changed(name: str, change: Callable[[Any], Any]) -> Callable[[dict[str, Any]], dict[str, Any]]:
    return lambda found: found | {name: change(found[name])}


def with_nan(value: Any) -> Any:
    value = np.array(value)
    value.flat[-1] = np.nan
    return value


ANSWERS = {
    "missing gradient": ("gradients", without("up.bias")),
    "additional gradient": ("gradients", lambda found: found | {"more": np.zeros(3)}),
    "gradient of another shape": ("gradients", changed("up.weight", lambda g: g.T)),
    "flat gradient": ("gradients", changed("up.weight", np.ravel)),
    "NaN in a gradient": ("gradients", changed("up.weight", with_nan)),
    "infinite gradient": ("gradients", changed("up.weight", lambda g: g / 0.0)),
    "zero gradient": ("gradients", changed("down.bias", np.zeros_like)),
    "swapped gradients": ("gradients", lambda found: found | {"up.weight": found["down.weight"].T}),
    "loss of a batch": ("gradients", changed("loss", lambda loss: np.repeat(loss, 2))),
    "half a loss": ("gradients", changed("loss", lambda loss: loss / 2)),
    "no loss": ("gradients", without("loss")),
    "missing parameter": ("parameters", without("up.bias")),
    "NaN in a parameter": ("parameters", changed("up.weight", with_nan)),
    "parameter of another shape": ("parameters", changed("up.weight", lambda p: p.T)),
    "parameter with another axis": ("parameters", changed("up.bias", lambda p: p[None])),
    "stale parameter": ("parameters", changed("up.weight", lambda p: np.zeros_like(p))),
    "output of another shape": ("output", changed("output", lambda y: y[:1])),
    "NaN in the output": ("output", changed("output", with_nan)),
    "no output": ("output", without("output")),
}


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.filterwarnings("ignore:divide by zero|invalid value:RuntimeWarning")
def test_every_wrong_answer_is_a_reason(name: str) -> None:
    what, change = ANSWERS[name]
    found = run(op("ffn"), "train", spoiled("read", change, what))
    assert found.reasons, name
    assert not found.worst <= protocol.TOLERANCE["f32"], "relative_error looks like a pass"


@pytest.mark.parametrize(
    "change",
    [
        without("p"),
        changed("p", lambda p: p.T),
        changed("p", lambda p: p[:, :1]),
        changed("p", with_nan),
        changed("p", lambda p: p.mean()),
    ],
)
def test_a_wrong_update_is_a_reason(change: Any) -> None:
    found = run(op("gemm"), "train", spoiled("update", change))
    assert any("optimizer" in reason for reason in found.reasons)


@pytest.mark.parametrize("change", [lambda x: 1.00001 * x, lambda x: float("nan")])
@pytest.mark.parametrize("step", [0, 1, 2])
@pytest.mark.parametrize("name", ["gemm", "selu"])
def test_timed_losses_must_match(name: str, step: int, change: Callable[[float], float]) -> None:
    def spoil(losses: list[float]) -> list[float]:
        return [change(loss) if i == step else loss for i, loss in enumerate(losses)]

    found = run(op(name), "train", spoil=spoil)
    assert f"timed step {step + 1}" in " ".join(found.reasons)
    assert all("timed" in reason for reason in found.reasons)


def test_the_timed_output_must_match() -> None:
    class Drifting(numpy_adapter.Adapter):
        """Right for the gate's own call, wrong in the timed ones."""

        def step(self, state: Any, batch: Any) -> Any:
            state, outputs = super().step(state, batch)
            return state, outputs * np.float32(1.0001)

    found = run(op("gemm"), "forward", Drifting)
    assert "last timed output" in found.reasons[0]
    assert all("of other values" in reason or "other weights" in reason for reason in found.reasons[1:])


def test_state_from_the_timed_steps_does_not_leak_into_the_gate() -> None:
    """The gate places fresh parameters: a stack that keeps the trained ones is wrong."""

    class Keeping(numpy_adapter.Adapter):
        kept: Any = None

        def place(self, parameters: Any, batch: Any, moments: bool = True) -> Any:
            placed = super().place(parameters, batch, moments)
            self.kept = self.kept or placed
            return self.kept

    assert run(op("ffn"), "train", Keeping).reasons


# --- memory ---


def test_gradients_and_moments_are_never_there_together() -> None:
    """A step frees a gradient once it has used it; the gate holds all of them, so the moments mustn't be there."""
    gradients: list[weakref.ref[Any]] = []
    places: list[bool] = []

    class Watched(numpy_adapter.Adapter):
        def place(self, parameters: Any, batch: Any, moments: bool = True) -> Any:
            assert not any(gradient() is not None for gradient in gradients), "gradients are still held"
            places.append(moments)
            return super().place(parameters, batch, moments)

        def read(self, what: str, state: Any, batch: Any) -> Any:
            answer = super().read(what, state, batch)
            if what == "gradients":
                assert "moments" not in state
                gradients.extend(weakref.ref(answer[name]) for name in state["parameters"])
            return answer

    assert run(op("ffn"), "train", Watched).reasons == []
    assert len(gradients) == 4 and places == [True, False, True], "timed, to be read, to be stepped"


def test_memory_is_given_back_between_the_checks_of_a_large_case_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    released: list[bool] = []
    monkeypatch.setattr(gate.process_memory, "release", lambda: released.append(True))
    assert run(op("ffn"), "train", numpy_adapter.Adapter).reasons == [] and not released
    monkeypatch.setattr(gate, "MUCH_BYTES", 0)
    assert run(op("ffn"), "train", numpy_adapter.Adapter).reasons == [] and len(released) == 3


# --- zero gradients ---


def test_noise_where_the_gradient_is_zero_is_forgiven_up_to_the_learning_rate() -> None:
    """The key's bias has no gradient: softmax ignores it, AdamW makes steps of its rounding noise."""

    def moved(steps: float) -> Callable[[dict[str, Any]], dict[str, Any]]:
        def move(found: dict[str, Any]) -> dict[str, Any]:
            bias = found["qkv.bias"].copy()
            d = bias.size // 3
            bias[d : 2 * d] += steps * protocol.LEARNING_RATE
            return found | {"qkv.bias": bias}

        return move

    # A correct stack's own noise may already be three steps one way: start from where it must be anyway.
    right = run(op("mha"), "train")
    assert right.reasons == []
    far = run(op("mha"), "train", spoiled("read", moved(7.0), "parameters"))
    assert len(far.reasons) == 1 and "where its gradient is zero" in far.reasons[0]


def test_the_query_s_bias_is_not_forgiven() -> None:
    def move(found: dict[str, Any]) -> dict[str, Any]:
        bias = found["qkv.bias"].copy()
        bias[0] += 1e-4
        return found | {"qkv.bias": bias}

    found = run(op("mha"), "train", spoiled("read", move, "parameters"))
    assert any("movement of qkv.bias" in reason for reason in found.reasons)


# --- the measure itself ---


def findings(tolerance: float) -> GateFindings:
    """Of outputs held to a tolerance."""
    tolerances: Any = types.SimpleNamespace(plain=tolerance)
    return GateFindings(tolerances)


def test_a_row_tells_the_first_reasons_and_how_many_more() -> None:
    found = findings(1e-6)
    for number in range(REASONS_MAX):
        found.relative(f"tensor {number}", [1.0], [2.0])
    assert found.reason.count("relative error") == REASONS_MAX and "more" not in found.reason
    found.relative("another", [1.0], [2.0])
    assert found.reason.endswith("; and 1 more")


def asked(*declared: str) -> GateFindings:
    spec = types.SimpleNamespace(ASKED_TOLERANCE=None, OPTIMIZER=None)
    return GateFindings(Tolerances(spec, "f32", exact=True, types={f"x{n}": kind for n, kind in enumerate(declared)}))


def test_what_the_declared_type_cannot_hold_is_infinite_and_flagged() -> None:
    found, right = asked("float16"), np.array([1e5, -1e5, 2.0])
    found.hold("output", "output", np.array([np.inf, -np.inf, 2.0], np.float16), right)
    assert not found.reasons and found.odd
    for wrong in ([-np.inf, -np.inf, 2.0], [np.inf, np.nan, 2.0], [np.inf, -np.inf, np.inf]):
        found.hold("output", "output", np.array(wrong, np.float16), right)
    assert len(found.reasons) == 3
    single = asked("float32")
    single.hold("output", "output", np.array([np.inf], np.float32), np.array([92.3]))
    assert len(single.reasons) == 1 and not single.odd, "float32 holds 92.3"


def test_a_reason_says_in_which_arithmetic_the_reference_ended() -> None:
    for kind, declared, said in (
        ("float32", "float32", "by a reference in float32)"),
        ("float64", "float32", "by a reference in float64)"),
        ("float64", "bfloat16", "by a reference in float64 that doesn't round to bfloat16 on the way)"),
    ):
        found = asked(declared)
        found.hold("output", "output", np.array([92.3], np.float32), np.array([100.0], kind))
        assert said in found.reason


def test_relative_error_by_hand() -> None:
    one = findings(1e-3)
    one.relative("x", [3.0, 4.001], [3.0, 4.0])
    assert one.worst == pytest.approx(0.001 / 5)
    assert one.reasons == []
    one.relative("y", [3.0, 4.1], [3.0, 4.0])
    assert one.worst == pytest.approx(0.02)
    assert len(one.reasons) == 1 and one.reasons[0].startswith("y: relative error 0.02")


def test_an_elementwise_error_near_zero_is_no_reason() -> None:
    one = findings(5e-6)
    one.relative("x", [1.0, 1e-9], [1.0, 1e-19])
    assert one.reasons == []


def test_nan_stays_the_worst() -> None:
    one = findings(1e-3)
    one.relative("x", [np.nan], [1.0])
    one.relative("y", [1.0], [1.0])
    assert one.worst == float("inf") and len(one.reasons) == 1


def test_reference_optimizer_by_hand() -> None:
    """First step: both corrections cancel, so the update is lr sign(g) after the decay."""
    optimizer = optimizers.AdamW({"p": np.array([2.0, -2.0, 1.0])})
    optimizer.step({"p": np.array([5.0, -1e-3, 0.0])})
    decayed = np.array([2.0, -2.0, 1.0]) * (1 - 1e-5)
    assert optimizer.parameters["p"] == pytest.approx(decayed - 1e-3 * np.array([1.0, -1.0, 0.0]), abs=1.1e-8)


# --- steps that leave something out, held to whole tensors and to digests ---

STEP = "        self.apply(state, gradients)\n        return state, loss"
DECAY = "p *= 1.0 - protocol.LEARNING_RATE * protocol.WEIGHT_DECAY"
IN_STEP_ALONE = f"""        protected = protocol.WEIGHT_DECAY
        protocol.WEIGHT_DECAY = 0.0
{STEP.replace("        return state, loss", "        protocol.WEIGHT_DECAY = protected")}
        return state, loss"""
PLACED = '        state = {"parameters": {name'
SKIPPED = {
    "backward": ((STEP, "        for gradient in gradients.values(): gradient[...] = 0\n" + STEP), "movement of"),
    "optimizer": ((STEP, "        return state, loss"), "movement of"),
    "decay": ((STEP, IN_STEP_ALONE), "of itself"),
    "one parameter": (
        (
            STEP,
            "        gradients = gradients | {'b' if 'b' in gradients else 'down.weight': 0 * "
            "gradients['b' if 'b' in gradients else 'down.weight']}\n" + STEP,
        ),
        "movement of",
    ),
    "the moments": ((STEP, "        state['moments'] = zeros(state['parameters'], 'adamw')\n" + STEP), "movement of"),
}


@pytest.mark.parametrize("digested", [False, True])
@pytest.mark.parametrize("name", ["gemm", "ffn", "mha"])
def test_a_whole_step_passes_with_digests_too(name: str, digested: bool) -> None:
    assert run(op(name), "train", digested=digested).reasons == []


@pytest.mark.parametrize("digested", [False, True])
@pytest.mark.parametrize("what", SKIPPED)
@pytest.mark.parametrize("name", ["gemm", "ffn"])
def test_a_step_that_skips_something_is_caught(name: str, what: str, digested: bool) -> None:
    change, reason = SKIPPED[what]
    found = run(op(name), "train", mutated(change), digested=digested)
    assert any(reason in each for each in found.reasons), found.reasons
    assert not any("injected" in each for each in found.reasons), "the optimizer alone is right"


def test_decay_that_only_the_timed_steps_skip_is_caught() -> None:
    """The replay is right."""
    timed_alone = IN_STEP_ALONE.replace("        protected =", "        timed = self.places == 1\n        protected =")
    wrong = mutated(
        (STEP, timed_alone.replace("WEIGHT_DECAY = 0.0", "WEIGHT_DECAY = 0.0 if timed else protected")),
        (PLACED, f"        self.places = getattr(self, 'places', 0) + 1\n{PLACED}"),
    )
    found = run(op("ffn"), "train", wrong)
    assert "of themselves less than in the replay" in found.reasons[-1]
    assert all("timed step" in reason for reason in found.reasons)


def test_a_parameter_that_only_the_timed_steps_leave_alone_is_caught() -> None:
    class Forgetful(numpy_adapter.Adapter):
        places = 0

        def place(self, parameters: Any, batch: Any, moments: bool = True) -> Any:
            self.places += 1
            return super().place(parameters, batch, moments)

        def step(self, state: Any, batch: Any) -> Any:
            before = state["parameters"]["down.bias"].copy()
            state, loss = super().step(state, batch)
            if self.places == 1:
                state["parameters"]["down.bias"][...] = before
            return state, loss

    found = run(op("ffn"), "train", Forgetful)
    assert any("down.bias after 3 timed steps" in reason for reason in found.reasons)


def test_the_last_loss_must_have_been_learnt() -> None:
    class Rising(numpy_adapter.Adapter):
        calls = 0

        def step(self, state: Any, batch: Any) -> Any:
            self.calls += 1
            state, loss = super().step(state, batch)
            return state, loss * (2.0 if self.calls == 4 else 1.0)

    found = run(op("ffn"), "train", Rising)
    assert len(found.reasons) == 1
    assert "the last timed loss" in found.reasons[0]
