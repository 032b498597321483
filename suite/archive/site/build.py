"""Makes or updates a site. The page of a set is rendered again only if the set or this program has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path

from suite.archive.listing import Listed
from suite.archive.site import entry as entries
from suite.archive.site import pages
from suite.archive.site.entry import Entry
from suite.archive.site.sources import Refused, SetSource
from suite.errors import UserError
from suite.guard.printable import printable
from suite.report.formats.render import FILE_NAME, TEMPLATES, page_of, write
from suite.report.page import report_of
from suite.report.tables import known
from suite.results import load
from suite.results.store.files import check_writable, write_json
from suite.results.store.manifest import SET_NAME
from suite.results.store.one_command import sole

INDEX, MARK = "index.html", "site.json"  # MARK shows that a folder is a site, and lists its sets for programs
SETS, HISTORY, MACHINES = "sets", "history", "machines"


@dataclass(frozen=True, slots=True)
class Site:
    """A site that was made or updated. `rendered` names the sets whose pages were rendered this time."""

    out: Path
    shown: tuple[Entry, ...]
    refused: tuple[Refused, ...]
    rendered: tuple[str, ...]


def build(source: SetSource, out: Path, say: Callable[[str], None], exclude: Sequence[str] = ()) -> Site:
    """Makes or updates a site of all sets of a source in the folder `out`, without those whose names match a glob of
    `exclude`. The same sets give the same bytes.

    Raises UserError if the source doesn't exist, or if `out` has an index page that this program didn't write.
    """
    listed = [
        item
        for item in source.listed()
        if not any(fnmatchcase(item.name or Path(item.where).name, pattern) for pattern in exclude)
    ]
    check_own(out)
    with sole(out):
        shown: list[Entry] = []
        refused: list[Refused] = []
        rendered: list[str] = []
        for item in listed:
            try:
                existing = kept_entry(source, item, out)
                new = None if existing else read_set(source, item)
            except UserError as broken:
                label = item.name or Path(item.where).name
                refused.append(Refused(label, reason(broken, item.where, label)))
                say(f"{refused[-1].name} isn't shown: {refused[-1].reason}")
                continue
            if new:
                write_set(*new, out / SETS / item.name)
                rendered.append(item.name)
                say(f"{SETS}/{item.name}/{FILE_NAME}")
            shown += [entry for entry in (existing, new and new[0]) if entry]
        site = Site(out, tuple(shown), tuple(refused), tuple(rendered))
        write_pages(site)
        return site


def check_own(out: Path) -> None:
    """Raises UserError for a file, and for a folder with an index page that this program didn't write."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file. --out names the folder of the site.")
    if (out / INDEX).exists() and not (out / MARK).is_file():
        raise UserError(
            f"{out} has an {INDEX} that this command didn't write. --out must name a folder only for the site."
        )
    check_writable(out, "--out")


def reason(broken: UserError, where: str, label: str) -> str:
    """Returns in one line why a set isn't shown. `label` replaces the set's path or address in it, because pages are
    public."""
    return " ".join(printable(str(broken)).replace(where, label).split())


def kept_entry(source: SetSource, item: Listed, out: Path) -> Entry | None:
    """Returns the entry of a set if its page is up to date; None if the page must be rendered. Raises UserError if
    something is wrong with the set."""
    if item.trouble:
        raise UserError(item.trouble)
    folder = out / SETS / item.name
    entry = entries.read(folder) if (folder / FILE_NAME).is_file() else None
    current = entry is not None and (entry.name, entry.made_by) == (item.name, program())
    return entry if current and source.unchanged(item) else None


def read_set(source: SetSource, item: Listed) -> tuple[Entry, str]:
    """Returns the entry of a set and the HTML of its page. Raises UserError if the set isn't what its manifest says."""
    with source.verified(item) as place:
        results = load(place)
        analysis = results.analysis()
        report = report_of(results, analysis)
        return Entry.of(item, results, analysis, report, program()), page_of(report, f"../../{INDEX}")


def write_set(entry: Entry, text: str, folder: Path) -> None:
    """Writes the page of a set, and then its entry. If this is interrupted, the entry is missing, and the next run
    renders the page again."""
    (folder / entries.FILE).unlink(missing_ok=True)
    write(folder / FILE_NAME, text)
    entry.write(folder)


@lru_cache(maxsize=1)
def program() -> str:
    """Returns a digest of this program's sources and templates, because a page may depend on any of them."""
    digest = hashlib.sha256()
    suite = Path(__file__).parents[2]
    for path in sorted([*suite.rglob("*.py"), *(path for path in TEMPLATES.rglob("*") if path.is_file())]):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def write_pages(site: Site) -> None:
    """Writes the index, the histories, the machines' pages and the file `MARK`. Removes pages of sets that aren't shown
    any more."""
    texts = {
        f"{folder}/{name}": text
        for folder, by_name in ((HISTORY, pages.histories(site.shown)), (MACHINES, pages.machines(site.shown)))
        for name, text in by_name.items()
    }
    for name, text in (texts | {INDEX: pages.index(site.shown, site.refused)}).items():
        write_if_new(site.out / name, text)
    remove_stale(site.out, {entry.name for entry in site.shown}, texts)
    write_json(site.out / MARK, known(mark(site)))


def write_if_new(path: Path, text: str) -> None:
    """Writes a page without control characters, unless the file already has this text."""
    if not path.is_file() or path.read_text(encoding="utf-8") != printable(text):
        write(path, text)


def remove_stale(out: Path, names: set[str], texts: dict[str, str]) -> None:
    """Removes the pages of sets that aren't shown any more, and of histories and machines that no set has. Other files
    stay."""
    for folder in (out / SETS).glob("*"):
        if SET_NAME.fullmatch(folder.name) and folder.name not in names:
            for file in (FILE_NAME, entries.FILE):
                (folder / file).unlink(missing_ok=True)
            with suppress(OSError):  # the folder has other files, and stays
                folder.rmdir()
    for part in (HISTORY, MACHINES):
        for page in (out / part).glob("*.html"):
            if f"{part}/{page.name}" not in texts:
                page.unlink()


def mark(site: Site) -> dict[str, object]:
    """Returns the content of MARK, which describes the site for programs."""
    return {
        "version": 1,
        "sets": [
            {
                "name": entry.name,
                "set_id": entry.set_id,
                "created_at": entry.created_at,
                "target": entry.target,
                "preset": entry.preset,
                "page": f"{SETS}/{entry.name}/{FILE_NAME}",
            }
            for entry in site.shown
        ],
        "refused": [{"name": refused.name, "reason": refused.reason} for refused in site.refused],
    }
