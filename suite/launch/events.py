"""Reads a worker's events.jsonl without trusting it: the worker may have been killed in the middle of a line, or have
written anything.

Reading never raises an exception. It ends at the first line that can't be understood, which `problem` describes;
everything before that line is kept.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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


class EventError(Exception):
    """Says why a line isn't an event of this format."""


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
    events = Account()
    lines = data[:EVENTS_BYTES_MAX].split(b"\n")[:-1]
    for number, line in enumerate(lines):
        try:
            _add(events, _decode(line, number))
        except EventError as error:
            events.problem = f"line {number + 1}: {error}"
            return events
    if len(data) > EVENTS_BYTES_MAX:
        events.problem = f"longer than {EVENTS_BYTES_MAX // 2**20} MiB"
    return events


def _decode(line: bytes, number: int) -> dict[str, Any]:
    try:
        event = json.loads(line.decode("utf-8"))
        if b"\\ud" in line.lower():  # half a surrogate pair can't be stored as text
            event = json.loads(json.dumps(event, ensure_ascii=False).encode("utf-8", "replace"))
    except (ValueError, RecursionError) as error:
        raise EventError(f"not JSON ({error})") from None
    if not isinstance(event, dict):
        raise EventError("not an object")
    if event.get("v") != EVENTS_VERSION:
        raise EventError(f"version {_short(event.get('v'))} instead of {EVENTS_VERSION}")
    if event.get("seq") != number:
        raise EventError(f"sequence number {_short(event.get('seq'))} instead of {number}")
    return event


def _add(events: Account, event: dict[str, Any]) -> None:
    """Adds one event. Raises EventError before anything is changed."""
    name = event.get("event")
    add = ADDERS.get(name) if isinstance(name, str) else None
    if add is None:
        raise EventError(f"unknown event {_short(name)}")
    if events.ended:
        raise EventError(f"event '{name}' after the end")
    add(events, event)


def _add_phase(events: Account, event: dict[str, Any]) -> None:
    phase = _text(event, "phase")
    if phase not in PHASES:
        raise EventError(f"unknown phase {_short(phase)}")
    events.phase = phase


def _add_facts(events: Account, event: dict[str, Any]) -> None:
    columns = event.get("columns")
    if not isinstance(columns, dict):
        raise EventError("facts without columns")
    events.columns |= columns


def _add_samples(events: Account, event: dict[str, Any]) -> None:
    clock = _text(event, "clock")
    if clock not in CLOCKS:
        raise EventError(f"unknown clock {_short(clock)}")
    lists = {column: _seconds(event, column) for column in CLOCKS[clock]}
    numbers = {len(values) for values in lists.values()}
    if len(numbers) > 1:
        raise EventError(f"the {clock} clock's columns have unequal numbers of samples")
    others = event.get("others")
    if others is not None and not (type(others) in (int, float) and 0 <= others <= math.inf):
        raise EventError(f"'others' of the {clock} clock isn't a share: {_short(others)}")
    count = numbers.pop()
    if clock == "synced":
        events.samples[ROUNDS] += _rounds(event, count)
    for column, values in lists.items():
        events.samples[column] += values
    events.samples[OTHERS[clock]] += [others] * count


def _rounds(event: dict[str, Any], count: int) -> list[int]:
    """Returns the round of each of `count` samples: 0 for samples taken alone, and for those that lead into a turn."""
    number, leading = event.get("round", 0), event.get("leading", 0)
    if not (type(number) is int and 0 <= number <= ROUNDS_MAX and type(leading) is int and 0 <= leading <= count):
        raise EventError(f"samples of a round that is none: {_short(number)}, {_short(leading)} of them before it")
    return [0] * leading + [number] * (count - leading)


def _add_flag(events: Account, event: dict[str, Any]) -> None:
    flag = _text(event, "flag")
    if flag not in list(Flag):
        raise EventError(f"unknown flag {_short(flag)}")
    if flag not in events.flags:
        events.flags.append(flag)


def _add_metric(events: Account, event: dict[str, Any]) -> None:
    metric: dict[str, Any] = {key: _text(event, key) for key in ("name", "unit", "kind")}
    events.metrics.append(metric | {"values": _numbers(event, "values")})


def _add_exception(events: Account, event: dict[str, Any]) -> None:
    events.exception = {key: _text(event, key) for key in ("type", "message", "traceback")}


def _add_reason(events: Account, event: dict[str, Any]) -> None:
    setattr(events, event["event"], _text(event, "reason"))


def _add_end(events: Account, event: dict[str, Any]) -> None:
    events.ended = True


ADDERS: dict[str, Callable[[Account, dict[str, Any]], None]] = {
    "phase": _add_phase,
    "facts": _add_facts,
    "samples": _add_samples,
    "flag": _add_flag,
    "metric": _add_metric,
    "exception": _add_exception,
    "wrong": _add_reason,
    "unsupported": _add_reason,
    "end": _add_end,
}


def _text(event: dict[str, Any], key: str) -> str:
    value = event.get(key)
    if not isinstance(value, str):
        raise EventError(f"{event['event']} without the text '{key}'")
    return value


def _seconds(event: dict[str, Any], key: str) -> list[float]:
    values = _numbers(event, key)
    if not all(math.isfinite(value) and value >= 0 for value in values):
        raise EventError(f"'{key}' has values that are no durations")
    return values


def _numbers(event: dict[str, Any], key: str) -> list[float]:
    values = event.get(key)
    if not isinstance(values, list) or not all(type(value) in (int, float) for value in values):
        raise EventError(f"{event['event']} without the numbers '{key}'")
    try:
        return [float(value) for value in values]
    except OverflowError:
        raise EventError(f"'{key}' has a number that is too large for a float") from None


def _short(value: Any) -> str:
    # A container's repr could nest deeper than the call stack allows.
    text = repr(value) if isinstance(value, (str, int, float, type(None))) else f"a {type(value).__name__}"
    return text if len(text) <= 60 else f"{text[:57]}..."
