"""The constants of the measuring protocol. docs/why/method.md gives the reasons.

Standard library only. A preset may override any field of `Protocol`; the values in force are in each ATTEMPT.json and
in plan.json.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from suite.errors import UserError, unknown

# A worker that finds this environment variable takes its samples in turn with other workers. The value is two
# descriptors of pipes: from the first the worker reads orders, to the second it writes answers.
TURNS_VARIABLE = "STACKWARS_TURNS"
# An order is `round N` (take the samples of this round; `round 0`: make the first calls and warm up) or one of two
# words. `rest`: go on to the phases after the samples, then to the gate; `alone`: take all samples without turns.
REST, ALONE = "rest", "alone"
# An answer, like `more 123`, says whether the waiting process needs more turns, and the bytes of memory that it needs
# in a turn. `full`: it has taken the most samples that the protocol allows.
MORE, ENOUGH, FULL = "more", "enough", "full"

# The least and greatest value of each constant: a preset or a stranger's set may ask for any.
ANY = (0, 10**9)
SAMPLINGS = ("alone", "rounds")
BLOCKS, DECIDED = UNTIL = ("blocks", "decided")
WORDS = {"sampling": SAMPLINGS, "until": UNTIL}  # of the constants that aren't numbers
BOUNDS = {
    "blocks": (1, 1000),
    "blocks_max": (1, 1000),
    "costly_blocks": (0, 1000),
    "baseline_replicates": (1, 100),
    "noisy_retries": (0, 100),
    "disturbed_retries": (0, 100),
    "samples_max": (1, 10**6),
    "rounds_min": (1, 1000),
    "rounds_max": (1, 1000),
    "pipelined_calls_min": (1, 1024),
    "pipelined_calls_max": (1, 1024),
    "tie_ratio": (1, 100),
    "confidence": (0.5, 0.9999),
    "looks_max": (1, 1000),
    "look_share": (1e-6, 1),
}


# Two blocks share a mode by chance too often: of 30 % of slow processes, one pair in eleven are both slow.
FIRST_LOOK = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """The numbers that decide when a measurement starts, stops or is doubted."""

    # The stop rule of the synced clock: it stops once both minima are reached, or at the first maximum.
    samples_min: int = 30
    seconds_min: float = 2.0
    samples_max: int = 2000
    seconds_max: float = 60.0  # all clocks of one process together
    slow_call_seconds: float = 2.0  # a call longer than this needs only `slow_samples_min` samples
    slow_samples_min: int = 5
    batch_seconds: float = 0.25  # events are written between batches of samples, never during one

    # `alone`: each process takes its samples as soon as it is warm. `rounds`: the processes of a question wait once
    # they are warm, and are sampled in turn, round after round; a turn lasts `batch_seconds`.
    sampling: str = SAMPLINGS[0]
    at_once: bool = False  # a question's processes run two at once: for a check, whose times nobody reads
    # The least turns of a process whose calls aren't slow. It takes further ones, up to `rounds_max`, until the
    # standard error of ln(its median), by the spread of its turns, is at most `median_error`; 0: `rounds_min` will do.
    rounds_min: int = 8
    rounds_max: int = 12
    median_error: float = 0.0

    # The pipelined clock: k submitted steps and one wait.
    pipelined_calls_min: int = 4
    pipelined_calls_max: int = 32  # JAX on CPU blocks at the 33rd call in flight
    pipelined_seconds_min: float = 0.010
    pipelined_call_seconds_max: float = 2.0
    side_samples: int = 10  # samples of the pipelined and of the fetch clock
    side_samples_slow: int = 5
    side_slow_seconds: float = 0.5
    side_seconds_max: float = 5.0  # calls longer than this get no pipelined or fetch sample

    # A process takes disturbed samples again until the disturbed ones sum up to this time; then all samples count.
    replaced_seconds_max: float = 20.0

    # Limits, enforced by the supervising process.
    compile_timeout_seconds: float = 600.0
    timeout_seconds: float = 1200.0

    # Blocks.
    blocks: int = 5
    blocks_max: int = 15  # equal to `blocks`: no second stage
    costly_blocks: int = 0  # a stack that compiles for long runs only in this number of first blocks; 0: in all blocks
    baseline_replicates: int = 2  # processes of the baseline in each block, unless a preset has no twin
    noisy_retries: int = 2
    # How often a process whose samples stayed disturbed is run again, each time beside a new process of the baseline.
    disturbed_retries: int = 2
    tie_ratio: float = 1.03
    confidence: float = 0.95

    # `blocks`: the blocks above, whatever they show. `decided`: from `first_look` blocks on, every question is judged
    # after each block, and what is decided isn't measured any more (suite/verdicts/looks.py).
    until: str = BLOCKS
    at_most_seconds: float = 600.0  # no block after the first look starts that would end later
    looks_max: int = 20  # the block after which the last look is taken
    # The share of the error probability that each look has: Pocock's constant level for looks after blocks 3 to 20, by
    # benchmarks/calibration.py --until.
    look_share: float = 0.08

    # Noise gate.
    canary_drift_max: float = 0.05
    steal_share_max: float = 0.01

    # The search for the largest size that fits ends when the smallest that doesn't fit is larger by at most this share;
    # 0: when it is the next size.
    search_tolerance: float = 0.0

    roofline: bool = True  # measure once a day what the machine reaches
    # Further processes of each case, after the blocks:
    ir: bool = False  # a process that keeps the programs that its stack hands to a compiler
    abstract: bool = False  # the ir process compiles for shapes alone, and runs nothing
    profile: bool = False  # a process that shows where a step's time goes
    explain: bool = False  # a process that shows which kernels run and what holds memory
    kernels: bool = False  # the same, but only of the first case of each stack

    def __post_init__(self) -> None:
        """Raises UserError for a constant out of its bounds."""
        for name, words in WORDS.items():
            if getattr(self, name) not in words:
                raise unknown(name, getattr(self, name)[:60], words)
        for field in fields(self):
            if field.name in WORDS:
                continue
            (least, most), value = BOUNDS.get(field.name, ANY), getattr(self, field.name)
            if not (math.isfinite(value) and least <= value <= most):
                raise UserError(f"'{field.name}' of the protocol is from {least} to {most}, not {value}.")

    @property
    def turns_max(self) -> int:
        """The turns that a process may take; each has at most `samples_max` / `turns_max` samples."""
        return max(self.rounds_min, self.rounds_max) if self.median_error else self.rounds_min

    @property
    def until_decided(self) -> bool:
        return self.until == DECIDED

    @property
    def first_look(self) -> int:
        """The block after which a run until decided is judged first."""
        return max(self.blocks, FIRST_LOOK)

    def at_a_look(self, confidence: float) -> float:
        """Returns the confidence of one look, whose whole run has this confidence."""
        return 1 - (1 - confidence) * self.look_share if self.until_decided else confidence


# The samples of a batch count as disturbed if other processes take more than this share of the cores' time in it.
OTHERS_SHARE_MAX = 0.05

# AdamW of every stack (Loshchilov & Hutter 2019, arXiv:1711.05101, algorithm 2 with lr-scaled decay):
# epsilon outside the root, decoupled decay on every parameter, bias correction.
LEARNING_RATE = 1e-3
BETA1 = 0.9
BETA2 = 0.999
EPSILON = 1e-8
WEIGHT_DECAY = 0.01

MOMENTS = {"adamw": ("m", "v"), "sgd": ("v",)}  # the optimizers, and the moments that each keeps of a parameter
ADAMW = ("adamw", "keras_adamw")  # the paper's, and Keras's, which adds epsilon before the bias correction
# SGD with momentum as PyTorch has it: v = momentum v + g; p -= lr v (the same learning rate).
MOMENTUM = 0.9

# No x86-64 core, and no ARM core without SME, does more operations a second: at 6 GHz, two 512-bit multiply-adds a
# cycle in f32 (or four of 128 bits, as ARM's have), one AMX tile (1024 multiply-adds) in bf16. On a machine without a
# measured roofline, a faster row is flagged `implausible`: it can't have computed its step.
FLOPS_PER_CORE_MAX = {"f32": 2 * 2 * 16 * 6e9, "bf16": 2 * 1024 * 6e9}

# Of a question's results and gradients, by the coarsest type that its file declares.
TYPE_TOLERANCE = {"float64": 1e-10, "complex128": 1e-10, "float32": 1e-5, "complex64": 1e-5, "bfloat16": 2e-2,
                  "float16": 2e-2}  # fmt: skip
# Tolerances by precision: the largest relative Frobenius error of a correct stack. TOLERANCE is for one operation;
# MODEL_TOLERANCE for a model whose tensors are compared element by element (small sizes), DIGEST_TOLERANCE for one
# compared by norms and projections.
TOLERANCE = {"f32": 5e-6, "tf32": 2e-3, "bf16": 2e-2}
# JAX's norms are in bfloat16 too, which brought gradients of correct tiny models in bf16 to 2.4e-2.
MODEL_TOLERANCE = {"f32": 2e-5, "tf32": 2e-3, "bf16": 5e-2}
DIGEST_TOLERANCE = {"f32": 1e-4, "tf32": 2e-3, "bf16": 5e-2}
# Relative error of the outputs with stressed weights, in f32. These weights bring the inputs of norms up to 300
# standard deviations from zero. Rounding such inputs to float32 costs 2e-5 of a deviation in each norm; deep models
# reach 2e-4. A norm that computes the variance as E[x^2] - E[x]^2 is off by 3e-3 or more.
STRESSED_TOLERANCE = 1e-3
# Relative error of a whole tensor's movement by AdamW in f32, beyond what rounding the weights explains. Correct stacks
# stay at 0, but an element whose gradient is just over ZERO_GRADIENT may be off by a hundredth of its step.
MOVEMENT_TOLERANCE = 1e-3
MOVED_TOLERANCE_MAX = 0.9  # of a small tensor in tf32 or bf16; a tensor that doesn't move has an error of 1
# Relative error of the timed movement against its replay by the same functions, unless the movement's own tolerance is
# smaller.
REPLAY_TOLERANCE_MAX = 0.5
# Relative error of the step after the clocks, in f32. Correct stacks differ only by rounding, but loss and gradients
# may be small differences of large numbers by then; rounding to bfloat16 is 1.6e-3. Where gradients jump (a spec's
# `GRADIENT_TOLERANCE`), two programs of one stack may differ by a few signs.
LATE_TOLERANCE = 1e-3
LATE_TOLERANCE_OF_JUMPS = 1e-2
LATE_LOSS_TOLERANCE = 1e-3
OPTIMIZER_TOLERANCE = 2e-7  # absolute, after three steps with injected gradients
# A gradient below this share of the model's largest |g| counts as zero: AdamW amplifies its rounding noise to +-lr. At
# 1e-6, one element of a bias of 768 brought correct stacks to errors of 4.7e-6 (NumPy) and 5.7e-6 (TensorFlow) on mha;
# at 1e-5 all stay under 4e-7.
ZERO_GRADIENT = 1e-5
# Rounding noise in place of a zero gradient may be up to this share of the model's largest |g|; vit in bf16 showed
# 4.5e-4.
ZERO_NOISE = {"f32": ZERO_GRADIENT, "tf32": 5e-4, "bf16": 4e-3}
GATE_STEPS = 3
# A question's model takes so many steps more, whose losses may be so far from those in float64, relative to them.
CURVE_STEPS = 7
CURVE_TOLERANCE = 1e-2
