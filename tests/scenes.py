"""Where the fake stack and its workloads lie: a system that sleeps, fails and hangs as it is told."""

from __future__ import annotations

from pathlib import Path

SCENARIOS = Path(__file__).parent / "scenarios"  # workloads, for --workload-path
FAKE = Path(__file__).parent / "fake"  # the stack, for --stack-path
FAKE_ADAPTER = FAKE / "fake_adapter.py"
