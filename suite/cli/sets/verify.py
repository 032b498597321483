"""`./stackwars verify`: checks whether a set is as its manifest says, and who has signed it."""

from __future__ import annotations

from pathlib import Path

from suite.cli.terminal.output import print_json
from suite.cli.values import LATEST, Json, Origin
from suite.errors import Damaged, UserError
from suite.guard import plain_files
from suite.results.outcomes import FAILED
from suite.sets import manifest
from suite.sets.archive import fetch
from suite.sets.archive.naming import archived, named
from suite.sets.archive.signature import SIGNATURE, SIGNATURE_BYTES_MAX, signer
from suite.sets.archive.web import archive_at
from suite.sets.manifest import Manifest
from suite.sets.result_set import ResultSet


def verify(set: str = LATEST, *, from_: Origin = None, signed_by: str | None = None, json: Json = False) -> int:
    """Prints whether a set is as its manifest says and, with --signed-by, whether one of those signers signed it.
    Returns the exit code: 3 if not. Raises UserError if there is no set of this name.

    :param set: a result set's folder, or its name in an archive
    :param signed_by: a public key, or an OpenSSH file of allowed signers: one of them must have signed the set
    """
    storage = archive_at(from_) if from_ else None
    place = archived(set, storage) if storage else str(named(set))
    if storage is None and not any((Path(place) / file).is_file() for file in ("plan.json", manifest.NAME)):
        raise UserError(f"{place} is no result set: it has no plan.json.")
    try:
        problems = fetch.verify(storage, place) if storage else problems_here(Path(place))
    except Damaged as broken:
        problems = [str(broken)]
    signature, by = None, None
    if not problems:
        known, signature = fetch.signed(storage, place) if storage else signed_here(Path(place))
        by = signer(known, signature, Path(signed_by)) if signature and signed_by else None
    if json:
        where, is_signed = storage.uri if storage else None, signature is not None
        verdict = {"intact": not problems, "problems": problems, "signed": is_signed, "signer": by}
        print_json({"set": place, "from": where, **verdict})
    elif problems:
        print(*problems, f"{place} isn't as its manifest says: {len(problems)} problem(s).", sep="\n")
    else:
        print(f"{place}: intact{signed_words(signature is not None, signed_by, by)}")
    return FAILED if problems or (signed_by and by is None) else 0


def signed_words(is_signed: bool, trusted: str | None, by: str | None) -> str:
    """Returns what is known of a signature. `by` is the signer, if that is one of those in the file `trusted`."""
    if trusted is None and is_signed:
        return ". It is signed: --signed-by=FILE checks whether by somebody you trust."
    if trusted is None:
        return ". It is unsigned, so nothing proves who published it."
    if by:
        return f", signed by {by}."
    return f", but signed by nobody in {trusted}." if is_signed else ", but unsigned."


def problems_here(folder: Path) -> list[str]:
    """Returns the differences of a set here from its manifest. The plan is read only if all files are intact."""
    return manifest.problems(folder) or ResultSet.open(folder).misstated(manifest.read(folder))


def signed_here(folder: Path) -> tuple[Manifest, bytes | None]:
    path = folder / SIGNATURE
    return manifest.read(folder), plain_files.read(path, SIGNATURE_BYTES_MAX) if path.exists() else None
