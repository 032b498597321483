"""A whole set becomes an archive, under the name that its manifest gives it; the manifest is written last."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from suite.archive.place import AT_ONCE, Place
from suite.archive.signature import SIGNATURE, sign
from suite.errors import COMMAND, UserError
from suite.results.store import manifest
from suite.results.store.manifest import Manifest
from suite.results.store.one_command import sole
from suite.results.store.result_set import ResultSet

CHANGES_SHOWN = 8


def publish(
    folder: Path, place: Place, say: Callable[[str], None], *, key: Path | None = None, with_changes: bool = False
) -> Manifest:
    """Upload what isn't there yet, then the manifest: until that is there, nobody sees an archive.

    Raises UserError for a set that isn't whole or was changed, and for a name that is there already: an archive is
    written once. Two writers of one name write the same bytes, since the name is made of what is in the set. `key`
    signs it; `with_changes` publishes what was changed in the source and never committed, too.
    """
    with sole(folder):
        store = ResultSet.open(folder)
        problems = store.problems()
        if problems:
            raise UserError(f"{folder} can't be archived: {'; '.join(problems[:3])}.")
        if not with_changes:
            refuse_changes(store)
        made = manifest.described(folder, store.facts()).published
        data = (json.dumps(made.to_json(), indent=1, sort_keys=True) + "\n").encode()
        Manifest.parsed(data, made.name)  # what others would refuse isn't published
        signature = sign(made, key) if key else None
        there = place.files(made.name)
        if manifest.NAME in there:
            raise UserError(
                f"{place.uri} has {made.name} already: an archive is written once. `{COMMAND} verify "
                f"--set={made.name} --from={place.uri}` checks it."
            )
        with place.publishing():
            upload(made, folder, place, there, say)
            if signature:
                place.upload(signature, made.name, SIGNATURE)
            place.upload(data, made.name, manifest.NAME)
    return made


def refuse_changes(store: ResultSet) -> None:
    """Raises UserError for a set made from a source with changes that nobody has committed: they would be published."""
    changed = store.changed_files()
    if changed:
        shown = ", ".join(changed[:CHANGES_SHOWN])
        more = f" and {len(changed) - CHANGES_SHOWN} more" if len(changed) > CHANGES_SHOWN else ""
        raise UserError(
            f"{store.folder} was made from a source with changes that aren't committed, and "
            f"inputs/diff.patch has them all: {shown}{more}. Look at it, then publish it --with-changes, "
            "or measure again from a commit."
        )


def upload(made: Manifest, folder: Path, place: Place, there: dict[str, int], say: Callable[[str], None]) -> None:
    """Every file that isn't there. Raises UserError for one that has changed meanwhile: it isn't left there, and
    without a manifest nobody sees the others."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        cut_short = [name for name, file in made.files.items() if there.get(name) == file.nbytes]
        digests = dict(zip(cut_short, pool.map(lambda name: place.sha256(made.name, name), cut_short), strict=True))
        kept = {name for name, digest in digests.items() if digest == made.files[name].digest}
        if kept:
            say(f"{len(kept)} of {len(made.files)} files are there, of an upload that was cut short.")
        rest = [name for name in made.files if name not in kept]
        sent = dict(zip(rest, pool.map(lambda name: place.upload(folder / name, made.name, name), rest), strict=True))
    changed = [name for name, digest in sent.items() if digest != made.files[name].digest]
    for name in changed:
        place.remove(made.name, name)
    if changed:
        raise UserError(
            f"{folder / changed[0]} was changed while it was published. Nothing of it is to be seen; "
            f"`{COMMAND} verify --set={folder}` says what is changed."
        )
