"""Makes a site: a page for each set, and the index, histories and machines over all of them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import permutations
from pathlib import Path

from suite.errors import UserError
from suite.extras.archive.signature import SIGNATURE
from suite.extras.site import pages
from suite.extras.site.entry import Entry
from suite.extras.site.sources import SetSource
from suite.guard.out import write_own
from suite.guard.printable import printable
from suite.page.formats.render import FILE_NAME, page_of
from suite.page.report import report
from suite.page.tables import known
from suite.results import Results, load
from suite.results.reproduction import confirms
from suite.sets import manifest
from suite.sets.files import check_writable, sole, write_json
from suite.sets.listing import Listed
from suite.sets.manifest import SET_NAME
from suite.verdicts.grouping import grouped

INDEX, MARK = "index.html", "site.json"  # MARK shows that a folder is a site, and lists its sets for programs
SETS, HISTORY, MACHINES = "sets", "history", "machines"


@dataclass(frozen=True, slots=True)
class Site:
    """A site that was made: its folder, the sets that it shows, and (name, reason) of those that it refused. A set has
    the name of its folder if it has none itself."""

    out: Path
    shown: list[Entry]
    refused: list[tuple[str, str]]


def build(source: SetSource, out: Path, say: Callable[[str], None], exclude: Sequence[str] = ()) -> Site:
    """Makes a site of all sets of a source in the folder `out`, without those whose names match a glob of `exclude`. An
    older site there is replaced. The same sets give the same bytes.

    Raises UserError if the source doesn't exist, or if `out` has an index page that this program didn't write.
    """
    listed = source.listed()
    check_own(out)
    site, items = Site(out, [], []), dict[str, Listed]()
    with sole(out):
        for item in listed:
            name = item.name or Path(item.where).name
            if any(fnmatchcase(name, pattern) for pattern in exclude):
                continue
            try:
                entry, text = read_set(source, item, out)
            except UserError as broken:
                # In one line, and without the set's path or address, because pages are public.
                reason = " ".join(printable(str(broken)).replace(item.where, name).split())
                site.refused.append((name, reason))
                say(f"{name} isn't shown: {reason}")
            else:
                write_own(out / pages.set_page(entry.name), text)
                say(pages.set_page(entry.name))
                site.shown.append(entry)
                items[entry.name] = item
        site.shown[:] = confirmed(site.shown, source, items)
        write_pages(site)
    return site


def confirmed(shown: Sequence[Entry], source: SetSource, items: Mapping[str, Listed]) -> list[Entry]:
    """Returns the entries with the other machines whose sets of the same plan confirm each: a machine counts once."""
    found: dict[str, set[str]] = {entry.name: set() for entry in shown}
    for group in grouped(shown, lambda entry: entry.plan).values():
        loaded = dict[str, Results]()
        for entry in group if len({entry.machines for entry in group}) > 1 else ():
            with source.verified(items[entry.name]) as place:
                loaded[entry.name] = load(place)
        for one, other in permutations(group, 2) if loaded else ():
            if not {*one.machines} & {*other.machines} and confirms(loaded[one.name], loaded[other.name]):
                found[one.name] |= {*other.machines}
    return [replace(entry, reproduced_by=tuple(sorted(found[entry.name]))) for entry in shown]


def check_own(out: Path) -> None:
    """Raises UserError for a file, and for a folder with an index page that this program didn't write."""
    if out.exists() and not out.is_dir():
        raise UserError(f"{out} is a file. --out names the folder of the site.")
    if (out / INDEX).exists() and not (out / MARK).is_file():
        raise UserError(
            f"{out} has an {INDEX} that this command didn't write. --out must name a folder only for the site."
        )
    check_writable(out, "--out")


def read_set(source: SetSource, item: Listed, out: Path) -> tuple[Entry, str]:
    """Returns the entry of a set and the HTML of its page. A set that was published already is copied beside its page,
    so that the site is an archive, too. Raises UserError if the set can't be shown, or isn't what its manifest says."""
    if item.trouble:
        raise UserError(item.trouble)
    with source.verified(item) as place:
        results = load(place)
        made = report(results)
        if source.storage:
            copy(place, out / SETS / item.name)
        return Entry.of(item, made), page_of(made, f"../../{INDEX}")


def copy(place: Path, folder: Path) -> None:
    """Copies the published files of a set, the manifest last. A set's name is that of its content, so one that is
    there is the same, and stays even if it leaves the archive: only its page goes."""
    known = manifest.read(place).published
    if (folder / manifest.NAME).is_file():
        return
    for name in known.files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(place / name, folder / name)
    if (place / SIGNATURE).is_file():
        shutil.copy(place / SIGNATURE, folder)
    write_json(folder / manifest.NAME, known.to_json())


def write_pages(site: Site) -> None:
    """Writes the index, the histories, the machines' pages and the file `MARK`. Removes the pages that an older site
    has and this one hasn't; other files stay."""
    texts = {INDEX: pages.index(site.shown, site.refused)}
    texts |= {f"{HISTORY}/{name}": text for name, text in pages.histories(site.shown).items()}
    texts |= {f"{MACHINES}/{name}": text for name, text in pages.machines(site.shown).items()}
    for name, text in texts.items():
        write_own(site.out / name, text)
    write_json(site.out / MARK, known(mark(site)))
    current = {site.out / name for name in (*texts, *(pages.set_page(entry.name) for entry in site.shown))}
    of_sets = [page for page in site.out.glob(f"{SETS}/*/{FILE_NAME}") if SET_NAME.fullmatch(page.parent.name)]
    for page in {*of_sets, *site.out.glob(f"{HISTORY}/*.html"), *site.out.glob(f"{MACHINES}/*.html")} - current:
        page.unlink()
        with suppress(OSError):  # the folder has other files, and stays
            page.parent.rmdir()


def mark(site: Site) -> dict[str, object]:
    facts = ("name", "set_id", "created_at", "target", "preset", "reproduced_by")
    return {
        "version": 1,
        "sets": [{fact: getattr(e, fact) for fact in facts} | {"page": pages.set_page(e.name)} for e in site.shown],
        "refused": [{"name": name, "reason": reason} for name, reason in site.refused],
    }
