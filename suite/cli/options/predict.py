"""The options of `./stackwars predict`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from suite.cli.options.measuring import MeasuringOptions
from suite.cli.options.shared import SizeOptions
from suite.cli.options.values import parse_share
from suite.errors import COMMAND, UserError

if TYPE_CHECKING:
    from suite.plan.planning import Selection
    from suite.plan.preset import Preset
    from suite.predict.devices import Device

# The time limit of a compilation, and of a process that captures a program. Many minutes for 8 billion parameters.
TIMEOUT_SECONDS = 3600.0


@dataclass(frozen=True, kw_only=True)
class PredictOptions(SizeOptions, MeasuringOptions):
    """The options of `./stackwars predict`."""

    TASK = "predict"

    target: str = "tpu"
    """hardware class of the accelerator: tpu or cuda"""
    device: tuple[str, ...] = ()
    """the accelerator: v6e-1, v5e-1, or slices of several chips, v6e-4 and v6e-8 (tpu); h100, h200 or a100 (cuda); each
    --device gets predictions (default: the target's first)"""
    preset: str = "full"
    """the preset, which has the questions: a name (./stackwars list) or a path to a TOML file"""
    set: str | None = None
    """compile the programs that this result set has kept, and add the predictions to it"""
    program: str | None = None
    """compile this file of StableHLO, text or bytecode, compressed or not; nothing is kept"""
    vary: str | None = None
    """the dim whose largest value that fits is searched for, case by case: batch, seq, image or n"""
    tolerance: str = "2%"
    """with --vary: the search ends when the smallest size that doesn't fit is larger than the largest that fits by at
    most this share"""
    timeout: str | None = None
    """time limit of each process, like 90 or 10min (default: 60min)"""

    @property
    def devices(self) -> tuple[Device, ...]:
        """Returns the accelerators to predict for. Raises UserError for an unknown one."""
        from suite.predict import devices

        if not self.device:
            return (devices.first(self.target),)
        target = self.target if self.target != PredictOptions.target else None
        return tuple(devices.find(name, target) for name in dict.fromkeys(self.device))

    def check(self) -> None:
        """Raises UserError for options that don't go together."""
        if self.set and self.program:
            raise UserError("--set and --program both name programs to compile: choose one.")
        if self.program and (typed := self.words("program", "target", "device", "timeout", "json", "force")):
            raise UserError(f"--program compiles one file: leave out {typed[0].partition('=')[0]}.")
        if not self.vary and self.tolerance != PredictOptions.tolerance:
            raise UserError("--tolerance is for a search: it needs --vary, like --vary=batch.")
        left_out = ("set", "target", "device", "timeout", "json", "force", "results")
        if self.set and (typed := self.words(*left_out)):
            raise UserError(f"--set takes its cases from the set: leave out {typed[0].partition('=')[0]}.")

    def selection(self, cores: Sequence[int]) -> Selection:
        """Returns which cases hand over their programs; they run on the CPU. By default they are those of all stacks
        that the devices' compilers can predict."""
        from suite.stacks.catalog import STACKS

        targets = {device.target for device in self.devices}
        predicted = (name for name, stack in STACKS.items() if targets & set(stack.predicted_on))
        stacks = self.stack or tuple(predicted)
        return replace(
            super().selection(cores),
            target="cpu",
            device="cpu",
            stacks=stacks,
            sizes=self.size,
            tracks=self.track,
            vary=self.vary or "",
        )

    def chosen_preset(self) -> Preset:
        """Returns the preset with the purpose `ir`, for programs that are compiled on the tensors' shapes only."""
        from suite.case import Purpose

        constants: dict[str, Any] = dict.fromkeys(("explain", "profile"), False)
        constants |= {
            "abstract": True,
            "sampling": "alone",
            "search_tolerance": parse_share(self.tolerance, "tolerance"),
        }
        if self.timeout is None:
            constants |= dict.fromkeys(("timeout_seconds", "compile_timeout_seconds"), TIMEOUT_SECONDS)
        return replace(self.preset_of(self.preset, **constants), purpose=Purpose.IR)

    @property
    def prepared(self) -> dict[str, Any]:
        """Returns the accelerators, as the argument `models` of `run.start.prepare.prepare`."""
        return {"models": self.devices}


def prediction_instead(options: MeasuringOptions) -> str:
    """Returns the command, as a person types it, that predicts what `options` would measure on their target."""
    names = {field.name for field in fields(PredictOptions)} - set(options.MACHINERY)
    shared = {name: value for name in names if (value := getattr(options, name, None)) is not None}
    prediction = PredictOptions(**shared)
    return f"{COMMAND} {prediction.command(target=options.target).partition(' ')[2]}"
