"""Publishes a whole set in an archive, under the name in its manifest. The manifest is uploaded last, and makes the
files a published set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from suite.errors import COMMAND, UserError
from suite.extras.archive.signature import SIGNATURE, sign
from suite.extras.archive.storage import Storage, changed
from suite.sets import manifest
from suite.sets.files import as_json, sole
from suite.sets.manifest import Manifest
from suite.sets.result_set import ResultSet

CHANGES_SHOWN = 8


def publish(
    folder: Path, storage: Storage, say: Callable[[str], None], *, key: Path | None = None, with_changes: bool = False
) -> Manifest:
    """Uploads the files that the storage lacks, then the manifest. Returns the manifest.

    `key` is the key that signs the set. Without `with_changes`, a set that was measured with uncommitted changes of the
    source is refused. Raises UserError for a set that isn't whole or was changed, and if the storage has a set of this
    name: a published set never changes. Two commands may publish the same set at once, because they write the same
    bytes.
    """
    with sole(folder):
        store = ResultSet.open(folder)
        problems = store.problems()
        if problems:
            raise UserError(f"{folder} can't be archived: {'; '.join(problems[:3])}.")
        if not with_changes:
            refuse_changes(store)
        described = manifest.read(folder).published
        data = as_json(described.to_json()).encode()
        signature = sign(described, key) if key else None
        stored = storage.files(described.name)
        if manifest.NAME in stored:
            raise UserError(
                f"{storage.uri} has {described.name} already, and a published set is never changed. `{COMMAND} verify "
                f"--set={described.name} --from={storage.uri}` checks it."
            )
        storage.tidy()
        upload(described, folder, storage, stored, say)
        if signature:
            storage.upload(signature, described.name, SIGNATURE)
        storage.upload(data, described.name, manifest.NAME)
    return described


def refuse_changes(store: ResultSet) -> None:
    """Raises UserError for a set that was measured with uncommitted changes of the source, because they would be
    published with it."""
    if names := store.changed_files():
        shown = ", ".join(names[:CHANGES_SHOWN])
        more = f" and {len(names) - CHANGES_SHOWN} more" if len(names) > CHANGES_SHOWN else ""
        raise UserError(
            f"{store.folder} was measured with uncommitted changes of the source, which would be published as "
            f"inputs/diff.patch: {shown}{more}. Look at that file, then publish the set --with-changes, "
            "or measure again from a commit."
        )


def upload(known: Manifest, folder: Path, storage: Storage, stored: dict[str, int], say: Callable[[str], None]) -> None:
    """Uploads every file that the storage lacks; `stored` is {file: bytes} of those that it has. If a file changes
    while it is uploaded, deletes it from the storage and raises UserError. The other files stay there, but without a
    manifest they are no set."""
    equal = [name for name, file in known.files.items() if stored.get(name) == file.bytes]
    present = {*equal} - {*changed(known, equal, lambda name: storage.sha256(known.name, name))}
    if present:
        say(f"{len(present)} of {len(known.files)} files are in the archive already, from an interrupted upload.")
    rest = [name for name in known.files if name not in present]
    meanwhile = changed(known, rest, lambda name: storage.upload(folder / name, known.name, name))
    for name in meanwhile:
        storage.remove(known.name, name)
    if meanwhile:
        raise UserError(
            f"{folder / meanwhile[0]} was changed during the upload, so nothing was published; "
            f"`{COMMAND} verify --set={folder}` lists the changed files."
        )
