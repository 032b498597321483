"""The options of the commands that plan runs by themselves: bisect, reproduce, cloud."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from suite.cli.options.measuring import RunOptions
from suite.cli.options.shared import (
    ArchiveOptions,
    CaseOptions,
    JsonOptions,
    Options,
    ProcessOptions,
    SizeOptions,
    TargetOptions,
)


@dataclass(frozen=True, kw_only=True)
class CloudOptions(CaseOptions, SizeOptions, ArchiveOptions, JsonOptions):
    """The options of `./stackwars cloud`."""

    accelerator: str | None = None
    """what each job asks for, of cloud/accelerators.toml (default: the target's first)"""
    preset: str = "quick"
    """what to ask: a name (./stackwars list)"""
    stack_path: tuple[str, ...] = ()
    """a stack of your own that is committed here: its file <stack>_adapter.py, or a folder of such files"""
    repeats: int | None = None
    """exactly so many blocks"""
    shards: int = 1
    """machines, each with its share of the plan's comparisons"""
    to: str | None = None
    """where shards archive their results: s3://bucket/prefix or gs://bucket/prefix; on Slurm also a folder"""
    price: str | None = None
    """US dollars for an hour of one machine: cost is estimated with it"""
    on: tuple[str, ...] = ()
    """skypilot, kubernetes or slurm (default: all)"""
    repository: str | None = None
    """where jobs clone this repository from (default: this checkout's origin)"""
    image_registry: str | None = None
    """jobs start from an image there, made by cloud/Dockerfile, and install nothing"""
    from_: str | None = None
    """estimate by the sets of this archive (default: those here)"""
    results: str = "results"
    """folder for result sets, to estimate by"""
    write: bool = False
    """write the files, in place of printing them"""
    out: str = "cloud-jobs"
    """the folder to write to"""


@dataclass(frozen=True, kw_only=True)
class BisectOptions(TargetOptions, ProcessOptions):
    """The options of `./stackwars bisect`."""

    stack: str | None = None
    """the stack that became slower with one of its framework's releases"""
    good: str | None = None
    """a release that is fast enough, like 0.10.2"""
    bad: str | None = None
    """a later one that isn't"""
    threshold: float = 1.1
    """how much slower counts, as a factor"""
    releases: str | None = None
    """those to search among, oldest first, comma-separated (default: all that the index has)"""
    python: str | None = None
    """the Python of all of them, like 3.13 (default: that of the stack's lock)"""
    workload: str | None = None
    """the workload to ask"""
    size: str | None = None
    """its size (default: the preset's)"""
    pass_: str = "train"
    """forward or train"""
    precision: str | None = None
    """f32, tf32 or bf16 (default: the preset's)"""
    dims: tuple[str, ...] = ()
    """dims in place of the size's, like n=1024"""
    preset: str = "quick"
    """where the protocol and the size come from"""


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions(ArchiveOptions, ProcessOptions, JsonOptions):
    """The options of `./stackwars reproduce`."""

    set: str | None = None
    """a result set's folder, or an archive's name"""
    against: str | None = None
    """judge by this set, run already, in place of a run"""
    trust: bool = False
    """install packages and set variables that aren't this project's; without it, they are listed and nothing runs"""
    workload_path: tuple[str, ...] = ()
    """a folder of the set's own workloads, which are never taken from it"""
    stack_path: tuple[str, ...] = ()
    """the file, or a folder, of the set's own stacks, which are never taken from it"""


def run_options(options: Options, **more: Any) -> RunOptions:
    """Returns the options of the run that a command stands for: those that both have, and `more`."""
    shared = {field.name: getattr(options, field.name) for field in fields(RunOptions) if hasattr(options, field.name)}
    return RunOptions(**shared | more)
