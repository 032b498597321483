"""Result sets as a change of an archive that is a git repository: makes one, and says why one can't enter."""

from __future__ import annotations

import re
import tempfile
from collections import Counter, deque
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from suite.environments import say
from suite.environments.checkout import has_commit
from suite.environments.revisions import git
from suite.errors import UserError
from suite.extras.archive import fetch
from suite.extras.archive.publish import publish
from suite.extras.archive.signature import SIGNATURE, is_of, signature_beside
from suite.extras.archive.storage import Storage
from suite.extras.submit.contradictions import contradictions
from suite.results import load
from suite.run.start.reproduce import strange
from suite.sets import manifest
from suite.sets.files import gunzipped
from suite.sets.parquet import read_rows
from suite.sets.result_set import ResultSet
from suite.sets.rows import CASE, Row

SETS = "sets"  # the archive's folder in its repository
BYTES_MAX = 8_000_000  # of all sets that a change adds
FILE = re.compile(rf"{SETS}/({manifest.SET_NAME.pattern})/((\w[\w.@+=,-]*/)*\w[\w.@+=,-]*)", re.ASCII)
RAW = ("--raw", "--no-renames", "--no-abbrev")
FIGURES = ("host_peak_build_bytes", "host_peak_step_bytes", "cgroup_peak_bytes", "host_file_bytes", "host_base_bytes")
SAMPLES = 16  # by which a process is known again
Known = Mapping[tuple[float, ...], str]  # {pattern of a process: its set}


def commit(folder: Path, clone: Path) -> str:
    """Makes a branch with a commit that adds a set, in a clone whose own files stay as they are. Returns the branch.
    Raises UserError, and makes nothing, for a set that can't enter."""
    check_clean(clone)
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        git(clone, "worktree", "add", "--quiet", "--detach", str(tree), "HEAD")
        try:
            name = copy(folder, tree / SETS, known_in(tree / SETS))
            git(tree, "add", "--force", "--", f"{SETS}/{name}")
            git(tree, "commit", "--quiet", "--message", f"Add the result set {name}")
            git(tree, "branch", f"set/{name}")
        finally:
            git(clone, "worktree", "remove", "--force", str(tree))
    return f"set/{name}"


def copy(folder: Path, sets: Path, known: Known) -> str:
    """Publishes a set in the folder `sets`. Returns its name. Raises UserError if it can't enter an archive."""
    storage = Storage.of(str(sets))
    name = publish(folder, storage, say).name
    if signature := signature_beside(folder):
        storage.upload(signature, name, SIGNATURE)
    if found := refusals(sets / name, known):
        raise UserError(f"{folder} can't be submitted: {'; '.join(found)}.")
    return name


def refused(clone: Path, base: str) -> tuple[list[str], dict[str, list[str]]]:
    """Returns what the change that is checked out in a clone does beside adding sets to the archive of the commit
    `base`; and if that is nothing, {name of a set that it adds: why the set can't enter}."""
    check_clean(clone)
    start = git(clone, "merge-base", base, "HEAD")
    there = git(clone, "ls-tree", "--name-only", start, f"{SETS}/").splitlines()
    found, added, nbytes = list[str](), dict[str, list[str]](), 0
    # What one commit adds and the next one deletes would stay in the archive's history.
    for command in (("diff-tree", "-r", *RAW, start, "HEAD"), ("log", "-c", "--format=", *RAW, f"{start}..HEAD")):
        for line in filter(None, git(clone, "-c", "core.quotePath=true", *command).splitlines()):
            facts, path = line.split("\t", 1)
            (_, mode, *_, status), file = facts.split(" "), FILE.fullmatch(path)
            if facts.startswith("::"):  # by the merge itself: it is in none of the commits that are merged
                found.append(f"{path} is added or changed by a merge")
            elif status != "A":
                found.append(f"{path} is changed, renamed or deleted, if only in one of its commits")
            elif file is None or file[2] in manifest.DERIVED or mode != "100644":
                found.append(f"{path[:200]} isn't a plain file of a set")
            elif f"{SETS}/{file[1]}" in there:
                found.append(f"{path} is added to a set that the archive has")
            else:
                added[file[1]] = []
    for name in added if not found else ():
        nbytes += sum(path.stat().st_size for path in (clone / SETS / name).rglob("*"))
    if nbytes > BYTES_MAX or not (found or added):
        found.append(f"it adds {len(added)} sets with {nbytes:,} bytes; a change adds a set, and {BYTES_MAX:,} at most")
    known = {} if found else dict(known_in(clone / SETS, without=added))
    for name in added if not found else ():
        added[name] = refusals(clone / SETS / name, known)
        known |= {} if added[name] else processes(clone / SETS / name)
    return [*dict.fromkeys(found)], {} if found else added


def check_clean(clone: Path) -> None:
    """Raises UserError if a clone's files aren't those of its commit."""
    if changes := git(clone, "status", "--porcelain"):
        raise UserError(f"{clone} has a change that isn't committed ({changes.splitlines()[0]}). Commit it first.")


def refusals(folder: Path, known: Known) -> list[str]:
    """Returns a sentence for each reason why a published set can't enter an archive that has the processes `known`."""
    try:
        return fetch.verify(Storage.of(str(folder.parent)), folder.name) or [*of_content(folder, known)]
    except UserError as broken:
        return [str(broken).removesuffix(".")]


def of_content(folder: Path, known: Known) -> Iterator[str]:
    store, results, signature = ResultSet.open(folder), load(folder), signature_beside(folder)
    file = store.plan_file
    for path in folder.rglob("*.gz"):
        deque(gunzipped(path), maxlen=0)  # raises for one that is too large
    if signature and not is_of(manifest.read(folder), signature):
        yield "its signature is of something else"
    if file.dirty or store.changed_files() or not (file.revision and has_commit(file.revision)):
        yield "its code isn't a revision of this project, so nobody can read what was measured"
    yield from contradictions(results, file, store.blocks())
    yield from (f"it needs {each}, which this project doesn't have" for each in strange(store))
    copied = Counter(known[found] for row in results.rows if (found := pattern(row)) in known)
    yield from (
        f"{count} of its processes are those of {name}, which the archive has" for name, count in copied.items()
    )


def known_in(sets: Path, without: Collection[str] = ()) -> Known:
    folders = (path for path in sets.glob("*") if manifest.SET_NAME.fullmatch(path.name) and path.name not in without)
    return {found: name for folder in sorted(folders) for found, name in processes(folder).items()}


def processes(folder: Path) -> Known:
    """Returns the processes of a set that was checked when it entered its archive."""
    rows = read_rows(folder / manifest.RESULTS, (*CASE, *FIGURES, "synced_seconds"), trusted=True)
    return {found: folder.name for row in rows if (found := pattern(row))}


def pattern(row: Row) -> tuple[float, ...]:
    """Returns what stays of a process's times if somebody scales them, or of its memory if it has no times; empty if
    that is too little to know the process by."""
    figures = [float(figure) for figure in row["synced_seconds"] or map(row.get, FIGURES) if figure][:SAMPLES]
    return tuple(float(f"{figure / figures[0]:.9g}") for figure in figures) if len({*figures}) > 3 else ()
