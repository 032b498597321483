"""The revisions in which one question is asked, `--before=REV` or `--over='v1.*'`: each is a variant of every stack,
like `numpy@before`, in the environment of the stack itself. Its processes find the modules of the package under test in
the revision's own tree (suite/workloads/questions/loading.py)."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from suite.case import AFTER, BEFORE
from suite.environments import locks, say, uv, venv
from suite.errors import UserError
from suite.guard.variables import without_python
from suite.workloads.questions.loading import TREE, beside
from suite.workloads.statements import EVERYWHERE, imports_of

REPOSITORY = "REPOSITORY"  # in texts of a set, in place of its folder
RELEASE = re.compile(r"[A-Za-z0-9][\w.-]*(\[[^]]*\])?==[^\s=]+")


@dataclass(frozen=True)
class Revision:
    """What a variant measures. `name` is what a set keeps of it: a commit, or a release like einops==0.8.0. `folder` is
    its tree; None of a release, and of a file that lies in no repository. `install` is the command that puts the tree
    into an environment; without it the tree is on the path."""

    name: str
    folder: Path | None = None
    install: str = ""

    @property
    def requirements(self) -> tuple[str, ...]:
        return (self.name,) if RELEASE.fullmatch(self.name) else ()

    @property
    def places(self) -> list[Path]:
        """Returns the folders that a process has on its path."""
        if self.folder is None or self.install:
            return []
        return [place for place in (self.folder / "src", self.folder) if place.is_dir()]


KNOWN: dict[str, Revision] = locks.REVISIONS  # by variant: those in which this process asks its question


def of(environment: str) -> Revision | None:
    """Returns the revision that an environment's name, like `torch@before`, is for; None for any other environment."""
    return KNOWN.get(environment.partition("@")[2])


def variants_of(stacks: Iterable[str]) -> tuple[str, ...]:
    """Returns the names of stacks in every revision: `numpy:f` becomes `numpy@before:f` and `numpy@after:f`."""
    names: list[str] = []
    for stack in stacks:
        name, colon, function = stack.partition(":")
        if "@" in name:
            raise UserError(f"{stack} is a variant, and so is each revision: leave out what follows the @.")
        names += [f"{name}@{variant}{colon}{function}" for variant in KNOWN]
    return tuple(names)


def variables(revision: Revision) -> dict[str, str]:
    """Returns the variables of a process by which it finds the modules of its revision."""
    root = os.environ[TREE].partition(os.pathsep)[0]
    return {TREE: os.pathsep.join([root, *map(str, revision.places)])}


def places() -> dict[Path, str]:
    """Returns the folders of this machine that the texts of a set may name, with a word for each."""
    root = os.environ.get(TREE, "").partition(os.pathsep)[0]
    trees: dict[Path, str] = {each.folder: variant.upper() for variant, each in KNOWN.items() if each.folder}
    return trees | ({Path(root): REPOSITORY} if root else {})


@contextmanager
def of_question(file: Path, before: str = "", over: str = "", install: str = "") -> Iterator[None]:
    """Makes the trees of a question's revisions, which are gone at the end. Raises UserError for a revision that can't
    be found, a file outside a repository, and a file that imports nothing of it."""
    root = repository(file.parent)
    if root is None and not RELEASE.fullmatch(before):
        raise UserError(f"{file} lies in no git repository, so it has no other revision to be compared with.")
    with ExitStack() as stack:
        place = Path(stack.enter_context(TemporaryDirectory(prefix="stackwars-"))).resolve()
        stack.callback(forget)
        for tag in tags(root, over) if over else ():
            variant = re.sub(r"[^\w.+-]", "_", tag)
            KNOWN[variant] = earlier(root, f"refs/tags/{tag}", place / variant, stack, install)
        if before:
            KNOWN[BEFORE] = earlier(root, before, place / BEFORE, stack, install)
            KNOWN[AFTER] = today(root, place / AFTER, stack, install)
        last = [*KNOWN.values()][-1]
        os.environ[TREE] = os.pathsep.join(map(str, [root or "", *last.places]))
        tested = modules(file, last.places)
        if last.places and not tested:
            raise UserError(
                f"{file} imports nothing that lies in {root} or its folder src, so every revision would run the same "
                "code. For a package that lies elsewhere in it: --install='pip install -e FOLDER'."
            )
        for variant, revision in KNOWN.items():
            say(f"{variant} is {revision.name}" + (f", its {', '.join(tested)}." if revision.places else "."))
        yield


def forget() -> None:
    KNOWN.clear()
    os.environ.pop(TREE, None)


def earlier(root: Path | None, word: str, tree: Path, stack: ExitStack, install: str) -> Revision:
    """Returns what --before names: a release, a commit of the repository, or a folder."""
    if RELEASE.fullmatch(word):
        return Revision(word)
    commit = ""
    with suppress(UserError):
        commit = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{word}^{{commit}}")
    if commit:
        return Revision(commit, worktree(root, commit, tree, stack), install)
    folder = Path(word).expanduser().resolve()
    if not folder.is_dir():
        raise UserError(
            f"--before={word} is no commit, branch or tag of {root} (`git fetch` may bring it), no folder, and no "
            "release like einops==0.8.0."
        )
    tree.symlink_to(folder)
    return Revision(name_of(folder), tree, install)


def today(root: Path | None, tree: Path, stack: ExitStack, install: str) -> Revision:
    """Returns the working tree as it is now: uncommitted changes are in it, and new files of Python that git doesn't
    ignore. It is a copy, so that it may be edited meanwhile."""
    if root is None:
        return Revision("as it stands")
    head, changed = git(root, "rev-parse", "HEAD"), git(root, "stash", "create")
    worktree(root, changed or head, tree, stack)
    # Result sets have copies of question files.
    here = ("*.py", ":(exclude,glob)**/*results/**")
    new = git(root, "ls-files", "--others", "--exclude-standard", "-z", "--", *here).split("\0")
    for name in filter(None, new):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / name, tree / name)
    return Revision(f"{head}{'-dirty' if changed or any(new) else ''}", tree, install)


def name_of(folder: Path) -> str:
    """Returns what a set keeps of a folder: its commit, or else the digest of its files of Python."""
    if repository(folder):
        return git(folder, "rev-parse", "HEAD") + ("-dirty" if git(folder, "diff", "HEAD") else "")
    whole = hashlib.sha256(b"".join(path.read_bytes() for path in sorted(folder.rglob("*.py"))))
    return f"folder-{whole.hexdigest()[:12]}"


def tags(root: Path | None, pattern: str) -> list[str]:
    found = git(root, "tag", "--list", pattern, "--sort=version:refname").splitlines()
    if len(found) < 2:
        raise UserError(f"--over={pattern} needs two tags of {root} or more; it matches {' '.join(found) or 'none'}.")
    return found


def worktree(root: Path | None, commit: str, folder: Path, stack: ExitStack) -> Path:
    def remove() -> None:
        with suppress(UserError):  # it was never added
            git(root, "worktree", "remove", "--force", str(folder))

    stack.callback(remove)  # first: Ctrl-C may come while it is added
    git(root, "worktree", "add", "--detach", "--quiet", str(folder), commit)
    return folder


def repository(folder: Path) -> Path | None:
    with suppress(UserError):
        return Path(git(folder, "rev-parse", "--show-toplevel"))
    return None


def git(folder: Path | None, *words: str) -> str:
    """Returns what git prints about a repository. No hook of it runs. Raises UserError with git's own words."""
    if folder is None:
        raise UserError("There is no repository.")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(folder), "-c", "core.hooksPath=/dev/null", *words]
    try:
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    except OSError as broken:
        raise UserError(f"git can't be started ({broken.strerror}), and it has the revisions of {folder}.") from None
    if done.returncode != 0:
        raise UserError(f"git {words[0]} failed in {folder}: {done.stderr.strip() or f'exit code {done.returncode}'}.")
    return done.stdout.strip()


def modules(file: Path, folders: Iterable[Path]) -> list[str]:
    """Returns the modules that a file, or a module beside it, imports and that lie in one of these folders."""
    named = {name for source in (file, *beside(file)) for name in imports_of(source)} - EVERYWHERE
    return sorted(n for n in named if any((f / n).is_dir() or (f / f"{n}.py").is_file() for f in folders))


def installed(revision: Revision, lock: locks.Lock) -> Path:
    """Returns the Python of an environment that is made from the stack's lock and has the revision on top. Raises
    UserError, with the installer's last words, if that fails."""
    if revision.folder is None:
        return venv.made(lock).python
    folder = revision.folder.with_name(f"{revision.folder.name}-{lock.name}")
    if not folder.exists():
        venv.make(lock, folder)
        words = install_words(revision.install)
        command = [uv.find_uv(), *words] if words[0] == "pip" else words  # environments have no pip of their own
        environ = without_python(os.environ) | {"VIRTUAL_ENV": str(folder)}
        environ["PATH"] = f"{folder / 'bin'}{os.pathsep}{environ.get('PATH', os.defpath)}"
        failed = f"--install={shlex.quote(revision.install)} failed in {revision.name}"
        try:
            done = subprocess.run(
                command, cwd=revision.folder, env=environ, capture_output=True, text=True, check=False
            )
        except OSError as broken:
            raise UserError(f"{failed}: {words[0]} can't be started ({broken.strerror}).") from None
        if done.returncode != 0:
            raise UserError(f"{failed}: {(done.stderr or done.stdout).strip()[-1000:]}")
    return folder / "bin" / "python"


def install_words(text: str) -> list[str]:
    """Returns the words of --install. Raises UserError if there are none, or a quotation mark lacks its other half."""
    try:
        words = shlex.split(text)
    except ValueError as broken:
        raise UserError(f"--install={text} isn't understood: {broken}.") from None
    if not words:
        raise UserError("--install is empty: it is a command, like --install='pip install -e .'.")
    return words
