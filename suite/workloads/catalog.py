"""Finds workloads: every folder with a `spec.py` or, for a probe, a `probe.toml`, in the suite and in folders that a
user names.

A workload `gemm` is a folder `gemm/` with `spec.py` and one `gemm_<dialect>.py` for each dialect it is
written in, or one `gemm_any.py` whose code means the same in all of them. docs/how-to/workload.md shows one outside
the repository. A probe has `probe.toml`: it isn't timed but observed, see docs/how-to/probe.md.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from suite.case import CUSTOM, GROWING, Case
from suite.errors import UserError, at_line, check_known
from suite.workloads import digests
from suite.workloads.probes import words

if TYPE_CHECKING:  # it needs NumPy
    from suite.workloads.tensors import Tensor

DIALECTS = ("numpy", "jax", "torch", "tf")  # by which a question names its functions; a folder may have others
ANY = "any"  # in place of a dialect, for code that has only operators and numbers
HOME = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class CaseTensors:
    """The tensors of a case by name: what is trained or differentiated, state without a gradient, and the batch."""

    parameters: dict[str, Tensor]
    buffers: dict[str, Tensor]
    batch: dict[str, Tensor]


@dataclass(frozen=True, slots=True)
class Workload:
    """A workload's folder and its loaded spec; only the worker loads the dialects."""

    name: str
    folder: Path
    spec: Any

    @property
    def sizes(self) -> Mapping[str, Mapping[str, int]]:
        sizes: Mapping[str, Mapping[str, int]] = self.spec.SIZES
        return sizes

    @property
    def is_probe(self) -> bool:
        """Whether the workload is observed, not timed."""
        return hasattr(self.spec, "ASPECTS")  # by `words.add`

    @property
    def is_question(self) -> bool:
        return False

    @property
    def passes(self) -> tuple[str, ...]:
        """The passes that are asked where none is named: of a question the first."""
        return tuple(self.spec.PASSES)[: 1 if self.is_question else None]

    @property
    def is_ours(self) -> bool:
        return self.folder.is_relative_to(HOME)

    @property
    def grows(self) -> frozenset[str]:
        """Returns the dims with which a step's memory grows. Of a workload from outside, those that it says."""
        growing = GROWING if self.is_ours else ()
        return frozenset(getattr(self.spec, "GROWS", growing))

    @property
    def same_as(self) -> Mapping[str, str]:
        """Returns {dim: the dim that it equals unless it is given}."""
        same: Mapping[str, str] = getattr(self.spec, "SAME_AS", {})
        return same

    @property
    def dialects(self) -> tuple[str, ...]:
        """Returns the dialects that this workload is written in, our own first."""
        named = {path.stem.removeprefix(f"{self.name}_") for path in self.folder.glob(f"{self.name}_*.py")}
        known = tuple(dialect for dialect in DIALECTS if self.file(dialect).exists())
        return (*known, *sorted(named - {ANY, *DIALECTS}))

    def file(self, dialect: str) -> Path:
        """Returns the file with a dialect's code: its own file, or the one for all dialects."""
        file = self.folder / f"{self.name}_{dialect}.py"
        return file if file.exists() else self.folder / f"{self.name}_{ANY}.py"

    def implementations(self, dialect: str) -> tuple[str, ...]:
        """Returns the names of what computes the workload in a dialect: one without a name, or none."""
        return ("",) if self.file(dialect).exists() else ()

    @property
    def digests(self) -> dict[str, str]:
        """Returns the digests of the code by dialect. A question file has one for each function, and `asked`, of what
        is asked."""
        return {dialect: digests.of_file(self.file(dialect)) for dialect in self.dialects if dialect in DIALECTS}

    def imports(self, dialect: str) -> frozenset[str]:
        """Returns the packages beyond NumPy that a question's functions of a dialect import."""
        return frozenset()

    def check_unchanged(self, code: Mapping[str, str]) -> None:
        """Raises UserError if the code isn't that of these digests any more, with which a run began."""
        with suppress(SyntaxError, FileNotFoundError):
            if not code or self.digests == code:
                return
        raise UserError(
            f"{self.folder} was changed since the run began. Restore it (from the set's inputs/), or run anew."
        )

    def unsupported(self, dialect: str, case: Case) -> str | None:
        """Returns the reason why a dialect can't run a case; None if it can."""
        return None

    def dialect(self, dialect: str) -> ModuleType:
        """Returns the module of one dialect. Imports its framework. Raises UserError if there is no file of that
        dialect."""
        file = self.file(dialect)
        if not file.exists():
            raise UserError(f"{self.name} isn't written in the {dialect} dialect ({self.name}_{dialect}.py).")
        return load_module(file)

    @property
    def has_model(self) -> bool:
        """Whether it is a question's model, a module with parameters of its own."""
        return False

    @property
    def has_step(self) -> bool:
        """Whether it is a question with steps of its own, each of which hands its state to the next."""
        return False

    @property
    def has_ports(self) -> bool:
        """Whether it is a question with several models, which must compute the same."""
        return False

    def of_case(self, dialect: str, case: Case, weights: Path | None = None) -> Workload:
        """Returns the workload as one case asks it, in the process that measures it."""
        return self

    def code(self, dialect: str, family: str, case: Case) -> Any:
        """Returns the code of a case in one dialect: for a folder, the dialect's module. `family` is the dialect in
        whose form the adapter takes it."""
        return self.dialect(dialect)

    def arguments(self, dims: Mapping[str, int]) -> dict[str, Any]:
        """Returns the arguments of its functions: a tree of tensors and plain values."""
        return dict(self.spec.inputs(dims))

    def tensors(self, dims: Mapping[str, int], pass_: str) -> CaseTensors:
        spec, batch = self.spec, dict(self.spec.inputs(dims))
        if pass_ == "train":
            batch["target"] = spec.target(dims)
        buffers = spec.buffers(dims) if hasattr(spec, "buffers") else {}
        return CaseTensors(dict(spec.parameters(dims)), dict(buffers), batch)

    def data_files(self, dims: Mapping[str, int]) -> list[Path]:
        """Returns the files beside its own from which tensors come."""
        return []

    def sizes_with(self, dims: Mapping[str, int]) -> list[str]:
        """Returns the names of the sizes that have exactly these dims."""
        return [size for size, size_dims in self.sizes.items() if dict(size_dims) == dict(dims)]

    def size_of(self, dims: Mapping[str, int], preferred: str = "") -> str:
        """Returns the name of a size that has exactly these dims: `preferred` if it has them, else the first; `custom`
        if no size has them."""
        names = self.sizes_with(dims)
        return preferred if preferred in names else next(iter(names), CUSTOM)

    def golden(self, dims: Mapping[str, int]) -> Path | None:
        """Returns the golden file of the size that has exactly these dims; None if there is none."""
        paths = (self.folder / "golden" / f"{size}.npz" for size in self.sizes_with(dims))
        return next((path for path in paths if path.exists()), None)

    @property
    def unit(self) -> str:
        """Returns what a step's items are called: tokens, images or rows; for a probe, aspects."""
        if self.is_probe:
            return "aspects"
        return str(self.spec.items(next(iter(self.sizes.values())))[1])

    def items(self, dims: Mapping[str, int]) -> int:
        return int(self.spec.items(dims)[0])

    def dims(self, size: str, overrides: Mapping[str, int]) -> dict[str, int]:
        """Returns the dims of a size, some of them replaced by `overrides`. A dim of SAME_AS is among them only if it
        differs from the other. Raises UserError if the dims break a rule, and names the rule."""
        dims = dict(self.sizes[size])
        for name, value in overrides.items():
            check_known("dim", name, (*dims, *self.same_as), of=f"Workload '{self.name}'")
            if value < 1:
                raise UserError(f"Workload '{self.name}': dim {name}={value} must be at least 1.")
            dims[name] = value
        dims = {name: value for name, value in dims.items() if dims.get(self.same_as.get(name, "")) != value}
        check: Callable[[Mapping[str, int]], None] | None = getattr(self.spec, "check", None)
        if check is not None:
            try:
                check(dims)
            except ValueError as broken:
                raise UserError(f"Workload '{self.name}', size '{size}': {broken}.") from None
        return dims


def load_module(path: Path) -> ModuleType:
    """Returns the module of one file. It gets a unique name, so that files of one name in two folders don't collide."""
    name = f"loaded_{path.stem}_{abs(hash(str(path.resolve())))}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path} can't be imported as a Python file.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def load(folder: Path) -> Workload:
    """Returns the workload of a folder or a question file. Raises UserError if its spec is broken or incomplete."""
    if folder.suffix == ".py":
        from suite.workloads.questions import question  # which builds on this module

        return question.load(folder)
    if not is_workload(folder):
        raise UserError(f"{folder} is no workload: it has no spec.py. See docs/how-to/workload.md.")
    path = folder / "spec.py"
    try:
        spec = load_module(path) if path.exists() else ModuleType("spec")
    except Exception as broken:
        raise UserError(f"{path} can't be loaded: {at_line(broken, path)}.") from broken
    if (folder / words.FILE).exists():
        words.add(folder, spec)
    else:
        from suite.workloads import specs  # which needs NumPy

        specs.check(path, spec)
    return Workload(folder.name, folder, spec)


def is_workload(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("spec.py", words.FILE))


def workloads_in(place: Path) -> list[Path]:
    return sorted(folder for folder in place.resolve().glob("*") if is_workload(folder))


def ours() -> list[Path]:
    """Returns the folders of the suite's own workloads."""
    return [path for group in ("ops", "models", "probes") for path in workloads_in(HOME / group)]


def name_of(path: Path) -> str:
    """Returns what a workload is called: like its folder, a question like its file. A question keeps the ending `.py`
    if the suite has a workload of its name; what no name may have in it becomes `_`."""
    if path.suffix != ".py":
        return path.name
    name = re.sub(r"^[^A-Za-z0-9_]|[^A-Za-z0-9_.+-]", "_", path.stem)[:96]
    return f"{name}.py" if any(folder.name == name for folder in ours()) else name


def file_name(name: str) -> str:
    """Returns what the file of a question of this name is called in a set."""
    return f"{name.removesuffix('.py')}.py"


def find(extra: Iterable[Path] = ()) -> dict[str, Workload]:
    """Returns all workloads by name: the suite's, then those in `extra` places: a workload, a folder of them, or a
    question file."""
    folders = ours()
    for place in extra:
        if place.suffix == ".py":
            folders.append(place.resolve())
            continue
        if not (found := [place.resolve()] * is_workload(place) + workloads_in(place)):
            raise UserError(f"--workload-path {place}: no spec.py there or one folder below.")
        folders += found
    workloads: dict[str, Workload] = {}
    for folder in folders:
        name = name_of(folder)
        if name in workloads:
            raise UserError(f"Two workloads are called '{name}': {workloads[name].folder} and {folder}.")
        workloads[name] = load(folder)
    return workloads
