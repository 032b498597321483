"""The one exception that reaches a person without a traceback."""

from __future__ import annotations

import difflib
import linecache
import traceback
from collections.abc import Collection, Iterable
from pathlib import Path

from suite.order import natural

# What a person types: in a checkout, without activating an environment; or with the command that a wheel installed,
# which keeps its revision in a file of the source that it unpacks.
UNPACKED = Path(__file__).parents[1] / "REVISION"
COMMANDS = ("stackwars", "./stackwars")
COMMAND = COMMANDS[0] if UNPACKED.is_file() else COMMANDS[1]

# What people type, and the words here that mean it.
MEANS = {
    "gpu": "cuda", "nvidia": "cuda", "pytorch": "torch", "tensorflow": "tf",
    "fp32": "f32", "float32": "f32", "fp16": "bf16", "float16": "bf16", "half": "bf16", "bfloat16": "bf16",
    "inference": "forward", "eval": "forward", "fwd": "forward", "training": "train",
    "backward": "gradient", "grad": "gradient",
    "torch_compile": "inductor", "torch.compile": "inductor", "compile": "inductor", "onnx": "onnxruntime",
    "matmul": "gemm", "mm": "gemm", "dot": "gemm", "mlp": "ffn", "attention": "mha", "sdpa": "mha",
}  # fmt: skip


class UserError(Exception):
    """A mistake that a person can mend: says what happened, where, and what to do next (exit code 2)."""


class Damaged(UserError):
    """A set, or its archive, is damaged or changed: `verify` reports that (exit code 3), other commands refuse it."""


def near_match(name: str, known: Iterable[str]) -> str | None:
    """Returns the known word that means `name`, or else the nearest, whatever the letters' case; None if none is."""
    by_folded = {word.casefold(): word for word in known}
    if meant := MEANS.get(name.casefold()):
        named = (by_folded[word] for word in by_folded if meant in (word, *word.split("_")))
        if found := next(named, None):
            return found
    near = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.5)
    return by_folded[near[0]] if near else None


def unknown_word(kind: str, word: str, known: Iterable[str], of: str = "") -> str:
    """Returns a sentence about an unknown word, with its near match. `of` names the thing that lacks the word."""
    known = list(known)
    refusal = f"{of} has no {kind} '{word}'." if of else f"There is no {kind} '{word}'."
    begin = f"{MEANS.get(word.casefold(), word)}_"
    if len(family := [name for name in known if name.startswith(begin)]) > 1:
        return f"{refusal} Did you mean all of {', '.join(family)}? Then write '{begin}*'."
    near = near_match(word, known)
    return f"{refusal} Did you mean '{near}'?" if near else refusal


def unknown(kind: str, name: str, known: Iterable[str], of: str = "") -> UserError:
    """Returns the error for an unknown name: its near match, then all known names."""
    names = sorted(known, key=natural)
    return UserError(f"{unknown_word(kind, name, names, of)} Known: {', '.join(names) or 'none'}.")


def check_known(kind: str, name: str, known: Collection[str], of: str = "") -> None:
    if name not in known:
        raise unknown(kind, name, known, of)


def at_line(error: BaseException, path: Path) -> str:
    """Returns an exception in words, with the line of a user's code in which it was raised. `path` is the user's file
    or folder."""
    if isinstance(error, SyntaxError) and error.filename and is_in(error.filename, path):
        return f"{named(error.filename, path)}line {error.lineno}: {error.msg}: {(error.text or '').strip()}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_in(frame.filename, path)]
    said = next(iter(str(error).splitlines()), "").rstrip(".")
    words = said if isinstance(error, UserError) else f"{type(error).__name__}: {said}"
    if not frames:
        return words
    file, line = frames[-1].filename, frames[-1].lineno
    return f"{named(file, path)}line {line}: {words}: {linecache.getline(file, line or 0).strip()}"


def is_in(filename: str, path: Path) -> bool:
    """Whether a file is this one, or lies in this folder."""
    return filename == str(path) or str(path) in map(str, Path(filename).parents)


def named(filename: str, path: Path) -> str:
    """Returns the name of a file in a folder, as the beginning of a sentence; nothing where `path` is the file."""
    return "" if filename == str(path) else f"{Path(filename).relative_to(path)}, "
