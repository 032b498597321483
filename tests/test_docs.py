"""What the documentation shows is true: its commands exist, its examples run, its links and tables are right."""

from __future__ import annotations

import ast
import dataclasses
import gc
import math
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from invoke.parser.parser import Parser

import tasks
from benchmarks import harness_cost, loop_overhead, pairs, phases
from suite import results
from suite.cli.options import RunOptions
from suite.environments.locks import Locks
from suite.launch.local import Local
from suite.machine import facts
from suite.plan import preset
from suite.plan.planning import Selection, make
from suite.plan.preset import Question
from suite.run.runner import Runner
from suite.run.session import Session
from suite.run.start import engines
from suite.run.start.prepare import prepare
from suite.run.start.run import Run, describe
from suite.sets.result_set import ResultSet
from suite.stats import ratio_of
from suite.workloads import catalog
from suite.workloads.tensors import generate_all
from tests.pipeline import QUICK, Heard
from tests.runs import TOGETHER, invoke_run, of
from tests.typed import CORE, FLAGS, FLAGS_OF_TOOLS, parsed, parsed_by_tool
from tools import reference
from tools.figures import definitions

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "docs" / "example"
PAGES = sorted(
    [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "CHANGELOG.md",
        *(ROOT / "docs").rglob("*.md"),
        ROOT / "benchmarks" / "README.md",
    ]
)
PICTURE = "docs/report-dark.png"
# What a reader replaces by something of theirs.
UNPLANNED = ("--resume", "mine.toml", "NAME", "@nightly", "argsort.py", "bench/attention.py", "--jax=")
ON_THE_WEB = ("../../actions/", "../../deployments/")  # of the repository's pages
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(page: Path, language: str) -> list[str]:
    """The fenced blocks of one language in a page."""
    return [text for kind, text in FENCE.findall(page.read_text(encoding="utf-8")) if kind == language]


def command_lines() -> Iterator[tuple[str, list[str]]]:
    """(page, words) of each line of `./stackwars`, `make` or `tools` in any page's shell blocks, comments cut off."""
    for page in PAGES:
        for line in "".join(blocks(page, "sh")).splitlines():
            words = shlex.split(line, comments=True)
            words = words[1:] if words[:1] == ["sudo"] else words
            if words and (Path(words[0]).name in ("stackwars", "make") or " ".join(words[1:3]).startswith("-m tools.")):
                yield page.name, [Path(words[0]).name, *words[1:]]


# Every command that a page shows, and that docs/figures.toml runs.
COMMANDS = [
    *command_lines(),
    *(("figures.toml", ["stackwars", *shlex.split(line)]) for line in definitions.load().commands.values()),
]


@pytest.mark.parametrize(("page", "words"), COMMANDS, ids=[" ".join(words) for _, words in COMMANDS])
def test_every_command_shown_exists_and_would_be_accepted(page: str, words: list[str]) -> None:
    if words[0] == "make":
        alone = {name: value for name, value in os.environ.items() if name not in ("ARGS", "MAKEFLAGS", "MFLAGS")}
        asked = subprocess.run(
            ["make", "--dry-run", *words[1:]], cwd=ROOT, env=alone, capture_output=True, text=True, check=True
        )
        lines = [shlex.split(line) for line in asked.stdout.splitlines() if line.startswith(".venv/bin/")]
        assert lines or "help" in asked.args
        words = lines[-1] if lines else ["stackwars", "--help"]
    if words[0].endswith("invoke"):
        assert Parser(contexts=tasks.namespace.to_contexts()).parse_argv(words[1:])
        return
    if words[0].endswith("python"):
        assert parsed_by_tool(words[words.index("-m") + 1 :])
        return
    if not words[1:] or words[1].startswith("--"):
        assert set(words[1:]) <= CORE
        return
    _, options = parsed(words[1:])
    if isinstance(options, RunOptions) and not any(part in " ".join(words) for part in UNPLANNED):
        assert options.engine in (engines.AUTO, engines.LOCAL, engines.DOCKER)
        planned = prepare(
            options.chosen_preset(),
            options.selection([0, 1]),
            baseline=options.baseline,
            engine=engines.LOCAL,
            workload_paths=options.workload_paths,
        )
        assert planned.plan.cases


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_page_tells_to_type_what_is_not_on_path(page: Path) -> None:
    text = page.read_text(encoding="utf-8").partition("## 0.1.0")[0]  # the changelog's past stays as it was
    assert re.findall(r"(?<![\w/])invoke (?:[a-z]|--)\S*", text) == []


def test_every_option_that_a_text_names_exists() -> None:
    flags = {"--help", "--list", "--stackwars"}.union(*FLAGS.values(), *FLAGS_OF_TOOLS.values())
    shown = {option for page in PAGES for option in re.findall(r"`(--[a-z-]+)", page.read_text(encoding="utf-8"))}
    assert shown <= flags


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_within_the_repository_lead_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\((?!https://)([^)\s]+)\)", page.read_text(encoding="utf-8")):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if path != PICTURE and not path.startswith(ON_THE_WEB):
            assert target.exists(), link
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}, link


@pytest.mark.parametrize("file", reference.PAGES)
def test_the_reference_is_what_the_code_says(file: str) -> None:
    written = (reference.FOLDER / file).read_text(encoding="utf-8")
    assert written == reference.PAGES[file](), "python -m tools.reference writes it again"


def built(folder: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """What `make docs` says of the documentation in a folder."""
    command = [*tasks.SITE, f"--config-file={folder / 'mkdocs.yml'}", f"--site-dir={site}"]
    environ = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)


def test_the_site_builds_and_every_link_in_it_leads_somewhere(tmp_path: Path) -> None:
    done = built(ROOT, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "MKL" in (tmp_path / "search" / "search_index.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("mkdocs.yml", "nav: [index.md, gone.md]\n", "gone.md"),
        ("docs/index.md", "# Home\n\n[more](gone.md)\n", "gone.md"),
        ("docs/index.md", "# Home\n\n[more](#gone)\n", "#gone"),
        ("docs/more.md", "# More\n", "more.md"),
    ],
    ids=["page-gone", "link-dead", "anchor-dead", "page-not-in-the-menu"],
)
def test_the_site_isn_t_built_with_a_mistake(tmp_path: Path, file: str, text: str, said: str) -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("nav:\n")[0]
    settings = settings.replace("hooks: [tools/", f"hooks: [{ROOT}/tools/")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# Home\n", encoding="utf-8")
    (tmp_path / "mkdocs.yml").write_text(f"{settings}nav: [index.md]\n", encoding="utf-8")
    assert built(tmp_path, tmp_path / "site").returncode == 0
    (tmp_path / file).write_text(f"{settings}{text}" if file == "mkdocs.yml" else text, encoding="utf-8")
    done = built(tmp_path, tmp_path / "site")
    assert done.returncode == 1 and said in done.stderr


def test_the_docs_written_by_hand_stay_small() -> None:
    """160 KB, without what is generated: blocks between markers, and whole pages."""
    whole = {page for page in PAGES if "<!-- generated by" in page.read_text(encoding="utf-8")}
    rendered = {ROOT / "docs" / "findings" / f"{name}.md" for name in ("pitfalls", "published")}
    block = re.compile(r"<!-- (figures|columns|generated).*?<!-- /\1 -->", re.DOTALL)
    by_hand = {
        page: len(block.sub("", page.read_text(encoding="utf-8")).encode())
        for page in PAGES
        if page.is_relative_to(ROOT / "docs") and page not in whole | rendered
    }
    assert sum(by_hand.values()) <= 160_000, by_hand


def test_every_figure_is_filled_in() -> None:
    missing = [
        f"{page.name}: {line}"
        for page in PAGES
        for line in page.read_text(encoding="utf-8").splitlines()
        if "FIGURE-PENDING" in line
    ]
    missing += [] if (ROOT / PICTURE).is_file() else [f"README.md: {PICTURE}"]
    assert missing == []


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with `results/latest`: the example workload on NumPy, twice under two names, in this interpreter."""
    folder = tmp_path_factory.mktemp("home")
    tiny = preset.load("tiny")
    asked = dataclasses.replace(
        tiny,
        stacks=("numpy", "numpy@again"),
        baseline="numpy",
        twin=True,
        questions=tuple(Question("softmax", pass_) for pass_ in ("forward", "train")),
        protocol=dataclasses.replace(tiny.protocol, **(QUICK | {"blocks": 2, "blocks_max": 2})),
    )
    workloads = catalog.find([EXAMPLE])
    planned = make("set", asked, Selection(threads=(1,)), workloads, None, lambda *_: None)
    run = Run(
        plan=planned,
        workloads=workloads,
        workload_paths=(EXAMPLE,),
        locks=Locks("cpu"),
        engine=engines.Choice("local", "Engine: local."),
        python=None,
    )
    store = ResultSet.create(folder / "results" / "set", describe(run, ["run"]))
    runner = Runner(
        planned,
        store,
        workloads,
        lambda attempt: Local(Path(sys.executable), "lock"),
        facts.machine_id(),
        facts.usable_cores(),
    )
    Session(runner, Heard()).run()
    return folder


def test_the_example_workload_is_right_on_numpy(home: Path) -> None:
    rows = results.load(home / "results" / "latest").rows
    assert len(rows) == 2 * 2 * 3, "two blocks of two questions on two stacks, one of them with a twin"
    assert {(row["outcome"], row["reason"]) for row in rows} == {("ok", None)}
    gated = [row["relative_error"] for row in rows if row["block"] == 1]
    assert max(gated) < 5e-6


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(text, id=f"{page.name}-{number}")
        for page in [ROOT / "docs" / "reference" / "columns.md"]
        for number, text in enumerate(blocks(page, "python"), 1)
    ],
)
def test_python_examples_run(example: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(home)
    tree = ast.parse(example)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr), "an example ends in the value that a notebook would show"
    names: dict[str, Any] = {}
    exec(compile(tree, "example", "exec"), names)
    assert str(eval(compile(ast.Expression(last.value), "example", "eval"), names))  # shown, so that nothing is lazy


def test_the_question_in_readme_is_one(tmp_path: Path) -> None:
    [text] = blocks(ROOT / "README.md", "python")
    (tmp_path / "argsort.py").write_text(text, encoding="utf-8")
    asked = catalog.load(tmp_path / "argsort.py")
    assert asked.dialects == ("jax", "torch") and asked.dims("asked", {}) == {"n": 1_000_000}


def test_the_examples_reference_has_the_gradient_of_its_loss() -> None:
    spec = catalog.load(EXAMPLE / "softmax").spec
    dims = spec.SIZES["tiny"]
    made = generate_all({**spec.parameters(dims), "target": spec.target(dims), "way": spec.target(dims)}, "test", 1)
    x, target, way = (value.astype(np.float64) for _, value in made)
    step = 1e-6
    ahead, behind = (float(spec.reference(dims, {"x": x + h * way}, target)["loss"]) for h in (step, -step))
    slope = float(np.sum(spec.reference(dims, {"x": x}, target)["x"] * way))
    assert math.isclose((ahead - behind) / (2 * step), slope, rel_tol=1e-6)


def test_the_example_speaks_every_dialect() -> None:
    assert catalog.load(EXAMPLE / "softmax").dialects == ("numpy", "jax", "torch", "tf")


@pytest.mark.stacks
@pytest.mark.parametrize(
    "stacks", [("numpy", "torch_eager"), pytest.param(("jax_jit", "tf_graph"), marks=pytest.mark.release)], ids=" ".join
)
def test_the_example_workload_is_right_on_real_stacks(tmp_path: Path, stacks: tuple[str, ...]) -> None:
    asked = (f"--workload-path={EXAMPLE}", "--workload=softmax", *of(stacks))
    run = invoke_run(tmp_path, *asked, module=TOGETHER)
    assert run.code == 0, run.log
    assert run.told["outcomes"] == {"ok": 2 * len(stacks)}


def test_pairs_have_the_interval_of_student() -> None:
    for count in pairs.PAIRS:
        readings = [(1.0 + 0.01 * (i % 3), 1.0) for i in range(count)]
        expected = ratio_of([math.log(a / b) for a, b in readings], count - 1, 0.95)
        found = pairs.summarise(readings)
        assert found.ratio == pytest.approx(expected.value)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-5)


def test_half_of_the_pairs_begin_with_theirs_in_the_same_order_every_time() -> None:
    order: list[str] = []

    def one(name: str) -> float:
        order.append(name)
        return 1.0

    for _ in range(2):
        assert list(pairs.alternate(lambda: one("a"), lambda: one("b"), 20)) == [(1.0, 1.0)] * 20
    drawn = ["".join(order[i : i + 2]) for i in range(0, len(order), 2)]
    assert drawn[:20] == drawn[20:]
    assert sorted(drawn[:20]) == ["ab"] * 10 + ["ba"] * 10
    assert drawn[:20] != ["ab", "ba"] * 10


def test_the_harness_cost_of_a_result_set_is_read_from_its_logs(home: Path) -> None:
    found, left_out = harness_cost.costs(home / "results" / "latest")
    assert len(found) == 12 - 2, "the last of each block has no neighbour"
    assert left_out == 2
    assert all(cost.around > 0 and cost.python > 0 and cost.inside > 0 for cost in found)


def test_where_a_result_set_s_seconds_went_is_read_from_its_logs(home: Path) -> None:
    summed, wall, processes, without = phases.table(home / "results" / "latest")
    assert (processes, without) == (12, 0)
    assert all(summed[phase] > 0 for phase in ("import", "first", "steady", "other"))
    assert wall.keys() <= {*summed, phases.NOBODY} - {phases.WAITING, phases.OTHER}
    assert all(seconds <= summed[phase] + 1e-6 for phase, seconds in wall.items() if phase != phases.NOBODY)


def test_a_moment_of_the_wall_clock_is_shared_by_those_that_do_not_wait() -> None:
    spans = [(0.0, 4.0, "import"), (4.0, 9.0, "hold"), (1.0, 3.0, "import"), (3.0, 5.0, "gate"), (8.0, 9.0, "steady")]
    wall = phases.of_wall_clock(spans)
    assert wall == pytest.approx({"import": 3.5, "gate": 1.5, phases.NOBODY: 3.0, "steady": 1.0})


@pytest.mark.release
def test_known_sleeps_come_back_through_the_whole_of_measuring() -> None:
    try:
        found = loop_overhead.known()
    finally:
        gc.unfreeze()  # a worker may keep what it has frozen; this process has other tests to run
    assert all(found[phase] >= seconds for phase, seconds in loop_overhead.KNOWN_SECONDS.items())


def test_code_that_a_page_quotes_is_the_file_s_own() -> None:
    """A block under `<!-- FILE: NAME -->` is that class or function, one under `<!-- FILE -->` stands in the file."""
    quoted = re.compile(r"^<!-- (\S+\.py)(?:: (\w+))? -->\n```python\n(.*?)\n```", re.MULTILINE | re.DOTALL)
    quotes = [quote for page in PAGES for quote in quoted.findall(page.read_text(encoding="utf-8"))]
    assert quotes
    for file, name, text in quotes:
        source = (ROOT / file).read_text(encoding="utf-8")
        named = (node for node in ast.parse(source).body if getattr(node, "name", None) == name)
        assert text == ast.get_source_segment(source, next(named)) if name else text in source, f"{file}: {name}"
