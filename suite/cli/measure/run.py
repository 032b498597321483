"""`./stackwars run`, `frontier` and `explain`: plan, then measure, or print the plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from suite.cli.extras import scheduler
from suite.cli.measure.dry_run import plan_json, print_plan
from suite.cli.options import ExplainOptions, FrontierOptions, MeasuringOptions, RunOptions
from suite.cli.sets.naming import named
from suite.cli.terminal.output import print_json
from suite.cli.values import absolute, parse_outcomes
from suite.environments import say
from suite.errors import UserError
from suite.machine import devices, facts, noise
from suite.plan.layout import runnable
from suite.reference.finite import doubts
from suite.results.outcomes import NOTHING_MEASURED
from suite.run.start.prepare import prepare
from suite.run.start.run import create, from_checkout
from suite.stacks.catalog import STACKS
from suite.stacks.catalog import add as add_stacks


def run(*questions: str, options: RunOptions = RunOptions()) -> int:
    """Begins a new set and measures it, or completes a set with --resume. Returns the exit code.

    :param questions: workloads and question files: `run gemm,ffn`, `run mine.py`
    """
    options = options.with_words(questions)
    outcomes = parse_outcomes(options.again)
    if options.resume is not None:
        return complete(options, options.resume, outcomes)
    for name in ("again", "trust"):
        if getattr(options, name):
            raise UserError(f"--{name} goes with --resume=SET: it is about the result set that is completed.")
    if options.fits is not None:
        options = replace(options, fits=str(named(options.fits, Path(options.results))))
    return measure(options)


def frontier(*workloads: str, options: FrontierOptions = FrontierOptions()) -> int:
    """Searches for the largest batch, or other dim, that fits under a memory limit. Returns the exit code.

    :param workloads: the workloads: `frontier gpt2`
    """
    return measure(options.with_words(workloads))


def explain(*workloads: str, options: ExplainOptions = ExplainOptions()) -> int:
    """Runs processes under each framework's own profiler. Returns the exit code.

    :param workloads: the workloads: `explain gpt2`
    """
    return measure(options.with_words(workloads))


def complete(options: RunOptions, name: str, again: frozenset[str]) -> int:
    """Measures the rest of a set's plan. Returns the exit code."""
    if options.words(*RunOptions.RESUMING):
        allowed = ", ".join(f"--{each}" for each in RunOptions.RESUMING[1:])
        raise UserError(f"--resume takes its plan from the set: it goes only with {allowed}.")
    from suite.cli.measure.carry_out import carry_out
    from suite.run.start.reopen import reopen

    store, planned = reopen(named(name, Path(options.results)), trust=options.trust, machine=options.machine)
    if planned.scheduler:
        return scheduler(planned.scheduler)(store, again, options)
    with noise.alone(force=options.force) as disturbances:
        return carry_out(store, planned, again, disturbances, options.json)


def measure(options: MeasuringOptions) -> int:
    """Makes a plan from options and measures it, or prints it with --dry-run. Returns the exit code."""
    if options.dry_run or options.prepared.get("scheduler"):
        return begin(options, [])
    # Before environments are made, which takes minutes: another run may be going on.
    with noise.alone(force=options.force) as disturbances:
        return begin(options, disturbances)


def begin(options: MeasuringOptions, disturbances: Sequence[str]) -> int:
    add_stacks(absolute(options.stack_path))
    preset = options.chosen_preset()
    planned = prepare(
        preset,
        options.selection(facts.usable_cores()),
        engine=options.engine,
        workload_paths=options.workload_paths,
        build=not options.dry_run,
        **options.prepared,
    )
    cases = [of.case for of in planned.plan.cases]
    for sentence in doubts(planned.workloads[name] for name in sorted({case.workload for case in cases})):
        say(sentence)
    idle_stacks = {*options.stack} & STACKS.keys() - {case.stack for case in cases}
    if cases and idle_stacks:
        lonely = ", ".join(name for name in options.stack if name in idle_stacks)
        say(f"{lonely}: the question has no function for it, so it doesn't run.")
    lacking = None if planned.scheduler else devices.missing().get(planned.target)
    idle = lacking and not options.dry_run and not runnable(planned.plan)
    if lacking:
        told = f"Nothing was measured: {lacking}" if idle else lacking
        from suite.cli.measure.predict import prediction_instead  # that module imports this one

        # `predict` takes no question files.
        of_preset = not any(path.suffix == ".py" for path in planned.workload_paths)
        say(f"{told}. `{prediction_instead(options)}` asks its compiler what would fit there." if of_preset else told)
    if idle:
        return NOTHING_MEASURED
    if options.dry_run:
        print_json(plan_json(planned)) if options.json else print_plan(planned)
        return 0
    from suite.cli.measure.carry_out import carry_out  # not before: a plan alone needs none of it

    given = options.given(
        engine=planned.engine.name,
        # `file` names the questions of a run.
        workload_path=tuple(
            from_checkout(path)
            for path in planned.workload_paths
            if path.suffix != ".py" or not isinstance(options, RunOptions)
        ),
        stack_path=tuple(map(from_checkout, absolute(options.stack_path))),
    )
    store = create(planned, preset.path, given, Path(options.results))
    if isinstance(options, RunOptions) and planned.scheduler:
        return scheduler(planned.scheduler)(store, frozenset(), options)
    return carry_out(store, planned, frozenset(), disturbances, options.json)
