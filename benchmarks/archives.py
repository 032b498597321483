"""Times archives: publishing 10,000 attempts to a local S3 server, a history of 200 sets, a comparison of two sets.

    PYTHONPATH=. .venv/bin/python benchmarks/archives.py [--sets=200] [--attempts=10000]

The attempts are copies of one row with other numbers; the server, the files and the commands are real.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from suite.extras.archive.fetch import verify
from suite.extras.archive.publish import publish
from suite.extras.archive.storage import Storage
from suite.protocol import Protocol
from suite.sets.arrow import to_table
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row
from tests.extras.archive.s3 import BUCKET, Server
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, record, row_of

SAMPLES = 200


def made(folder: Path, rows: list[Row], day: int) -> ResultSet:
    """Writes a whole set of three blocks with these rows."""
    when = f"2026-{1 + day // 28:02d}-{1 + day % 28:02d}T12:00:00+00:00"
    protocol = Protocol(blocks=3, blocks_max=3)
    store = ResultSet.create(folder, plan_file(set_id=folder.name, created_at=when, protocol=protocol))
    for block in (1, 2, 3):
        store.write_block(block, 1, record(block, 1))
    pq.write_table(to_table(rows), store.results_path)
    store.seal()
    return store


def drawn(count: int, seed: int) -> list[Row]:
    """Returns `count` rows in three blocks: of ten stacks, on as many questions as that takes."""
    random, rows = np.random.default_rng(seed), []
    stacks = [f"s{number}" for number in range(10)]
    for index in range(count):
        question, rest = divmod(index, 30)
        block, stack = divmod(rest, 10)
        samples = (0.01 * np.exp(random.normal(0, 0.02, SAMPLES))).tolist()
        rows.append(row_of(attempt_of(stacks[stack], block + 1, dims={"n": 8 + question}), samples))
    return rows


@contextmanager
def timed(what: str) -> Iterator[None]:
    """Prints how many seconds the enclosed statements took."""
    start = time.perf_counter()
    yield
    print(f"{what}: {time.perf_counter() - start:.2f} s")


def command(*words: object) -> None:
    """Runs `stackwars` with these words, as a process of its own."""
    done = subprocess.run(
        [Path(sys.executable).with_name("stackwars"), *map(str, words)], capture_output=True, check=False
    )
    assert done.returncode in (0, 5), done.stderr.decode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--attempts", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        server = Server(folder / "s3")
        server.start()
        try:
            os.environ.update(server.environment)
            place = Storage.of(f"s3://{BUCKET}/benchmark")
            large = made(folder / "large", drawn(options.attempts, 0), 0)
            size = large.results_path.stat().st_size
            print(f"{options.attempts:,} attempts of {SAMPLES} samples: {size / 1e6:.0f} MB")
            with timed("published to S3 on this machine and verified there"):
                published = publish(large.folder, place, print).name
                assert verify(place, published) == []
        finally:
            server.kill()
        ops = drawn(440, 1)
        for day in range(options.sets):
            made(folder / "sets" / f"set-{day}", ops[:300], day)
        with timed(f"stackwars history over {options.sets} sets of 300 attempts, one stack of one workload"):
            command("history", f"--results={folder / 'sets'}", "--workload=gemm", "--stack=s1")
        first, second = (made(folder / letter, drawn(440, seed), 0) for seed, letter in ((2, "a"), (3, "b")))
        with timed("stackwars compare of two sets of 440 attempts"):
            command("compare", first.folder, second.folder)


if __name__ == "__main__":
    main()
