"""From catalogue, specs and a selection to the cases of a plan. An unsupported pairing becomes a reason."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from suite.case import ALLOCATORS, CACHES, GROWING, PASSES, PRECISIONS, TARGETS, TRACKS, Case, Planned, Purpose
from suite.errors import UserError, unknown
from suite.plan.frontier import first_size, most_allowed
from suite.plan.plan import Plan
from suite.plan.preset import Preset, Question
from suite.stacks.catalog import REAL_STACKS, STACKS, Stack, adapter_class
from suite.stacks.knobs import chosen
from suite.workloads.catalog import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What the options ask for; empty means what the preset says. Each of `dims` is a comparison of its own."""

    workloads: tuple[str, ...] = ()
    stacks: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()
    tracks: tuple[str, ...] = ()
    caches: tuple[str, ...] = ("cold",)
    dims: tuple[Mapping[str, int], ...] = ()
    target: str = "cpu"
    device: str = "cpu"
    threads: int = 1
    limits: tuple[int, ...] = ()
    allocator: str = ""  # empty: as the purpose wants it
    exhaustive: bool = False  # of memory: try also what can only fail
    variants: bool = False  # every stack also in all its variants; those that are meant stand in `stacks` then
    vary: str = ""  # a dim whose largest value that fits is searched for


def make(
    set_id: str,
    preset: Preset,
    selection: Selection,
    workloads: dict[str, Workload],
    baseline: str | None,
    absent: Callable[[Stack, str, str], str | None],
) -> Plan:
    """The plan of a run. `absent(stack, variant, target)` says what this machine lacks for a stack, or None.

    Raises UserError for a name that doesn't exist, a dim that breaks a rule, or a baseline not selected.
    """
    check_words(selection, preset)
    stacks = choose_stacks(selection.stacks or preset.stacks)
    allocator = selection.allocator or allocator_for(preset.purpose)
    cases: dict[str, Planned] = {}  # by id: two sizes with the same dims replaced are one question
    asked = questions(preset, selection, workloads)
    purpose = purpose_of(preset, [workload for workload, _ in asked])
    for workload, question in asked:
        replaced = selection.dims or (({},) if selection.vary else question.replaced)
        for size, overrides in itertools.product(sizes(workload, question, preset, selection), replaced):
            dims = workload.dims(size, overrides)
            if selection.vary:
                axis = check_vary(workload, selection)
                dims[axis] = first_size(axis, most_allowed(workload, dims, axis))
            for precision, track, cache, limit, name in itertools.product(
                selection.precisions or preset.precisions,
                selection.tracks or preset.tracks,
                selection.caches,
                selection.limits or preset.limits or (None,),
                stacks,
            ):
                stack, _, variant = name.partition("@")
                case = Case(
                    workload=workload.name,
                    size=workload.size_of(dims, size),
                    dims=dims,
                    pass_=question.pass_,
                    precision=precision,
                    track=track,
                    stack=stack,
                    variant=variant,
                    target=selection.target,
                    device=selection.device,
                    cache=cache,
                    threads=selection.threads,
                    limit_memory_bytes=limit,
                    allocator=allocator,
                )
                reason = unsupported(case, workload, absent)
                if purpose is Purpose.IR and not STACKS[stack].compiler:
                    reason = reason or "it has no compiler whose programs could be read"
                cases[case.case_id] = Planned(case, reason)
    chosen = choose_baseline(baseline, preset, stacks)
    return Plan(
        set_id,
        tuple(cases.values()),
        preset.protocol,
        chosen,
        preset.twin,
        preset.seed,
        purpose,
        selection.exhaustive,
        selection.vary,
    )


def purpose_of(preset: Preset, workloads: Sequence[Workload]) -> Purpose:
    """What the processes are for: the preset's purpose, but probes are observed. Raises UserError where both are asked
    for: what is timed and what is observed are runs of their own."""
    probes = {workload.name for workload in workloads if workload.is_probe}
    others = {workload.name for workload in workloads} - probes
    if probes and others:
        raise UserError(
            f"{', '.join(sorted(probes))} {'is a probe' if len(probes) == 1 else 'are probes'}, which are "
            f"observed in a run of their own, not beside {', '.join(sorted(others))}."
        )
    if probes and preset.purpose not in (Purpose.TIMED, Purpose.PROBE):
        raise UserError(f"--purpose={preset.purpose} isn't for probes, which are observed: leave it out.")
    if others and preset.purpose is Purpose.PROBE:
        raise UserError(f"{', '.join(sorted(others))} can't be observed: --purpose=probe is for probes.")
    return Purpose.PROBE if probes else preset.purpose


def check_words(selection: Selection, preset: Preset) -> None:
    """Refuse words outside the vocabulary, typed or in the preset."""
    asked: list[tuple[str, Iterable[str], Sequence[str]]] = [
        ("pass", selection.passes, PASSES),
        ("precision", selection.precisions or preset.precisions, PRECISIONS),
        ("cache", selection.caches, CACHES),
        ("allocator", filter(None, [selection.allocator]), ALLOCATORS),
        ("target", (selection.target,), TARGETS),
        ("track", selection.tracks or preset.tracks, TRACKS),
    ]
    for kind, words, known in asked:
        for word in words:
            if word not in known:
                raise unknown(kind, word, known)
    if preset.purpose is Purpose.MEMORY and "warm" in selection.caches:
        raise UserError("--cache=warm is for times: what a process needs in memory is asked with empty caches.")
    if preset.protocol.abstract and not (preset.protocol.ir or preset.purpose is Purpose.IR):
        raise UserError("--abstract is for programs that are read, not run: --purpose=ir, or --ir=on.")
    if selection.vary and selection.target == "cpu" and not selection.limits:
        raise UserError("The largest size that fits is asked for under a limit, like --limit-memory=6GiB.")
    if selection.exhaustive and preset.purpose is not Purpose.MEMORY:
        raise UserError(
            "--exhaustive is for memory, where a larger case isn't tried if a smaller one has failed: "
            "--preset=oom, or --purpose=memory."
        )


def allocator_for(purpose: Purpose) -> str:
    """The policy that a purpose asks by. Times: freed memory is kept, or they tell of page faults. Memory: by the C
    library's own rules, as the users of a stack have it; in one heap that keeps everything, a large tensor may or may
    not fit where another was freed, and the peak is another one in each process."""
    return "system" if purpose is Purpose.MEMORY else "kept"


def check_vary(workload: Workload, selection: Selection) -> str:
    """The dim that a search varies: one of which more needs more memory."""
    known = [name for name in next(iter(workload.sizes.values())) if name in GROWING]
    if selection.vary not in known:
        raise unknown("dim to vary", selection.vary, known, of=f"Workload '{workload.name}'")
    return selection.vary


def choose(kind: str, patterns: Iterable[str], known: Sequence[str], of: str = "") -> list[str]:
    """Names that match any of the globs, in the order known. Raises UserError for one that matches none."""
    chosen: set[str] = set()
    for pattern in patterns:
        matched = {name for name in known if fnmatchcase(name, pattern)}
        if not matched:
            raise unknown(kind, pattern, known, of=of)
        chosen |= matched
    return [name for name in known if name in chosen]


def choose_stacks(patterns: Iterable[str]) -> list[str]:
    """Stack names, with their variants (`jax_jit@nightly`). Globs don't reach the tests' fake stack."""
    chosen: list[str] = []
    for pattern in patterns:
        name, at, variant = pattern.partition("@")
        known = [*REAL_STACKS, "fake"] if name == "fake" else list(REAL_STACKS)
        chosen += [f"{stack}{at}{variant}" for stack in choose("stack", [name], known)]
    return list(dict.fromkeys(chosen))


def choose_baseline(asked: str | None, preset: Preset, stacks: Sequence[str]) -> str:
    """The option, else the preset's if it is selected, else the first stack."""
    if asked is not None:
        if asked not in stacks:
            raise unknown("selected stack to be the baseline", asked, stacks)
        return asked
    return preset.baseline if preset.baseline in stacks else stacks[0]


def questions(preset: Preset, selection: Selection, workloads: dict[str, Workload]) -> list[tuple[Workload, Question]]:
    """`--workload` picks among the preset's questions, or adds a workload with both passes; `--pass` replaces. Globs
    reach what is timed, in a preset of probes these."""
    for question in preset.questions:
        if question.workload not in workloads:
            raise UserError(f"Preset {preset.path}: {unknown('workload', question.workload, workloads)}")
    asked = list(preset.questions)
    if selection.workloads:
        probing = preset.purpose is Purpose.PROBE
        reached = [name for name, each in workloads.items() if each.is_probe == probing or name in selection.workloads]
        names = choose("workload", selection.workloads, reached)
        listed = {question.workload for question in asked}
        asked = [question for question in asked if question.workload in names]
        asked += [Question(n, p) for n in names if n not in listed for p in workloads[n].spec.PASSES]
    if selection.passes:
        names = list(dict.fromkeys(question.workload for question in asked))
        of_workload = {question.workload: question for question in asked}
        asked = [dataclasses.replace(of_workload[name], pass_=pass_) for name in names for pass_ in selection.passes]
    return [(workloads[question.workload], question) for question in asked]


def sizes(workload: Workload, question: Question, preset: Preset, selection: Selection) -> list[str]:
    """`--size` replaces the question's, which replaces the preset's."""
    known = list(workload.sizes)
    if selection.sizes:
        return choose("size", selection.sizes, known, of=f"Workload '{workload.name}'")
    size = question.size or preset.size
    if size not in known:
        raise UserError(f"{unknown('size', size, known, of=f'Workload {workload.name!r}')} Choose with --size.")
    return [size]


def unsupported(case: Case, workload: Workload, absent: Callable[[Stack, str, str], str | None]) -> str | None:
    """The first reason why this case can't run, from literal facts alone."""
    stack = STACKS[case.stack]
    fields: dict[str, Any] = case.to_json()
    if case.target not in stack.targets:
        return f"{stack.title} doesn't run on {case.target}"
    if case.stack in (not_on := getattr(workload.spec, "NOT_ON", {})):
        return str(not_on[case.stack])
    if stack.dialect not in workload.dialects:
        return f"{workload.name} isn't written in the {stack.dialect} dialect ({workload.name}_{stack.dialect}.py)"
    if case.pass_ not in workload.spec.PASSES:
        return f"{workload.name} has no {case.pass_} pass"
    if case.precision == "tf32" and case.target != "cuda":
        return f"tf32 is arithmetic of NVIDIA GPUs, which a {case.target} hasn't got"
    if case.precision not in stack.precisions:
        return f"{stack.title} has no {case.precision} arithmetic"
    if case.track == "tuned" and not chosen(adapter_class(case.stack).knobs, case, workload):
        return f"no tuned setting of {stack.title} is known to change {case.workload} on this {case.target}"
    if case.cache == "warm" and not stack.compile_cache:
        return f"{stack.title} keeps no compiled code for the next process"
    for limit in stack.limits:
        if all(fields[name] == value for name, value in limit.match.items()):
            return limit.reason
    return absent(stack, case.variant, case.target)
