"""Groups of options that several commands have. The string below a field is its help."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from suite.errors import COMMAND, UserError


@dataclass(frozen=True, kw_only=True)
class Options:
    """The base of every command's options."""

    WORDS: ClassVar[tuple[str, ...]] = ()
    """the fields that take words typed without an option, like A and B of `compare A B`: each one word, and a
    repeatable field all that are left"""
    FIRST: ClassVar[tuple[str, ...]] = ()
    """the options that help names first"""
    LISTS: ClassVar[frozenset[str]] = frozenset(
        ("again", "device", "environment", "limit_memory", "pass_", "precision", "size", "stack", "track", "workload")
    )
    """the repeatable fields whose values may be typed as one list, like --stack=numpy,jax_jit"""

    def split(self) -> Self:
        """Returns the options with every list of `LISTS` taken apart."""
        parts = {
            field.name: tuple(word.strip() for text in value for word in text.split(",") if word.strip())
            for field in dataclasses.fields(self)
            if field.name in self.LISTS and isinstance(value := getattr(self, field.name), tuple)
        }
        return dataclasses.replace(self, **parts)

    def with_words(self, words: Sequence[str]) -> Self:
        """Returns the options with words typed without an option. Raises UserError for a word that no field takes."""
        taken: dict[str, Any] = {}
        for name in self.WORDS:
            value = getattr(self, name)
            if isinstance(value, tuple):
                taken[name], words = (*value, *words), ()
            elif words and value == type(self).__dataclass_fields__[name].default:
                taken[name], words = words[0], words[1:]
        if words:
            raise UserError(f"'{words[0]}' belongs to no option.")
        return dataclasses.replace(self, **taken)

    def words(self, *left_out: str) -> list[str]:
        """Returns the options that differ from their default, as a person types them, without the fields `left_out`."""
        words = []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if field.name not in left_out and value != field.default and value is not None:
                option = "--" + field.name.rstrip("_").replace("_", "-")
                values = value if isinstance(value, tuple) else (value,)
                words += [option if item is True else f"{option}={item}" for item in values]
        return words


@dataclass(frozen=True, kw_only=True)
class TargetOptions(Options):
    """The option for the hardware."""

    target: str = "cpu"
    """hardware class: cpu, cuda or tpu"""


@dataclass(frozen=True, kw_only=True)
class JsonOptions(Options):
    """The option for output that programs read."""

    json: bool = False
    """print one JSON object on standard output, and nothing else"""


@dataclass(frozen=True, kw_only=True)
class ResultsOptions(Options):
    """The option for the folder of result sets."""

    results: str = "results"
    """folder for result sets"""


@dataclass(frozen=True, kw_only=True)
class ArchiveOptions(ResultsOptions):
    """The option for an archive of published sets."""

    from_: str | None = None
    """use the result sets of this archive, in place of those in --results: a folder, s3://bucket/prefix or
    gs://bucket/prefix; credentials come from the environment"""


@dataclass(frozen=True, kw_only=True)
class ProcessOptions(ResultsOptions):
    """The options for how processes are started."""

    engine: str = "auto"
    """how processes are contained: local, docker, or auto: docker if it works here, else local"""
    workload_path: tuple[str, ...] = ()
    """a folder of your own workloads"""
    stack_path: tuple[str, ...] = ()
    """a stack of your own: its file <stack>_adapter.py, or a folder of such files"""
    force: bool = False
    """run even if another run is going on here, or the machine is busy"""

    @property
    def workload_paths(self) -> tuple[Path, ...]:
        """Returns the workloads' folders as absolute paths, since a set may be resumed from another folder."""
        return tuple(Path(path).absolute() for path in self.workload_path)

    @property
    def stack_paths(self) -> tuple[Path, ...]:
        """Returns the files and folders of stacks as absolute paths."""
        return tuple(Path(path).absolute() for path in self.stack_path)


@dataclass(frozen=True, kw_only=True)
class CaseOptions(TargetOptions):
    """The options that select cases, except for sizes and tracks."""

    workload: tuple[str, ...] = ()
    """only these workloads; globs"""
    stack: tuple[str, ...] = ()
    """only these stacks; globs; a name with @, like jax_jit@0.10 or jax_jit@*, selects variants"""
    pass_: tuple[str, ...] = ()
    """forward or train, or gradient of a question file, in place of the preset's"""
    precision: tuple[str, ...] = ()
    """f32, tf32 or bf16, in place of the preset's"""


@dataclass(frozen=True, kw_only=True)
class SizeOptions(Options):
    """The options for sizes and tracks."""

    size: tuple[str, ...] = ()
    """sizes in place of the preset's; globs"""
    track: tuple[str, ...] = ()
    """default; or tuned: with each stack's documented knobs"""


def command(task: str, options: Options, *left_out: str, **replaced: Any) -> str:
    """Returns the command line of a task with these options, some of them `replaced`, without the fields `left_out`."""
    return shlex.join([COMMAND, task, *dataclasses.replace(options, **replaced).words(*left_out)])
