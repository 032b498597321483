"""Tries the judge: `python -m tools.attacks` prints a table of what it says of every attack, `--kind=honest` of every
honest pair, in tests/extras/judge. Exit code 3: an attack is `faster`, or more than two honest pairs
are `wrong` or `cheats`.

A file's line `# before: NAME` names its question. Those of `torch_` and `jax_` run on these stacks, all others on
NumPy's.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from suite.cli.app import run_tool
from suite.cli.terminal.output import print_table

ROOT = Path(__file__).parents[1]
FILES = ROOT / "tests" / "extras" / "judge"
STACKS = {"torch": "torch_eager", "jax": "jax_jit"}
FALSE_ALARMS_MAX = 2


def judged(file: Path, *options: str) -> dict[str, Any]:
    """Returns what the judge says of a file: `verdict`, or `refused` with exit code 2, and `seen`."""
    found = re.search(r"^# before: (\w+)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    assert found, f"{file} names no question"
    stack = STACKS.get(file.stem.partition("_")[0], "numpy")
    command = [sys.executable, "-m", "suite.cli", "judge", str(FILES / "questions" / f"{found[1]}.py"), str(file)]
    done = subprocess.run(
        [*command, f"--stack={stack}", "--json", *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode == 2:
        return {"verdict": "refused", "reason": done.stderr.strip(), "exit_code": 2, "ratio": None}
    assert done.stdout, f"{file.stem}: exit code {done.returncode}: {done.stderr}"
    return {"exit_code": done.returncode, **json.loads(done.stdout)["judged"][0]}


def seen(told: dict[str, Any]) -> str:
    ratio = f"{told['ratio']:.2f}× [{told['low']:.2f}, {told['high']:.2f}]" if told["ratio"] else ""
    at = ", ".join(f"{name}={length}" for name, length in (told.get("smallest_input") or {}).items())
    return "; ".join(filter(None, (ratio, told["reason"].replace(str(ROOT), "."), at)))


def false_alarms(verdicts: Sequence[str]) -> int:
    return sum(word in ("wrong", "cheats", "refused") for word in verdicts)


def attacks(*names: str, kind: str = "attacks") -> int:
    """Prints the table. Returns the exit code.

    :param names: these files alone
    :param kind: attacks or honest
    """
    lines = []
    for file in sorted((FILES / kind).glob("*.py")):
        if not names or file.stem in names:
            told = judged(file)
            lines.append([file.stem, seen(told), told["verdict"]])
            print(*lines[-1], sep=": ", file=sys.stderr, flush=True)
    print_table(f"The judge on {len(lines)} files", ["file", "what was seen", "verdict"], lines)
    words = [word for _, _, word in lines]
    bad = "faster" in words if kind == "attacks" else false_alarms(words) > FALSE_ALARMS_MAX
    return 3 if bad else 0


if __name__ == "__main__":
    run_tool("tools.attacks", attacks)
