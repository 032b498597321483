"""`./stackwars archive` and `fetch`: publish a set, and download one."""

from __future__ import annotations

from pathlib import Path

from suite import units
from suite.cli.sets.naming import named
from suite.cli.values import LATEST, Origin, ResultsFolder, needed
from suite.environments import say
from suite.extras.archive.fetch import fetch as download
from suite.extras.archive.listing import archived
from suite.extras.archive.publish import publish
from suite.extras.archive.storage import Storage
from suite.extras.archive.web import archive_at
from suite.page.formats.render import render


def archive(set: str = LATEST, to: str | None = None, *, sign: str | None = None, with_changes: bool = False) -> None:
    """Publishes a set and prints its name in the archive.

    :param set: the result set to publish; its run must have finished
    :param to: the archive: a folder, s3://bucket/prefix or gs://bucket/prefix; credentials come from the environment
    :param sign: an OpenSSH private key to sign with, or a public key whose private key is in an SSH agent
    :param with_changes: publish also the changes to the source that weren't committed
    """
    storage = Storage.of(needed("to", to))
    published = publish(named(set), storage, say, key=Path(sign) if sign else None, with_changes=with_changes)
    signed = f"signed by {sign}" if sign else "unsigned: with --sign=KEY readers can check who published it"
    size = f"{len(published.files)} files, {units.quantity(published.nbytes)}"
    print(f"{published.name}  {size}, in {storage.uri}; {signed}")


def fetch(set: str | None = None, *, from_: Origin = None, results: ResultsFolder = "results") -> None:
    """Downloads a set from an archive and renders its page.

    :param set: the result set's name in the archive; `./stackwars sets --from=ARCHIVE` lists the names
    """
    storage = archive_at(needed("from", from_))
    folder = download(storage, archived(needed("set", set), storage), Path(results))
    print(f"{folder}  {render(folder)}")
