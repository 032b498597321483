"""`python -m tests.worker.serve`: answers the attempt of each folder that is named on standard input, as
`python -m suite.worker` would, all in this process; says each one's exit code on standard output."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from suite.worker.__main__ import main

if __name__ == "__main__":
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        folder = Path(line.rstrip("\n"))
        for number, name in ((1, "stdout.log"), (2, "stderr.log")):
            with (folder / name).open("wb") as log:
                os.dup2(log.fileno(), number)
        code = main([str(folder / "ATTEMPT.json"), "--out", str(folder)])
        if dynamo := sys.modules.get("torch._dynamo"):
            dynamo.reset()  # after eight programs of one function it would leave the ninth to eager mode
        sys.stdout.flush()
        sys.stderr.flush()
        print(code, file=answers, flush=True)
    os._exit(0)  # tearing a framework down can take seconds
