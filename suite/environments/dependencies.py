"""The packages that a question file names in its own text, by PEP 723, on top of an environment's lock: a lock of their
own, which is made once and kept.

    # /// script
    # dependencies = ["transformers>=5", "einops"]
    # [tool.stackwars]
    # jax = ["flax"]
    # ///
"""

from __future__ import annotations

import hashlib
import re
import tempfile
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from suite import environments
from suite.environments import say, uv
from suite.environments.locks import Lock
from suite.environments.variants import package
from suite.errors import UserError, check_known

BLOCK = re.compile(r"^# /// script$\s(?P<lines>(^#(| .*)$\s)+)^# ///$", re.MULTILINE)  # as PEP 723 gives it
TIED = ("torchaudio", "torchvision")  # packages whose wheels are built for one build of PyTorch
REQUIREMENT = re.compile(r"[A-Za-z0-9][^\s'\"/\\@]*(\s*[<>=!~,;].*)?")  # no path, address or option


class Script(msgspec.Struct, frozen=True):
    """What the block says that is read here; other tools' keys may stand beside it."""

    dependencies: tuple[str, ...] = ()
    tool: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Dependencies:
    """The requirements of a file: `shared` by all environments that need them, and `own` by environment."""

    path: Path
    shared: tuple[str, ...] = ()
    own: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def packages(self) -> tuple[str, ...]:
        every = (*self.shared, *(each for of in self.own.values() for each in of))
        return tuple(dict.fromkeys(map(package, every)))

    def of(self, environment: str, imports: Collection[str], elsewhere: Collection[str]) -> tuple[str, ...]:
        """Returns an environment's requirements: its own, and those of the shared ones that its functions import, or
        that no function imports by the package's name. `elsewhere` are the imports of all functions."""
        modules = {each: package(each).replace("-", "_") for each in self.shared}
        needed = (each for each, module in modules.items() if module in imports or module not in elsewhere)
        return (*needed, *self.own.get(environment, ()))


def read(path: Path, known: Iterable[str]) -> Dependencies:
    """Returns the requirements in a file's block; none without one. `known` are the environments that it may name.
    Raises UserError for a block that isn't as PEP 723 and this module's docstring have it."""
    blocks = [*BLOCK.finditer(path.read_text(encoding="utf-8"))]
    if not blocks:
        return Dependencies(path)
    if len(blocks) > 1:
        raise UserError(f"{path} has {len(blocks)} blocks `# /// script`: PEP 723 allows one.")
    text = re.sub(r"^# ?", "", blocks[0]["lines"], flags=re.MULTILINE)
    try:
        script = msgspec.convert(tomllib.loads(text), Script)
        own = msgspec.convert(script.tool.get("stackwars", {}), dict[str, tuple[str, ...]])
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as broken:
        raise UserError(f"The block `# /// script` of {path} isn't understood: {broken}.") from None
    for name in own:
        check_known("environment", name, [*known], of=f"[tool.stackwars] of {path}")
    for requirement in (*script.dependencies, *(each for of in own.values() for each in of)):
        if not REQUIREMENT.fullmatch(requirement):
            raise UserError(f"{path}: the dependency {requirement!r} isn't a package of an index, like einops>=0.8.")
    return Dependencies(path, script.dependencies, own)


def extended(lock: Lock, requirements: Iterable[str], asked_by: Path) -> Path:
    """Returns a lock with the packages of `lock`, at their versions, and those that the requirements add. It is made if
    it isn't here. Raises UserError, with both sides, where they don't fit together."""
    wanted = sorted(set(requirements))
    digest = hashlib.sha256("\n".join([str(lock.sha256), *wanted]).encode()).hexdigest()[:12]
    made = folder(lock.target) / f"{lock.name}-{digest}.txt"
    if made.is_file():
        return made
    say(f"Resolving {', '.join(wanted)} for environment {lock.name}")
    made.parent.mkdir(parents=True, exist_ok=True)
    pins = (f"{name}=={version}" for name, version in lock.pins.items() if name != "python")
    with tempfile.TemporaryDirectory() as place:
        source, draft = Path(place) / "requirements.in", Path(place) / made.name
        source.write_text("\n".join([f"# Python {lock.python}", *pins, *wanted]) + "\n", encoding="utf-8")
        try:
            uv.compile_lock(lock.name, lock.target, source, [lock.python], draft, upgrade=False)
        except uv.NoSolution as broken:
            why = re.sub(r"\s+", " ", str(broken).partition("Because ")[2] or str(broken)).partition(" hint:")[0]
            raise UserError(
                f"{asked_by}: {', '.join(wanted)} can't be added to environment {lock.name}, whose versions are fixed. "
                f"Because {why.strip().rstrip('.')}. Ask for versions that fit, or measure with an interpreter of your "
                "own: --python=PATH."
            ) from None
        check_build(lock, replace(lock, path=draft), asked_by)
        made.write_text(draft.read_text(encoding="utf-8"), encoding="utf-8")
    return made


def check_build(base: Lock, extended: Lock, asked_by: Path) -> None:
    """Raises UserError for a package built for PyTorch with CUDA on top of PyTorch's CPU build: it installs, and then
    neither it nor what imports it, like timm, can be imported."""
    torch = base.pins.get("torch", "")
    for name in TIED:
        version = extended.pins.get(name, "")
        if torch.endswith("+cpu") and version and not version.endswith("+cpu"):
            raise UserError(
                f"{asked_by}: {name} {version} is built for PyTorch with CUDA and can't be imported beside {torch} of "
                f"environment {base.name}: UV_FIND_LINKS=DIR (or PIP_FIND_LINKS=DIR) takes the CPU wheel of {name} "
                "from a folder, or --python=PATH an interpreter that has both."
            )


def folder(target: str) -> Path:
    """Returns where the locks of questions are kept: none is in the repository."""
    return environments.ROOT / ".environments" / "questions" / target


def kept(name: str, target: str) -> list[Lock]:
    """Returns the locks that questions have made of an environment."""
    return [Lock(name, target, path) for path in sorted(folder(target).glob(f"{name}-*.txt"))]
