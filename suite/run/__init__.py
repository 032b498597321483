"""Carries out a plan: `session` runs every planned process, block by block, and `runner` makes a row of each. `start/`
makes, reopens and reproduces runs."""
