"""The options of the commands that measure. From them come the preset and the selection of cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from suite.cli.options.shared import CaseOptions, JsonOptions, ProcessOptions, SizeOptions, command
from suite.cli.options.values import parse_dims, parse_quantity, parse_share
from suite.errors import UserError, unknown
from suite.units import BYTES, SECONDS

if TYPE_CHECKING:
    from suite.plan.planning import Selection
    from suite.plan.preset import Preset


@dataclass(frozen=True, kw_only=True)
class MeasuringOptions(JsonOptions, ProcessOptions, CaseOptions):
    """The options that `run`, `explain`, `frontier` and `predict` have in common. `cli.measure.run.measure` takes each
    of these classes."""

    TASK: ClassVar[str]
    WORDS: ClassVar[tuple[str, ...]] = ("workload",)
    MACHINERY: ClassVar[tuple[str, ...]] = ("force", "dry_run", "json")
    """fields that don't change what is measured: a stored command leaves them out"""

    dims: tuple[str, ...] = ()
    """dims in place of the size's, like n=1024 or batch=2,seq=64; each --dims is a question of its own"""
    timeout: str | None = None
    """time limit of each process, like 90 or 10min"""
    dry_run: bool = False
    """print cases and an estimate; run nothing"""

    def command(self, **replaced: Any) -> str:
        """Returns the command that measures the same again, with the options in `replaced` changed."""
        return command(self.TASK, self, *self.MACHINERY, **replaced)

    def selection(self, cores: Sequence[int]) -> Selection:
        """Returns which cases the options select; for an empty field the preset decides."""
        from suite.plan.planning import Selection

        return Selection(
            workloads=self.workload,
            stacks=self.stack,
            passes=self.pass_,
            precisions=self.precision,
            dims=tuple(map(parse_dims, self.dims)),
            target=self.target,
            device=self.target,
            threads=len(cores),
        )

    def chosen_preset(self) -> Preset:
        """Returns the preset, with the protocol's constants that the options set."""
        raise NotImplementedError

    def preset_of(self, name: str, **constants: Any) -> Preset:
        """Returns the preset of this name or path, with the time limits of `--timeout` and these `constants` in its
        protocol."""
        from suite.plan.preset import load

        preset = load(name)
        if self.timeout is not None:
            seconds = parse_quantity(self.timeout, SECONDS, "timeout", "10min")
            compile_seconds = min(seconds, preset.protocol.compile_timeout_seconds)
            constants |= {"timeout_seconds": seconds, "compile_timeout_seconds": compile_seconds}
        return replace(preset, protocol=replace(preset.protocol, **constants))

    @property
    def prepared(self) -> dict[str, Any]:
        """Returns further arguments of `start.prepare.prepare`, from options that only some of these commands have."""
        return {}


@dataclass(frozen=True, kw_only=True)
class RunOptions(SizeOptions, MeasuringOptions):
    """The options of `./stackwars run`."""

    TASK = "run"
    WORDS = ("file", "workload")
    FIRST = ("stack", "workload", "size", "dims", "pass", "precision", "preset", "repeats", "dry-run", "resume")
    RESUMING: ClassVar[tuple[str, ...]] = ("resume", "again", "trust", "address", "force", "json")
    MACHINERY = ("resume", "again", "trust", "address", "force", "dry_run", "json")

    file: tuple[str, ...] = ()
    """a question file of your own, in place of the preset's questions; also without --file, as are workloads:
    `./stackwars run gemm,ffn`, `./stackwars run mine.py`"""
    preset: str = "quick"
    """the preset, which has the questions and stacks: a name (./stackwars list) or a path to a TOML file"""
    purpose: str | None = None
    """timed: times; memory: the peaks of memory; ir: the programs that compilers get; explain: no times, but which
    kernels run and where the time goes; probe: how stacks behave (default: the preset's)"""
    variants: bool = False
    """run every stack also in each of its variants, which have another lock or other flags"""
    cache: str = "cold"
    """cold; or warm: also a second process of each case, with the compile caches of the first"""
    baseline: str | None = None
    """the stack that the others are compared with"""
    python: str | None = None
    """an interpreter of your own in place of the locked environments; every row is flagged unpinned"""
    repeats: int | None = None
    """run exactly this many blocks: none are added, and noisy blocks are flagged but not run again"""
    limit_memory: tuple[str, ...] = ()
    """memory limit of each process tree, like 6GiB; each --limit-memory is a question of its own"""
    exhaustive: bool = False
    """with --purpose=memory: also run cases that must fail because a smaller case ran out of memory"""
    fits: str | None = None
    """a result set with memory processes: a case isn't run if the curve through that set's peaks says it can't fit"""
    allocator: str | None = None
    """kept: freed memory stays with the process; system: the C library decides (default: system for the purpose memory,
    kept for all others)"""
    sampling: str | None = None
    """rounds: a question's processes are alive together and sampled in turn; alone: one process after the other
    (default: the preset's; on accelerators `alone`)"""
    explain: bool = False
    """one more process for each case, which shows which kernels it runs and what holds its memory"""
    ir: str | None = None
    """on or off: one more process for each case, which keeps the programs that it hands to its compiler (default: the
    preset's)"""
    profile: str | None = None
    """on or off: one more process for each case, which shows where a step's time goes (default: the preset's)"""
    abstract: bool = False
    """the processes for programs (--ir=on, --purpose=ir) compile for the tensors' shapes only and run no step; all
    others run as usual"""
    shard: str | None = None
    """this machine's share of the plan, like 2/4; `./stackwars collect` makes one result set of all shares"""
    scheduler: str = ""
    """ray: the machines of a Ray cluster measure the comparisons, each machine one at a time"""
    address: str = "auto"
    """the Ray cluster's address, like 10.0.0.1:6379; auto: the cluster that this machine belongs to"""
    resume: str | None = None
    """complete this result set, whose run was interrupted"""
    again: tuple[str, ...] = ()
    """with --resume: run the cases again that ended with these outcomes, like timeout,error"""
    trust: bool = False
    """with --resume: allow the programs that the result set's plan names to run here, though its run began on another
    machine"""

    def with_words(self, words: Sequence[str]) -> Self:
        """Returns the options with question files and workloads typed without an option."""
        files = tuple(word for word in words if word.endswith(".py") or "/" in word)
        workloads = tuple(word for word in words if word not in files)
        return replace(self, file=(*self.file, *files), workload=(*self.workload, *workloads))

    def selection(self, cores: Sequence[int]) -> Selection:
        """Returns which cases the options select; for an empty field the preset decides."""
        return replace(
            super().selection(cores),
            workloads=(*self.workload, *(Path(file).resolve().stem for file in self.file)),
            passes=self.pass_ or (("forward",) if self.file else ()),
            sizes=self.size,
            tracks=self.track,
            caches=("cold",) if self.cache == "cold" else ("cold", self.cache),
            limits=limits_of(self.limit_memory),
            allocator=self.allocator or "",
            exhaustive=self.exhaustive,
            variants=self.variants,
        )

    def chosen_preset(self) -> Preset:
        """Returns the preset, with the purpose and the protocol's constants that the options set."""
        from suite.case import Purpose
        from suite.plan.preset import PURPOSES

        constants: dict[str, Any] = {}
        if self.repeats is not None:
            if self.repeats < 1:
                raise UserError(f"--repeats={self.repeats} isn't understood: a run has at least one block.")
            # Every stack runs in exactly this many blocks, noisy or not.
            exactly = {"blocks": self.repeats, "blocks_max": self.repeats, "costly_blocks": 0}
            constants = exactly | {"noisy_retries": 0, "disturbed_retries": 0}
        for name, setting in (("ir", self.ir), ("profile", self.profile)):
            if setting not in (None, "on", "off"):
                raise unknown("value", setting, ("on", "off"), of=f"--{name}")
            if setting is not None:
                constants[name] = setting == "on"
        constants |= {name: True for name in ("explain", "abstract") if getattr(self, name)}
        if self.sampling is not None:
            constants["sampling"] = self.sampling
        elif self.target != "cpu":
            constants["sampling"] = "alone"  # presets choose for CPUs; processes may be unable to share a device
        if self.target != "cpu":
            constants["at_once"] = False  # for the same reason
        if self.purpose is not None and self.purpose not in PURPOSES:
            raise unknown("value", self.purpose, PURPOSES, of="--purpose")
        asked = bool(self.file) and self.preset == RunOptions.preset
        preset = self.preset_of("ask" if asked else self.preset, **constants)
        return preset if self.purpose is None else replace(preset, purpose=Purpose(self.purpose))

    @property
    def workload_paths(self) -> tuple[Path, ...]:
        """Returns the places of one's own workloads and questions as absolute paths."""
        return (*super().workload_paths, *(Path(file).absolute() for file in self.file))

    @property
    def prepared(self) -> dict[str, Any]:
        """Returns further arguments of `start.prepare.prepare`. Raises UserError for an unknown scheduler, for a shard
        that isn't understood, and for both together."""
        from suite.cluster.schedule import SCHEDULERS
        from suite.plan.shards import Shard

        if self.scheduler not in ("", *SCHEDULERS):
            raise unknown("scheduler", self.scheduler, SCHEDULERS)
        if self.scheduler and self.shard:
            raise UserError("--shard and --scheduler are two ways to share a plan among machines: choose one.")
        return {
            "baseline": self.baseline,
            "python": self.python,
            "fits": self.fits,
            "shard": Shard.parse(self.shard) if self.shard else None,
            "scheduler": self.scheduler,
        }


@dataclass(frozen=True, kw_only=True)
class ExplainOptions(SizeOptions, MeasuringOptions):
    """The options of `./stackwars explain`."""

    TASK = "explain"

    preset: str = "full"
    """the preset, which has the questions and stacks: a name (./stackwars list) or a path to a TOML file"""

    def selection(self, cores: Sequence[int]) -> Selection:
        """Returns which cases the options select; for an empty field the preset decides."""
        return replace(super().selection(cores), sizes=self.size, tracks=self.track)

    def chosen_preset(self) -> Preset:
        """Returns the preset with the purpose `explain`."""
        from suite.case import Purpose

        return replace(self.preset_of(self.preset), purpose=Purpose.EXPLAIN)


@dataclass(frozen=True, kw_only=True)
class FrontierOptions(MeasuringOptions):
    """The options of `./stackwars frontier`."""

    TASK = "frontier"

    workload: tuple[str, ...] = ()
    """these workloads; globs"""
    vary: str = "batch"
    """the dim whose largest value is searched for: batch, seq, image or n"""
    limit_memory: tuple[str, ...] = ()
    """memory limit of each process tree, like 6GiB; a search of its own for each"""
    stack: tuple[str, ...] = ()
    """only these stacks; globs (default: those of the preset oom)"""
    size: str = "full"
    """the size that has the dims which aren't varied"""
    pass_: tuple[str, ...] = ("train",)
    """forward or train"""
    dims: tuple[str, ...] = ()
    """other dims in place of the size's, like seq=128"""
    tolerance: str | None = None
    """the search ends when the smallest size that doesn't fit is larger than the largest that fits by at most this
    share: 2% or 0.02; 0: when it is the next size (default: 2%)"""
    dry_run: bool = False
    """print where each search begins; run nothing"""

    def selection(self, cores: Sequence[int]) -> Selection:
        """Returns which searches the options select; for an empty field the preset oom decides."""
        limits = limits_of(self.limit_memory)
        return replace(super().selection(cores), sizes=(self.size,), limits=limits, vary=self.vary)

    def chosen_preset(self) -> Preset:
        """Returns the preset oom, with this search's tolerance."""
        share = {} if self.tolerance is None else {"search_tolerance": parse_share(self.tolerance, "tolerance")}
        return self.preset_of("oom", **share)


def limits_of(texts: Sequence[str]) -> tuple[int, ...]:
    """Returns memory limits in bytes. Raises UserError, which shows an example, for a text that is no size."""
    return tuple(int(parse_quantity(text, BYTES, "limit-memory", "2GiB")) for text in texts)
