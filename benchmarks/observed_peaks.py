"""Do rows tell the peaks that an observer outside sees? Runs memory processes and watches each one's tree in /proc.

Asked: within 2 % on every stack and engine. See benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import sleep

from suite import results
from suite.worker.memory import children, status_bytes

INVOKE = Path(sys.executable).parent / "invoke"
POLL_SECONDS = 0.01
WORKER = b"suite.worker\0"


def watch(run: Future[str]) -> dict[str, int]:
    """The greatest sum of VmHWM over the tree of each worker that ran meanwhile, by its attempt's folder."""
    seen: dict[str, int] = {}
    while not run.done():
        for folder, pid in workers().items():
            tree = [pid, *children(pid)]
            seen[folder] = max(seen.get(folder, 0), sum(status_bytes(each, "VmHWM") or 0 for each in tree))
        sleep(POLL_SECONDS)
    return seen


def workers() -> dict[str, int]:
    """The processes of all workers that run now, by the name of their attempt's folder; their parents have other
    command lines."""
    found: dict[str, int] = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = path.read_bytes()
            if WORKER in words and b"--out\0" in words:
                found.setdefault(Path(words.split(b"--out\0")[1].rstrip(b"\0").decode()).name, int(path.parts[2]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", default="local")
    parser.add_argument("options", nargs="*", help="further options of `invoke run`, after --")
    options = parser.parse_args()
    words = [str(INVOKE), "run", "--purpose=memory", f"--engine={options.engine}", "--json", *options.options]
    with ThreadPoolExecutor() as pool:
        run = pool.submit(subprocess.check_output, words, text=True)
        seen = watch(run)
    loaded = results.load(json.loads(run.result())["set"])
    print("| case | row | outside | row / outside |\n| --- | ---: | ---: | ---: |")
    for row in loaded.rows:
        peaks = [row[name] for name in ("host_peak_build_bytes", "host_peak_step_bytes") if row[name] is not None]
        name = next((folder for folder in seen if row["case_name"][:100] in folder), None)
        if peaks and name:
            ratio = max(peaks) / seen[name]
            sizes = " | ".join(f"{size / 2**20:,.0f} MiB" for size in (max(peaks), seen[name]))
            print(f"| {row['case_name']} | {sizes} | {ratio:.4f} |")


if __name__ == "__main__":
    main()
