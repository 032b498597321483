"""Signs a set, and finds out who has signed a set. What is signed is the set's name, which contains a digest of all its
files.

`ssh-keygen -Y` makes and checks the signatures, because it is part of OpenSSH, people have keys for it, and checking
needs no key server. The signed text is the name with all its digits and a newline, in the namespace `stack-wars`. So
anybody can check a signature without this program.
"""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from suite.errors import UserError
from suite.guard import plain_files
from suite.sets.manifest import ALL_DIGITS, Manifest

SIGNATURE = "name.sig"  # beside the manifest
SIGNATURE_BYTES_MAX = 2**16
SIGNERS_BYTES_MAX = 2**22
NAMESPACE = "stack-wars"
PROGRAM = "ssh-keygen"
KEYS = ("ssh-", "ecdsa-", "sk-")  # beginnings of a public key's line


def message(known: Manifest) -> str:
    """Returns the text that is signed: the set's name with all its digits, and a newline."""
    return f"{known.called(ALL_DIGITS)}\n"


def signature_beside(folder: Path) -> bytes | None:
    path = folder / SIGNATURE
    return plain_files.read(path, SIGNATURE_BYTES_MAX) if path.exists() else None


def sign(known: Manifest, key: Path) -> bytes:
    """Returns a signature of a set by `key`: the file of a private key, or of a public key whose private key an SSH
    agent has. ssh-keygen may ask for a passphrase on the terminal. Raises UserError if the key can't sign."""
    done = keygen("-Y", "sign", "-f", str(key), "-n", NAMESPACE, text=message(known))
    if done.returncode:
        raise UserError(
            f"{key} can't sign: {last(done)}. --sign takes an OpenSSH private key, or a public key whose private key "
            "is in an SSH agent."
        )
    return done.stdout.encode()


def signer(known: Manifest, signature: bytes, trusted: Path) -> str | None:
    """Returns which of the trusted signers has signed a set; None if none has. `trusted` is the file of a public key,
    or an OpenSSH file of allowed signers. Raises UserError for a file that is neither."""
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


def is_of(known: Manifest, signature: bytes) -> bool:
    """Whether somebody, whoever it is, has signed this very set."""
    with tempfile.NamedTemporaryFile() as signed:
        Path(signed.name).write_bytes(signature)
        done = keygen("-Y", "check-novalidate", "-n", NAMESPACE, "-s", signed.name, text=message(known))
    return done.returncode == 0


def allowed_signers(trusted: Path) -> str:
    """Returns a file of allowed signers as text. If the file is a public key, makes a line for it, with the file's name
    as the signer. Raises UserError for a file that is neither."""
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
    return (done.stderr.strip().splitlines() or ["no message"])[-1].rstrip(".")
