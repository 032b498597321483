"""`./stackwars submit`: adds a set to an archive that is a git repository, as a change; or checks such a change."""

from __future__ import annotations

import shlex
import shutil
import tempfile
from pathlib import Path

from suite.cli.sets.naming import named
from suite.cli.values import LATEST
from suite.environments.checkout import project_address
from suite.errors import COMMAND
from suite.extras.submit import change
from suite.results.outcomes import FAILED

ADDRESS = "https://FORGE/OWNER/ARCHIVE"  # where nobody knows which one this checkout is of


def submit(set: str = LATEST, *, to: str | None = None, check: str | None = None) -> int:
    """Checks a set, and prints the commands that add it to an archive; with --to, makes the commit. With --check, says
    whether the change that is checked out in a clone can enter. Returns the exit code: 3 if it can't.

    :param set: the result set to submit; its run must have finished
    :param to: a clone of the archive's repository (default: none; with --check: this folder)
    :param check: submit nothing, and say whether what was changed since this commit of the archive can enter
    """
    if check:
        found, added = change.refused(Path(to or "."), check)
        told = [("The change", found), *added.items()]
        lines = [f"{what} can't enter the archive: {problem}." for what, problems in told for problem in problems]
        print(*lines, *(f"{name} can enter the archive." for name, problems in added.items() if not problems), sep="\n")
        return FAILED if lines else 0
    folder, address = named(set), project_address() or ADDRESS
    if to:
        return printed(to, change.commit(folder, Path(to)))
    with tempfile.TemporaryDirectory() as scratch:
        name = change.copy(folder, Path(scratch), {})
    clone = address.rpartition("/")[2]
    print(f"gh repo fork {address} --clone" if shutil.which("gh") else f"git clone {address}")
    print(f"{COMMAND} submit --set={shlex.quote(str(folder))} --to={clone}")
    return printed(clone, f"set/{name}")


def printed(clone: str, branch: str) -> int:
    """Prints the commands that publish a branch and open the change."""
    place, page = shlex.quote(clone), f"# then open a change from {branch} on the page of the archive's repository"
    print(f"git -C {place} push --set-upstream origin {branch}")
    print(f"(cd {place} && gh pr create --head={branch} --fill)" if shutil.which("gh") else page)
    return 0
