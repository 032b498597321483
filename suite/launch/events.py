"""Reads a worker's events.jsonl without trusting it: the worker may have been killed in the middle of a line, or have
written anything.

Reading never raises an exception. It ends at the first line that can't be understood, which `problem` describes;
everything before that line is kept.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta, Struct

from suite.case import EVENTS_BYTES_MAX, EVENTS_VERSION, PHASES, ROUNDS_MAX, Flag
from suite.guard import plain_files

# The sample columns of each clock. In one event, the columns of its clock are equally long.
CLOCKS = {
    "synced": ("synced_seconds", "dispatch_seconds"),
    "pipelined": ("pipelined_seconds",),
    "fetch": ("fetch_seconds",),
}
ROUNDS = "synced_rounds"  # the round of each sample of the synced clock, 0 for samples outside the rounds
OTHERS = {clock: f"{clock}_others" for clock in CLOCKS}  # for each sample, the share of the cores that others took


@dataclass(slots=True)
class Account:
    """The sum of a worker's events.

    `columns` are columns of the row; later events override earlier ones. `samples` always has all columns of samples:
    the seconds of the clocks, the share of the cores that other processes took meanwhile, and the rounds. `phase` is
    the last one begun. `exception` has the texts `type`, `message` and `traceback`. `problem` says why the file is
    unreadable from some line on; a last line without its end is no problem, since killed workers leave one.
    """

    columns: dict[str, Any] = field(default_factory=dict)
    samples: dict[str, list[Any]] = field(
        default_factory=lambda: {
            column: [] for columns in (*CLOCKS.values(), OTHERS.values(), (ROUNDS,)) for column in columns
        }
    )
    flags: list[str] = field(default_factory=list)
    metrics: list[dict[str, Any]] = field(default_factory=list)
    phase: str | None = None
    exception: dict[str, str] | None = None
    wrong: str | None = None
    unsupported: str | None = None
    ended: bool = False
    problem: str | None = None


class _Event(Struct, tag_field="event", tag=lambda name: name.strip("_").lower()):
    v: int
    seq: int


class _Phase(_Event):
    phase: Annotated[str, Meta(pattern=rf"\A({'|'.join(PHASES)})\Z")]


class _Facts(_Event):
    columns: dict[str, Any]


Seconds = list[Annotated[float, Meta(ge=0, le=float(np.finfo(np.float32).max))]]


class _Samples(_Event):
    clock: str
    synced_seconds: Seconds | None = None
    dispatch_seconds: Seconds | None = None
    pipelined_seconds: Seconds | None = None
    fetch_seconds: Seconds | None = None
    others: Annotated[float, Meta(ge=0)] | None = None
    round: Annotated[int, Meta(ge=0, le=ROUNDS_MAX)] = 0  # 0: taken alone
    leading: Annotated[int, Meta(ge=0)] = 0  # so many of them lead into the turn

    def __post_init__(self) -> None:
        if self.clock not in CLOCKS:
            raise ValueError(f"unknown clock {self.clock[:60]!r}")
        columns = [getattr(self, column) for column in CLOCKS[self.clock]]
        if None in columns or len({*map(len, columns)}) > 1 or self.leading > len(columns[0]):
            raise ValueError(f"the {self.clock} clock's columns have unequal numbers of samples, or too few")


class _Flag(_Event):
    flag: Flag


class _Metric(_Event):
    name: str
    unit: str
    kind: str
    values: list[float]


class _Exception(_Event):
    type: str
    message: str
    traceback: str


class _Wrong(_Event):
    reason: str


class _Unsupported(_Event):
    reason: str


class _End(_Event):
    pass


EVENT = _Phase | _Facts | _Samples | _Flag | _Metric | _Exception | _Wrong | _Unsupported | _End


def read(path: Path) -> Account:
    """Returns the events in a file; an empty account if there is no file. Never raises, whatever the file holds."""
    try:
        with plain_files.opened(path) as file:
            data = file.read(EVENTS_BYTES_MAX + 1)
    except FileNotFoundError:
        return Account()
    except OSError as error:
        return Account(problem=f"cannot be read: {error}")
    return parse(data)


def parse(data: bytes) -> Account:
    account = Account()
    lines = data[:EVENTS_BYTES_MAX].split(b"\n")[:-1]
    for number, line in enumerate(lines):
        try:
            add(account, decoded(line, number, account.ended))
        except ValueError as error:
            account.problem = f"line {number + 1}: {error}"
            return account
    if len(data) > EVENTS_BYTES_MAX:
        account.problem = f"longer than {EVENTS_BYTES_MAX // 2**20} MiB"
    return account


def decoded(line: bytes, number: int, ended: bool) -> Any:
    """Returns the event in a line. Raises ValueError for a line that isn't the next event."""
    try:
        fields = json.loads(line.decode("utf-8"))  # not by msgspec, which takes no NaN; a fact may be one
        if b"\\ud" in line.lower():  # half a surrogate pair can't be stored as text
            fields = json.loads(json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON ({error})") from None
    event = msgspec.convert(fields, EVENT)
    if event.v != EVENTS_VERSION:
        raise ValueError(f"version {event.v} instead of {EVENTS_VERSION}")
    if event.seq != number:
        raise ValueError(f"sequence number {event.seq} instead of {number}")
    if ended:
        raise ValueError("an event after the end")
    return event


def in_single(seconds: list[float]) -> list[float]:
    """Returns samples as float32 has them: finer than the clock's nanoseconds up to 17 ms, then 6e-8 of the sample. A
    published set takes half the space."""
    rounded: list[float] = np.asarray(seconds, np.float32).tolist()
    return rounded


def add(account: Account, event: Any) -> None:
    match event:
        case _Phase():
            account.phase = event.phase
        case _Facts():
            account.columns |= event.columns
        case _Samples():
            columns: dict[str, list[Any]] = {
                column: in_single(getattr(event, column)) for column in CLOCKS[event.clock]
            }
            count = len(next(iter(columns.values())))
            columns[OTHERS[event.clock]] = [event.others] * count
            if event.clock == "synced":
                columns[ROUNDS] = [0] * event.leading + [event.round] * (count - event.leading)
            for column, values in columns.items():
                account.samples[column] += values
        case _Flag():
            account.flags += [str(event.flag)] if event.flag not in account.flags else []
        case _Metric():
            account.metrics.append({key: getattr(event, key) for key in ("name", "unit", "kind", "values")})
        case _Exception():
            account.exception = {key: getattr(event, key) for key in ("type", "message", "traceback")}
        case _Wrong():
            account.wrong = event.reason
        case _Unsupported():
            account.unsupported = event.reason
        case _End():
            account.ended = True
