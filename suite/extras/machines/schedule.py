"""Lets other machines measure a set's comparisons: it starts the program suite.extras.machines.ray_queue in Ray's
environment."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Collection

from suite.case import Flag
from suite.cli.measure.carry_out import finish
from suite.cli.options import RunOptions
from suite.environments import say, venv
from suite.errors import COMMAND, UserError
from suite.guard.variables import without_python
from suite.launch.engine import ROOT
from suite.results.outcomes import INTERRUPTED
from suite.sets.files import sole
from suite.sets.result_set import ResultSet
from suite.sets.rows import accepted

UNFINISHED = 1  # exit code: the other machines haven't measured every comparison
MISTAKEN = 2  # exit code of that program, which prints why it failed
CLUSTER = "cluster"  # the folder of Ray's lock. It is no target, but its environment is made like a target's.


def elsewhere(store: ResultSet, again: frozenset[str], options: RunOptions) -> int:
    """Has other machines measure the rest of a set's plan. Returns the exit code."""
    say(f"Result set {store.folder}")
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with sole(store.folder) as mark:
        try:
            forget(store, again)
            if not hand_out(store, options.address, options.force, mark):
                say(f"All results that arrived are kept; `{COMMAND} run --resume={store.folder}` completes the set.")
                return UNFINISHED
            store.make_latest()
            done = ResultSet.open(store.folder)  # read again: the queue wrote into the plan what its machines can't run
            return finish(done, done.commit(), options.json)
        except KeyboardInterrupt:
            say(
                f"Interrupted. All {store.finished()} attempts that arrived are kept; "
                f"`{COMMAND} run --resume={store.folder}` completes the set."
            )
            return INTERRUPTED


def hand_out(store: ResultSet, address: str, force: bool, mark: int) -> bool:
    """Lets other machines measure the comparisons of a set that have no result yet. Returns whether every comparison
    has one now.

    `mark` is the file descriptor of the set's lock, which the queue's program holds too as long as it runs. Raises
    KeyboardInterrupt after Ctrl-C, and UserError for a mistake that the user can mend.
    """
    python = venv.ensure("ray", CLUSTER).python
    command = [
        str(python),
        "-m",
        "suite.extras.machines.ray_queue",
        str(store.folder.absolute()),
        f"--address={address}",
    ]
    environ = without_python(os.environ)
    queue = subprocess.Popen([*command, *(["--force"] if force else [])], cwd=ROOT, pass_fds=[mark], env=environ)
    try:
        code = queue.wait()
    except KeyboardInterrupt:
        queue.terminate()  # Ctrl-C reaches it too, but in a script's background job it ignores SIGINT
        queue.wait()
        raise
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    if code == MISTAKEN:
        raise UserError(f"{store.folder} is kept; `{COMMAND} run --resume={store.folder}` completes it.")
    return code == 0


def forget(store: ResultSet, again: Collection[str]) -> None:
    """Removes the share of each comparison in which a case ended with an outcome in `again`, or failed because of the
    harness. Such a comparison is measured again as a whole, because all of its cases must run close together."""
    for share in store.shares():
        rows = accepted(share.merged())
        if any(row["outcome"] in again or Flag.HARNESS in row["flags"] for row in rows):
            gone = share.folder.with_name(f".gone-{share.folder.name}")
            shutil.rmtree(gone, ignore_errors=True)
            share.folder.rename(gone)  # renamed first, since a share that is half deleted would count as whole
    for stale in (store.folder / "shares").glob(".*"):  # also the drafts of a killed queue
        shutil.rmtree(stale, ignore_errors=True)
