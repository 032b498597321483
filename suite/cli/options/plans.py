"""The options of the commands that plan further runs: bisect, reproduce, cloud."""

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
    """the machine of each job, by its name in cloud/accelerators.toml (default: the target's first)"""
    preset: str = "quick"
    """the preset, which has the questions and stacks: a name (./stackwars list)"""
    stack_path: tuple[str, ...] = ()
    """a stack of your own that is committed here: its file <stack>_adapter.py, or a folder of such files"""
    repeats: int | None = None
    """run exactly this many blocks"""
    shards: int = 1
    """the number of machines, each of which measures its share of the plan's comparisons"""
    to: str | None = None
    """the archive in which each shard publishes its result set: s3://bucket/prefix or gs://bucket/prefix; on Slurm also
    a folder"""
    price: str | None = None
    """US dollars for an hour of one machine, to estimate the cost with"""
    on: tuple[str, ...] = ()
    """skypilot, kubernetes or slurm (default: all)"""
    repository: str | None = None
    """the address that jobs clone this repository from (default: this checkout's origin)"""
    image_registry: str | None = None
    """the registry of an image made from cloud/Dockerfile: jobs start from it and install nothing"""
    from_: str | None = None
    """estimate from the result sets of this archive (default: from those in --results)"""
    results: str = "results"
    """the folder of the result sets to estimate from"""
    write: bool = False
    """write the jobs' files, in place of printing them"""
    out: str = "cloud-jobs"
    """with --write: the folder for the files"""


@dataclass(frozen=True, kw_only=True)
class BisectOptions(TargetOptions, ProcessOptions):
    """The options of `./stackwars bisect`."""

    stack: str | None = None
    """the stack that a release of its framework made slower"""
    good: str | None = None
    """a release that is fast enough, like 0.10.2"""
    bad: str | None = None
    """a later release that is too slow"""
    threshold: float = 1.1
    """the factor of time from which on a release counts as slower"""
    releases: str | None = None
    """the releases to search among, oldest first, comma-separated (default: all that the package index has)"""
    python: str | None = None
    """the Python that every release runs on, like 3.13 (default: that of the stack's lock)"""
    workload: str | None = None
    """the workload to measure"""
    size: str | None = None
    """the workload's size (default: the preset's)"""
    pass_: str = "train"
    """forward or train"""
    precision: str | None = None
    """f32, tf32 or bf16 (default: the preset's)"""
    dims: tuple[str, ...] = ()
    """dims in place of the size's, like n=1024"""
    preset: str = "quick"
    """the preset, which has the protocol and the size"""


@dataclass(frozen=True, kw_only=True)
class ReproduceOptions(ArchiveOptions, ProcessOptions, JsonOptions):
    """The options of `./stackwars reproduce`."""

    set: str | None = None
    """a result set's folder, or its name in an archive"""
    against: str | None = None
    """run nothing, and compare with this result set, which has been measured already"""
    trust: bool = False
    """install packages, and pass environment variables, that aren't this project's; without it, they are listed and
    nothing runs"""
    workload_path: tuple[str, ...] = ()
    """your copy of the set's own workloads, a folder; their code is never taken from the set"""
    stack_path: tuple[str, ...] = ()
    """your copy of the set's own stacks, a file or folder; their code is never taken from the set"""


def run_options(options: Options, **more: Any) -> RunOptions:
    """Returns the options of the run that a command plans: those of `options` that a run has too, and `more`."""
    shared = {field.name: getattr(options, field.name) for field in fields(RunOptions) if hasattr(options, field.name)}
    return RunOptions(**shared | more)
