"""The options of the commands on this project and this machine."""

from __future__ import annotations

from dataclasses import dataclass

from suite.cli.options.shared import JsonOptions, Options, TargetOptions


@dataclass(frozen=True, kw_only=True)
class SetupOptions(Options):
    """The options of `./stackwars setup`."""

    target: str = "cpu"
    """hardware class: cpu, cuda or tpu; cluster for Ray, which hands out work among machines; predict for accelerators'
    compilers"""


@dataclass(frozen=True, kw_only=True)
class ListOptions(JsonOptions):
    """The options of `./stackwars list`."""

    workload_path: tuple[str, ...] = ()
    """a folder of your own workloads"""
    stack_path: tuple[str, ...] = ()
    """a stack of your own: its file <stack>_adapter.py, or a folder of such files"""


@dataclass(frozen=True, kw_only=True)
class LockOptions(TargetOptions):
    """The options of `./stackwars lock`."""

    environment: tuple[str, ...] = ()
    """only this environment"""
    variant: str | None = None
    """make a variant of this name, like 0.11, of the environment; --with, --env or --python say how it differs"""
    with_: tuple[str, ...] = ()
    """with --variant: a requirement in place of the environment's own, like jax==0.11.2"""
    env: tuple[str, ...] = ()
    """with --variant: a variable that its processes get, like XLA_FLAGS=--xla_cpu_enable_fast_math=true"""
    python: str | None = None
    """with --variant: its Python, like 3.13"""
    upgrade: bool = False
    """lock the newest versions that the .in files allow (default: keep the lock's versions that they allow)"""


@dataclass(frozen=True, kw_only=True)
class FiguresOptions(Options):
    """The options of `./stackwars figures`."""

    measure: tuple[str, ...] = ()
    """measure the result set of this name by its command in docs/figures.toml; all: every result set for this machine's
    processor"""
    set: tuple[str, ...] = ()
    """a name in docs/figures.toml and a result set measured before, like quick=results/latest"""
    write: bool = False
    """write the tables that come from the measured and given result sets into their pages"""


@dataclass(frozen=True, kw_only=True)
class GoldenOptions(Options):
    """The options of `./stackwars golden`."""

    workload: tuple[str, ...] = ()
    """only these models"""
    size: tuple[str, ...] = ("tiny", "odd", "small")
    """sizes of the models"""
    check: bool = False
    """make the golden files again and compare them with the stored ones; write nothing"""


@dataclass(frozen=True, kw_only=True)
class TestOptions(Options):
    """The options of `./stackwars test`."""

    args: str = ""
    """options for pytest, like --args='-k gate -x'"""
    quick: bool = False
    """only the tests that need no framework, in about two minutes"""
    all: bool = False
    """also the tests that only a release needs, and the environments that only these need"""


@dataclass(frozen=True, kw_only=True)
class BuildOptions(TargetOptions):
    """The options of `./stackwars build`."""

    environment: tuple[str, ...] = ()
    """only this environment"""
    base: str | None = None
    """a base image of your own; it must have the locks' Python and apt"""


@dataclass(frozen=True, kw_only=True)
class BaseImageOptions(Options):
    """The options of `./stackwars base-image`."""

    mirror: str | None = None
    """a Debian mirror (default: the one that this machine uses)"""
    python: tuple[str, ...] = ()
    """the image's Python: 3.11 (Debian 12) or 3.13 (Debian 13) (default: an image for each)"""


@dataclass(frozen=True, kw_only=True)
class ImagesOptions(JsonOptions):
    """The options of `./stackwars images`."""

    prune: bool = False
    """remove images that aren't of an environment's newest lock"""
