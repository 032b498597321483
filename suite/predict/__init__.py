"""Runs accelerators' own compilers without the accelerators: which steps fit, and how fast they could be at best."""
