"""A result set on disk: the plan first, one immutable file per attempt, the manifest last.

results/<set-id>/ plan.json  machine.json  inputs/  attempts/  blocks/  logs/  ir/  results.parquet  manifest.json
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from suite.case import Attempt
from suite.errors import COMMAND, UserError
from suite.guard import plain_files
from suite.ir import files
from suite.machine.facts import Facts
from suite.machine.roofline import Ceilings, Sweep
from suite.results.store import json_file, manifest
from suite.results.store.blocks import Block, Record, with_noise
from suite.results.store.files import check_writable, commit, write_json
from suite.results.store.manifest import RESULTS, Manifest
from suite.results.store.parquet.reader import check_parquet, read_rows, understood
from suite.results.store.plan_file import PlanFile
from suite.results.store.rows import CASE, Row, accepted
from suite.results.store.schema import SCHEMA_VERSION, to_table

LINE_MAX = 4096  # characters; Linux has no longer path
LATEST = "latest"  # beside the sets: a link to the newest
BEGUN = "begun-here"  # the mark of a set that was begun in its folder: no archive has it
# Columns of the rows that a manifest's facts are derived from; names, where a row of an older version is read.
TELLING = frozenset(
    {
        *CASE,
        "schema_version",
        "case_id",
        "case_name",
        "comparison_id",
        "inferred_from",
        "block",
        "replicate",
        "purpose",
        "retry",
        "outcome",
        "flags",
        "environment",
        "image_digest",
    }
)


class ResultSet:
    """The folder of one run. Nobody else knows what lies where in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / "plan.json"
        self.plan = PlanFile.from_json(json_file.read(path, json_file.BYTES_MAX), str(path))

    @classmethod
    def create(cls, folder: Path, plan: PlanFile) -> ResultSet:
        """Write the plan into a new folder. Raises UserError if the place can't hold a result set."""
        check_writable(folder.parent)
        if folder.exists():
            raise UserError(f"{folder} exists already; `{COMMAND} run --resume={folder}` completes it.")
        folder.mkdir()
        # By the folder's own number in its file system: a copy, or whatever an archive unpacks, has another.
        (folder / BEGUN).write_text(f"{folder.stat().st_ino}\n", encoding="ascii")
        write_json(folder / "plan.json", plan.to_json())
        for part in ("inputs", "attempts", "blocks", "logs"):
            (folder / part).mkdir()
        return cls(folder)

    @classmethod
    def open(cls, folder: Path) -> ResultSet:
        """An existing result set. Raises UserError if the folder isn't one, or a newer version wrote it."""
        if not (folder / "plan.json").is_file():
            raise UserError(f"{folder} is no result set: it has no plan.json.")
        return cls(folder)

    @property
    def begun_here(self) -> bool:
        """Whether this program made this very folder: a set that was fetched, unpacked or copied wasn't begun in it."""
        try:
            mark = plain_files.read(self.folder / BEGUN, 32)
        except OSError:
            return False
        return mark == b"%d\n" % self.folder.stat().st_ino

    @property
    def results_path(self) -> Path:
        """The merged rows."""
        return self.folder / RESULTS

    @property
    def is_whole(self) -> bool:
        """Whether the run came to its end: the manifest is written last."""
        return (self.folder / manifest.NAME).exists()

    def log_folder(self, attempt: Attempt) -> Path:
        """What one process wrote: ATTEMPT.json, events.jsonl, standard output and error, exit.json."""
        return self.folder / "logs" / attempt.name

    def cache_folder(self, attempt: Attempt) -> Path:
        """For compile caches of one case in one run of a block, shared by a warm case and its prime alone."""
        name = f"b{attempt.block:02d}-{attempt.case.case_id[:12]}-r{attempt.replicate}-a{attempt.retry}"
        return self.folder / "caches" / name

    def keep_programs(self, attempt: Attempt, captured: Path) -> None:
        """The compressed programs of a process, and what is known of them, for good; the rest of its folder goes."""
        kept = self.folder / files.FOLDER / attempt.name
        kept.mkdir(parents=True)
        for path in (*captured.glob("*.gz"), captured / files.SUMMARY):
            path.rename(kept / path.name)
        shutil.rmtree(captured)

    def shares(self) -> list[ResultSet]:
        """What other machines have sent of a run that is under way among several, in the order of the plan."""
        found = (self.folder / "shares").glob("[0-9]*of[0-9]*")
        return [ResultSet(path) for path in sorted(found, key=lambda path: int(path.name.partition("of")[0]))]

    def share_folder(self, shard: str) -> Path:
        """Where a machine's share lies, by its name like `2/4`."""
        return self.folder / "shares" / shard.replace("/", "of")

    def clear_caches(self) -> None:
        """Compile caches are of no use once the run is over."""
        shutil.rmtree(self.folder / "caches", ignore_errors=True)

    def next_retry(self, block: int) -> int:
        """One more than any run of this block, whole or cut short, has left behind."""
        logs = (path.name for path in (self.folder / "logs").glob(f"b{block:02d}-*"))
        rows = (path.stem for path in (self.folder / "attempts").rglob(f"b{block:02d}-*.parquet"))
        return 1 + max(map(Attempt.retry_of, (*logs, *rows)), default=0)

    def finished(self) -> int:
        """How many attempts have ended and are on disk."""
        own = len(list((self.folder / "attempts").glob("*.parquet")))
        return own + sum(share.finished() for share in self.shares())

    def keep(self, source: Path, name: str = "") -> None:
        """Copy a file or a folder that the run was made from into inputs/."""
        kept = self.folder / "inputs" / (name or source.name)
        kept.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, kept, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, kept)

    def keep_source(self, revision: str, change: str) -> None:
        """The source that runs: its revision, and as a patch what was changed since."""
        (self.folder / "inputs" / "revision.txt").write_text(revision, encoding="utf-8")
        (self.folder / "inputs" / "diff.patch").write_text(change, encoding="utf-8")

    def changed_files(self) -> list[str]:
        """What was changed in the source since its revision, by the patch that is kept of it."""
        patch = self.folder / "inputs" / "diff.patch"
        if not patch.is_file() or not patch.stat().st_size:
            return []
        with patch.open(encoding="utf-8", errors="replace") as text:
            lines = iter(partial(text.readline, LINE_MAX), "")  # a patch of one endless line isn't held in memory
            found = [line.rstrip("\n").partition(" b/")[2] for line in lines if line.startswith("diff --git ")]
        return found or ["a patch that names no file"]

    def lock_copy(self, environment: str) -> Path:
        """Where the lock of an environment that ran is kept."""
        return self.folder / "inputs" / f"{environment}.lock.txt"

    @property
    def machine(self) -> dict[str, Any]:
        """Facts of the machine; empty where none were kept."""
        return self.read_json("machine.json", Facts)

    @machine.setter
    def machine(self, facts: dict[str, Any]) -> None:
        write_json(self.folder / "machine.json", facts)

    @property
    def roofline(self) -> dict[str, Any]:
        """What the machine reaches; empty where it wasn't measured."""
        return self.read_json("roofline.json", Sweep)

    @roofline.setter
    def roofline(self, reached: dict[str, Any]) -> None:
        write_json(self.folder / "roofline.json", reached)

    @property
    def ceilings(self) -> list[dict[str, Any]]:
        """Readings of the float32 ceiling, the first of the run's begin, one more of each resume."""
        readings: list[dict[str, Any]] = self.read_json("ceilings.json", Ceilings).get("readings", [])
        return readings

    @ceilings.setter
    def ceilings(self, readings: list[dict[str, Any]]) -> None:
        write_json(self.folder / "ceilings.json", {"readings": readings})

    def make_latest(self) -> None:
        """Let `latest` beside the set point to it, unless it does."""
        latest = self.folder.parent / LATEST
        if latest.is_symlink() and latest.readlink() == Path(self.folder.name):
            return
        latest.unlink(missing_ok=True)
        latest.symlink_to(self.folder.name)

    def write_attempt(self, name: str, row: Row) -> None:
        """One attempt's file, whole or not at all. Raises FileExistsError: attempts are immutable."""
        path = self.folder / "attempts" / f"{name}.parquet"
        if path.exists():
            raise FileExistsError(f"{path} exists: an attempt is written once")
        draft = path.with_suffix(".draft")
        pq.write_table(to_table([row]), draft)
        commit(draft, path)

    def write_block(self, block: int, retry: int, record: dict[str, Any]) -> None:
        """The record that says a block is complete."""
        record = record | {"block": block, "retry": retry}
        write_json(self.folder / "blocks" / f"b{block:02d}-a{retry}.json", record)

    def blocks(self) -> list[Block]:
        """Records of complete blocks, in order."""
        paths = sorted((self.folder / "blocks").glob("*.json"))
        return [Block.of(dict(json_file.of_file(Record, path)), str(path)) for path in paths]

    def read(self) -> tuple[list[Row], list[Path]]:
        """(rows, damaged files). A damaged file is set aside in attempts/damaged/, to be run again on resume."""
        rows: list[Row] = []
        damaged: list[Path] = []
        for path in sorted((self.folder / "attempts").glob("*.parquet")):
            try:
                rows += read_rows(path)
            except (pa.ArrowException, OSError, UnicodeDecodeError) as broken:
                if getattr(broken, "errno", None) is not None:
                    raise  # the disk or the rights, not what stands in the file
                aside = path.parent / "damaged" / path.name
                aside.parent.mkdir(exist_ok=True)
                path.replace(aside)
                damaged.append(aside)
        return rows, damaged

    def merged(self) -> list[Row]:
        """All rows with what only the end of a block tells: canaries, steal, and whether the block counts."""
        own = with_noise(self.read()[0], self.blocks())
        return [*own, *(row for share in self.shares() for row in read_rows(share.results_path))]

    def read_json(self, name: str, kind: type) -> dict[str, Any]:
        """A JSON file of the set, by its type; empty where it has none."""
        path = self.folder / name
        fields: dict[str, Any] = json_file.of_file(kind, path) if path.exists() else {}
        return fields

    def commit(self) -> list[Row]:
        """Merge into results.parquet, then write the manifest: the mark that the set is whole."""
        (self.folder / manifest.NAME).unlink(missing_ok=True)
        shares = self.shares()
        if shares:  # of an earlier end nothing stays: what was measured again has other records and programs
            for part in ("blocks", files.FOLDER, "logs"):
                shutil.rmtree(self.folder / part, ignore_errors=True)
            (self.folder / "blocks").mkdir()
        for share in shares:
            self.adopt(share)
        rows = self.merged()
        self.write_rows(rows)
        self.seal()
        return rows

    def settle(self, plan: PlanFile) -> None:
        """Write the plan once more, before anything was measured: its machines have said what they can't run."""
        write_json(self.folder / "plan.json", plan.to_json())
        self.plan = plan

    def write_rows(self, rows: list[Row]) -> None:
        """results.parquet."""
        draft = self.folder / "results.draft"
        pq.write_table(to_table(rows), draft)
        commit(draft, self.results_path)

    def adopt(self, share: ResultSet) -> None:
        """Take over what was kept of a share but its rows: block records, programs, inputs, logs and how it began."""
        shard = share.plan.shard.replace("/", "of")
        for block in share.blocks():
            record = block.record | {"shard": share.plan.shard}
            write_json(self.folder / "blocks" / f"{shard}-b{block.block:02d}-a{block.retry}.json", record)
        for part in (files.FOLDER, "inputs", "logs"):
            if (share.folder / part).is_dir():
                shutil.copytree(share.folder / part, self.folder / part, dirs_exist_ok=True)
        for name in ("plan.json", "machine.json", "roofline.json", "ceilings.json"):
            if (share.folder / name).is_file():
                self.keep(share.folder / name, f"shards/{shard}/{name}")

    def seal(self) -> None:
        """Write manifest.json: what the set is called, and the sha256 of each of its files."""
        manifest.write(self.folder, self.facts())

    def facts(self) -> dict[str, Any]:
        """What a manifest says beside the files, all of it derived from them; of a set that isn't whole, by the rows
        there are."""
        plan = self.plan
        with understood(self.results_path):
            rows = read_rows(self.results_path, TELLING) if self.results_path.exists() else self.merged()
        outcomes = Counter(row["outcome"] for row in accepted(rows))
        return {
            "schema_version": SCHEMA_VERSION,
            "set_id": plan.set_id,
            "created_at": plan.created_at,
            "target": plan.target,
            "command": plan.command,
            "revision": plan.revision,
            "locks": dict(plan.locks),
            "preset": next((path.stem for path in (self.folder / "inputs").glob("*.toml")), None),
            "stacks": sorted({row.stack_name for row in rows}),
            "outcomes": dict(outcomes),
            "images": images(rows),
            "machine": self.machine,
        }

    def problems(self) -> list[str]:
        """What differs from the manifest: files missing, changed or added, and facts. Empty for an intact set."""
        return manifest.problems(self.folder) or self.misstated(manifest.read(self.folder))

    def misstated(self, known: Manifest) -> list[str]:
        """What a manifest says of this set that its files don't. Raises UserError for rows that can't be read."""
        if self.results_path.exists():
            check_parquet(self.results_path)
        return manifest.misstated(known, self.facts())


def images(rows: Iterable[Row]) -> dict[str, list[str]]:
    """The digests of the images that ran, by environment: one each, unless an image was made anew."""
    pairs = sorted({(row["environment"], row["image_digest"]) for row in rows if row["image_digest"]})
    return {name: [image for other, image in pairs if other == name] for name, _ in pairs}
