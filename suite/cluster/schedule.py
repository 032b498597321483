"""Has other machines measure a set's comparisons: starts the queue's program in Ray's environment."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Collection

from suite.case import Flag
from suite.environments import venv
from suite.errors import COMMAND, UserError
from suite.launch.engine import ROOT
from suite.results.store.result_set import ResultSet
from suite.results.store.rows import accepted

SCHEDULERS = ("ray",)
MISTAKEN, INTERRUPTED = 2, 130  # exit codes of the queue's program, which prints why
CLUSTER = "cluster"  # the folder of Ray's locks: no target, but its environments are made like a target's


def hand_out(store: ResultSet, address: str, force: bool, mark: int) -> bool:
    """Has the rest of a set measured. Returns whether all of it is there. `mark` is the set's lock, which the queue's
    program holds as long as it lives. Raises KeyboardInterrupt, and UserError for what the queue refuses."""
    python = venv.ensure("ray", CLUSTER).python
    command = [str(python), "-m", "suite.cluster.ray_queue", str(store.folder.absolute()), f"--address={address}"]
    queue = subprocess.Popen([*command, *(["--force"] if force else [])], cwd=ROOT, pass_fds=[mark])
    try:
        code = queue.wait()
    except KeyboardInterrupt:
        queue.terminate()  # a terminal's Ctrl-C has reached it; a queue started by a script with `&` ignores SIGINT
        queue.wait()
        raise
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code == MISTAKEN:
        raise UserError(f"{store.folder} is kept; `{COMMAND} run --resume={store.folder}` completes it.")
    return code == 0


def forget(store: ResultSet, again: Collection[str]) -> None:
    """Removes a set's comparisons with a case that ended as `again` says, or that the harness lost. They are measured
    again whole, since what is compared runs side by side."""
    for share in store.shares():
        rows = accepted(share.merged())
        if any(row["outcome"] in again or Flag.HARNESS in row["flags"] for row in rows):
            gone = share.folder.with_name(f".gone-{share.folder.name}")
            shutil.rmtree(gone, ignore_errors=True)
            share.folder.rename(gone)  # renamed first: half a share would be taken for a whole one
    for stale in (store.folder / "shares").glob(".*"):  # also what a killed queue was about to take in
        shutil.rmtree(stale, ignore_errors=True)
