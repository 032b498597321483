"""What the words of a command line mean: `invoke run`'s options, and the selection that they make."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from suite import preset
from suite.case import Outcome
from suite.errors import UserError
from suite.plan import Selection

BYTES = {"": 1, "b": 1, "kb": 10**3, "mb": 10**6, "gb": 10**9, "kib": 2**10, "mib": 2**20, "gib": 2**30,
         "k": 2**10, "m": 2**20, "g": 2**30}  # fmt: skip
SECONDS = {"": 1, "s": 1, "min": 60, "m": 60, "h": 3600}


@dataclass(frozen=True, kw_only=True)
class Request:
    """The options of `invoke run`, as typed."""

    target: str = "cpu"
    preset: str = "quick"
    workload: Sequence[str] = ()
    stack: Sequence[str] = ()
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
    limit_memory: str | None = None
    timeout: str | None = None
    workload_path: Sequence[str] = ()
    results: str = "results"

    def command(self) -> str:
        """The command that asks the same again."""
        words = ["invoke", "run"]
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value != field.default and value not in ((), [], None):
                option = "--" + field.name.rstrip("_").replace("_", "-")
                words += [f"{option}={item}" for item in (value if isinstance(value, (list, tuple)) else [value])]
        return shlex.join(words)


def parse_quantity(text: str, units: dict[str, int], option: str, example: str) -> float:
    """`512MiB` or `10min` as a number. Raises UserError with an example."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*", text.lower())
    if not found or found[2] not in units or float(found[1]) <= 0:
        raise UserError(f"--{option}={text} isn't understood. Write it like --{option}={example}.")
    return float(found[1]) * units[found[2]]


def parse_dims(texts: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """`n=1024` or `batch=2,seq=64`, repeatable."""
    dims = []
    for text in ",".join(texts).split(",") if texts else []:
        name, _, value = text.partition("=")
        if not name.strip() or not re.fullmatch(r"\d+", value.strip()):
            raise UserError(f"--dims {text} isn't understood: a dim is a name and a whole number, like --dims n=1024.")
        dims.append((name.strip(), int(value)))
    return tuple(dims)


def selection(request: Request, cores: Sequence[int]) -> Selection:
    """The options as a selection."""
    limit = request.limit_memory
    return Selection(
        workloads=tuple(request.workload),
        stacks=tuple(request.stack),
        sizes=tuple(request.size),
        passes=tuple(request.pass_),
        precisions=tuple(request.precision),
        tracks=tuple(request.track),
        caches=("cold",) if request.cache == "cold" else ("cold", request.cache),
        dims=parse_dims(request.dims),
        target=request.target,
        device=request.target,
        threads=len(cores),
        limit_memory_bytes=None if limit is None else int(parse_quantity(limit, BYTES, "limit-memory", "2GiB")),
    )


def chosen_preset(request: Request) -> preset.Preset:
    """The preset with the protocol's constants that options replace."""
    chosen = preset.load(request.preset)
    replaced: dict[str, Any] = {}
    if request.repeats is not None:
        if not re.fullmatch(r"[1-9]\d*", request.repeats):
            raise UserError(f"--repeats={request.repeats} isn't understood: a run has at least one block.")
        blocks = int(request.repeats)
        replaced |= {"blocks": blocks, "blocks_max": blocks, "noisy_retries": 0}  # exactly so many, noisy or not
    if request.timeout is not None:
        seconds = parse_quantity(request.timeout, SECONDS, "timeout", "10min")
        compile_seconds = min(seconds, chosen.protocol.compile_timeout_seconds)
        replaced |= {"timeout_seconds": seconds, "compile_timeout_seconds": compile_seconds}
    return dataclasses.replace(chosen, protocol=dataclasses.replace(chosen.protocol, **replaced))


def check_again(words: Sequence[str]) -> frozenset[str]:
    """`--again=timeout,error`: outcome words. Raises UserError for others."""
    known = [str(outcome) for outcome in Outcome]
    again = [word.strip() for text in words for word in text.split(",") if word.strip()]
    for word in again:
        if word not in known:
            raise UserError(f"--again={word}: not an outcome. Known: {', '.join(known)}.")
    return frozenset(again)
