"""The measuring protocol's constants, each named once. docs/methodology.md gives the reasons.

Standard library only. A preset may override any of them; the values in force travel to the
worker in ATTEMPT.json and are archived in plan.json.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from suite.errors import UserError

# What any constant may be, least and most; a preset or a set of anybody's may ask for it.
ANY = (0, 10**9)
BOUNDS = {
    "blocks": (1, 1000),
    "blocks_max": (1, 1000),
    "costly_blocks": (0, 1000),
    "baseline_replicates": (1, 100),
    "noisy_retries": (0, 100),
    "disturbed_retries": (0, 100),
    "samples_max": (1, 10**6),
    "pipelined_calls_min": (1, 1024),
    "pipelined_calls_max": (1, 1024),
    "tie_ratio": (1, 100),
    "confidence": (0.5, 0.9999),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """Every number that decides when a measurement starts, stops or is doubted."""

    # Stop rule of the synced clock: both minima must hold, the first maximum ends it.
    samples_min: int = 30
    seconds_min: float = 2.0
    samples_max: int = 2000
    seconds_max: float = 60.0  # all clocks of one process together
    slow_call_seconds: float = 2.0  # a call longer than this needs only `slow_samples_min` samples
    slow_samples_min: int = 5
    batch_seconds: float = 0.25  # events are written between batches of samples, never inside one

    # The pipelined clock: k submitted steps and one wait.
    pipelined_calls_min: int = 4
    pipelined_calls_max: int = 32  # JAX on CPU blocks at the 33rd call in flight
    pipelined_seconds_min: float = 0.010
    pipelined_call_seconds_max: float = 2.0
    side_samples: int = 10  # samples of the pipelined and of the fetch clock
    side_samples_slow: int = 5
    side_slow_seconds: float = 0.5
    side_seconds_max: float = 5.0  # calls longer than this get no pipelined or fetch sample

    replaced_seconds_max: float = 20.0  # of samples that others disturbed, taken again in the same process

    # Limits, enforced from outside the worker.
    compile_timeout_seconds: float = 600.0
    timeout_seconds: float = 1200.0

    # Blocks.
    blocks: int = 5
    blocks_max: int = 15  # equal to `blocks`: no second stage
    costly_blocks: int = 0  # the first blocks, in which alone a stack runs whose processes take long; 0: it runs in all
    baseline_replicates: int = 2  # processes of the baseline in each block, unless a preset has no twin
    noisy_retries: int = 2
    disturbed_retries: int = 2  # of a process, with a baseline beside it, whose samples others disturbed to the end
    tie_ratio: float = 1.03
    confidence: float = 0.95

    # Noise gate.
    canary_drift_max: float = 0.05
    steal_share_max: float = 0.01

    # The search for the largest size that fits ends once the first that doesn't is no farther from it than this share
    # of it; 0: once the next size has run out.
    search_tolerance: float = 0.0

    roofline: bool = True  # measure what the machine reaches, once a day
    ir: bool = False  # after the blocks a process more for each case whose compiler's programs can be read
    abstract: bool = False  # of those: compiled for tensors that aren't there, and not run
    profile: bool = False  # after the blocks a process more for each case: where a step's time goes
    explain: bool = False  # after the blocks a process more for each case: whose kernels work, what holds memory

    def __post_init__(self) -> None:
        """Raises UserError for a constant out of its bounds."""
        for field in fields(self):
            (least, most), value = BOUNDS.get(field.name, ANY), getattr(self, field.name)
            if not (math.isfinite(value) and least <= value <= most):
                raise UserError(f"'{field.name}' of the protocol is from {least} to {most}, not {value}.")


# Of the cores' time in a batch of samples: what others may take of it before its samples count as disturbed.
OTHERS_SHARE_MAX = 0.05

# AdamW of every stack (Loshchilov & Hutter 2019, arXiv:1711.05101, algorithm 2 with lr-scaled decay):
# epsilon outside the root, decoupled decay on every parameter, bias correction.
LEARNING_RATE = 1e-3
BETA1 = 0.9
BETA2 = 0.999
EPSILON = 1e-8
WEIGHT_DECAY = 0.01

# SGD with momentum as PyTorch has it: v = momentum v + g; p -= lr v (the same learning rate).
MOMENTUM = 0.9

# More operations a second than any core of an x86-64 CPU does at 6 GHz (f32: two 512-bit multiply-adds a cycle; bf16:
# one tile of AMX, 1024 of them). Where no roof was measured:
# a faster row hasn't computed what it says, and is flagged `implausible`.
FLOPS_PER_CORE_MAX = {"f32": 2 * 2 * 16 * 6e9, "bf16": 2 * 1024 * 6e9}

# Largest relative Frobenius error of a correct stack, by precision, for one operation; in f32 a model's is larger,
# element by element at its small sizes, by norms and projections at the others.
TOLERANCE = {"f32": 5e-6, "tf32": 2e-3, "bf16": 2e-2}
# In bf16 too: JAX's norms are in bfloat16 as well, which brought gradients of correct tiny models to 2.4e-2.
MODEL_TOLERANCE = {"f32": 2e-5, "tf32": 2e-3, "bf16": 5e-2}
DIGEST_TOLERANCE = {"f32": 1e-4, "tf32": 2e-3, "bf16": 5e-2}
# Of the movement of a whole tensor by AdamW in f32, beyond what rounding the weights explains. Correct stacks have none
# of it; an element whose gradient is just over ZERO_GRADIENT may be off by a hundredth of its step.
MOVEMENT_TOLERANCE = 1e-3
# Of the timed movement against its replay by the same functions, where no other tolerance is smaller.
REPLAY_TOLERANCE_MAX = 0.5
OPTIMIZER_TOLERANCE = 2e-7  # absolute, after three steps with injected gradients
# Of the model's largest |g|: below it AdamW amplifies rounding noise to +-lr. At 1e-6 one element of a bias of 768
# brought correct stacks to an error of 4.7e-6 (NumPy) and 5.7e-6 (TensorFlow) on mha; at 1e-5 all stay under 4e-7.
ZERO_GRADIENT = 1e-5
# Of the same: how large the rounding noise may be that stands for a gradient of zero. bf16: 4.5e-4 was seen on vit.
ZERO_NOISE = {"f32": ZERO_GRADIENT, "tf32": 5e-4, "bf16": 4e-3}
GATE_STEPS = 3
