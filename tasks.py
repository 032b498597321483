"""The commands that `./stackwars --list` lists. A command's options are the dataclass in its signature. A command
imports the suite when it is called, so that listing the commands is fast."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from invoke.context import Context

from suite.cli.options.ask import AskOptions
from suite.cli.options.measuring import ExplainOptions, FrontierOptions, RunOptions
from suite.cli.options.plans import BisectOptions, CloudOptions, ReproduceOptions
from suite.cli.options.predict import PredictOptions
from suite.cli.options.project import (
    BaseImageOptions,
    BuildOptions,
    FiguresOptions,
    GoldenOptions,
    ImagesOptions,
    ListOptions,
    LockOptions,
    SetupOptions,
    TestOptions,
)
from suite.cli.options.sets import (
    CollectOptions,
    CompareOptions,
    FetchOptions,
    HistoryOptions,
    IrOptions,
    PitfallsOptions,
    PublishOptions,
    ReportOptions,
    SetsOptions,
    SiteOptions,
    VerifyOptions,
)
from suite.cli.options.shared import JsonOptions
from suite.cli.program import command


@command()
def setup(c: Context, options: SetupOptions) -> None:
    """Make every environment of a target from its hashed lock."""
    from suite.cli.project import environments

    environments.set_up(options)


@command()
def run(c: Context, options: RunOptions) -> int:
    """Measure a new result set and write its report; with --resume, complete an interrupted one."""
    from suite.cli.measure import run

    return run.run(options)


@command()
def ask(c: Context, options: AskOptions) -> int:
    """Ask a question of your own: a file with inputs and functions, or expressions."""
    from suite.cli.measure import ask

    return ask.ask(options)


@command()
def frontier(c: Context, options: FrontierOptions) -> int:
    """Search for the largest batch (or sequence) that fits under a memory limit, stack by stack.

    `./stackwars run --resume=SET` completes an interrupted search."""
    from suite.cli.measure import run

    return run.measure(options)


@command()
def explain(c: Context, options: ExplainOptions) -> int:
    """Where does a step's time go, and whose kernels take it? Runs processes under each framework's own profiler."""
    from suite.cli.measure import run

    return run.measure(options)


@command()
def predict(c: Context, options: PredictOptions) -> int:
    """Would a step fit on a TPU or GPU that isn't here, and how fast at best? Asks the accelerators' own compilers."""
    from suite.cli.measure import predict

    return predict.predict(options)


@command()
def bisect(c: Context, options: BisectOptions) -> int:
    """Find the first release of a framework that is slower. The same command again continues an interrupted search."""
    from suite.cli.measure import bisect

    return bisect.bisect(options)


@command()
def reproduce(c: Context, options: ReproduceOptions) -> int:
    """Run the plan of a result set here, with its own locks and seeds, and check if its speedups are reproduced."""
    from suite.cli.measure import reproduce

    return reproduce.reproduce(options)


@command()
def cloud(c: Context, options: CloudOptions) -> None:
    """Write jobs that run a plan on other machines by SkyPilot, Kubernetes or Slurm, and estimate their time."""
    from suite.cli.measure import cloud

    cloud.cloud(options)


@command()
def report(c: Context, options: ReportOptions) -> None:
    """Render the report of a result set: its HTML page, or the same as Markdown, CSV or JSON."""
    from suite.cli.sets import report

    report.report(options)


@command()
def compare(c: Context, options: CompareOptions) -> int:
    """Compare result sets case by case; or with --by, two values of a field (like the precision) within one set."""
    from suite.cli.sets import compare

    return compare.compare(options)


@command()
def pitfalls(c: Context, options: PitfallsOptions) -> None:
    """Write a lesson on what surprises users of the frameworks, with the figures of a result set of probes."""
    from suite.cli.sets import report

    report.pitfalls(options)


@command()
def collect(c: Context, options: CollectOptions) -> int:
    """Put the shares of one plan (run --shard) together into one result set, and write its report."""
    from suite.cli.sets import collect

    return collect.collect(options)


@command()
def archive(c: Context, options: PublishOptions) -> None:
    """Publish a result set in an archive, by a name that no other set there has. A published set is never changed."""
    from suite.cli.sets import archives

    archives.archive(options)


@command()
def sets(c: Context, options: SetsOptions) -> None:
    """List the result sets in a folder of this machine, or those of an archive."""
    from suite.cli.sets import archives

    archives.sets(options)


@command()
def fetch(c: Context, options: FetchOptions) -> None:
    """Download a result set from an archive, and render its report."""
    from suite.cli.sets import archives

    archives.fetched(options)


@command()
def verify(c: Context, options: VerifyOptions) -> int:
    """Check whether a result set is as its manifest says, and who signed it. Finds changed, missing and added files."""
    from suite.cli.sets import verify

    return verify.verify(options)


@command()
def history(c: Context, options: HistoryOptions) -> None:
    """Show how long a step took in every result set, and from which set on that changed."""
    from suite.cli.sets import archives

    archives.history(options)


@command()
def site(c: Context, options: SiteOptions) -> None:
    """Write pages of all result sets of a folder or an archive: index with search, sets, histories, machines."""
    from suite.cli.sets import archives

    archives.site(options)


@command()
def ir(c: Context, options: IrOptions) -> None:
    """Compare the programs that two cases hand to their compilers; without --case, list cases with programs."""
    from suite.cli.sets import programs

    programs.print_programs(options)


@command(name="list")
def list_(c: Context, options: ListOptions) -> None:
    """List workloads, stacks, variants, sizes and presets; what this machine can run, and why it can't run the rest."""
    from suite.cli.project import catalogue

    catalogue.print_catalogue(options)


@command()
def doctor(c: Context, options: JsonOptions) -> int:
    """List what is missing on this machine, with the remedy."""
    from suite.cli.project import doctor

    return doctor.doctor(options)


@command()
def lock(c: Context, options: LockOptions) -> None:
    """Regenerate hashed locks from their .in files, or make a variant of one environment."""
    from suite.cli.project import versions

    versions.lock(options)


@command()
def figures(c: Context, options: FiguresOptions) -> int:
    """List the published tables of README.md and docs/, measure the result sets behind them, or write them again."""
    from suite.cli.project import figures

    return figures.figures(options)


@command()
def golden(c: Context, options: GoldenOptions) -> int:
    """Make the golden files of models by an independent implementation, or check the stored ones."""
    from suite.cli.project import golden

    return golden.make_golden(options)


@command()
def build(c: Context, options: BuildOptions) -> None:
    """Build the images of a target, one for each environment, named after their locks."""
    from suite.cli.project import environments

    environments.build_images(options)


@command(name="base-image")
def base_image(c: Context, options: BaseImageOptions) -> None:
    """Make base images by debootstrap, for sites that reach no registry. Needs root."""
    from suite.cli.project import environments

    environments.make_base_images(options)


@command()
def images(c: Context, options: ImagesOptions) -> None:
    """List the images that are built: size, lock, age."""
    from suite.cli.project import environments

    environments.print_images(options)


@command()
def check(c: Context) -> None:
    """Check format, lint, types and import contracts."""
    for tool in ("ruff format --check .", "ruff check .", "mypy", "lint-imports --no-cache"):
        c.run(f"{Path(sys.executable).parent}/{tool}", pty=False)


@command(pre=[check])
def test(c: Context, options: TestOptions) -> None:
    """Run the checks and the tests: units, the pipeline with a fake stack, every real stack end to end."""
    from suite.cli.project import environments

    lacking = {} if options.quick else environments.make_for_tests(release=options.all)
    chosen = "not stacks and not slow" if options.quick else "" if options.all else "not release"
    # One process more than there are cores, because one of them mostly waits for the long runs.
    shared = f"--numprocesses={len(os.sched_getaffinity(0)) + 1} --dist=loadfile --no-loadscope-reorder"
    environ = {"STACKWARS_LACKING": json.dumps(lacking)}  # tests/conftest.py skips their tests, and counts them last
    c.run(f"{sys.executable} -m pytest {shared} --durations=15 -m '{chosen}' {options.args}", pty=False, env=environ)


@command()
def docs(c: Context) -> None:
    """Build the documentation's site into docs-site/, and check its links."""
    c.run(f"{Path(sys.executable).parent}/mkdocs build --strict --quiet", pty=False, env={"NO_MKDOCS_2_WARNING": "1"})
    print("docs-site/index.html")


@command()
def clean(c: Context) -> None:
    """Remove environments whose lock has changed, and tools' caches. Results are kept."""
    from suite.environments import venv

    venv.prune()
    c.run("rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis", pty=False)
