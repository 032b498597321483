"""`./stackwars verify`: checks whether a set is as its manifest says, and who has signed it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from suite.archive import fetch
from suite.archive.naming import archived, named
from suite.archive.signature import SIGNATURE, SIGNATURE_BYTES_MAX, signer
from suite.archive.storage import Storage
from suite.cli.options.sets import VerifyOptions
from suite.cli.terminal.output import print_json
from suite.errors import Damaged, UserError
from suite.guard import plain_files
from suite.results.outcomes import FAILED
from suite.results.store import manifest
from suite.results.store.manifest import Manifest
from suite.results.store.result_set import ResultSet

SIGNED = "It bears a signature: --signed-by=FILE says whether it is that of somebody you trust."
UNSIGNED = "Unsigned: nothing says who published it."


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found out about a set: the `problems`, each something that isn't as the manifest says; whether the set
    is signed; and the signer among those of --signed-by (None: none of them, or no --signed-by)."""

    name: str
    storage: Storage | None
    problems: Sequence[str]
    is_signed: bool = False
    signer: str | None = None


def verify(options: VerifyOptions) -> int:
    """Prints whether a set is as its manifest says, and signed by one of those of --signed-by. Returns the exit code: 3
    if it isn't."""
    trusted = options.signed_by
    verification = verified(options.set, Storage.of(options.from_) if options.from_ else None, trusted)
    fine = not verification.problems and (trusted is None or verification.signer is not None)
    if options.json:
        print_json(
            {
                "set": verification.name,
                "from": verification.storage.uri if verification.storage else None,
                "intact": not verification.problems,
                "problems": [*verification.problems],
                "signed": verification.is_signed,
                "signer": verification.signer,
            }
        )
    else:
        for line in lines_of(verification, trusted):
            print(line)
    return 0 if fine else FAILED


def verified(name: str, storage: Storage | None, trusted: str | None) -> Verification:
    """Checks a set here or in a storage. Raises UserError if there is none of that name."""
    place = archived(name, storage) if storage else str(named(name))
    if storage is None and not any((Path(place) / file).is_file() for file in ("plan.json", manifest.NAME)):
        raise UserError(f"{place} is no result set: it has no plan.json.")
    try:
        problems = fetch.verify(storage, place) if storage else problems_here(Path(place))
    except Damaged as broken:
        problems = [str(broken)]
    if problems:
        return Verification(place, storage, problems)
    known, signature = fetch.signed(storage, place) if storage else signed_here(Path(place))
    whose = signer(known, signature, Path(trusted)) if signature and trusted else None
    return Verification(place, storage, (), signature is not None, whose)


def problems_here(folder: Path) -> list[str]:
    """Returns what isn't as the manifest says. The files are compared first: only an intact plan is opened."""
    return manifest.problems(folder) or ResultSet.open(folder).misstated(manifest.read(folder))


def lines_of(verification: Verification, trusted: str | None) -> list[str]:
    """Returns the lines to print: each problem, then the verdict on the set."""
    name = verification.name
    if verification.problems:
        return [*verification.problems, f"{name}: not as its manifest says, in {len(verification.problems)} ways."]
    if trusted is None:
        return [f"{name}: intact. {SIGNED if verification.is_signed else UNSIGNED}"]
    if verification.signer:
        return [f"{name}: intact, signed by {verification.signer}."]
    return [f"{name}: intact, but {f'signed by nobody in {trusted}' if verification.is_signed else 'unsigned'}."]


def signed_here(folder: Path) -> tuple[Manifest, bytes | None]:
    """Returns a set's manifest, and its signature if it has one."""
    path = folder / SIGNATURE
    return manifest.read(folder), plain_files.read(path, SIGNATURE_BYTES_MAX) if path.exists() else None
