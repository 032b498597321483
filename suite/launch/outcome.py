"""Decides an attempt's outcome by the table `RULES`: the first rule that applies wins.

A rule looks at how the process ended (`Exit`), at the events that the worker wrote (`Account`), and at the error text
of a process that failed. It matches words of that text rather than exception types, because frameworks change their
exception types from version to version. The text of a process that succeeded is ignored, because such a process may
log the same words in passing.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from suite.case import COMPILE_PHASES, MESSAGE_BYTES_MAX, Flag, Outcome, phase_words
from suite.launch.events import Account
from suite.launch.process import Exit
from suite.launch.texts import ABSENT_DEVICE, COMPILE_FAILURE, COMPILE_OOM, DEVICE_OOM, HOST_OOM, LACKING
from suite.machine import limits

ROOT = Path(__file__).parents[2]
# A line of a traceback, of an exception group, or of Numba's message, which has relative paths.
FRAME = re.compile(r'^[\s|]*File "([^"<]+)", line (\d+)', re.MULTILINE)
# What is in the path of a framework's or Python's file.
FOREIGN = re.compile(r"/(site-packages|dist-packages|lib/python3[^/]*)/")
PACKAGE = re.compile(r"/(?:site|dist)-packages/(([^/]+).*)")  # a framework's own
# A compiler's message may tell only in its second line which error it met.
EXPLAINED = re.compile(r"\s+Explanation: .*: got (.+)")
QUOTE_CHARACTERS_MAX = 300
SIGNAL_WORDS = {
    signal.SIGSEGV: "segmentation fault",
    signal.SIGABRT: "aborted",
    signal.SIGBUS: "bus error",
    signal.SIGILL: "illegal instruction",
    signal.SIGFPE: "arithmetic fault",
    signal.SIGKILL: "killed from outside, not by a known limit",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptOutcome:
    """An attempt's outcome, with the columns of the row that explain it. `reason` is None only for `ok`."""

    outcome: Outcome
    reason: str | None
    flags: list[str]
    phase: str | None
    exception_type: str | None
    message: str | None
    exit_code: int | None
    signal: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that a rule may look at. `lines` are the error texts of a process that failed, and empty for other processes;
    `cause` names the line of code that failed, or is empty."""

    exit: Exit
    events: Account
    target: str
    lines: Sequence[str]
    cause: str

    @property
    def where(self) -> str:
        """Returns the phase in words, with the shell's limits that may have stopped the process."""
        return ", under ".join(filter(None, [phase_words(self.events.phase), limits.said(self.exit.shell_limits)]))

    def quote(self, patterns: Sequence[str]) -> str | None:
        """Returns the first of `lines` that matches the first of these patterns that any line matches: the frameworks'
        own words stand before a status that wraps them."""
        matching = (line for pattern in patterns for line in self.lines if re.search(pattern, line))
        line = next(matching, None)
        return line and line.strip()[:QUOTE_CHARACTERS_MAX]


def judge(exit: Exit, events: Account, target: str, stderr_tail: str) -> AttemptOutcome:
    """Returns the outcome of a process, with its reason. `target` is cpu, cuda or tpu.

    An interrupted process, or one whose supervisor was lost, is an `error` with the flag `harness`: it says nothing
    about the stack, and resuming runs it again.
    """
    evidence = Evidence(
        exit=exit,
        events=events,
        target=target,
        lines=_lines(exit, events, stderr_tail),
        cause=cause((events.exception or {}).get("traceback", stderr_tail)),
    )
    outcome, reason = next((word, reason) for word, rule in RULES if (reason := rule(evidence)) is not None)
    exception = events.exception or {}
    message = exception.get("message")
    return AttemptOutcome(
        outcome=outcome,
        reason=reason or None,
        flags=[*events.flags, *([str(Flag.HARNESS)] if exit.interrupted else [])],
        phase=events.phase,
        exception_type=exception.get("type"),
        message=None if message is None else clip(message, MESSAGE_BYTES_MAX),
        exit_code=exit.exit_code,
        signal=exit.signal,
    )


def clip(text: str, size_bytes: int) -> str:
    """Returns the beginning of a text, at most `size_bytes` bytes of UTF-8."""
    return text.encode("utf-8", "replace")[:size_bytes].decode("utf-8", "ignore")


def cause(traceback: str) -> str:
    """Returns `, at suite/workloads/ops/gemm/gemm_jax.py:12`: the last line of the suite's or the user's code in a
    text's tracebacks; and if a framework's code raised the error, `, inside jax at jax/_src/api.py:9`, its last line.
    Empty if there is no line of the suite's or the user's."""
    at = inside = ""
    for name, line in FRAME.findall(traceback):
        file = Path(name)
        if not FOREIGN.search(name):
            at = f", at {file.relative_to(ROOT) if file.is_relative_to(ROOT) else Path(*file.parts[-2:])}:{line}"
            inside = ""
        elif package := PACKAGE.search(name):
            inside = f", inside {package[2].removesuffix('.py')} at {package[1]}:{line}"
    return at and at + inside


def _lines(exit: Exit, events: Account, stderr_tail: str) -> list[str]:
    """Returns the error texts of a process that failed: its exception and those that caused it, else its stderr."""
    if events.exception is not None:
        traceback = events.exception["traceback"].splitlines()
        # Indented lines are source code, which may well speak of memory.
        causes = [line for line in traceback if line and not line[0].isspace()]
        return [*f"{events.exception['type']}: {events.exception['message']}".splitlines(), *causes]
    return [] if events.ended and exit.exit_code == 0 else stderr_tail.splitlines()


# A rule returns the reason if it applies, else None. The reason of `ok` is empty.


def _interrupted(evidence: Evidence) -> str | None:
    if not evidence.exit.interrupted:
        return None
    return evidence.exit.problem or f"interrupted {evidence.where}"


def _unsupported(evidence: Evidence) -> str | None:
    reason = evidence.events.unsupported
    return None if reason is None else reason or "the adapter gave no reason"


def _no_device(evidence: Evidence) -> str | None:
    quote = evidence.quote(ABSENT_DEVICE) if evidence.target != "cpu" else None
    return quote and f"no {evidence.target} device: {quote}"


def _lacking(evidence: Evidence) -> str | None:
    if evidence.events.exception is None:  # the log of a process that only went on is no answer
        return None
    found = ((text, re.search(text.pattern, line)) for text in LACKING for line in evidence.lines)
    said = next((f"{text.framework} lacks this: {match[match.re.groups]}" for text, match in found if match), None)
    return said and f"{said[:QUOTE_CHARACTERS_MAX]} ({evidence.where}{evidence.cause})"


def _timeout(evidence: Evidence) -> str | None:
    if not evidence.exit.timed_out:
        return None
    limits = evidence.exit.limits
    if evidence.exit.timeout_kind == "compile":
        return f"not compiled within {_duration(limits.compile_timeout_seconds)}, {evidence.where}"
    return f"no answer within {_duration(limits.timeout_seconds)}, {evidence.where}"


def _compile_oom(evidence: Evidence) -> str | None:
    quote = evidence.quote(COMPILE_OOM)
    if quote is None and evidence.events.phase in COMPILE_PHASES and evidence.quote(COMPILE_FAILURE):
        quote = evidence.quote(DEVICE_OOM + HOST_OOM)
    if evidence.events.phase == "compile" and (refused := evidence.quote(DEVICE_OOM)):
        return f"the compiler says that it doesn't fit: {refused}"
    return quote and f"the compiler ran out of memory {evidence.where}: {quote}"


def _device_oom(evidence: Evidence) -> str | None:
    quote = evidence.quote(DEVICE_OOM) if evidence.target != "cpu" else None
    return quote and f"out of device memory {evidence.where}: {quote}"


def _memory_kill(evidence: Evidence) -> str | None:
    if not evidence.exit.memory_killed:
        return None
    limit = evidence.exit.limits.memory_bytes
    if limit is None:
        return f"killed by the system, which had run out of memory, {evidence.where}"
    thrashed = ", full and busy reading its own code again" if evidence.exit.thrashed else ""
    return f"killed at its {_size(limit)} limit {evidence.where}{thrashed}"


def _host_oom(evidence: Evidence) -> str | None:
    quote = evidence.quote(HOST_OOM + (DEVICE_OOM if evidence.target == "cpu" else ()))
    return quote and f"out of host memory {evidence.where}: {quote}"


def _crashed(evidence: Evidence) -> str | None:
    number = evidence.exit.signal
    if number is None:
        return None
    names = {int(known): words for known, words in SIGNAL_WORDS.items()}
    words = names.get(number) or signal.strsignal(number) or "unknown signal"
    after = "after its last event" if evidence.events.ended else evidence.where
    return f"{words} (signal {number}) {after}"


def _wrong(evidence: Evidence) -> str | None:
    reason = evidence.events.wrong
    return None if reason is None else reason or "failed the equivalence gate"


def _garbage(evidence: Evidence) -> str | None:
    problem = evidence.events.problem
    return problem and f"unreadable events.jsonl: {problem}"


def _exception(evidence: Evidence) -> str | None:
    if evidence.events.exception is None:
        return None
    explained = EXPLAINED.match(evidence.lines[1]) if len(evidence.lines) > 1 else None
    said = f"{evidence.lines[0]}: {explained[1]}" if explained else evidence.lines[0]
    return f"{said[:QUOTE_CHARACTERS_MAX]} ({evidence.where}{evidence.cause})"


def _bad_exit(evidence: Evidence) -> str | None:
    code = evidence.exit.exit_code
    if code == 0:
        return None
    last = next((line.strip() for line in reversed(evidence.lines) if line.strip()), "stderr is empty")
    return f"exited {code} {evidence.where}{evidence.cause}: {last[:QUOTE_CHARACTERS_MAX]}"


def _no_results(evidence: Evidence) -> str | None:
    return None if evidence.events.ended else f"exited 0 without results, {evidence.where}"


def _ok(evidence: Evidence) -> str | None:
    return ""


RULES: tuple[tuple[Outcome, Callable[[Evidence], str | None]], ...] = (
    (Outcome.ERROR, _interrupted),
    (Outcome.UNSUPPORTED, _unsupported),
    (Outcome.UNSUPPORTED, _no_device),
    (Outcome.TIMEOUT, _timeout),
    (Outcome.OOM_COMPILE, _compile_oom),
    (Outcome.OOM_DEVICE, _device_oom),
    (Outcome.OOM_HOST, _memory_kill),
    (Outcome.OOM_HOST, _host_oom),
    (Outcome.CRASHED, _crashed),
    (Outcome.WRONG, _wrong),
    (Outcome.ERROR, _garbage),
    (Outcome.UNSUPPORTED, _lacking),
    (Outcome.ERROR, _exception),
    (Outcome.ERROR, _bad_exit),
    (Outcome.ERROR, _no_results),
    (Outcome.OK, _ok),
)


def _duration(seconds: float) -> str:
    return f"{seconds / 60:g} min" if seconds >= 120 else f"{seconds:g} s"


def _size(size_bytes: int) -> str:
    for unit, scale in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if size_bytes >= scale:
            return f"{size_bytes / scale:.4g} {unit}"
    return f"{size_bytes} bytes"
