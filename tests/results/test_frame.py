"""The tables of a set."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

from tests.ctrl_c import on_ctrl_c

WAITING = """
import subprocess
import suite.results.frame
child = subprocess.Popen(["sleep", "60"])
print("waiting", flush=True)
try:
    child.wait()
except KeyboardInterrupt:
    child.kill()
    print("interrupted")
"""


def test_the_table_engine_leaves_no_variable_to_what_is_started_later() -> None:
    code = "import os; before = {*os.environ}; import suite.results.frame; print({*os.environ} - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_ctrl_c_interrupts_a_wait_beside_the_table_engine() -> None:
    command = [sys.executable, "-c", WAITING]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=on_ctrl_c()) as process:
        assert process.stdout and process.stdout.readline() == "waiting\n"
        time.sleep(0.5)  # until it waits
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "interrupted\n"
