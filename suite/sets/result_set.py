"""A result set on disk: the plan is written first, then one immutable file per attempt, and the manifest last.

results/<set-id>/ plan.json  machine.json  inputs/  attempts/  blocks/  logs/  ir/  results.parquet  manifest.json
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from suite.case import Attempt
from suite.errors import COMMAND, Damaged, UserError
from suite.guard import plain_files
from suite.ir import files
from suite.machine.facts import Facts
from suite.machine.roofline import Ceilings, Sweep
from suite.order import natural
from suite.sets import json_file, manifest
from suite.sets.blocks import Block, with_noise
from suite.sets.files import check_writable, gunzipped, sha256, write_json
from suite.sets.manifest import RESULTS, Manifest
from suite.sets.parquet import read_rows, write_parquet
from suite.sets.plan import Plan, PlanFile
from suite.sets.rows import Row, held
from suite.stacks.names import attempt_name, retry_of

LINE_MAX = 4096  # characters; Linux has no longer path
LATEST = "latest"  # a link beside the sets, to the newest one
BEGUN = "begun-here"  # the file that marks a set as begun in its folder; archives leave it out


class ResultSet:
    """The folder of one run. No other class knows where its files are."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / "plan.json"
        self.plan_file = PlanFile.from_json(json_file.read(path, most=json_file.BYTES_MAX), str(path))

    @classmethod
    def create(cls, folder: Path, plan_file: PlanFile) -> ResultSet:
        """Writes the plan into a new folder. Raises UserError if the folder exists or can't be written."""
        check_writable(folder.parent)
        if folder.exists():
            raise UserError(f"{folder} exists already; `{COMMAND} run --resume={folder}` completes it.")
        folder.mkdir()
        # The folder's inode number: a copied or unpacked folder has another.
        (folder / BEGUN).write_text(f"{folder.stat().st_ino}\n", encoding="ascii")
        write_json(folder / "plan.json", plan_file.to_json())
        for part in ("inputs", "attempts", "blocks", "logs"):
            (folder / part).mkdir()
        return cls(folder)

    @classmethod
    def open(cls, folder: Path) -> ResultSet:
        """Opens an existing result set. Raises UserError if the folder has no plan, or if the plan is damaged or of
        another schema version."""
        if not (folder / "plan.json").is_file():
            raise UserError(f"{folder} is no result set: it has no plan.json.")
        return cls(folder)

    @property
    def plan(self) -> Plan:
        return self.plan_file.plan

    @property
    def begun_here(self) -> bool:
        """Whether a run was begun in this very folder; False for a set that was fetched, unpacked or copied."""
        try:
            mark = plain_files.read(self.folder / BEGUN, 32)
        except OSError:
            return False
        return mark == b"%d\n" % self.folder.stat().st_ino

    @property
    def results_path(self) -> Path:
        return self.folder / RESULTS

    @property
    def lacks_rows(self) -> str:
        """What to say of a whole set whose rows are lost."""
        again = f"`{COMMAND} run --resume={self.folder}` makes it of the attempts' own files"
        return f"{self.results_path} is missing: {again if self.begun_here else 'fetch or copy the set again'}"

    @property
    def is_whole(self) -> bool:
        """Whether the run is complete: the manifest is written last."""
        return (self.folder / manifest.NAME).exists()

    def log_folder(self, attempt: Attempt) -> Path:
        """The folder of one process's files: ATTEMPT.json, events.jsonl, its outputs, exit.json."""
        return self.folder / "logs" / attempt_name(attempt)

    def cache_folder(self, attempt: Attempt) -> Path:
        """The compile caches of a case in one run of a block, which its prime and its timed process share."""
        name = f"b{attempt.block:02d}-{attempt.case.case_id[:12]}-r{attempt.replicate}-a{attempt.retry}"
        return self.folder / "caches" / name

    def keep_programs(self, attempt: Attempt, captured: Path) -> None:
        """Moves a process's compressed programs and their summary into the set, and deletes the rest of `captured`."""
        kept = self.folder / files.FOLDER / attempt_name(attempt)
        kept.mkdir(parents=True)
        for path in (*captured.glob("*.gz"), captured / files.SUMMARY):
            path.rename(kept / path.name)
        shutil.rmtree(captured)

    def program_path(self, attempt: str, program: str) -> Path:
        """The file of a program, compressed StableHLO, that the process of this name handed to its compiler."""
        return self.folder / files.FOLDER / attempt / f"{program}{files.STABLEHLO}.gz"

    def program(self, attempt: str, program: str) -> bytes:
        """Returns a program, StableHLO. Raises UserError for a file that isn't whole, or that was changed after the set
        was whole."""
        return self.unpacked(self.program_path(attempt, program))

    def program_header(self, attempt: str, program: str) -> str:
        """Returns the first line of the optimized program that the compiler made of it; empty if there is none."""
        path = self.folder / files.FOLDER / attempt / f"{program}{files.OPTIMIZED}.gz"
        if not path.exists():
            return ""
        return self.unpacked(path).partition(b"\n")[0].decode("utf-8", "replace")

    def unpacked(self, path: Path) -> bytes:
        """Returns the content of one of the set's compressed files. Raises UserError for a file that isn't whole, or
        that was changed after the set was whole."""
        content = b"".join(gunzipped(path))
        listed = manifest.read(self.folder).files.get(str(path.relative_to(self.folder))) if self.is_whole else None
        if listed is not None and listed.sha256 != sha256(path):
            raise UserError(f"{path.name} was changed after its set was whole: the manifest has another digest.")
        return content

    def shares(self) -> list[ResultSet]:
        """Returns the shares of a run on several machines that have arrived, in the plan's order."""
        folders = (self.folder / "shares").glob("[0-9]*of[0-9]*")
        return [ResultSet(path) for path in sorted(folders, key=lambda path: int(path.name.partition("of")[0]))]

    def share_folder(self, shard: str) -> Path:
        """The folder of a machine's share, by the share's name, `2/4` say."""
        return self.folder / "shares" / shard.replace("/", "of")

    def clear_caches(self) -> None:
        shutil.rmtree(self.folder / "caches", ignore_errors=True)

    def next_retry(self, block: int) -> int:
        """Returns the number of a block's next run: one more than the greatest number that a run of this block has had,
        complete or cut short."""
        logs = (path.name for path in (self.folder / "logs").glob(f"b{block:02d}-*"))
        rows = (path.stem for path in (self.folder / "attempts").rglob(f"b{block:02d}-*.parquet"))
        return 1 + max(map(retry_of, (*logs, *rows)), default=0)

    def finished(self) -> int:
        """Returns how many attempts have ended and are on disk, in shares too."""
        here = len(list((self.folder / "attempts").glob("*.parquet")))
        return here + sum(share.finished() for share in self.shares())

    def keep(self, source: Path, name: str = "") -> None:
        """Copies a file or folder that the run uses as input into inputs/, as `name` if given."""
        kept = self.folder / "inputs" / (name or source.name)
        kept.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, kept, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, kept)

    def keep_source(self, revision: str, change: str) -> None:
        """Writes the revision of the source that runs, and a patch of the changes since then."""
        (self.folder / "inputs" / "revision.txt").write_text(revision, encoding="utf-8")
        (self.folder / "inputs" / "diff.patch").write_text(change, encoding="utf-8")

    def changed_files(self) -> list[str]:
        """Returns the names of source files that were changed since the revision, by the kept patch."""
        patch = self.folder / "inputs" / "diff.patch"
        if not patch.is_file() or not patch.stat().st_size:
            return []
        with patch.open(encoding="utf-8", errors="replace") as text:
            lines = iter(partial(text.readline, LINE_MAX), "")  # a patch of one endless line isn't held in memory
            names = [line.rstrip("\n").partition(" b/")[2] for line in lines if line.startswith("diff --git ")]
        return names or ["a patch that names no file"]

    def lock_copy(self, environment: str) -> Path:
        return self.folder / "inputs" / f"{environment}.lock.txt"

    @property
    def machine(self) -> dict[str, Any]:
        return self.read_json("machine.json", Facts)

    @machine.setter
    def machine(self, facts: dict[str, Any]) -> None:
        write_json(self.folder / "machine.json", facts)

    @property
    def roofline(self) -> dict[str, Any]:
        return self.read_json("roofline.json", Sweep)

    @roofline.setter
    def roofline(self, reached: dict[str, Any]) -> None:
        write_json(self.folder / "roofline.json", reached)

    @property
    def ceilings(self) -> list[dict[str, Any]]:
        """The readings of the float32 ceiling, one at the start of the run and one at each resume."""
        readings: list[dict[str, Any]] = self.read_json("ceilings.json", Ceilings).get("readings", [])
        return readings

    @ceilings.setter
    def ceilings(self, readings: list[dict[str, Any]]) -> None:
        write_json(self.folder / "ceilings.json", {"readings": readings})

    @property
    def latest(self) -> Path:
        return self.folder.parent / LATEST

    @property
    def is_latest(self) -> bool:
        return self.latest.is_symlink() and self.latest.readlink() == Path(self.folder.name)

    def make_latest(self) -> None:
        """Makes the link to the newest set where that is possible. `is_latest` tells; without the link, the name means
        the newest set all the same."""
        if not self.is_latest and (self.latest.is_symlink() or not self.latest.exists()):
            with suppress(OSError):  # a file system without links, or another command made it meanwhile
                self.latest.unlink(missing_ok=True)
                self.latest.symlink_to(self.folder.name)

    def write_attempt(self, name: str, row: Row) -> None:
        """Writes one attempt's file, whole or not at all. Raises FileExistsError: a written attempt never changes."""
        path = self.folder / "attempts" / f"{name}.parquet"
        if path.exists():
            raise FileExistsError(f"{path} exists, and an attempt is written only once")
        write_parquet(path, [row])

    def write_block(self, block: int, retry: int, record: dict[str, Any]) -> None:
        path = self.folder / "blocks" / f"b{block:02d}-a{retry}.json"
        write_json(path, record | {"block": block, "retry": retry})

    def blocks(self) -> list[Block]:
        paths = sorted((self.folder / "blocks").glob("*.json"), key=lambda path: natural(path.name))
        return [json_file.read(path, Block) for path in paths]

    def read(self) -> tuple[list[Row], list[Path]]:
        """Returns (rows, damaged files). A damaged file is moved to attempts/damaged/, and a resume runs it again."""
        folder, trusted = self.folder / "attempts", self.begun_here
        if folder.is_dir() and not any(folder.iterdir()):  # a new set's first process needn't wait for Arrow
            return [], []
        try:
            return read_rows(folder, trusted=trusted), []
        except Damaged:  # one of the files is
            rows, damaged = list[Row](), list[Path]()
        for path in sorted(folder.glob("*.parquet"), key=lambda path: natural(path.name)):
            try:
                rows += read_rows(path, trusted=trusted)
            except Damaged:
                aside = folder / "damaged" / path.name
                aside.parent.mkdir(exist_ok=True)
                path.replace(aside)
                damaged.append(aside)
        return rows, damaged

    def merged(self) -> list[Row]:
        """Returns all rows, those of shares too, with what the block records add (canaries, steal share and flags), and
        what is judged of each case."""
        here = with_noise(self.read()[0], self.blocks())
        return held([*here, *(row for share in self.shares() for row in share.rows())])

    def rows(self) -> list[Row]:
        """Returns the rows of a whole set; of one that is still being run, or was interrupted, those so far. Raises
        Damaged for a whole set whose rows are lost."""
        if self.is_whole and not self.results_path.exists():
            raise Damaged(f"{self.lacks_rows}.")
        return read_rows(self.results_path, trusted=self.begun_here) if self.is_whole else self.merged()

    def read_json(self, name: str, kind: type) -> dict[str, Any]:
        path = self.folder / name
        fields: dict[str, Any] = json_file.read(path, kind) if path.exists() else {}
        return fields

    def commit(self) -> list[Row]:
        """Merges all rows into results.parquet, then writes the manifest, which marks the set as whole. Returns the
        rows. If the set was whole before, files in its folders keep their entries in the manifest: a commit doesn't
        vouch for a file that was changed since. With shares, those files are copied from the shares anew."""
        shares = self.shares()
        kept = {} if shares else manifest.written_once(self.folder)
        (self.folder / manifest.NAME).unlink(missing_ok=True)
        if shares:  # deletes what an earlier commit copied: blocks that ran again have other records and programs
            for part in ("blocks", files.FOLDER, "logs"):
                shutil.rmtree(self.folder / part, ignore_errors=True)
            (self.folder / "blocks").mkdir()
        for share in shares:
            self.adopt(share)
        rows = self.merged()
        self.write_rows(rows)
        manifest.write(self.folder, self.facts(), kept)
        return rows

    def settle(self, plan_file: PlanFile) -> None:
        """Writes the plan again, before anything is measured, to add which cases its machines have said they can't
        run."""
        write_json(self.folder / "plan.json", plan_file.to_json())
        self.plan_file = plan_file

    def write_rows(self, rows: list[Row]) -> None:
        write_parquet(self.results_path, rows)

    def adopt(self, share: ResultSet) -> None:
        """Copies a share's files, except its rows: block records, programs, inputs, logs, plan and machine."""
        shard = share.plan.shard.replace("/", "of")
        for block in share.blocks():
            path = self.folder / "blocks" / f"{shard}-b{block.block:02d}-a{block.retry}.json"
            write_json(path, block.record | {"shard": share.plan.shard})
        for part in (files.FOLDER, "inputs", "logs"):
            if (share.folder / part).is_dir():
                shutil.copytree(share.folder / part, self.folder / part, dirs_exist_ok=True)
        for name in ("plan.json", "machine.json", "roofline.json", "ceilings.json"):
            if (share.folder / name).is_file():
                self.keep(share.folder / name, f"shards/{shard}/{name}")

    def seal(self, facts: Mapping[str, Any] | None = None) -> None:
        """Writes manifest.json of the files as they are now: the set's name and facts (if not given, by its files), and
        each file's sha256 and size. It is for a set that was just put together or fetched; whatever its files were
        before is forgotten."""
        manifest.write(self.folder, facts or self.facts(), kept={})

    def seal_page(self) -> None:
        """Writes the digest of a page that was rendered anew into the manifest of a whole set, and nothing else."""
        manifest.list_again(self.folder, manifest.REPORT)

    def facts(self) -> dict[str, Any]:
        """Returns the facts of a manifest, all derived from the set's files; before the set is whole, from its rows so
        far."""
        merged = self.results_path.exists()
        rows = read_rows(self.results_path, trusted=self.begun_here) if merged else self.merged()
        preset = next((path.stem for path in (self.folder / "inputs").glob("*.toml")), None)
        return manifest.facts_of(self.plan_file, rows, preset, self.machine)

    def problems(self) -> list[str]:
        """Returns a line for each file or fact that differs from the manifest; none for an intact set."""
        return manifest.problems(self.folder) or self.misstated(manifest.read(self.folder))

    def misstated(self, known: Manifest) -> list[str]:
        """Returns a line for each fact of a manifest that the files contradict. Raises Damaged for rows that can't be
        read."""
        return manifest.misstated(known, self.facts())
