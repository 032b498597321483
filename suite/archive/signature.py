"""Who published a set: a signature of its name, whose digest is over all that is in it.

By `ssh-keygen -Y`, since people have keys for it, on paper, in agents and on tokens; it is part of OpenSSH everywhere,
and asks nobody when a signature is checked. What is signed is the name with all digits and a newline, in the namespace
`stack-wars`, so that it can be checked without this program, too.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from suite.errors import UserError
from suite.results.store.manifest import ALL_DIGITS, Manifest

SIGNATURE = "name.sig"  # beside the manifest
SIGNATURE_BYTES_MAX = 2**16
SIGNERS_BYTES_MAX = 2**22
NAMESPACE = "stack-wars"
PROGRAM = "ssh-keygen"
KEYS = ("ssh-", "ecdsa-", "sk-")  # what a public key's file begins with


def message(known: Manifest) -> str:
    """What is signed of a set."""
    return f"{known.called(ALL_DIGITS)}\n"


def sign(known: Manifest, key: Path) -> bytes:
    """A signature by a private key, or by the agent that has the private one of a public key. A key's passphrase is
    asked for on the terminal. Raises UserError where it can't be had."""
    done = keygen("-Y", "sign", "-f", str(key), "-n", NAMESPACE, told=message(known))
    if done.returncode:
        raise UserError(
            f"{key} can't sign: {last(done)}. --sign takes a private key of OpenSSH, or a public one whose "
            "private one an agent has."
        )
    return done.stdout.encode()


def signer(known: Manifest, signature: bytes, trusted: Path) -> str | None:
    """Who of those in a file has signed a set; None where none of them has. `trusted`: a public key, or OpenSSH's file
    of allowed signers, a line each. Raises UserError for a file that is neither."""
    with tempfile.TemporaryDirectory() as scratch:
        allowed, signed = Path(scratch) / "allowed", Path(scratch) / "signature"
        allowed.write_text(allowed_signers(trusted), encoding="utf-8")
        signed.write_bytes(signature)
        files = ("-f", str(allowed), "-s", str(signed))
        found = keygen("-Y", "find-principals", *files)
        for name in found.stdout.splitlines():
            done = keygen("-Y", "verify", "-I", name, "-n", NAMESPACE, *files, told=message(known))
            if done.returncode == 0:
                return name
    return None


def allowed_signers(trusted: Path) -> str:
    """The lines of a file of allowed signers; those of a public key's file with the file's name for whose it is."""
    try:
        with trusted.open("rb") as file:
            lines = file.read(SIGNERS_BYTES_MAX).decode("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as broken:
        raise UserError(f"--signed-by={trusted} can't be read: {broken}.") from None
    lines = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    if not lines or any(len(line.split()) < 2 for line in lines):
        raise UserError(
            f"--signed-by={trusted} is neither a public key nor a file of allowed signers "
            "(man ssh-keygen, ALLOWED SIGNERS)."
        )
    owner = "".join(letter if letter.isalnum() or letter in "._-@" else "_" for letter in trusted.name)
    return "".join(f"{f'{owner} ' if line.startswith(KEYS) else ''}{line}\n" for line in lines)


def keygen(*options: str, told: str = "") -> subprocess.CompletedProcess[str]:
    """One call of OpenSSH's program. Raises UserError where there is none."""
    try:
        return subprocess.run(
            [PROGRAM, *options], input=told, capture_output=True, encoding="utf-8", errors="replace", check=False
        )
    except FileNotFoundError:
        raise UserError(f"Signatures need {PROGRAM}, which is part of OpenSSH: install openssh-client.") from None


def last(done: subprocess.CompletedProcess[str]) -> str:
    """The last line of a complaint."""
    return (done.stderr.strip().splitlines() or ["it said nothing"])[-1].rstrip(".")
