"""One output stream of a worker, kept in a file of limited size. Standard library only.

The worker writes into a pipe that is always emptied, so that a flood of output neither blocks it nor fills the disk.
The beginning and the end of the output are kept: causes stand at the beginning, tracebacks at the end.
"""

from __future__ import annotations

import os

from suite.guard import plain_files

HEAD_BYTES = 4 * 2**20  # written to the file as it comes
TAIL_BYTES = 1 * 2**20  # the last bytes after that, held in memory until the end
CHUNK_BYTES = 2**20


class CappedLog:
    """Copies the beginning and the end of what comes through the pipe `descriptor` into the file at `path`."""

    def __init__(self, descriptor: int, path: str) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self._file = plain_files.created(path)
        self._head_left = HEAD_BYTES
        self._tail = bytearray()
        self._left_out_bytes = 0

    def pump(self) -> bool:
        """Takes one chunk from the pipe. False if the pipe is empty for now, or closed."""
        try:
            data = os.read(self.descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return False
        self._keep(data)
        return bool(data)

    def close(self) -> None:
        """Takes what is left in the pipe and completes the file."""
        while self.pump():
            pass
        if self._left_out_bytes:
            self._write(f"\n[… {self._left_out_bytes} bytes of output left out here …]\n".encode())
        self._write(bytes(self._tail))
        os.close(self._file)
        os.close(self.descriptor)

    def _keep(self, data: bytes) -> None:
        head, rest = data[: self._head_left], data[self._head_left :]
        if head:
            self._head_left -= len(head)
            self._write(head)
        self._tail += rest
        excess = max(0, len(self._tail) - TAIL_BYTES)
        self._left_out_bytes += excess
        del self._tail[:excess]

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError:
            # A full disk costs the log, not the measurement.
            self._head_left = 0
