"""The command; and for notebooks `stackwars.ask("layernorm.py", stack=["torch_*", "jax_jit"])`, the rows of the answer.

A wheel, as of `uvx --from git+ADDRESS stackwars`, is this module with the project's source as data. Its first command
unpacks the source into the user's cache, where it is used as a checkout is: so environments come from the locks there,
too.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stackwars_notebook import Answer

__all__ = ["ask"]

SOURCE = Path(__file__).with_name("stackwars_source")  # in a wheel alone
VENV = Path(__file__).with_name(".venv")
# Makes the orchestrator's environment where it is missing or stale; by the Python behind it, if it runs in that.
PYTHON = os.path.realpath(sys.executable) if os.path.realpath(sys.prefix) == os.path.realpath(VENV) else sys.executable
MAKE = (PYTHON, "-Es", "-m", "suite.environments", "orchestrator")


def ask(*asked: Any, **options: Any) -> Answer:
    """As stackwars_notebook.ask."""
    import stackwars_notebook

    return stackwars_notebook.ask(*asked, **options)


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext stackwars` gives a notebook the cell magic `%%stackwars`."""
    import stackwars_notebook

    shell.register_magic_function(stackwars_notebook.cell, "cell", "stackwars")


def main() -> None:
    if Path(sys.prefix).resolve() != VENV.resolve() or not is_whole():
        become(sys.argv[1:])
    from suite.cli.app import main as app

    app()


def is_whole() -> bool:
    """Whether the environment that runs this is whole, from the present lock and of this checkout."""
    from suite.environments import locks, venv

    return venv.status(locks.newest(locks.ORCHESTRATOR, "cpu")) == "ready"


def become(words: list[str]) -> None:
    """Becomes the command of the checkout that this file is in, or of the unpacked source."""
    here = home()
    # Standard output is the command's alone.
    try:
        ended = subprocess.run(MAKE, cwd=here, stdout=sys.stderr, check=False)
    except KeyboardInterrupt:
        sys.exit(130)
    if ended.returncode:
        sys.exit(ended.returncode)
    program = str(here / ".venv" / "bin" / "stackwars")
    os.execv(
        program, [program, *(f"--python={sys.executable}" if word == "--python=current" else word for word in words)]
    )


def home() -> Path:
    """Returns the folder of the source: a checkout's or, of a wheel, the one in the user's cache, which is made."""
    if not SOURCE.is_dir():
        return Path(__file__).resolve().parent
    named = Path(os.environ.get("XDG_CACHE_HOME", ""))
    cache = (named if named.is_absolute() else Path.home() / ".cache") / "stack-wars"
    here = cache / digest(SOURCE, origin())[:12]
    try:
        if not here.is_dir():
            unpack(cache, here)
    except OSError as broken:
        sys.exit(f"{cache} can't be written: {broken.strerror}. XDG_CACHE_HOME names another folder for caches.")
    return here


def digest(folder: Path, from_: str) -> str:
    whole = hashlib.sha256(from_.encode())
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            whole.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode())
            whole.update(path.read_bytes())
    return whole.hexdigest()


def unpack(cache: Path, here: Path) -> None:
    """Copies the source, as a whole or not at all. All versions share their environments, which locks name."""
    shared = cache / "environments"
    shared.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(dir=cache))
    try:
        shutil.copytree(SOURCE, draft, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
        draft.chmod(0o755)
        shutil.copy(__file__, draft)
        (draft / ".environments").symlink_to(shared)
        (draft / "REVISION").write_text(origin(), encoding="utf-8")
        draft.rename(here)
    except OSError:
        if not here.is_dir():  # nobody else did it meanwhile
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def origin() -> str:
    """Returns the commit that the wheel was made from and its address, a line each; empty if unknown."""
    told = json.loads(importlib.metadata.distribution("stack-wars").read_text("direct_url.json") or "{}")
    commit = told.get("vcs_info", {}).get("commit_id", "")
    return f"{commit}\n{told['url']}\n" if commit else ""


if __name__ == "__main__":
    main()
