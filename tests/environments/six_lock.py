"""The lock of the tiniest environment."""

import sys

SIX = """six==1.17.0 \\
    --hash=sha256:4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274
"""
# For the Python that runs: another may not be on this machine.
HERE = f"# Python {sys.version_info.major}.{sys.version_info.minor}\n{SIX}"
