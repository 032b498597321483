"""`./stackwars verify`: checks whether a set is as its manifest says, and who has signed it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from suite.cli.sets.naming import named
from suite.cli.terminal.output import print_json
from suite.cli.values import LATEST, Json, Origin
from suite.errors import Damaged, UserError
from suite.extras.archive import fetch, listing
from suite.extras.archive.listing import archived
from suite.extras.archive.signature import signature_beside, signer
from suite.extras.archive.storage import Storage
from suite.extras.archive.web import storage_of
from suite.results.outcomes import FAILED
from suite.sets import manifest
from suite.sets.result_set import ResultSet


def verify(set: str | None = None, *, from_: Origin = None, signed_by: str | None = None, json: Json = False) -> int:
    """Prints whether a set is as its manifest says and, with --signed-by, whether one of those signers signed it. Of an
    archive without a set's name it checks every set. Returns the exit code: 3 if not. Raises UserError if there is no
    set of this name.

    :param set: a result set's folder, or its name in an archive (default: results/latest, or all sets of --from)
    :param signed_by: a public key, or an OpenSSH file of allowed signers: one of them must have signed the set
    """
    storage = storage_of(from_)
    if storage is None:
        places = [str(named(set or LATEST))]
    else:
        places = [archived(set, storage)] if set else [listed.name for listed in listing.of_storage(storage)]
        if not places:
            raise UserError(f"{storage.uri} has no published set.")
    found = [verified(place, storage, signed_by) for place in places]
    if json:
        print_json({"sets": found})
    else:
        for each in found:
            print(*each["problems"], in_words(each, signed_by), sep="\n")
    return FAILED if any(each["problems"] or (signed_by and each["signer"] is None) for each in found) else 0


def verified(place: str, storage: Storage | None, signed_by: str | None) -> dict[str, Any]:
    """Returns what is known of one set: its problems, whether it is signed, and by whom of those in `signed_by`."""
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
    verdict = {"intact": not problems, "problems": problems, "signed": signature is not None, "signer": by}
    return {"set": place, "from": storage.uri if storage else None, **verdict}


def in_words(found: dict[str, Any], signed_by: str | None) -> str:
    if problems := found["problems"]:
        return f"{found['set']} isn't as its manifest says: {len(problems)} problem(s)."
    return f"{found['set']}: intact{signed_words(found['signed'], signed_by, found['signer'])}"


def signed_words(is_signed: bool, trusted: str | None, by: str | None) -> str:
    """Returns what is known of a signature. `by` is the signer, if that is one of those in the file `trusted`."""
    if trusted is None and is_signed:
        return ". It is signed: --signed-by=FILE checks whether by somebody you trust."
    if trusted is None:
        return ". It is unsigned, so nothing proves who published it."
    if by:
        return f", signed by {by}."
    return f", but signed by nobody in {trusted}." if is_signed else ", but unsigned."
