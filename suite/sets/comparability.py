"""Says what differs between two measurements of a case, and what follows from it. `compare`, `history`, the site,
`reproduce`, `collect` and `--resume` ask this module; no other one decides it.

A fact that is unknown on one side is no difference. docs/reference/comparability.md has the table of facts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict
from enum import StrEnum
from typing import Any, NamedTuple

from suite import units
from suite.case import Flag
from suite.machine import limits
from suite.protocol import Protocol
from suite.sets.rows import Row

Facts = Mapping[str, Any]


class Consequence(StrEnum):
    """What follows where a fact differs; each includes those below it."""

    REFUSED = "not comparable"  # no verdict
    SERIES = "another series"  # a history doesn't join the two by a line
    SAID = "said beside the verdict"
    NOTHING = "nothing"


REFUSED, SERIES, SAID, NOTHING = Consequence


def plain(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def chosen(value: str) -> str:
    """Returns the word that the kernel puts in brackets: `always [madvise] never`."""
    found = re.search(r"\[(\w+)\]", value)
    return found[1] if found else value


class Fact(NamedTuple):
    """A fact: its name in words, what follows where it differs, where it is from, and how a value is shown; None where
    the value tells a reader nothing, like a digest. The value may be a mapping, whose entries are facts then."""

    words: str
    consequence: Consequence
    source: str
    shown: Callable[[Any], str] | None = plain


MACHINE, ROW, PLAN = "machine.json", "the rows", "plan.json"
FACTS = {
    "machine_id": Fact("machine-id", REFUSED, ROW, None),
    "cpu_model": Fact("processor", REFUSED, MACHINE),
    "cpu_family_model_stepping": Fact("stepping", REFUSED, MACHINE),
    "cpu_flags": Fact("instructions", REFUSED, MACHINE, None),
    "caches": Fact("caches", REFUSED, MACHINE),
    "cores_online": Fact("cores", REFUSED, MACHINE),
    "weights_sha256": Fact("inputs", REFUSED, ROW, None),
    "asked": Fact("question", REFUSED, PLAN, None),
    "tolerance": Fact("tolerance", REFUSED, ROW),
    "allocator": Fact("allocator", REFUSED, ROW),
    "sampling": Fact("way of sampling", REFUSED, ROW),
    "engine": Fact("engine", SERIES, ROW),
    "packages": Fact("packages", SERIES, ROW),
    "code": Fact("function", SAID, PLAN, None),
    "versions": Fact("", SAID, ROW),
    "cores_usable": Fact("usable cores", SAID, MACHINE),
    "ram_bytes": Fact("memory", SAID, MACHINE, units.quantity),
    "limits": Fact("shell's limits", SAID, MACHINE),
    "kernel": Fact("kernel", SAID, MACHINE),
    "microcode": Fact("microcode", SAID, MACHINE),
    "mitigations": Fact("mitigation of", SAID, MACHINE),
    "huge_pages": Fact("huge pages", SAID, MACHINE, chosen),
    "governor": Fact("governor", SAID, MACHINE),
    "boost": Fact("boost", SAID, MACHINE),
    "smt": Fact("SMT", SAID, MACHINE),
    "threads_per_core": Fact("threads a core", SAID, MACHINE),
    "protocol": Fact("protocol's", SAID, PLAN),
    "clock_source": Fact("clock source", NOTHING, MACHINE),
}
OF_MACHINE = frozenset(name for name, fact in FACTS.items() if fact.source == MACHINE) | {"machine_id"}
# Two machines with the same processor: only their speedups may be compared, and are expected to agree.
OF_PROCESSOR = ("cpu_model", "cpu_family_model_stepping", "cpu_flags", "caches")
OF_KIND = (*OF_PROCESSOR, "cores_online", "cores_usable", "ram_bytes")


class Difference(NamedTuple):
    """A fact that differs. `words` names it; `text` also has both values where they tell a reader something."""

    fact: str
    words: str
    consequence: Consequence
    text: str


def machine_facts(machine: Facts) -> dict[str, Any]:
    """Returns the facts of a machine.json: how many cores rather than which, memory in whole GiB, because the kernels
    of equal machines reserve unequal amounts, limits that may stop a program, and lists sorted."""
    known = {name: machine[name] for name in FACTS if machine.get(name) is not None}
    if "cores_usable" in known:
        known["cores_usable"] = len(known["cores_usable"])
    if "ram_bytes" in known:
        known["ram_bytes"] = round(known["ram_bytes"] / 2**30) << 30
    if "limits" in known:
        known["limits"] = limits.said(limits.tight(known["limits"])) or "none"
    return {name: tuple(sorted(value)) if isinstance(value, list) else value for name, value in known.items()}


def machines_differ(first: Facts, second: Facts, names: Collection[str]) -> list[str]:
    """Returns, in words, the facts of these names in which two machine.json files differ."""
    return [each.words for each in differences(machine_facts(first), machine_facts(second), names)]


def case_facts(
    rows: Iterable[Row], machine: Facts, code: Mapping[str, Mapping[str, str]], protocol: Protocol | None = None
) -> dict[str, Any]:
    """Returns the facts of a case from its rows, which are of one set, and from that set's machine.json and plan.json;
    `code` are the plan's digests by workload."""
    listed = list(rows)
    head, digests = listed[0], code.get(listed[0].text("workload"), {})
    here = {row["machine_id"] for row in listed} <= {machine.get("machine_id")}
    return {
        **(machine_facts(machine) if here else {}),
        **{name: sole(row[name] for row in listed) for name in FACTS if name in head},
        "packages": sole("unpinned" if Flag.UNPINNED in row.flags else "locked" for row in listed),
        "versions": {name: value for row in listed for name, value in row.mapping("versions").items()},
        "asked": digests.get("asked"),
        "code": digests.get(head.function),
        "protocol": asdict(protocol) if protocol else None,
    }


def sole(values: Iterable[Any]) -> Any:
    """Returns the one value that is known; a sorted tuple of several; None without any."""
    known = {*values} - {None}
    return known.pop() if len(known) == 1 else tuple(sorted(known)) or None


def differences(first: Facts, second: Facts, names: Collection[str] = FACTS) -> list[Difference]:
    """Returns the facts of these names that differ, in the order of the table."""
    found = []
    for name in filter(names.__contains__, FACTS):
        fact, before, after = FACTS[name], first.get(name), second.get(name)
        if before is None or after is None or before == after:
            continue
        pairs = {"": (before, after)}
        if isinstance(before, Mapping):
            pairs = {key: (before[key], after[key]) for key in sorted(before.keys() & after.keys())}
        for key, (one, other) in pairs.items():
            if one != other:
                words = f"{fact.words} {key.replace('_', ' ') if fact.words else key}".strip()
                values = f"{fact.shown(one)} → {fact.shown(other)}" if fact.shown else "changed"
                found.append(Difference(name, words, fact.consequence, f"{words} {values}"))
    return found


def markdown() -> str:
    """Returns the table of facts."""
    lines = ["| fact | from | where it differs |", "| --- | --- | --- |"]
    lines += [
        f"| {fact.words or 'versions'} (`{name}`) | {fact.source} | {fact.consequence} |"
        for name, fact in FACTS.items()
    ]
    return "\n".join(lines) + "\n"
