"""Signs a set's name, which is a digest of all its files, and says who has signed it.

Signatures are made by `ssh-keygen -Y`: it is part of OpenSSH everywhere, people have keys for it, and checking needs no
key server. The signed text is the name with all digits and a newline, in the namespace `stack-wars`, so that it can be
checked without this program.
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
    """Returns the text that is signed."""
    return f"{known.called(ALL_DIGITS)}\n"


def sign(known: Manifest, key: Path) -> bytes:
    """Returns a signature by `key`: a private key, or a public key whose private key an agent has. ssh-keygen asks for
    a passphrase on the terminal. Raises UserError if the key can't sign."""
    done = keygen("-Y", "sign", "-f", str(key), "-n", NAMESPACE, text=message(known))
    if done.returncode:
        raise UserError(
            f"{key} can't sign: {last(done)}. --sign takes a private key of OpenSSH, or a public one whose "
            "private one an agent has."
        )
    return done.stdout.encode()


def signer(known: Manifest, signature: bytes, trusted: Path) -> str | None:
    """Returns who in a file has signed a set; None if nobody in it has. `trusted` is a public key, or OpenSSH's file of
    allowed signers. Raises UserError for a file that is neither."""
    with tempfile.TemporaryDirectory() as scratch:
        allowed, signed = Path(scratch) / "allowed", Path(scratch) / "signature"
        allowed.write_text(allowed_signers(trusted), encoding="utf-8")
        signed.write_bytes(signature)
        files = ("-f", str(allowed), "-s", str(signed))
        principals = keygen("-Y", "find-principals", *files)
        for name in principals.stdout.splitlines():
            done = keygen("-Y", "verify", "-I", name, "-n", NAMESPACE, *files, text=message(known))
            if done.returncode == 0:
                return name
    return None


def allowed_signers(trusted: Path) -> str:
    """Returns the lines of a file of allowed signers; a public key gets its file's name as its owner."""
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


def keygen(*options: str, text: str = "") -> subprocess.CompletedProcess[str]:
    """Runs ssh-keygen with `text` on standard input. Raises UserError if it isn't installed."""
    try:
        return subprocess.run(
            [PROGRAM, *options], input=text, capture_output=True, encoding="utf-8", errors="replace", check=False
        )
    except FileNotFoundError:
        raise UserError(f"Signatures need {PROGRAM}, which is part of OpenSSH: install openssh-client.") from None


def last(done: subprocess.CompletedProcess[str]) -> str:
    """Returns the last line of an error message."""
    return (done.stderr.strip().splitlines() or ["it said nothing"])[-1].rstrip(".")
