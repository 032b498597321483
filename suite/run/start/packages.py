"""The packages that question files name, and releases that are compared, on top of the locks of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from suite.environments import dependencies, revisions
from suite.environments.locks import Locks, names
from suite.sets.plan import Plan
from suite.stacks.catalog import STACKS, environment_of
from suite.workloads.catalog import Workload
from suite.workloads.questions.question import COMPATIBLE

ALWAYS = {COMPATIBLE: "array-api-compat"}  # what no file has to name
Asked = dict[str, dict[Path, tuple[str, ...]]]  # {environment: {question file: requirements}}


def asked_packages(plan: Plan, workloads: Mapping[str, Workload], target: str) -> Asked:
    """Returns what questions add to the environments of a plan's cases."""
    found: Asked = {}
    for planned in plan.cases:
        question, stack = workloads[planned.case.workload], STACKS[planned.case.stack]
        if not question.is_question or planned.unsupported:
            continue
        imports = question.imports(stack.dialect)
        every = imports.union(*map(question.imports, question.dialects))
        wanted = dependencies.read(question.folder, names(target)).of(stack.environment, imports, every)
        wanted += tuple(package for module, package in ALWAYS.items() if module in imports)
        name = environment_of(stack.name, planned.case.variant)
        if released := revisions.of(name):
            wanted += released.requirements
        if wanted:
            found.setdefault(name, {})[question.folder] = wanted
    return found


def on_top(locks: Locks, asked: Asked) -> Locks:
    """Returns locks with the packages of `asked_packages` on top."""
    more = {}
    for name, by_file in asked.items():
        wanted = [requirement for of in by_file.values() for requirement in of]
        more[name] = dependencies.extended(locks.of(name), wanted, next(iter(by_file)))
    return replace(locks, chosen={**locks.chosen, **more})
