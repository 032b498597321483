"""The options of the commands that measure, and those that many commands have. A string below a field is its help.

`run`, `ask`, `explain`, `frontier` and `predict` differ in their options, from which come the preset and the selection
of cases; all that follows is the same.
"""

# No `from __future__ import annotations`: cyclopts reads the types of a subclass's inherited fields in the subclass's
# module, where their names needn't be known.

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from cyclopts import Group, Parameter

from suite.case import Purpose
from suite.cli.extras import scheduler
from suite.cli.values import (
    Engine,
    Force,
    Json,
    Names,
    ResultsFolder,
    StackPath,
    Whole,
    WorkloadPath,
    absolute,
    parse_dims,
    parse_quantity,
    parse_share,
    split,
    typed,
)
from suite.errors import COMMAND, UserError, check_known
from suite.plan.planning import Selection
from suite.plan.preset import PURPOSES, Preset, load
from suite.plan.shards import Shard
from suite.protocol import BLOCKS, DECIDED, UNTIL
from suite.units import BYTES, SECONDS
from suite.workloads.catalog import name_of

OFTEN = Parameter(group=Group("Used most", sort_key=1))


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class CaseOptions:
    """The options that select cases."""

    stack: Annotated[Names, OFTEN] = ()
    """only these stacks; globs; a name with @, like jax_jit@0.10 or jax_jit@*, selects variants"""
    workload: Annotated[Names, OFTEN] = ()
    """only these workloads; globs"""
    size: Annotated[Names, OFTEN] = ()
    """sizes in place of the preset's; globs"""
    dims: Annotated[tuple[str, ...], OFTEN] = ()
    """dims in place of the size's, like n=1024 or batch=2,seq=64; each --dims is a question of its own"""
    pass_: Annotated[Names, OFTEN] = ()
    """forward or train, or gradient of a question file, in place of the preset's"""
    precision: Annotated[Names, OFTEN] = ()
    """f32, tf32 or bf16, in place of the preset's"""
    track: Names = ()
    """default; or tuned: with each stack's documented knobs"""
    target: str = "cpu"
    """hardware class: cpu, cuda or tpu"""
    stack_path: StackPath = ()

    def as_fields(self, kind: type["CaseOptions"]) -> dict[str, Any]:
        """Returns the values of the fields that `kind` has, too."""
        return {each.name: getattr(self, each.name) for each in fields(kind) if hasattr(self, each.name)}

    def words(self, *left_out: str) -> list[str]:
        """Returns the options that differ from their default, as a person types them, without the fields `left_out`."""
        changed = (each for each in fields(self) if getattr(self, each.name) != each.default)
        return [
            word for each in changed if each.name not in left_out for word in typed(each.name, getattr(self, each.name))
        ]


@dataclass(frozen=True, kw_only=True)
class ProcessOptions(CaseOptions):
    """The options for how processes are started here."""

    results: ResultsFolder = "results"
    engine: Engine = "auto"
    workload_path: WorkloadPath = ()
    force: Force = False


@dataclass(frozen=True, kw_only=True)
class MeasuringOptions(ProcessOptions):
    """The options that `run`, `ask`, `explain`, `frontier` and `predict` have in common."""

    TASK: ClassVar[str]
    MACHINERY: ClassVar[tuple[str, ...]] = ("results", "force", "dry_run", "json")
    """fields that don't change what is measured: a plan keeps all others"""

    dry_run: Annotated[bool, OFTEN] = False
    """print cases and an estimate; run nothing"""
    timeout: str | None = None
    """time limit of each process, like 90 or 10min"""
    json: Json = False

    def with_words(self, words: Sequence[str]) -> Self:
        """Returns the options with the workloads that were typed without an option, like `gemm,ffn`."""
        return replace(self, workload=(*self.workload, *split(words)))

    def given(self, **replaced: Any) -> tuple[str, ...]:
        """Returns the words that measure the same again: the command and its options, with `replaced` changed."""
        return (self.TASK, *replace(self, **replaced).words(*self.MACHINERY))

    def selection(self, cores: Sequence[int]) -> Selection:
        """Returns which cases the options select; for an empty field the preset decides."""
        return Selection(
            workloads=self.workload,
            stacks=self.stack,
            passes=self.pass_,
            precisions=self.precision,
            dims=tuple(map(parse_dims, self.dims)),
            sizes=self.size,
            tracks=self.track,
            target=self.target,
            device=self.target,
            threads=(len(cores),),
        )

    def chosen_preset(self) -> Preset:
        """Returns the preset, with the protocol's constants that the options set."""
        raise NotImplementedError

    def preset_of(self, name: str, **constants: Any) -> Preset:
        """Returns the preset of this name or path, with the time limits of `--timeout` and these `constants` in its
        protocol."""
        preset = load(name)
        if self.timeout is not None:
            seconds = parse_quantity(self.timeout, SECONDS, "timeout", "10min")
            compile_seconds = min(seconds, preset.protocol.compile_timeout_seconds)
            constants |= {"timeout_seconds": seconds, "compile_timeout_seconds": compile_seconds}
        return replace(preset, protocol=replace(preset.protocol, **constants))

    @property
    def workload_paths(self) -> tuple[Path, ...]:
        """Returns the places of one's own workloads and questions."""
        return absolute(self.workload_path)

    @property
    def prepared(self) -> dict[str, Any]:
        """Returns further arguments of `start.prepare.prepare`, from options that only some of these commands have."""
        return {}


@dataclass(frozen=True, kw_only=True)
class RunOptions(MeasuringOptions):
    """The options of `run`."""

    TASK = "run"
    RESUMING: ClassVar[tuple[str, ...]] = ("resume", "again", "trust", "machine", "address", "force", "json")
    MACHINERY = (*RESUMING, "results", "dry_run")

    preset: Annotated[str, OFTEN] = "quick"
    """the preset, which has the questions and stacks: a name (./stackwars list) or a path to a TOML file"""
    repeats: Annotated[Whole | None, OFTEN] = None
    """run exactly this many blocks: none are added, and noisy blocks are flagged but not run again"""
    until: str | None = None
    """decided: blocks until every question has its verdicts; blocks: as many as the preset has (default: preset's)"""
    at_most: str | None = None
    """until decided, after the three blocks of a first verdict: start no block that would end later (default: 10min)"""
    resume: Annotated[str | None, OFTEN] = None
    """complete this result set, whose run was interrupted"""
    file: tuple[str, ...] = ()
    """a question file of your own, in place of the preset's questions"""
    purpose: str | None = None
    """timed; memory: peaks; ir: compilers' programs; explain: kernels and profiles; probe (default: the preset's)"""
    variants: bool = False
    """run every stack also in each of its variants, which have another lock or other flags"""
    cache: str = "cold"
    """cold; or warm: also a second process of each case, with the compile caches of the first"""
    baseline: str | None = None
    """the stack that the others are compared with"""
    python: str | None = None
    """an interpreter of your own in place of the locked environments, or current; every row is flagged unpinned"""
    cores: Names = ()
    """numbers of cores that a process gets, like 1,2; each is a question of its own (default: all that may be used)"""
    limit_memory: Names = ()
    """memory limit of each process tree, like 6GiB; each --limit-memory is a question of its own"""
    exhaustive: bool = False
    """with --purpose=memory: also run cases that must fail because a smaller case ran out of memory"""
    fits: str | None = None
    """a result set with memory processes: a case isn't run if the curve through that set's peaks says it can't fit"""
    allocator: str | None = None
    """kept: freed memory stays with the process; system: the C library decides (default: only for --purpose=memory)"""
    sampling: str | None = None
    """rounds: a question's processes take turns; alone (default: the preset's; on accelerators `alone`)"""
    explain: bool = False
    """one more process for each case, which shows which kernels it runs and what holds its memory"""
    ir: str | None = None
    """on or off: one more process for each case, which keeps its programs for the compiler (default: the preset's)"""
    profile: str | None = None
    """on or off: one more process for each case, which shows where a step's time goes (default: the preset's)"""
    abstract: bool = False
    """processes for programs (--ir=on, --purpose=ir) compile for the tensors' shapes only, and run no step"""
    shard: str | None = None
    """this machine's share of the plan, like 2/4; `./stackwars collect` makes one result set of all shares"""
    scheduler: str = ""
    """ray: the machines of a Ray cluster measure the comparisons, each machine one at a time"""
    address: str = "auto"
    """the Ray cluster's address, like 10.0.0.1:6379; auto: the cluster that this machine belongs to"""
    again: Names = ()
    """with --resume: run the cases again that ended with these outcomes, like timeout,error"""
    trust: bool = False
    """with --resume: allow the programs that the set's plan names to run here, though another machine began it"""
    machine: str = ""
    """a lasting name for this machine, like ci-1, where containers have another host name each time"""

    def with_words(self, words: Sequence[str]) -> Self:
        files, others = parted(words)
        return replace(super().with_words(others), file=(*self.file, *files))

    def selection(self, cores: Sequence[int]) -> Selection:
        return replace(
            super().selection(cores),
            workloads=(*self.workload, *(name_of(Path(file).resolve()) for file in self.file)),
            passes=self.pass_,
            caches=("cold",) if self.cache == "cold" else ("cold", self.cache),
            threads=threads_of(self.cores, len(cores)),
            limits=limits_of(self.limit_memory),
            allocator=self.allocator or "",
            exhaustive=self.exhaustive,
            variants=self.variants,
        )

    def chosen_preset(self) -> Preset:
        constants: dict[str, Any] = {name: True for name in ("explain", "abstract") if getattr(self, name)}
        if self.repeats is not None:
            if self.repeats < 1:
                raise UserError(f"--repeats={self.repeats} isn't understood: a run has at least one block.")
            # Every stack runs in exactly this many blocks, noisy or not.
            constants |= {"blocks": self.repeats, "blocks_max": self.repeats, "costly_blocks": 0}
            constants |= {"noisy_retries": 0, "disturbed_retries": 0}
        constants |= self.until_constants()
        for name, setting in (("ir", self.ir), ("profile", self.profile)):
            if setting is not None:
                check_known("value", setting, ("on", "off"), of=f"--{name}")
                constants[name] = setting == "on"
        if self.target != "cpu":  # presets choose for CPUs; processes may be unable to share a device
            constants |= {"sampling": "alone", "at_once": False}
        if self.sampling is not None:
            constants["sampling"] = self.sampling
        if self.purpose is not None:
            check_known("value", self.purpose, PURPOSES, of="--purpose")
        asked = bool(self.file) and self.preset == RunOptions.preset
        if asked and self.workload:
            raise UserError(
                f"{', '.join(self.workload)} and question files like {self.file[0]} are run apart: each has its own "
                "sizes and passes."
            )
        preset = self.preset_of("ask" if asked else self.preset, **constants)
        if self.at_most is not None and not preset.protocol.until_decided:
            raise UserError("--at-most bounds a run until it is decided: --until=decided, without --repeats.")
        return preset if self.purpose is None else replace(preset, purpose=Purpose(self.purpose))

    def until_constants(self) -> dict[str, Any]:
        """Returns the constants that say when the run ends. Raises UserError for options that contradict each other."""
        if self.until is not None:
            check_known("value", self.until, UNTIL, of="--until")
        # The questions of a set learn from each other which spread is usual, and machines that share them can't.
        fixed = next((name for name in ("repeats", "shard", "scheduler") if getattr(self, name)), None)
        if fixed and self.until == DECIDED:
            raise UserError(f"--{fixed} fixes the number of blocks before the run: leave out --until={DECIDED}.")
        until = BLOCKS if fixed else self.until
        most = self.at_most and parse_quantity(self.at_most, SECONDS, "at-most", "10min")
        # A stack that is spared in later blocks would stay undecided.
        constants: dict[str, Any] = {"until": until} if until else {}
        constants |= {"costly_blocks": 0} if until == DECIDED else {}
        return constants | ({"at_most_seconds": most} if most else {})

    @property
    def workload_paths(self) -> tuple[Path, ...]:
        return absolute((*self.workload_path, *self.file))

    @property
    def prepared(self) -> dict[str, Any]:
        if self.scheduler:
            scheduler(self.scheduler)  # refuses an unknown one
            if self.shard:
                raise UserError("--shard and --scheduler are two ways to share a plan among machines: choose one.")
        return {
            "baseline": self.baseline,
            "python": self.python,
            "fits": self.fits,
            "shard": Shard.parse(self.shard) if self.shard else None,
            "scheduler": self.scheduler,
            "machine": self.machine,
        }


@dataclass(frozen=True, kw_only=True)
class ExplainOptions(MeasuringOptions):
    """The options of `explain`."""

    TASK = "explain"

    preset: Annotated[str, OFTEN] = "full"
    """the preset, which has the questions and stacks: a name (./stackwars list) or a path to a TOML file"""

    def chosen_preset(self) -> Preset:
        return replace(self.preset_of(self.preset), purpose=Purpose.EXPLAIN)


@dataclass(frozen=True, kw_only=True)
class FrontierOptions(MeasuringOptions):
    """The options of `frontier`. Without --stack it searches on the stacks of the preset oom."""

    TASK = "frontier"

    vary: Annotated[str, OFTEN] = "batch"
    """the dim whose largest value is searched for: batch, seq, image or n"""
    limit_memory: Annotated[Names, OFTEN] = ()
    """memory limit of each process tree, like 6GiB; a search of its own for each"""
    size: Annotated[Names, OFTEN] = ()
    """the size that has the dims which aren't varied (default: full; of a question file, its own)"""
    pass_: Annotated[Names, OFTEN] = ()
    """forward or train, or gradient of a question file (default: train; of a question file, forward)"""
    tolerance: str | None = None
    """the search ends when what doesn't fit is at most this share, 2% or 0.02, above what fits (default: 2%)"""
    python: str | None = None
    """searches with the frameworks that this interpreter has, in place of the suite's locked environments"""

    def with_words(self, words: Sequence[str]) -> Self:
        files, others = parted(words)
        asked = tuple(name_of(Path(file).resolve()) for file in files)
        paths = (*self.workload_path, *files)
        named = super().with_words(others)
        return replace(named, workload=(*named.workload, *asked), workload_path=paths)

    def selection(self, cores: Sequence[int]) -> Selection:
        of_files = any(path.endswith(".py") for path in map(str, self.workload_path))
        return replace(
            super().selection(cores),
            sizes=self.size or (("asked",) if of_files else ("full",)),
            passes=self.pass_ or (() if of_files else ("train",)),
            limits=limits_of(self.limit_memory),
            vary=self.vary,
        )

    def chosen_preset(self) -> Preset:
        share = {} if self.tolerance is None else {"search_tolerance": parse_share(self.tolerance, "tolerance")}
        return self.preset_of("oom", **share)

    @property
    def prepared(self) -> dict[str, Any]:
        return {"python": self.python}


def parted(words: Sequence[str]) -> tuple[tuple[str, ...], list[str]]:
    """Returns the question files among typed words, and the other words."""
    files = tuple(word for word in words if word.endswith(".py") or "/" in word)
    return files, [word for word in words if word not in files]


def threads_of(texts: Sequence[str], usable: int) -> tuple[int, ...]:
    """Returns the numbers of cores in `--cores`; without any, all. Raises UserError for one that isn't here."""
    for text in texts:
        if not (text.isdecimal() and 1 <= int(text) <= usable):
            raise UserError(f"--cores={text} isn't understood: it is a number of cores from 1 to {usable}, or several.")
    return tuple(dict.fromkeys(map(int, texts))) or (usable,)


def limits_of(texts: Sequence[str]) -> tuple[int, ...]:
    return tuple(int(parse_quantity(text, BYTES, "limit-memory", "2GiB")) for text in texts)


def command(words: Sequence[str]) -> str:
    return shlex.join([COMMAND, *words])
