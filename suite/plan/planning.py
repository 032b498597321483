"""Turns a preset and a selection into the cases of a plan, each with a reason if it can't run."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import filter as matching
from fnmatch import fnmatchcase

from suite.case import Case, Planned, Purpose
from suite.errors import UserError, check_known, unknown
from suite.plan.frontier import first_size
from suite.plan.preset import Preset, Question
from suite.plan.refusals import Absent, uncompiled, unsupported
from suite.plan.search.bracket import most_allowed
from suite.sets.plan import Plan
from suite.stacks.catalog import STACKS, Stack
from suite.workloads.catalog import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What the options select; if a field is empty, the preset decides. Each mapping in `dims` replaces some dims of a
    size, and so makes a comparison of its own."""

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
    threads: tuple[int, ...] = (1,)
    limits: tuple[int, ...] = ()
    allocator: str = ""  # empty: `allocator_for(purpose)`
    exhaustive: bool = False  # for memory: also tries cases that are larger than one that failed
    variants: bool = False  # every stack also in all its variants: suite/run/start/prepare.py writes them into `stacks`
    vary: str = ""  # a dim whose largest value that fits is searched for


def make(
    set_id: str,
    preset: Preset,
    selection: Selection,
    workloads: dict[str, Workload],
    baseline: str | None,
    absent: Absent,
) -> Plan:
    """Returns the plan of a run; `absent` says what the machine lacks for a stack. Raises UserError for a name that
    doesn't exist, a dim that breaks a rule, or a baseline that isn't selected."""
    check_together(selection, preset)
    stacks = choose_stacks(selection.stacks or preset.stacks, selection.target)
    selected = questions(preset, selection, workloads)
    for workload, _ in selected:
        for name in getattr(workload.spec, "NOT_ON", {}):
            check_known("stack", name, STACKS, of=f"NOT_ON of {workload.folder}")
    purpose = purpose_of(preset, [workload for workload, _ in selected])
    by_id = {
        case.case_id: case  # two sizes that options make equal are one case
        for workload, question in selected
        for size, dims in sizes_and_dims(workload, question, preset, selection)
        for case in cases_of(workload, question.pass_, size, dims, preset, selection, stacks)
    }
    cases = by_id.values()
    return Plan(
        set_id=set_id,
        cases=tuple(
            Planned(case, unsupported(case, workloads[case.workload], absent) or uncompiled(case, purpose, preset))
            for case in cases
        ),
        protocol=preset.protocol,
        baseline=choose_baseline(
            baseline, preset, selection.target, [*dict.fromkeys(case.stack_name for case in cases)] or stacks
        ),
        twin=preset.twin,
        seed=preset.seed,
        purpose=purpose,
        exhaustive=selection.exhaustive,
        vary=selection.vary,
        counterparts=True,
    )


def cases_of(
    workload: Workload,
    pass_: str,
    size: str,
    dims: Mapping[str, int],
    preset: Preset,
    selection: Selection,
    stacks: Sequence[str],
) -> Iterator[Case]:
    for precision, track, cache, threads, limit, name in itertools.product(
        selection.precisions or preset.precisions,
        selection.tracks or preset.tracks,
        selection.caches,
        selection.threads,
        selection.limits or (preset.limits if selection.target == "cpu" else ()) or (None,),  # of the host's memory
        stacks,
    ):
        whole, _, wanted = name.partition(":")  # `jax_jit@nightly:naive`
        stack, _, variant = whole.partition("@")
        for implementation in implementations(workload, STACKS[stack], wanted):
            yield Case(
                workload=workload.name,
                size=workload.size_of(dims, size),
                dims=dims,
                pass_=pass_,
                precision=precision,
                track=track,
                stack=stack,
                variant=variant,
                target=selection.target,
                device=selection.device,
                cache=cache,
                threads=threads,
                limit_memory_bytes=limit,
                allocator=selection.allocator or allocator_for(preset.purpose),
                implementation=implementation,
            )


def implementations(workload: Workload, stack: Stack, wanted: str) -> Sequence[str]:
    """Returns the implementations of a workload in a stack's dialect that match a glob, if there is one. A workload's
    folder without any in the dialect has one case, which says so; a question isn't asked in dialects that it doesn't
    name."""
    if stack.of_questions and not workload.is_question:
        return ()
    named = workload.implementations(stack.dialect) or (() if workload.is_question else ("",))
    return [name for name in named if fnmatchcase(name, wanted)] if wanted else named


def sizes_and_dims(
    workload: Workload, question: Question, preset: Preset, selection: Selection
) -> Iterator[tuple[str, dict[str, int]]]:
    """Yields each size of a question with its dims, some of which options may replace. In a search for the largest
    size, the varied dim has its first value."""
    replaced = selection.dims or (({},) if selection.vary else question.replaced)
    for size, overrides in itertools.product(sizes(workload, question, preset, selection), replaced):
        dims = workload.dims(size, overrides)
        if selection.vary:
            axis = check_vary(workload, selection)
            now = dims[axis] if axis in dims else dims[workload.same_as[axis]]
            dims[axis] = first_size(axis, most_allowed(workload, dims, axis), now)
        yield size, dims


def purpose_of(preset: Preset, workloads: Sequence[Workload]) -> Purpose:
    """Returns what the processes are for: the preset's purpose; PROBE if all workloads are probes. Raises UserError if
    probes and other workloads are selected together: they need two runs."""
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


def check_together(selection: Selection, preset: Preset) -> None:
    """Raises UserError for options that don't go together."""
    if preset.purpose is Purpose.MEMORY and "warm" in selection.caches:
        raise UserError("--cache=warm is for times: memory is measured with empty caches. Leave it out.")
    if preset.protocol.sampling == "rounds" and selection.target != "cpu":
        raise UserError(
            f"--sampling=rounds keeps several processes alive at once, which a {selection.target} may not allow. Leave "
            "it out, or use --target=cpu."
        )
    if preset.protocol.abstract and not (preset.protocol.ir or preset.purpose is Purpose.IR):
        raise UserError("--abstract is for programs that are read, not run: --purpose=ir, or --ir=on.")
    if selection.vary and preset.purpose is Purpose.MEMORY and selection.target == "cpu" and not selection.limits:
        raise UserError("A search for the largest size that fits needs a limit, like --limit-memory=6GiB.")
    if selection.exhaustive and preset.purpose is not Purpose.MEMORY:
        raise UserError(
            "--exhaustive is for memory, where a larger case isn't tried if a smaller one has failed: "
            "--preset=oom, or --purpose=memory."
        )


def allocator_for(purpose: Purpose) -> str:
    """Returns the allocator's policy for a purpose. Where times are measured, freed memory is kept, because otherwise
    page faults would be timed too. Where memory is measured, the C library's own rules hold, as users have them: with
    kept memory the peak would vary by chance, because a large tensor may or may not fit where another was freed."""
    return "system" if purpose is Purpose.MEMORY else "kept"


def check_vary(workload: Workload, selection: Selection) -> str:
    """Returns the dim that a search varies. Raises UserError for one that the workload hasn't got, and for one of the
    suite's own with which memory doesn't grow."""
    dims = (*next(iter(workload.sizes.values())), *workload.same_as)
    known = [dim for dim in dims if not workload.is_ours or dim in workload.grows]
    check_known("dim to vary", selection.vary, known, of=f"Workload '{workload.name}'")
    return selection.vary


def choose(kind: str, patterns: Iterable[str], known: Sequence[str], of: str = "") -> list[str]:
    """Returns the known names that match any of the globs, in order. Raises UserError for a glob without match."""
    chosen: set[str] = set()
    for pattern in patterns:
        matched = {name for name in known if fnmatchcase(name, pattern)}
        if not matched:
            raise unknown(kind, pattern, known, of=of)
        chosen |= matched
    return [name for name in known if name in chosen]


def choose_stacks(patterns: Iterable[str], target: str) -> list[str]:
    """Returns stack names with their variants and implementations (`jax_jit@nightly`, `jax_jit:naive`). Beside others,
    a pattern doesn't stand for stacks of another accelerator alone, nor for those that run on request."""
    chosen: dict[str, bool] = {}  # whether it is named, or for a CPU or the target
    for pattern in patterns:
        name = re.split("[@:]", pattern, maxsplit=1)[0]
        for stack in choose("stack", [name], list(STACKS)):
            full = f"{stack}{pattern[len(name) :]}"
            here = not (STACKS[stack].on_request or {"cpu", target}.isdisjoint(STACKS[stack].targets))
            chosen[full] = chosen.get(full, False) or here or stack == name
    return [name for name, wanted in chosen.items() if wanted] or [*chosen]


def choose_baseline(option: str | None, preset: Preset, target: str, stacks: Sequence[str]) -> str:
    """Returns the stack that is the baseline: the option's; without it the preset's, if that is selected and for the
    target; else the first selected stack that is. Raises UserError if the option's stack isn't selected."""
    if option is not None:
        alone = [name for name in stacks if name.partition(":")[0] == option]
        if option not in stacks and len(alone) == 1:
            return alone[0]  # the only implementation
        if option not in stacks:
            raise unknown("stack", option, stacks, of="--baseline: the selection")
        return option
    stack_of = {name: re.split("[@:]", name)[0] for name in stacks}
    able = [name for name in stacks if target in STACKS[stack_of[name]].targets] or stacks
    return next((name for name in able if stack_of[name] == preset.baseline), able[0])


def questions(preset: Preset, selection: Selection, workloads: dict[str, Workload]) -> list[tuple[Workload, Question]]:
    """Returns the questions with their workloads. `--workload` selects among the preset's questions, or adds a workload
    with its `passes`; `--pass` replaces the passes. A glob matches only probes in a preset of probes, and no probes
    in other presets."""
    probing = preset.purpose is Purpose.PROBE
    reached = [name for name, workload in workloads.items() if workload.is_probe == probing]
    chosen: list[Question] = []
    for question in preset.questions:
        named = [question.workload] if question.workload in workloads else matching(reached, question.workload)
        if not named:
            raise UserError(f"Preset {preset.path}: {unknown('workload', question.workload, workloads)}")
        chosen += [dataclasses.replace(question, workload=name) for name in named]
    if selection.workloads:
        names = choose("workload", selection.workloads, [n for n in workloads if n in {*reached, *selection.workloads}])
        listed = {question.workload for question in chosen}
        chosen = [question for question in chosen if question.workload in names]
        chosen += [Question(n, p) for n in names if n not in listed for p in workloads[n].passes]
    if selection.passes:
        of_passes = [dataclasses.replace(question, pass_=pass_) for question in chosen for pass_ in selection.passes]
        # A preset that asks both passes of a workload now has each question twice.
        chosen = [question for place, question in enumerate(of_passes) if question not in of_passes[:place]]
    return [(workloads[question.workload], question) for question in chosen]


def sizes(workload: Workload, question: Question, preset: Preset, selection: Selection) -> list[str]:
    known = list(workload.sizes)
    if selection.sizes:
        return choose("size", selection.sizes, known, of=f"Workload '{workload.name}'")
    size = known[0] if len(known) == 1 else question.size or preset.size
    if size not in known:
        raise UserError(f"{unknown('size', size, known, of=f'Workload {workload.name!r}')} Choose with --size.")
    return [size]
