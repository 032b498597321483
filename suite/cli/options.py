"""What the words of a command line mean: `./stackwars run`'s options, and the preset and selection that they make."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite.case import Outcome, Purpose
from suite.errors import UserError, unknown
from suite.plan.planning import Selection
from suite.plan.preset import PURPOSES, Preset
from suite.plan.preset import load as load_preset
from suite.units import BYTES, SECONDS, parse


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of `./stackwars run`, as typed."""

    target: str = "cpu"
    preset: str = "quick"
    purpose: str | None = None
    workload: Sequence[str] = ()
    stack: Sequence[str] = ()
    variants: bool = False
    size: Sequence[str] = ()
    pass_: Sequence[str] = ()
    precision: Sequence[str] = ()
    track: Sequence[str] = ()
    dims: Sequence[str] = ()
    cache: str = "cold"
    baseline: str | None = None
    engine: str = "auto"
    python: str | None = None
    repeats: str | None = None
    limit_memory: Sequence[str] = ()
    exhaustive: bool = False
    vary: str = ""
    tolerance: str | None = None
    fits: str | None = None
    allocator: str | None = None
    timeout: str | None = None
    explain: bool = False
    ir: str | None = None
    profile: str | None = None
    abstract: bool = False
    shard: str | None = None
    scheduler: str = ""
    workload_path: Sequence[str] = ()
    results: str = "results"

    def command(self, **replaced: Any) -> str:
        """The command that asks the same again, some options `replaced`."""
        words = ["invoke", "frontier" if self.vary else "run"]
        for field in dataclasses.fields(self):
            if self.vary and field.name == "preset":
                continue  # a search has its own
            value = replaced.get(field.name, getattr(self, field.name))
            if value != field.default and value not in ((), [], None):
                option = "--" + field.name.rstrip("_").replace("_", "-")
                items = value if isinstance(value, (list, tuple)) else [value]
                words += [option if item is True else f"{option}={item}" for item in items]
        return shlex.join(words)

    def selection(self, cores: Sequence[int]) -> Selection:
        """Which cases are asked for; empty means what the preset says."""
        return Selection(
            workloads=tuple(self.workload),
            stacks=tuple(self.stack),
            sizes=tuple(self.size),
            passes=tuple(self.pass_),
            precisions=tuple(self.precision),
            tracks=tuple(self.track),
            caches=("cold",) if self.cache == "cold" else ("cold", self.cache),
            dims=tuple(parse_dims(text) for text in self.dims),
            target=self.target,
            device=self.target,
            threads=len(cores),
            limits=tuple(int(parse_quantity(limit, BYTES, "limit-memory", "2GiB")) for limit in self.limit_memory),
            allocator=self.allocator or "",
            exhaustive=self.exhaustive,
            variants=self.variants,
            vary=self.vary,
        )

    def chosen_preset(self) -> Preset:
        """The preset with the protocol's constants that options replace."""
        chosen = load_preset(self.preset)
        replaced: dict[str, Any] = {}
        if self.repeats is not None:
            if not re.fullmatch(r"[1-9]\d*", self.repeats):
                raise UserError(f"--repeats={self.repeats} isn't understood: a run has at least one block.")
            blocks = int(self.repeats)
            # Exactly so many of each stack, noisy or not.
            replaced |= {"blocks": blocks, "blocks_max": blocks, "noisy_retries": 0, "costly_blocks": 0}
        if self.timeout is not None:
            seconds = parse_quantity(self.timeout, SECONDS, "timeout", "10min")
            compile_seconds = min(seconds, chosen.protocol.compile_timeout_seconds)
            replaced |= {"timeout_seconds": seconds, "compile_timeout_seconds": compile_seconds}
        if self.explain:
            replaced["explain"] = True
        for name in ("ir", "profile"):
            setting = getattr(self, name)
            if setting not in (None, "on", "off"):
                raise unknown(f"setting of --{name}", setting, ("on", "off"))
            if setting is not None:
                replaced[name] = setting == "on"
        if self.tolerance is not None:
            replaced["search_tolerance"] = parse_share(self.tolerance, "tolerance")
        if self.abstract:
            replaced["abstract"] = True
        if self.purpose is not None and self.purpose not in PURPOSES:
            raise unknown("purpose of a run", self.purpose, PURPOSES)
        purpose = chosen.purpose if self.purpose is None else Purpose(self.purpose)
        protocol = dataclasses.replace(chosen.protocol, **replaced)
        return dataclasses.replace(chosen, purpose=purpose, protocol=protocol)

    @property
    def workload_paths(self) -> tuple[Path, ...]:
        """Folders of the user's own workloads, absolute: a set may be resumed from elsewhere."""
        return tuple(Path(path).absolute() for path in self.workload_path)


def parse_quantity(text: str, units: Mapping[str, int], option: str, example: str) -> float:
    """`512MiB` or `10min` as a number. Raises UserError with an example."""
    quantity = parse(text, units)
    if quantity is None:
        unit = " A number needs its unit." if re.fullmatch(r"\s*[\d.]+\s*", text) else ""
        raise UserError(f"--{option}={text} isn't understood.{unit} Write it like --{option}={example}.")
    return quantity


def parse_share(text: str, option: str) -> float:
    """`2%` or `0.02` as a share from 0 to under 1. Raises UserError for anything else."""
    number = re.fullmatch(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*(%?)\s*", text)
    share = float(number[1]) / (100 if number[2] else 1) if number else 1.0
    if share >= 1:
        raise UserError(
            f"--{option}={text} isn't understood: it is a share under 1. Write it like --{option}=2% or "
            f"--{option}=0.02."
        )
    return share


def parse_dims(text: str) -> dict[str, int]:
    """`n=1024` or `batch=2,seq=64`: the dims of one comparison. Raises UserError for a dim named twice."""
    dims: dict[str, int] = {}
    for part in text.split(","):
        name, _, value = (word.strip() for word in part.partition("="))
        if not name or not re.fullmatch(r"\d+", value):
            raise UserError(f"--dims {text} isn't understood: a dim is a name and a whole number, like --dims n=1024.")
        if name in dims:
            raise UserError(
                f"--dims {text} names {name} twice. Each --dims is a comparison of its own: "
                f"--dims {name}={dims[name]} --dims {name}={value}."
            )
        dims[name] = int(value)
    return dims


def parse_outcomes(words: Sequence[str]) -> frozenset[str]:
    """`--again=timeout,error`: outcome words. Raises UserError for others."""
    known = [str(outcome) for outcome in Outcome]
    again = [word.strip() for text in words for word in text.split(",") if word.strip()]
    for word in again:
        if word not in known:
            raise UserError(f"--again={word}: not an outcome. Known: {', '.join(known)}.")
    return frozenset(again)
