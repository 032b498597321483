"""How sets of earlier schema versions are read today: plan and rows, one step a version. `schema.HISTORY` says why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suite.case import Case, Flag, Outcome, Purpose

SIZES = {"seed": "full"}  # renamed in version 3


def plan(fields: dict[str, Any]) -> dict[str, Any]:
    """plan.json of any version, with the keys of today's."""
    if fields["schema_version"] < 2:
        fields = fields | {"request": fields["request"] | {"python": None}}  # version 2: one's own interpreter
    if fields["schema_version"] < 3:
        fields = plan_from_2(fields)
    if fields["schema_version"] < 4:
        fields = plan_from_3(fields)
    return plan_from_4(fields) if fields["schema_version"] < 5 else fields


def plan_from_2(fields: dict[str, Any]) -> dict[str, Any]:
    """Version 3: the options as typed became the few that a run needs, `attempt` of an attempt became `retry`."""
    request = fields.pop("request")
    attempts = []
    for old in fields["attempts"]:
        attempt = dict(old)
        attempts.append(attempt | {"retry": attempt.pop("attempt")})
    protocol = dict(fields["protocol"])
    protocol.pop("holm_above", None)  # every family is adjusted
    protocol["roofline"] = protocol.pop("ceiling")
    return fields | {
        "target": request["target"],
        "engine": request["engine"],
        "python": request["python"],
        "workload_paths": request["workload_path"],
        "protocol": protocol,
        "attempts": attempts,
    }


def plan_from_3(fields: dict[str, Any]) -> dict[str, Any]:
    """Version 4: a case says which allocator policy it ran under. Until then, all had the system's."""
    return fields | {
        "cases": [case_as_today(case) for case in fields["cases"]],
        "attempts": [old | {"case": case_as_today(old["case"])} for old in fields["attempts"]],
    }


def plan_from_4(fields: dict[str, Any]) -> dict[str, Any]:
    """Version 5: a run has a purpose, and a case may be predicted to be too large. Until then, all were to be timed."""
    cases = [dict(case) | {"too_large": None} for case in fields["cases"]]
    return fields | {"purpose": Purpose.TIMED, "cases": cases}


def case_as_today(case: Mapping[str, Any]) -> dict[str, Any]:
    """A case of an earlier version: its size as it is called today, and its allocator policy."""
    return {**case, "size": SIZES.get(case["size"], case["size"]), "allocator": "system"}


def columns(version: int) -> dict[str, str]:
    """Today's names of the columns that a version called otherwise, by its own."""
    return {"attempt": "retry"} if version < 3 else {}


def row(fields: dict[str, Any]) -> dict[str, Any]:
    """A row of any version, its columns already called as today. Names and ids follow the case."""
    if fields["schema_version"] >= 4:
        return fields
    if fields["schema_version"] < 3 and fields["outcome"] == Outcome.UNSUPPORTED:
        # Noise was written on rows without a process, too.
        fields = fields | {"flags": [flag for flag in fields["flags"] if flag != Flag.NOISY]}
    case, then = Case.of_row(case_as_today(fields)), fields["case_name"]
    source = fields["inferred_from"]  # a row of the same case, by its name and place
    return fields | {
        "size": case.size,
        "allocator": case.allocator,
        "case_id": case.case_id,
        "case_name": case.case_name,
        "comparison_id": case.comparison_id,
        "inferred_from": source and source.replace(then, case.case_name),
    }
