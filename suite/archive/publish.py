"""A whole set becomes an archive, under the name that its manifest gives it; the manifest is written last."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from suite.archive.place import AT_ONCE, Place
from suite.errors import COMMAND, UserError
from suite.results import manifest
from suite.results.manifest import Manifest
from suite.results.store import ResultSet


def publish(folder: Path, place: Place, say: Callable[[str], None]) -> Manifest:
    """Upload what isn't there yet, then the manifest: until that is there, nobody sees an archive.

    Raises UserError for a set that isn't whole or was changed, and for a name that is there already: an archive is
    written once. Two writers of one name write the same bytes, since the name is made of what is in the set.
    """
    store = ResultSet.open(folder)
    problems = store.problems()
    if problems:
        raise UserError(f"{folder} can't be archived: {'; '.join(problems[:3])}.")
    made = manifest.described(folder, store.facts())
    data = (json.dumps(made.to_json(), indent=1, sort_keys=True) + "\n").encode()
    Manifest.parsed(data, made.name)  # what others would refuse isn't published
    there = place.files(made.name)
    if manifest.NAME in there:
        raise UserError(f"{place.uri} has {made.name} already: an archive is written once. `{COMMAND} verify "
                        f"--set={made.name} --from={place.uri}` checks it.")  # fmt: skip
    with ThreadPoolExecutor(AT_ONCE) as pool:
        cut_short = [name for name, file in made.files.items() if there.get(name) == file.nbytes]
        digests = dict(zip(cut_short, pool.map(lambda name: place.sha256(made.name, name), cut_short), strict=True))
        kept = {name for name, digest in digests.items() if digest == made.files[name].digest}
        if kept:
            say(f"{len(kept)} of {len(made.files)} files are there, of an upload that was cut short.")
        rest = [name for name in made.files if name not in kept]
        list(pool.map(lambda name: place.upload(folder / name, made.name, name), rest))
    place.upload(data, made.name, manifest.NAME)
    return made
