"""What strangers submit: no forged or broken set enters an archive, nor a change that does more than adding sets."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from suite.errors import UserError
from suite.extras.archive import fetch
from suite.extras.archive.signature import sign
from suite.extras.archive.storage import Storage
from suite.extras.submit import change
from suite.sets import manifest, parquet
from suite.sets.files import as_json, write_json
from suite.sets.parquet import ROWS_MAX
from suite.sets.read_child import table_of
from suite.sets.result_set import ResultSet
from tests.extras.submit.forgeries import CLOCKS, KINDS, bomb, copied, cut, of_rows, scaled, text, timed
from tests.strangers import git

OWN = Path(__file__).parents[3] / "sets"
HONEST = {path.name[:20]: path for path in OWN.iterdir()}
ARGSORT, PROCESSES, WRONG = "2026-11-28.cpu.ce224", "2026-11-28.cpu.3059939f4"[:20], "2026-11-29.cpu.1e639"
READ_BY_CHILD = parquet.table_by_child


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are read in this process, and this checkout needn't have its history."""
    monkeypatch.setattr(parquet, "table_by_child", lambda path, columns: table_of(path, [*columns], ROWS_MAX))
    known = {json.loads((path / "plan.json").read_text())["revision"] for path in HONEST.values()}
    monkeypatch.setattr(change, "has_commit", known.__contains__)


def published(folder: Path) -> Path:
    """The set again with a manifest of its files as they are, under the name that they give it."""
    try:
        facts = ResultSet.open(folder).facts()
    except UserError:  # whoever forges writes what he likes
        facts = manifest.read(folder).facts
    manifest.write(folder, facts, {})
    return Path(folder.rename(folder.with_name(manifest.read(folder).name)))


def test_every_set_of_this_project_can_enter(tmp_path: Path) -> None:
    known: dict[tuple[float, ...], str] = {}
    for path in sorted(HONEST.values()):
        assert change.refusals(path, known) == []
        known |= change.processes(path)
    assert len(known) > 800
    assert all(change.refusals(HONEST[name], known) for name in (ARGSORT, PROCESSES)), "they are there by now"


@pytest.mark.parametrize(
    ("name", "kinds"), [(ARGSORT, 69), (WRONG, 69), pytest.param(PROCESSES, 68, marks=pytest.mark.release)]
)
def test_no_forged_set_enters(tmp_path: Path, name: str, kinds: int) -> None:
    """Each has a manifest that is right for its files; 206 in all, beside those below."""
    entered, tried = [], 0
    for kind, forge in KINDS.items():
        folder = copied(HONEST[name], tmp_path / kind)
        if forge(folder) is not False:
            tried += 1
            entered += [] if change.refusals(published(folder), {}) else [kind]
    assert (entered, tried) == ([], kinds)


@pytest.mark.parametrize("factor", [0.5, 0.97, 3.0])
def test_a_copy_is_known_again_whatever_its_times_are_multiplied_by(tmp_path: Path, factor: float) -> None:
    folder = copied(HONEST[ARGSORT], tmp_path)
    assert of_rows(lambda rows: scaled(timed(rows), factor, CLOCKS))(folder)
    (refused,) = (
        words
        for words in change.refusals(published(folder), change.processes(HONEST[ARGSORT]))
        if "which the archive has" in words
    )
    assert refused.startswith("15 of its processes are those of 2026-11-28.cpu.ce224")


def test_a_process_of_another_set_is_known_again_in_a_set_that_is_otherwise_new(tmp_path: Path) -> None:
    rows = change.read_rows(HONEST[PROCESSES] / manifest.RESULTS, trusted=True)
    theirs = {change.pattern(row): "theirs" for row in rows[:1]}
    assert change.refusals(HONEST[PROCESSES], theirs) == [
        "1 of its processes are those of theirs, which the archive has"
    ]


def newer(folder: Path) -> None:
    write_json(folder / manifest.NAME, json.loads((folder / manifest.NAME).read_text()) | {"schema_version": 99})


def listed(folder: Path, name: str) -> None:
    known = json.loads((folder / manifest.NAME).read_text())
    known["files"][name] = known["files"]["plan.json"]
    (folder / manifest.NAME).write_text(as_json(known))


def unpacking(folder: Path) -> None:
    (folder / "ir" / "a").mkdir(parents=True)
    with gzip.open(folder / "ir" / "a" / "step.stablehlo.gz", "wb") as file:
        for _ in range(80):
            file.write(bytes(2**20))


def signed_as(folder: Path, known: manifest.Manifest) -> None:
    key = folder.parent / "key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    (folder / "name.sig").write_bytes(sign(known, key))


def borrowed(folder: Path) -> None:
    signed_as(folder, manifest.read(HONEST[PROCESSES]))


BROKEN: dict[str, tuple[Callable[[Path], object], bool, str]] = {  # how, whether its manifest is made anew, why refused
    "a file more": (text("inputs/more.txt", "more"), False, "inputs/more.txt isn't in the manifest"),
    "a file less": (lambda folder: (folder / "machine.json").unlink(), False, "machine.json is missing"),
    "a file changed": (text("inputs/revision.txt", "f" * 40), False, "inputs/revision.txt was changed"),
    "a longer file": (text("inputs/revision.txt", "f" * 41), False, "has 41 bytes, 40 in the manifest"),
    "a manifest of a later version": (newer, False, "schema version 99"),
    "a manifest that leads out": (lambda folder: listed(folder, "../../etc/passwd"), False, "isn't a file of a set"),
    "a manifest with a file of no set": (lambda folder: listed(folder, "run.sh"), False, "isn't a file of a set"),
    "no manifest": (lambda folder: (folder / manifest.NAME).unlink(), False, "has no set"),
    "a manifest that is none": (text(manifest.NAME, "[]"), False, "doesn't have the expected form"),
    "a link": (lambda folder: (folder / "inputs" / "key").symlink_to("/etc/passwd"), False, "neither a file"),
    "a program that unpacks to 80 MiB": (unpacking, True, "unpacks from"),
    "a signature of another set": (borrowed, True, "its signature is of something else"),
    "rows that unpack to too many": (bomb, True, "more than any set has"),
    "rows cut short": (cut, True, "can't be read as Parquet"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_no_broken_set_enters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(parquet, "table_by_child", READ_BY_CHILD)
    forge, anew, why = BROKEN[kind]
    folder = copied(HONEST[ARGSORT], tmp_path)
    forge(folder)
    found = change.refusals(published(folder) if anew else folder, {})
    assert any(why in words for words in found), found


def test_a_signature_of_the_set_itself_enters_and_goes_along(archive: Archive, tmp_path: Path) -> None:
    shutil.rmtree(archive.new)
    folder = copied(HONEST[ARGSORT], tmp_path)
    signed_as(folder, manifest.read(folder))
    git(archive.folder, "checkout", "-q", change.commit(folder, archive.folder))
    assert (archive.new / "name.sig").read_bytes() == (folder / "name.sig").read_bytes()
    assert change.refused(archive.folder, "main") == ([], {archive.new.name: []})


class Archive:
    """A clone of an archive's repository with a set of another machine, and a branch of a stranger's."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.sets = folder, folder / "sets"
        folder.mkdir()
        git(folder, "init", "-q", "-b", "main")
        for name, value in (("user.name", "a stranger"), ("user.email", "stranger@localhost")):
            git(folder, "config", name, value)
        copied(HONEST[PROCESSES], self.sets)
        (folder / ".github").mkdir()
        (folder / ".github" / "ci.yml").write_text("on: pull_request\n")
        self.commit()
        git(folder, "checkout", "-q", "-b", "change")

    def commit(self) -> None:
        git(self.folder, "add", "--all", "--force")
        git(self.folder, "commit", "-q", "-m", "a change")

    @property
    def old(self) -> Path:
        return self.sets / HONEST[PROCESSES].name

    @property
    def new(self) -> Path:
        return self.sets / HONEST[ARGSORT].name

    def linked(self) -> None:
        (self.new / "inputs" / "key").symlink_to("/etc/passwd")

    def executable(self) -> None:
        (self.new / "plan.json").chmod(0o755)

    def deleted(self) -> None:
        shutil.rmtree(self.old)

    def renamed(self) -> None:
        self.old.rename(self.old.with_name(f"2026-11-28.cpu.{'0' * 32}"))

    def changed(self) -> None:
        (self.old / "plan.json").write_text("{}")

    def added_to(self) -> None:
        (self.old / "inputs" / "more.txt").write_text("more")

    def workflow_changed(self) -> None:
        (self.folder / ".github" / "ci.yml").write_text("on: push\n")

    def workflow_added(self) -> None:
        (self.folder / ".github" / "more.yml").write_text("on: push\n")

    def file_beside(self) -> None:
        (self.sets / "README.md").write_text("read me")

    def attributes(self) -> None:
        (self.new / ".gitattributes").write_text("* filter=theirs\n")

    def odd_name(self) -> None:
        (self.new / "inputs" / "a\u202eb \n$(touch x).txt").write_text("odd")

    def page(self) -> None:
        (self.new / "report.html").write_text("<script>alert('a page of a stranger')</script>")

    def repository(self) -> None:
        git(self.new / "inputs", "init", "-q", "theirs")
        git(self.new / "inputs" / "theirs", "commit", "-q", "--allow-empty", "-m", "theirs")

    def large(self) -> None:
        (self.new / "inputs" / "more.txt").write_bytes(bytes(change.BYTES_MAX))

    def hidden(self) -> None:
        """What the next commit deletes stays in the history."""
        (self.new / "inputs" / "payload.txt").write_text("payload")
        self.commit()
        (self.new / "inputs" / "payload.txt").unlink()

    def hidden_in_merges(self) -> None:
        """A merge may hold what none of its parents has, and the next one may take it out."""
        payload = self.new / "inputs" / "payload.txt"
        for number, had in enumerate((True, False)):
            self.commit()
            git(self.folder, "checkout", "-q", "-b", f"side{number}", "HEAD~1")
            git(self.folder, "commit", "-q", "--allow-empty", "-m", "aside")
            git(self.folder, "checkout", "-q", "change")
            git(self.folder, "merge", "-q", "--no-ff", "--no-commit", "-s", "ours", f"side{number}")
            payload.write_text("payload") if had else payload.unlink()

    def under_another_name(self) -> None:
        """A set that the archive has, begun at another time."""
        copy = Path(shutil.copytree(self.old, self.sets / "copy"))
        plan = json.loads((copy / "plan.json").read_text())
        write_json(copy / "plan.json", plan | {"created_at": "2026-11-01T00:00:00+00:00"})
        published(copy)

    def twice(self) -> None:
        """The same processes in two new sets."""
        copy = Path(shutil.copytree(self.new, self.sets / "copy"))
        plan = json.loads((copy / "plan.json").read_text())
        write_json(copy / "plan.json", plan | {"created_at": "2026-11-01T00:00:00+00:00"})
        published(copy)

    def forged(self) -> None:
        of_rows(lambda rows: scaled(timed(rows), 10.0))(self.new)
        published(self.new)


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    made = Archive(tmp_path / "archive")
    copied(HONEST[ARGSORT], made.sets)
    return made


def test_a_change_that_adds_a_whole_set_enters(archive: Archive) -> None:
    archive.commit()
    assert change.refused(archive.folder, "main") == ([], {archive.new.name: []})
    git(archive.folder, "checkout", "-q", "main")
    (archive.folder / "README.md").write_text("The archive goes on meanwhile.")
    archive.commit()
    git(archive.folder, "checkout", "-q", "change")
    assert change.refused(archive.folder, "main") == ([], {archive.new.name: []})


CHANGES = {
    Archive.linked: "isn't a plain file",
    Archive.executable: "isn't a plain file",
    Archive.deleted: "is changed, renamed or deleted",
    Archive.renamed: "is changed, renamed or deleted",
    Archive.changed: "is changed, renamed or deleted",
    Archive.added_to: "to a set that the archive has",
    Archive.workflow_changed: "is changed, renamed or deleted",
    Archive.workflow_added: "isn't a plain file of a set",
    Archive.file_beside: "isn't a plain file of a set",
    Archive.attributes: "isn't a plain file of a set",
    Archive.odd_name: "isn't a plain file of a set",
    Archive.page: "isn't a plain file of a set",
    Archive.repository: "isn't a plain file of a set",
    Archive.large: "8,000,000 at most",
    Archive.hidden: "is changed, renamed or deleted",
    Archive.hidden_in_merges: "by a merge",
    Archive.under_another_name: "of its processes are those of",
    Archive.twice: "of its processes are those of",
    Archive.forged: "don't fit into its set or block",
}


@pytest.mark.parametrize("forge", CHANGES, ids=lambda forge: forge.__name__)
def test_no_change_that_does_more_enters(archive: Archive, forge: Callable[[Archive], None]) -> None:
    forge(archive)
    archive.commit()
    found, added = change.refused(archive.folder, "main")
    told = [*found, *(problem for problems in added.values() for problem in problems)]
    assert any(CHANGES[forge] in problem for problem in told), told
    assert all(problem.isprintable() for problem in told)


def test_a_change_of_nothing_and_a_clone_with_open_changes_are_refused(archive: Archive) -> None:
    with pytest.raises(UserError, match="isn't committed"):
        change.refused(archive.folder, "main")
    shutil.rmtree(archive.new)
    found, _ = change.refused(archive.folder, "main")
    assert "it adds 0 sets" in found[0]


def test_a_set_becomes_a_commit_on_a_branch_and_the_clone_stays_as_it_is(archive: Archive) -> None:
    shutil.rmtree(archive.new)
    before = {path: path.read_bytes() for path in archive.folder.glob("*/**/*") if path.is_file()}
    head = git(archive.folder, "rev-parse", "HEAD")
    branch = change.commit(HONEST[ARGSORT], archive.folder)
    work = {path: data for path, data in before.items() if ".git" not in path.parts}
    assert {path: path.read_bytes() for path in work} == work and git(archive.folder, "rev-parse", "HEAD") == head
    assert git(archive.folder, "status", "--porcelain") == "" and "\n" not in git(archive.folder, "worktree", "list")
    assert git(archive.folder, "diff", "--name-only", "--diff-filter=a", "main", branch) == ""
    git(archive.folder, "checkout", "-q", branch)
    assert change.refused(archive.folder, "main") == ([], {archive.new.name: []})
    assert (
        manifest.read(archive.new) == manifest.read(HONEST[ARGSORT])
        and fetch.unlike(manifest.read(archive.new), Storage.of(str(archive.sets)).files(archive.new.name)) == []
    ), "nothing is changed in it"


def test_a_set_that_can_t_enter_makes_no_branch(archive: Archive, tmp_path: Path) -> None:
    shutil.rmtree(archive.new)
    with pytest.raises(UserError, match="a published set is never changed"):
        change.commit(HONEST[PROCESSES], archive.folder)
    folder = copied(HONEST[ARGSORT], tmp_path)
    of_rows(lambda rows: scaled(timed(rows), 10.0))(folder)
    with pytest.raises(UserError, match=r"can't be submitted: .*don't fit into its set or block"):
        change.commit(published(folder), archive.folder)
    (archive.folder / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="isn't committed"):
        change.commit(HONEST[ARGSORT], archive.folder)
    assert git(archive.folder, "branch", "--list", "set/*") == "" and (archive.folder / "notes.txt").is_file()
