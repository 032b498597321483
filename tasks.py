"""The commands: `./stackwars --list`. Each parses its options and calls the suite, which is imported when called."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from invoke.context import Context
from invoke.exceptions import Exit
from invoke.tasks import task

from suite.errors import COMMAND

ROOT = Path(__file__).parent
PLACE = "a folder, s3://bucket/prefix or gs://bucket/prefix; credentials come from the environment"
# What an option means in every command that has it, unless the command says otherwise.
HELP = {
    "target": "hardware class: cpu, cuda or tpu",
    "workload": "only these workloads; globs, repeatable",
    "stack": "only these stacks; globs, repeatable; jax_jit@0.10 or jax_jit@* are variants",
    "size": "sizes in place of the preset's; repeatable",
    "pass": "forward or train in place of the preset's; repeatable",
    "precision": "f32, tf32 or bf16; repeatable",
    "track": "default, or tuned: with each stack's documented knobs; repeatable",
    "dims": "dims in place of the size's, like n=1024 or batch=2,seq=64; each --dims is a comparison of its own",
    "engine": "how processes are contained: local, docker, or auto for docker where it can be had",
    "limit-memory": "memory limit of each process tree, like 6GiB; repeatable",
    "timeout": "time limit of each process, like 90 or 10min",
    "workload-path": "a folder of your own workloads; repeatable",
    "force": "run although another run is going on here, or the machine is busy",
    "dry-run": "print cases and an estimate; run nothing",
    "results": "folder for result sets",
    "json": "print a machine-readable summary on standard output",
    "from": PLACE,
}
LISTS = ["workload", "stack", "size", "pass_", "precision", "track", "dims", "limit_memory", "again", "workload_path"]


def command(*, help: Mapping[str, str] | None = None, **settings: Any) -> Callable[[Callable[..., None]], Any]:
    """An invoke task without short options (letters given out by chance would change with every new one); `help` has
    what its options mean beyond `HELP`."""

    def made(body: Callable[..., None]) -> Any:
        names = (name.rstrip("_").replace("_", "-") for name in inspect.signature(body).parameters)
        shared = {name: HELP[name] for name in names if name in HELP}
        return task(auto_shortflags=False, help=shared | dict(help or {}), **settings)(body)

    return made


@command(help={"target": HELP["target"] + "; cluster for what hands out work among machines"})
def setup(c: Context, target: str = "cpu") -> None:
    """Make every environment of a target from its hashed lock."""
    from suite.cli import commands

    commands.set_up(target)


@command(
    iterable=LISTS,
    help={
        "variants": "every stack also in each of its variants: other locks, other flags",
        "preset": f"what to ask: a name ({COMMAND} list) or a path to a TOML file",
        "cache": "cold, or warm for both: a second process keeps the first one's compile caches",
        "baseline": "the stack that the others are compared with",
        "python": "an interpreter of your own in place of the locked environments; every row is flagged unpinned",
        "repeats": "exactly so many blocks: no second stage, noisy ones flagged but not run again",
        "purpose": "timed, memory: what cases need, ir: what compilers get, explain, or probe (default: the preset's)",
        "fits": "a set with memory processes: what can't fit by the curves through its peaks isn't tried",
        "exhaustive": "with memory: try also what can only fail, since a smaller case did",
        "explain": "a process more for each case that tells which kernels it runs and what its memory is made of",
        "ir": "on or off: a process more for each case keeps what it hands to its compiler (default: the preset's)",
        "profile": "on or off: a process more for each case tells where a step's time goes (default: the preset's)",
        "abstract": "with programs that are kept: compile for tensors that aren't there, and run nothing",
        "allocator": "kept: freed memory stays with the process; system: by the C library's rules, as memory is asked",
        "shard": f"this machine's share of the plan, like 2/4; `{COMMAND} collect` puts the shares together",
        "scheduler": "ray: the machines of a Ray cluster take the comparisons, one at a time each",
        "address": "of the Ray cluster, like 10.0.0.1:6379 (default: the one that this machine belongs to)",
        "resume": "complete this result set",
        "again": "with --resume: run again what ended as timeout, error, ...; comma-separated",
        "trust": "with --resume: the set was begun elsewhere, and what its plan names may run here",
    },
)
def run(
    c: Context,
    target="cpu",
    preset="quick",
    workload=None,
    stack=None,
    variants=False,
    size=None,
    pass_=None,
    precision=None,
    track=None,
    dims=None,
    cache="cold",
    baseline=None,
    engine="auto",
    python=None,
    repeats=None,
    purpose=None,
    limit_memory=None,
    exhaustive=False,
    fits=None,
    explain=False,
    ir=None,
    profile=None,
    abstract=False,
    allocator=None,
    timeout=None,
    shard=None,
    scheduler="",
    address="auto",
    resume=None,
    again=None,
    trust=False,
    workload_path=None,
    force=False,
    dry_run=False,
    results="results",
    json=False,
) -> None:
    """Measure: a new result set and its report, or the rest of one with --resume."""
    from suite.cli import commands
    from suite.cli.options import Options

    options = Options(
        target=target,
        preset=preset,
        workload=tuple(workload),
        stack=tuple(stack),
        variants=variants,
        size=tuple(size),
        pass_=tuple(pass_),
        precision=tuple(precision),
        track=tuple(track),
        dims=tuple(dims),
        cache=cache,
        baseline=baseline,
        engine=engine,
        python=python,
        repeats=repeats,
        purpose=purpose,
        timeout=timeout,
        limit_memory=tuple(limit_memory),
        exhaustive=exhaustive,
        fits=fits,
        explain=explain,
        ir=ir,
        profile=profile,
        abstract=abstract,
        allocator=allocator,
        shard=shard,
        scheduler=scheduler,
        workload_path=tuple(workload_path),
        results=results,
    )
    code = commands.run(
        options, resume, again, trust=trust, force=force, dry_run=dry_run, as_json=json, address=address
    )
    raise Exit(code=code)


@command(
    iterable=["workload", "stack", "pass_", "precision", "dims", "limit_memory", "workload_path"],
    help={
        "workload": "these workloads; globs, repeatable",
        "vary": "the dim whose largest value is searched for: batch, seq, image or n",
        "stack": "only these stacks; globs, repeatable (default: those of the preset oom)",
        "size": "the size that the other dims come from",
        "pass": "forward or train; repeatable (default: train)",
        "dims": "other dims in place of the size's, like seq=128",
        "tolerance": "how near the first size that doesn't fit must come to the largest that does, as a share of it: "
        "2% or 0.02; 0: to the next size (default: 2%)",
        "dry-run": "print where each search begins; run nothing",
    },
)
def frontier(
    c: Context,
    target="cpu",
    workload=None,
    vary="batch",
    limit_memory=None,
    stack=None,
    size="full",
    pass_=None,
    precision=None,
    dims=None,
    tolerance=None,
    engine="auto",
    timeout=None,
    workload_path=None,
    force=False,
    dry_run=False,
    results="results",
    json=False,
) -> None:
    """Search for the largest batch (or sequence) that fits under a memory limit, stack by stack. `run --resume`
    completes it."""
    from suite.cli import commands
    from suite.cli.options import Options

    options = Options(
        target=target,
        preset="oom",
        workload=tuple(workload),
        vary=vary,
        limit_memory=tuple(limit_memory),
        stack=tuple(stack),
        size=(size,),
        pass_=tuple(pass_) or ("train",),
        precision=tuple(precision),
        dims=tuple(dims),
        tolerance=tolerance,
        engine=engine,
        timeout=timeout,
        workload_path=tuple(workload_path),
        results=results,
    )
    raise Exit(code=commands.run(options, None, (), force=force, dry_run=dry_run, as_json=json))


@command(
    iterable=["stack", "compare"],
    help={
        "set": "a result set (default: results/latest)",
        "baseline": "the stack to compare with, which is always shown",
        "stack": "show only these stacks; globs, repeatable; figures stay those of the whole set",
        "compare": f"sets against the first of them, in place of one set: `{COMMAND} report --compare BEFORE AFTER`",
        "format": "html, md for a comment on a change, csv or json",
        "out": "the file to write (default: report.html in the set, with --stack here; compare.html here; others on "
        "standard output)",
    },
)
def report(c: Context, set="results/latest", baseline=None, stack=None, compare=None, format="html", out=None) -> None:
    """Render the report of a result set: its HTML page, or the same as Markdown, CSV or JSON."""
    from suite.cli import report as reporting

    reporting.report(set, baseline, compare, form=format, out=out, stacks=tuple(stack))


@command(
    iterable=["set"],
    help={
        "set": f"a result set; named without --set too: `{COMMAND} compare BEFORE AFTER`",
        "by": "within one set: cache, track, precision, pass or variant",
        "baseline": "with --by: what the others are held against",
        "across": "show sets of unlike machines, targets or precisions side by side; nothing is called faster",
        "threshold": "a ratio of times: exit code 5 if a case is slower by more",
        "format": "text, html, md, csv or json",
        "out": "the file to write (default: compare.html here for html; others on standard output)",
    },
)
def compare(
    c: Context, set=None, by=None, baseline=None, across=False, threshold="1.05", format="text", out=None
) -> None:
    """Result sets held against each other, case by case; or two ways of asking in one set, paired."""
    from suite.cli import compare as comparing

    code = comparing.compare(
        set, by=by, baseline=baseline, across_unlike=across, threshold=threshold, form=format, out=out
    )
    raise Exit(code=code)


@command(
    help={
        "set": f"a set of probes: `{COMMAND} run --preset=behaviour`",
        "times": f"a set of the primer's examples: `{COMMAND} run --preset=primer`",
        "out": "the file to write, and beside it a summary of what it rests on (.json)",
    }
)
def pitfalls(c: Context, set="results/latest", times=None, out="pitfalls.md") -> None:
    """A lesson on what surprises people, with the numbers of a set of probes."""
    from suite import results as sets
    from suite.archive.naming import named
    from suite.cli.archives import needed
    from suite.report.lesson import pitfalls

    print(pitfalls.write(sets.load(named(set)), sets.load(named(needed("times", times))), Path(out)))


@command(iterable=["set"], help={"set": f"a share; named without --set too: `{COMMAND} collect A B`"})
def collect(c: Context, set=None, results="results") -> None:
    """Put the shares of one plan (run --shard) together: one result set and its report."""
    from suite.cli import cluster

    raise Exit(code=cluster.collect(set, Path(results)))


@command(
    help={
        "set": "a whole result set (default: results/latest)",
        "to": PLACE,
        "sign": "a private key of OpenSSH, or a public one whose private one an agent has",
        "with-changes": "publish also what was changed in the source and never committed",
    }
)
def archive(c: Context, to=None, set="results/latest", sign=None, with_changes=False) -> None:
    """Publish a result set, under a name of its own, for good."""
    from suite.cli import archives

    archives.archive(set, to, sign, with_changes=with_changes)


@command(help={"from": PLACE + " (default: those here)"})
def sets(c: Context, from_=None, results="results", json=False) -> None:
    """List result sets, those here or those of an archive."""
    from suite.cli import archives

    archives.sets(Path(results), from_, as_json=json)


@command(help={"set": f"an archive's name ({COMMAND} sets)"})
def fetch(c: Context, set=None, from_=None, results="results") -> None:
    """Bring an archived result set here."""
    from suite.cli import archives

    archives.fetched(set, from_, Path(results))


@command(
    iterable=["workload", "stack", "size", "pass_", "precision", "track", "on"],
    help={
        "accelerator": "what each job asks for, of cloud/accelerators.toml (default: the target's first)",
        "preset": f"what to ask: a name ({COMMAND} list)",
        "repeats": "exactly so many blocks",
        "shards": "machines, each with its share of the plan's comparisons",
        "to": "where shards archive their results: s3://bucket/prefix or gs://bucket/prefix; on Slurm also a folder",
        "price": "US dollars for an hour of one machine: cost is estimated with it",
        "on": "skypilot, kubernetes or slurm; repeatable (default: all)",
        "repository": "where jobs clone this repository from (default: this checkout's origin)",
        "image-registry": "jobs start from an image there, made by cloud/Dockerfile, and install nothing",
        "from": "estimate by the sets of this archive (default: those here)",
        "results": "folder for result sets, to estimate by",
        "write": "write the files, in place of printing them",
        "out": "the folder to write to",
    },
)
def cloud(
    c: Context,
    target="cpu",
    accelerator=None,
    preset="quick",
    workload=None,
    stack=None,
    size=None,
    pass_=None,
    precision=None,
    track=None,
    repeats=None,
    shards="1",
    to=None,
    price=None,
    on=None,
    repository=None,
    image_registry=None,
    from_=None,
    results="results",
    write=False,
    out="cloud-jobs",
    json=False,
) -> None:
    """Jobs that run a plan on other machines, by SkyPilot, Kubernetes or Slurm, and how long they may take."""
    from suite.cli import cloud as jobs
    from suite.cli.options import Options

    options = Options(
        target=target,
        preset=preset,
        workload=tuple(workload),
        stack=tuple(stack),
        size=tuple(size),
        pass_=tuple(pass_),
        precision=tuple(precision),
        track=tuple(track),
        repeats=repeats,
        results=results,
    )
    asked = jobs.Asked(
        accelerator=accelerator,
        shards=shards,
        to=to,
        price=price,
        on=tuple(on),
        repository=repository,
        image_registry=image_registry,
        origin=from_,
    )
    jobs.cloud(options, asked, Path(out), write=write, as_json=json)


@command(
    iterable=["workload_path"],
    help={
        "set": "a result set's folder, or an archive's name",
        "from": PLACE + ", for an archive",
        "against": "judge by this set, run already, in place of a run",
        "trust": "install and pass on also what isn't this project's: without it, that is listed and nothing runs",
        "workload-path": "a folder of the set's own workloads, which are never taken from it; repeatable",
        "json": "print the verdicts as JSON on standard output",
    },
)
def reproduce(
    c: Context,
    set=None,
    from_=None,
    against=None,
    engine="auto",
    trust=False,
    workload_path=None,
    results="results",
    force=False,
    json=False,
) -> None:
    """Run a set's plan here, with its own locks and seeds: does it say the same?"""
    from suite.cli import reproduce as reproducing
    from suite.cli.archives import needed

    code = reproducing.reproduce(
        needed("set", set),
        from_,
        against,
        engine=engine,
        trust=trust,
        workload_path=tuple(workload_path),
        folder=results,
        force=force,
        as_json=json,
    )
    raise Exit(code=code)


@command(
    iterable=["pass_"],
    help={
        "workload": "the workload; globs",
        "stack": "only these stacks; globs",
        "pass": "only forward or train; repeatable (default: both)",
        "from": PLACE + " (default: the sets here)",
        "out": "also write it: a page (.html) or a table (.parquet)",
    },
)
def history(
    c: Context, workload=None, stack="*", pass_=None, from_=None, results="results", out=None, json=False
) -> None:
    """How long a step took over all result sets, and where that changed."""
    from suite.cli import archives

    archives.history(Path(results), from_, workload, stack, tuple(pass_), out, as_json=json)


@command(
    help={
        "set": "a result set's folder, or an archive's name (default: results/latest)",
        "from": PLACE + ", for an archive",
        "signed-by": "a public key, or a file of allowed signers: who must have signed it",
    }
)
def verify(c: Context, set="results/latest", from_=None, signed_by=None, json=False) -> None:
    """Is a result set as its manifest says, and whose is it? Finds each changed, missing or added file."""
    from suite.cli import archives

    raise Exit(code=archives.verify(set, from_, signed_by, as_json=json))


@command(
    iterable=["workload", "stack", "size", "pass_", "precision", "track", "dims", "workload_path"],
    help={"preset": f"where questions and stacks come from: a name ({COMMAND} list) or a path to a TOML file"},
)
def explain(
    c: Context,
    target="cpu",
    preset="full",
    workload=None,
    stack=None,
    size=None,
    pass_=None,
    precision=None,
    track=None,
    dims=None,
    engine="auto",
    timeout=None,
    workload_path=None,
    force=False,
    dry_run=False,
    results="results",
    json=False,
) -> None:
    """Where does a step's time go, and whose kernels take it? Processes under each framework's own profiler."""
    from suite.cli import commands
    from suite.cli.options import Options

    options = Options(
        target=target,
        preset=preset,
        purpose="explain",
        workload=tuple(workload),
        stack=tuple(stack),
        size=tuple(size),
        pass_=tuple(pass_),
        precision=tuple(precision),
        track=tuple(track),
        dims=tuple(dims),
        engine=engine,
        timeout=timeout,
        workload_path=tuple(workload_path),
        results=results,
    )
    raise Exit(code=commands.run(options, None, (), force=force, dry_run=dry_run, as_json=json))


@command(
    iterable=["case"],
    help={
        "set": "a result set (default: results/latest)",
        "case": "the name of a case, or a .mlir file of yours; give two",
        "markdown": "print every question as Markdown",
    },
)
def ir(c: Context, case, set="results/latest", markdown=False, json=False) -> None:
    """What two cases hand to their compilers, compared; without --case, which cases of a set have programs."""
    from suite.cli.programs import tell_programs

    tell_programs(set, case, as_markdown=markdown, as_json=json)


@command(name="list", iterable=["workload_path"])
def list_(c: Context, workload_path=None, json=False) -> None:
    """Workloads, stacks, variants, sizes and presets; what this machine can run, and why not."""
    from suite.cli.catalogue import tell_catalogue

    tell_catalogue([Path(path) for path in workload_path], as_json=json)


@command()
def doctor(c: Context, json=False) -> None:
    """What is missing on this machine, with the remedy."""
    from suite.cli import commands

    raise Exit(code=commands.print_checks(as_json=json))


@command(
    iterable=["environment", "with_", "env"],
    help={
        "environment": "only this environment; repeatable",
        "variant": "make a variant of the environment, like 0.11; it may differ in any of the following",
        "with": "a requirement in place of the environment's own, like jax==0.11.2; repeatable",
        "env": "a variable of its processes, like XLA_FLAGS=--xla_cpu_enable_fast_math=true; repeatable",
        "python": "its Python, like 3.13",
        "upgrade": "the newest versions that the .in files admit (default: those of the lock, where they are admitted)",
    },
)
def lock(
    c: Context, environment=None, target="cpu", variant=None, with_=None, env=None, python=None, upgrade=False
) -> None:
    """Regenerate hashed locks from their .in files, or make a variant of one environment."""
    from suite.cli import versions

    versions.lock(target, environment, variant, with_, env, python, upgrade=upgrade)


@command(
    iterable=["dims"],
    help={
        "stack": "the stack that one of its framework's releases has made slower",
        "good": "a release that is fast enough, like 0.10.2",
        "bad": "a later one that isn't",
        "threshold": "how much slower counts, as a factor",
        "releases": "those to search among, oldest first, comma-separated (default: all that the index has)",
        "python": "the Python of all of them, like 3.13 (default: that of the stack's lock)",
        "workload": "the workload to ask",
        "size": "its size (default: the preset's)",
        "pass": "forward or train",
        "precision": "f32, tf32 or bf16",
        "preset": "where the protocol and the size come from",
    },
)
def bisect(
    c: Context,
    workload=None,
    stack=None,
    good=None,
    bad=None,
    threshold="1.1",
    releases=None,
    python=None,
    target="cpu",
    size=None,
    pass_="train",
    precision=None,
    dims=None,
    preset="quick",
    engine="auto",
    workload_path=None,
    results="results",
    force=False,
) -> None:
    """Which release of a framework was the first that is slower. The same command again goes on where it was cut."""
    from suite.cli import bisect as search
    from suite.cli.options import Options

    options = Options(
        target=target,
        preset=preset,
        workload=several(workload),
        size=several(size),
        pass_=several(pass_),
        precision=several(precision),
        dims=tuple(dims),
        engine=engine,
        workload_path=several(workload_path),
        results=results,
        ir="off",
        profile="off",
    )
    raise Exit(code=search.bisect(options, stack, good, bad, threshold, releases, python, force=force))


def several(value: str | None) -> tuple[str, ...]:
    """One value, or none, where there may be several."""
    return (value,) if value else ()


@command(
    help={
        "workload": "only these models; repeatable",
        "size": "sizes; repeatable (default: tiny, odd and small)",
        "check": "make them again and compare; write nothing",
    },
    iterable=["workload", "size"],
)
def golden(c: Context, workload=None, size=None, check=False) -> None:
    """Make the golden files of models by an independent implementation, or check the stored ones."""
    from suite.cli import commands

    raise Exit(code=commands.make_golden(workload, size, check))


@command()
def check(c: Context) -> None:
    """Lint, types and import contracts."""
    for command in ("ruff format --check .", "ruff check .", "mypy", "lint-imports --no-cache"):
        c.run(f"{Path(sys.executable).parent}/{command}", pty=False)


@command(
    pre=[check],
    help={
        "args": "options for pytest, like --args='-k gate -x'",
        "quick": "only what takes no framework and less than a minute",
    },
)
def test(c: Context, args="", quick=False) -> None:
    """Everything that CI runs: checks, unit tests, the fake pipeline, every real stack end to end."""
    from suite.environments import locks, venv
    from suite.errors import UserError

    lacking = {}
    if quick:
        args = f"-m 'not stacks and not slow' {args}"
    else:
        wanted = [(name, "cpu") for name in locks.names("cpu")]
        for name, target in (*wanted, ("oracle", "test"), ("skypilot", "test"), ("ray", "cluster")):
            try:
                venv.ensure(name, target)
            except UserError as refused:
                lacking[name] = str(refused).splitlines()[0]
    # One process more than cores: it waits for the long runs.
    shared = f"--numprocesses={len(os.sched_getaffinity(0)) + 1} --dist=loadfile --no-loadscope-reorder"
    environ = {"STACKWARS_LACKING": json.dumps(lacking)}  # tests/conftest.py skips what takes them, and says so last
    c.run(f"{sys.executable} -m pytest {shared} --durations=15 {args}", pty=False, env=environ)


@command(
    help={
        "environment": "only this environment; repeatable",
        "base": "another base image: any with the locks' Python and apt",
    },
    iterable=["environment"],
)
def build(c: Context, target="cpu", environment=None, base=None) -> None:
    """Build the images of a target, one for each environment, named after their locks."""
    from suite.cli import commands

    commands.build_images(target, environment, base)


@command(
    name="base-image",
    help={
        "mirror": "a Debian mirror (default: the one that this machine uses)",
        "python": "3.11 (Debian 12) or 3.13 (Debian 13); repeatable (default: both)",
    },
    iterable=["python"],
)
def base_image(c: Context, mirror=None, python=None) -> None:
    """Make a base image by debootstrap, for sites that reach no registry. Takes root."""
    from suite.environments import base_image as debian
    from suite.environments import images, say

    client = images.connect()
    for version in python or debian.RELEASES:
        print(debian.make(client, version, mirror, say))


@command(help={"prune": "remove images whose lock has changed"})
def images(c: Context, prune=False, json=False) -> None:
    """List the images that are built: size, lock, age."""
    from suite.cli import commands

    commands.print_images(prune=prune, as_json=json)


@command()
def clean(c: Context) -> None:
    """Remove environments whose lock has changed, and tools' caches. Results are kept."""
    from suite.environments import venv

    venv.prune()
    c.run("rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis", pty=False)
