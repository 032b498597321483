"""Writes events.jsonl, one event a line. Each line is flushed, so that a killed worker loses nothing it has written."""

from __future__ import annotations

import json
import time
import traceback
from pathlib import Path
from typing import Any

from suite.case import EVENTS_BYTES_MAX, EVENTS_VERSION, MESSAGE_BYTES_MAX

RESERVE = 2**19  # bytes kept free for the exception that says that the file is too long: six for each character
TRACEBACK_HEAD, TRACEBACK_TAIL = 2**14, 3 * 2**14  # characters: who called first, and what failed last


class Events:
    """Appends to DIR/events.jsonl. Called between batches of samples only."""

    def __init__(self, directory: Path) -> None:
        self.folder = directory
        path = directory / "events.jsonl"
        path.unlink(missing_ok=True)
        self.file = path.open("a", encoding="utf-8")
        self.seq = 0
        self.written = 0

    def write(self, event: str, **data: Any) -> None:
        """Appends one line. Raises RuntimeError past the size cap, so that a runaway worker can't fill the disk."""
        head = {"v": EVENTS_VERSION, "seq": self.seq, "t_ns": time.perf_counter_ns(), "event": event}
        line = json.dumps(head | data)
        room = EVENTS_BYTES_MAX if event == "exception" else EVENTS_BYTES_MAX - RESERVE
        if self.written + len(line) + 1 > room:
            raise RuntimeError(f"events.jsonl would exceed {EVENTS_BYTES_MAX} bytes")
        self.written += len(line) + 1
        self.file.write(line + "\n")
        self.file.flush()
        self.seq += 1

    def phase(self, phase: str) -> None:
        """Writes that a phase begins, before it does, so that a kill is attributed to the right phase."""
        self.write("phase", phase=phase)

    def facts(self, **columns: Any) -> None:
        self.write("facts", columns=columns)

    def exception(self, error: BaseException) -> None:
        text = "".join(traceback.format_exception(error))
        if len(text) > TRACEBACK_HEAD + TRACEBACK_TAIL:  # a framework's frames may well fill the rest
            text = f"{text[:TRACEBACK_HEAD]}\n…\n{text[-TRACEBACK_TAIL:]}"
        kind = type(error)
        self.write(
            "exception",
            type=f"{kind.__module__}.{kind.__qualname__}".removeprefix("builtins."),
            message=str(error)[:MESSAGE_BYTES_MAX],
            traceback=text,
        )
