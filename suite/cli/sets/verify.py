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

SIGNED = "It is signed: --signed-by=FILE checks whether by somebody you trust."
UNSIGNED = "It is unsigned, so nothing proves who published it."


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of checking a set: the `problems`, which are the differences from its manifest; whether it is signed;
    and its signer, if that is one of those in --signed-by (else None)."""

    name: str
    storage: Storage | None
    problems: Sequence[str]
    is_signed: bool = False
    signer: str | None = None


def verify(options: VerifyOptions) -> int:
    """Prints whether a set is as its manifest says and, with --signed-by, whether one of those signers signed it.
    Returns the exit code: 3 if not."""
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
    """Checks a set here or in a storage. `trusted` is the file of `--signed-by`: a public key or a list of allowed
    signers. Raises UserError if there is no set of this name."""
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
    """Returns the differences of a set here from its manifest. The plan is read only if all files are intact."""
    return manifest.problems(folder) or ResultSet.open(folder).misstated(manifest.read(folder))


def lines_of(verification: Verification, trusted: str | None) -> list[str]:
    """Returns the lines to print: each problem, then the verdict on the set."""
    name = verification.name
    if verification.problems:
        return [*verification.problems, f"{name} isn't as its manifest says: {len(verification.problems)} problem(s)."]
    if trusted is None:
        return [f"{name}: intact. {SIGNED if verification.is_signed else UNSIGNED}"]
    if verification.signer:
        return [f"{name}: intact, signed by {verification.signer}."]
    return [f"{name}: intact, but {f'signed by nobody in {trusted}' if verification.is_signed else 'unsigned'}."]


def signed_here(folder: Path) -> tuple[Manifest, bytes | None]:
    """Returns a set's manifest, and its signature if it has one."""
    path = folder / SIGNATURE
    return manifest.read(folder), plain_files.read(path, SIGNATURE_BYTES_MAX) if path.exists() else None
