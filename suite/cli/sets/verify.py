"""`./stackwars verify`: checks whether a set is as its manifest says, and who has signed it."""

from __future__ import annotations

from pathlib import Path

from suite.cli.terminal.output import print_json
from suite.cli.values import LATEST, Json, Origin
from suite.errors import Damaged, UserError
from suite.results.outcomes import FAILED
from suite.sets import manifest
from suite.sets.archive import fetch
from suite.sets.archive.naming import archived, named
from suite.sets.archive.signature import signature_beside, signer
from suite.sets.archive.web import storage_of
from suite.sets.result_set import ResultSet


def verify(set: str = LATEST, *, from_: Origin = None, signed_by: str | None = None, json: Json = False) -> int:
    """Prints whether a set is as its manifest says and, with --signed-by, whether one of those signers signed it.
    Returns the exit code: 3 if not. Raises UserError if there is no set of this name.

    :param set: a result set's folder, or its name in an archive
    :param signed_by: a public key, or an OpenSSH file of allowed signers: one of them must have signed the set
    """
    storage = storage_of(from_)
    place = archived(set, storage) if storage else str(named(set))
    folder = Path(place)
    if storage is None and not any((folder / file).is_file() for file in ("plan.json", manifest.NAME)):
        raise UserError(f"{place} is no result set: it has no plan.json.")
    try:
        if storage:
            problems = fetch.verify(storage, place)
        else:  # the plan is read only if all files are intact
            problems = manifest.problems(folder) or ResultSet.open(folder).misstated(manifest.read(folder))
    except Damaged as broken:
        problems = [str(broken)]
    signature, by = None, None
    if not problems:
        signature = fetch.signature_of(storage, place) if storage else signature_beside(folder)
        if signature and signed_by:
            known = fetch.manifest_of(storage, place) if storage else manifest.read(folder)
            by = signer(known, signature, Path(signed_by))
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
