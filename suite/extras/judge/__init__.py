"""Judges a change of a question's functions whose author isn't trusted. docs/how-to/judge.md says how."""

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # of checks: further threads would spin while calls are timed
